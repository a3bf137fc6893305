// SPDX-License-Identifier: Apache-2.0
// What work costs, and from where on it is worth what: nanoseconds on one thread. Private to
// src/lazy.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <type_traits>

#include "lazy/call.h"
#include "lazy/op.h"

namespace afterglow::lazy {

// Waking a sleeping worker costs the caller about 7 us and the work about 50 us. What is smaller in
// sum is not worth a thread.
inline constexpr double worth_a_thread = 50e3;
// A call from here on that cannot be fused is not held at all; smaller groups share a task.
inline constexpr double large_call = 30e3;
// Calls held at most: with their storages they stay in the first-level cache.
inline constexpr std::size_t most_pending = 64;

inline bool is_large(const Call& call) {
  return !call.is_elementwise() && call.cost >= large_call;
}
/// What follows it may be able to join it.
inline bool is_large_product(const Call& call) {
  return is_large(call) && call.op->kernel_then;
}

inline double total_cost(std::span<Call* const> calls) {
  double cost = 0;
  for (const Call* call : calls) cost += call->cost;
  return cost;
}

/// For a counter that threads change one at a time, and others only look at.
template <class Number>
void add_alone(std::atomic<Number>& counter, std::type_identity_t<Number> change) {
  counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

}  // namespace afterglow::lazy
