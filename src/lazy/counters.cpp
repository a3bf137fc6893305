// SPDX-License-Identifier: Apache-2.0
#include "lazy/counters.h"

#include <algorithm>

#include "lazy/trace.h"

namespace afterglow::lazy {

void Counters::Ended::count_dropped(std::span<Call* const> calls) {
  trace::note_dropped(calls);
  count(calls, dropped_);
}

void Counters::Ended::count(std::span<Call* const> calls, Counter& ended) {
  std::int64_t outputs = 0, cost = 0;
  for (const Call* call : calls) {
    outputs += call->output_bytes;
    cost += static_cast<std::int64_t>(call->cost);
  }
  add(ended, static_cast<std::int64_t>(calls.size()));
  add(bytes_, outputs);
  add(nanoseconds_, cost);
}

Unfinished Counters::unfinished() const {
  const std::int64_t calls =
      issued_ - here.run_ - here.dropped_ - elsewhere.run_ - elsewhere.dropped_;
  const std::int64_t bytes = issued_bytes_ - here.bytes_ - elsewhere.bytes_;
  const std::int64_t nanoseconds = issued_nanoseconds_ - here.nanoseconds_ - elsewhere.nanoseconds_;
  // They are read one after another, while other threads change them.
  const auto at_least_none = [](std::int64_t left) { return std::max<std::int64_t>(left, 0); };
  return {at_least_none(calls), at_least_none(bytes), at_least_none(nanoseconds)};
}

Statistics Counters::statistics() const {
  Statistics result;
  result.issued = issued_;
  result.run = here.run_ + elsewhere.run_;
  result.dropped = here.dropped_ + elsewhere.dropped_;
  result.fused = here.fused_ + elsewhere.fused_;
  result.fused_calls = here.fused_calls_ + elsewhere.fused_calls_;
  result.pending = result.issued - result.run - result.dropped;
  result.pending_bytes = issued_bytes_ - here.bytes_ - elsewhere.bytes_;
  return result;
}

}  // namespace afterglow::lazy
