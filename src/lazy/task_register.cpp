// SPDX-License-Identifier: Apache-2.0
#include "lazy/task_register.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "base/processor.h"

namespace afterglow::lazy {

void TaskRegister::add(GroupTask& task) {
  alive_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(lock_);
  in_engine_.push_back(task);
}

void TaskRegister::remove(GroupTask& task) {
  {
    std::lock_guard lock(lock_);
    in_engine_.remove(task);
    finished_.insert(finished_.end(), task.plan().calls.begin(), task.plan().calls.end());
    any_finished_.store(true, std::memory_order_relaxed);
  }
  alive_.fetch_sub(1, std::memory_order_release);
}

void TaskRegister::add_finished(std::span<Call* const> calls) {
  std::lock_guard lock(lock_);
  finished_.insert(finished_.end(), calls.begin(), calls.end());
  any_finished_.store(true, std::memory_order_relaxed);
}

void TaskRegister::retire() {
  // The list's memory is used again. Destroying a call may lead here once more, with a new list.
  std::vector<Call*> finished = std::move(retired_);
  {
    std::lock_guard lock(lock_);
    finished.swap(finished_);
    any_finished_.store(false, std::memory_order_relaxed);
  }
  // Workers have had them in their caches.
  constexpr std::size_t calls_ahead = 4, storages_ahead = 2;
  const std::size_t count = finished.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i + calls_ahead < count) fetch_ahead(*finished[i + calls_ahead]);
    if (i + storages_ahead < count) fetch_storages_ahead({&finished[i + storages_ahead], 1});
    Call::destroy(finished[i]);
  }
  finished.clear();
  retired_ = std::move(finished);
}

// The last tasks are about to be destroyed by the workers that ran them. A moment's patience, and
// what they held is free when the caller looks; others may push on, so it is a moment only.
void TaskRegister::await_destruction() const {
  using Clock = std::chrono::steady_clock;
  const auto patience_ends = Clock::now() + std::chrono::milliseconds(2);
  while (alive_.load(std::memory_order_acquire) && Clock::now() < patience_ends) {
    std::this_thread::yield();
  }
}

std::vector<GroupTask*> TaskRegister::waiting(std::size_t calls) const {
  // What is observed shows from the end backwards.
  std::size_t count = 0;
  GroupTask* first = nullptr;
  for (GroupTask* task = in_engine_.back(); task && count < calls; task = List::before(*task)) {
    count += task->plan().calls.size();
    first = task;
  }
  std::vector<GroupTask*> tasks;
  for (GroupTask* task = first; task; task = List::after(*task)) {
    if (task->is_waiting()) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace afterglow::lazy
