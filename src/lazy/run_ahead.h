// SPDX-License-Identifier: Apache-2.0
// How far issuing threads may run ahead. Counted are the bytes that only unfinished calls keep
// alive, the results of unfinished calls, and the records of the calls.
//
// Results take their memory when their call runs, and workers give back what nobody will read any
// more when it ends; calls run oldest first. So a long queue of results costs little by itself.
// What piles up is what Python makes itself and forgets: batches of data. Hence two limits.
#pragma once

#include "array/storage.h"
#include "lazy/counters.h"

namespace afterglow::lazy {

/// How far the issuing threads may run ahead of the backend.
struct RunAheadLimits {
  /// Bytes that exist now only because unfinished calls will read them, and the calls' records:
  /// this much more than a synchronised program may take.
  double held_bytes = 8 << 20;
  /// The same and the results of unfinished calls, which take memory one after another.
  double bytes = 1 << 30;
  /// Estimated time of unfinished calls.
  double seconds = 10;
};

/// A thread is half-way through something that keeps memory until it ends: a walk backwards, a
/// replay. Its calls do not wait for room meanwhile, which would keep all of it for longer.
class HalfWay {
 public:
  HalfWay() { ++depth; }
  ~HalfWay() { --depth; }
  HalfWay(const HalfWay&) = delete;
  HalfWay& operator=(const HalfWay&) = delete;
  static bool is_here() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

/// The limits, and whether what is unfinished is past them.
class RunAhead {
 public:
  RunAheadLimits limits;
  /// There is a cap on the pool's bytes.
  bool capped = false;

  static double seconds(const Unfinished& unfinished);
  /// What unfinished calls keep alive, and their results.
  static double bytes(const Unfinished& unfinished);
  /// Issuing more would go past a limit.
  bool is_full(const Unfinished& unfinished) const;
  /// A thread that had to wait goes on when this is no more: something is left for the backend to
  /// do then.
  bool is_half_full(const Unfinished& unfinished) const { return is_over(unfinished, 0.5); }
  /// Near a cap on all memory nobody runs ahead: everything unfinished must fit at once.
  bool is_near_cap(const Unfinished& unfinished) const;
  /// Results of pending calls are published when they are more than this.
  double most_pending_bytes() const { return limits.bytes * 0.5; }

  /// A handle of the storage is about to go: what only unfinished calls will read from then on is
  /// charged, until the end of its last reader discharges it. Needs the window's lock.
  static void charge(Storage& storage);

 private:
  bool is_over(const Unfinished& unfinished, double part) const;
};

}  // namespace afterglow::lazy
