// SPDX-License-Identifier: Apache-2.0
// How much work the window holds, and until when: the clock of its publish rule. Guarded by the
// window's lock.
#pragma once

#include <chrono>
#include <span>

#include "lazy/call.h"
#include "lazy/costs.h"

namespace afterglow::lazy {

class HeldWork {
 public:
  using Clock = std::chrono::steady_clock;

  bool is_worth_a_thread() const { return cost_ >= worth_a_thread; }
  /// When it has waited long enough, if it is worth a thread.
  Clock::time_point due() const { return due_; }

  void add(const Call& call) { cost_ += call.cost; }
  /// STATE CHANGE: work that is worth a thread has a new last call; its time begins now if that
  /// made it worth one (`just`). True when it is due already.
  bool set_times(const Call& newest, bool just);
  /// These left; or all did.
  void leave(std::span<Call* const> calls);
  void clear() { cost_ = 0; }
  /// The large calls that could not wait have left.
  void forget_large() { no_later_than_ = Clock::time_point::max(); }

 private:
  double cost_ = 0;  // nanoseconds
  // Once it is worth a thread: since when, until when at most because of large calls in it, and
  // when it has waited long enough.
  Clock::time_point since_{}, no_later_than_{}, due_{};
};

}  // namespace afterglow::lazy
