// SPDX-License-Identifier: Apache-2.0
// The window's lock, and what threads of the engine know of a fork: a forking thread holds the lock
// while it waits for them, so they must not wait for it.
#pragma once

#include <atomic>

#include "base/spin_lock.h"

namespace afterglow::lazy {

class ForkLock {
 public:
  void lock() { lock_.lock(); }
  bool try_lock() { return lock_.try_lock(); }
  void unlock() { lock_.unlock(); }

  /// For threads that a forking one waits for. False, and not locked, while there is one.
  bool lock_unless_forking() {
    while (!lock_.try_lock()) {
      if (forking_.load(std::memory_order_relaxed)) return false;
      lock_.wait();
    }
    return true;
  }

  // Invariant: whoever sees `forking_` and cannot lock does without. It is set before the lock is
  // taken and cleared before it is given back, in the parent and in the child.
  void lock_for_fork() noexcept {
    forking_ = true;
    lock_.lock();
  }
  void unlock_after_fork() noexcept {
    forking_ = false;
    lock_.unlock();
  }

 private:
  SpinLock lock_;
  std::atomic<bool> forking_{false};
};

}  // namespace afterglow::lazy
