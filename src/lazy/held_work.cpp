// SPDX-License-Identifier: Apache-2.0
#include "lazy/held_work.h"

#include <algorithm>
#include <cstdint>

namespace afterglow::lazy {
namespace {

using namespace std::chrono_literals;

// Held work may wait for this part of its own estimated time.
constexpr double patience = 0.05;
// A product waits no longer than this for the next call, which may be able to join it.
constexpr auto product_patience = 5us;

bool can_be_fused(const Call& call) {
  return call.is_elementwise() || call.op->reduction || call.op->kernel_then;
}

}  // namespace

bool HeldWork::set_times(const Call& newest, bool just) {
  const Clock::time_point now = Clock::now();
  if (just) {
    since_ = now;
    no_later_than_ = Clock::time_point::max();
  }
  const bool follows_product = no_later_than_ != Clock::time_point::max();
  if (is_large(newest) && !can_be_fused(newest) && !(follows_product && newest.op->row_form)) {
    no_later_than_ = now;
  } else if (is_large_product(newest) || follows_product) {
    // What follows a product may be followed by more.
    no_later_than_ = now + product_patience;
  }
  due_ = std::min<Clock::time_point>(
      since_ + std::chrono::nanoseconds(static_cast<std::int64_t>(patience * cost_)),
      no_later_than_);
  return now >= due_;
}

void HeldWork::leave(std::span<Call* const> calls) {
  cost_ = std::max(0.0, cost_ - total_cost(calls));
}

}  // namespace afterglow::lazy
