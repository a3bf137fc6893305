// SPDX-License-Identifier: Apache-2.0
// How many calls were issued and have ended, with the bytes of their results and their estimated
// time.
//
// Invariant: a call is counted once as issued, and then once as run or dropped, by whatever ended
// it; with the same bytes and the same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "lazy/call.h"
#include "lazy/costs.h"

namespace afterglow::lazy {

struct Statistics {
  std::int64_t issued = 0;
  std::int64_t run = 0;
  std::int64_t dropped = 0;
  std::int64_t fused = 0;          ///< passes that ran several calls
  std::int64_t fused_calls = 0;    ///< the calls in them
  std::int64_t pending = 0;        ///< issued and not finished
  std::int64_t pending_bytes = 0;  ///< outputs of unfinished calls
  std::int64_t run_ahead_bytes = 0;
  double run_ahead_seconds = 0;
};

/// What was issued and has not ended.
struct Unfinished {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t nanoseconds = 0;
};

class Counters {
  using Counter = std::atomic<std::int64_t>;

 public:
  /// Calls that ended: on a thread with the issuing right, or anywhere. Two lines instead of one
  /// that bounces.
  class alignas(64) Ended {
   public:
    /// `alone`: changed by one thread at a time.
    explicit Ended(bool alone) : alone_(alone) {}
    void count_run(std::span<Call* const> calls) { count(calls, run_); }
    void count_dropped(std::span<Call* const> calls);
    /// One pass ran so many calls.
    void count_pass(std::size_t calls) {
      if (calls < 2) return;
      add(fused_, 1);
      add(fused_calls_, static_cast<std::int64_t>(calls));
    }

   private:
    friend class Counters;
    void count(std::span<Call* const> calls, Counter& ended);
    void add(Counter& counter, std::int64_t change) {
      if (alone_) {
        add_alone(counter, change);
      } else {
        counter.fetch_add(change, std::memory_order_relaxed);
      }
    }

    const bool alone_;
    Counter run_{0}, dropped_{0}, bytes_{0}, nanoseconds_{0}, fused_{0}, fused_calls_{0};
  };
  Ended here{true};
  Ended elsewhere{false};

  /// Gives the call its number in program order. Needs the issuing right.
  void issue(Call& call) {
    add_alone(issued_, 1);
    call.output_bytes = 0;
    for (const Operand& output : call.outputs) {
      if (call.passing) break;
      call.output_bytes += output.size() * static_cast<std::int64_t>(size_of(output.dtype));
    }
    add_alone(issued_bytes_, call.output_bytes);
    add_alone(issued_nanoseconds_, static_cast<std::int64_t>(call.cost));
    call.sequence = static_cast<std::uint64_t>(issued_.load(std::memory_order_relaxed));
  }

  Unfinished unfinished() const;
  /// All but what run-ahead makes of them.
  Statistics statistics() const;

 private:
  alignas(64) Counter issued_{0};
  Counter issued_bytes_{0}, issued_nanoseconds_{0};
};

}  // namespace afterglow::lazy
