// SPDX-License-Identifier: Apache-2.0
#include "lazy/run_ahead.h"

#include "memory/pool.h"

namespace afterglow::lazy {
namespace {

// A call with its operands, site and small storages.
constexpr double record_bytes = 768;

double held_bytes(const Unfinished& unfinished) {
  return static_cast<double>(Storage::charged_bytes()) +
         record_bytes * static_cast<double>(unfinished.calls);
}

}  // namespace

double RunAhead::seconds(const Unfinished& unfinished) {
  return 1e-9 * static_cast<double>(unfinished.nanoseconds);
}

double RunAhead::bytes(const Unfinished& unfinished) {
  return held_bytes(unfinished) + static_cast<double>(unfinished.bytes);
}

bool RunAhead::is_over(const Unfinished& unfinished, double part) const {
  return held_bytes(unfinished) > limits.held_bytes * part ||
         bytes(unfinished) > limits.bytes * part || seconds(unfinished) > limits.seconds * part;
}

bool RunAhead::is_full(const Unfinished& unfinished) const {
  return is_over(unfinished, 1) ||
         (capped && unfinished.nanoseconds > 0 && is_near_cap(unfinished));
}

bool RunAhead::is_near_cap(const Unfinished& unfinished) const {
  if (!capped) return false;
  const memory::Figures figures = memory::pool().figures();
  if (!figures.cap) return false;
  return static_cast<double>(figures.active) + bytes(unfinished) >
         0.5 * static_cast<double>(figures.cap);
}

void RunAhead::charge(Storage& storage) {
  // A value that does not exist yet is counted as the result of its call.
  const bool exists = storage.variable.readable() && storage.data();
  if (exists && (storage.slots.pending > 0 || !storage.variable.idle())) storage.charge();
}

}  // namespace afterglow::lazy
