// SPDX-License-Identifier: Apache-2.0
#include "lazy/pending_calls.h"

#include <algorithm>
#include <utility>

#include "lazy/costs.h"
#include "lazy/passes/needed.h"

namespace afterglow::lazy {

PendingCalls::PendingCalls() {
  calls_.reserve(most_pending);
}

void PendingCalls::add(Call* call) {
  calls_.push_back(call);
  for_each_storage(*call, [](Storage& storage) {
    ++storage.slots.pending;
    add_alone(storage.slots.all, 1);
  });
  bytes_ += call->output_bytes;
}

void PendingCalls::leave(std::span<Call* const> calls) {
  for (const Call* call : calls) {
    for_each_storage(*call, [](Storage& storage) { --storage.slots.pending; });
  }
}

void PendingCalls::clear() {
  calls_.clear();
  bytes_ = 0;
}

std::vector<Call*> PendingCalls::take_all() {
  std::vector<Call*> calls;
  calls.reserve(most_pending);
  calls.swap(calls_);
  bytes_ = 0;
  return calls;
}

std::vector<Call*> PendingCalls::take_needed(Storage& target, bool to_write) {
  std::vector<Call*> calls = needed_for(calls_, target, to_write);
  if (calls.size() == calls_.size()) return take_all();
  // Both lists are in program order: one walk takes the needed ones out.
  auto next = calls.begin();
  std::erase_if(calls_, [&](Call* call) {
    if (next == calls.end() || *next != call) return false;
    ++next;
    return true;
  });
  leave_bytes(calls);
  return calls;
}

void PendingCalls::keep(std::vector<Call*> kept, std::span<Call* const> dropped) {
  calls_ = std::move(kept);
  leave_bytes(dropped);
}

void PendingCalls::leave_bytes(std::span<Call* const> calls) {
  for (const Call* call : calls) bytes_ -= call->output_bytes;
  bytes_ = std::max<std::int64_t>(bytes_, 0);
}

void PendingCalls::count_observed_bytes() {
  bytes_ = 0;
  for (const Call* call : calls_) {
    for (const Operand& output : call->outputs) {
      if (output.storage->held_outside()) bytes_ += output.storage->bytes();
    }
  }
}

}  // namespace afterglow::lazy
