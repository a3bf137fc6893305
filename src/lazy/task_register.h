// SPDX-License-Identifier: Apache-2.0
// The tasks that are in the engine, and the calls that have ended, until a thread with the issuing
// right releases what they held.
//
// Invariant: a call that has left the window is in a registered task, or finished, or released.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/spin_lock.h"
#include "engine/list.h"
#include "lazy/task.h"

namespace afterglow::lazy {

class TaskRegister {
 public:
  void add(GroupTask& task);
  /// STATE CHANGE: the calls of the task become finished ones. The engine has let go of it.
  void remove(GroupTask& task);
  /// STATE CHANGE: calls that no task ran, or that were dropped, become finished ones.
  void add_finished(std::span<Call* const> calls);

  /// Needs no lock, and may be late by a moment.
  bool any_finished() const { return any_finished_.load(std::memory_order_relaxed); }
  /// STATE CHANGE: finished calls are destroyed. Needs the issuing right and no lock.
  void retire();

  /// The tasks that the engine has not destroyed yet.
  std::int64_t alive() const { return alive_.load(std::memory_order_relaxed); }
  /// Waits for them for a moment.
  void await_destruction() const;

  /// For those who look at tasks, and for a fork: as long as it is locked no task goes.
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  /// The latest tasks, of about so many calls, without those that have started; in program order.
  /// Needs the lock.
  std::vector<GroupTask*> waiting(std::size_t calls) const;

 private:
  using List = engine::List<GroupTask, &GroupTask::link>;

  // Not the window's: a worker that ends a task must not need that one, which a forking thread
  // holds while it waits for workers.
  SpinLock lock_;
  List in_engine_;               // pushed and not yet destroyed by the engine
  std::vector<Call*> finished_;  // with any_finished_, which tells whether there are some
  std::atomic<bool> any_finished_{false};
  std::atomic<std::int64_t> alive_{0};
  std::vector<Call*> retired_;  // empty: memory to use again; guarded by the issuing right
};

}  // namespace afterglow::lazy
