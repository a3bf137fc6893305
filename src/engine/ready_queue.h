// SPDX-License-Identifier: Apache-2.0
// The ready tasks of one device context: highest priority first, then in the order of their push.
// A queue with a limit is open as long as fewer threads compute for it: full ones are passed over.
#pragma once

#include <algorithm>
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

  /// How many threads may compute for it at once; 0 for as many as there are.
  void set_limit(int limit) { limit_ = limit; }
  /// Another thread may start a share.
  bool open() const { return limit_ == 0 || computing_ < limit_; }
  /// How many of the unclaimed shares threads could start now.
  int startable() const {
    return limit_ == 0 ? unclaimed_ : std::clamp(limit_ - computing_, 0, unclaimed_);
  }
  int unclaimed() const { return unclaimed_; }
  void add_unclaimed(int shares) { unclaimed_ += shares; }
  /// A thread begins or ends to compute for it. One that waits inside a task does not, and when it
  /// goes on it asks for no leave: then there are more than the limit until another share ends.
  void enter() { ++computing_; }
  void exit() { --computing_; }
  void forget_threads() { computing_ = 0; }

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
  int limit_ = 0;
  int computing_ = 0;
  int unclaimed_ = 0;  // shares of ready tasks that nobody has taken
  std::size_t members_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace afterglow::engine
