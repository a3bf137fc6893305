// SPDX-License-Identifier: Apache-2.0
// The ready tasks of one device context: highest priority first, then in the order of their push.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace afterglow::engine {

struct TaskRecord;

/// A binary heap that knows where each task stands in it, so that any task can be taken out.
class ReadyQueue {
 public:
  static constexpr std::size_t nowhere = SIZE_MAX;

  explicit ReadyQueue(int id) : id_(id) {}

  int id() const { return id_; }
  bool empty() const { return heap_.empty(); }
  TaskRecord& front() const { return *heap_.front().task; }

  /// Every unfinished task is a member. Joining makes room for it, so that insert() cannot fail.
  void join();
  void leave() { --members_; }

  void insert(TaskRecord& task);
  void erase(TaskRecord& task);

 private:
  struct Entry {
    int priority;
    std::uint64_t number;
    TaskRecord* task;
    bool before(const Entry& other) const {
      return priority != other.priority ? priority > other.priority : number < other.number;
    }
  };

  void place(std::size_t position, const Entry& entry);
  void settle(std::size_t position, const Entry& entry);

  int id_;
  std::size_t members_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace afterglow::engine
