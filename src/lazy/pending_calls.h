// SPDX-License-Identifier: Apache-2.0
// The calls that were issued and have not left the window, in program order. Guarded by the
// window's lock.
//
// Invariant: a call is counted as pending by its storages from the time it is added until leave()
// is called for it: not before the task that it became is pushed, so that whoever sees a storage
// without pending calls sees the tasks they became.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

class PendingCalls {
 public:
  PendingCalls();

  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }
  const std::vector<Call*>& calls() const { return calls_; }
  /// Of their outputs, some of which may not be wanted any more.
  std::int64_t bytes() const { return bytes_; }
  /// Leaves out the outputs that nobody outside of calls holds.
  void count_observed_bytes();

  /// STATE CHANGE: the call becomes pending.
  void add(Call* call);
  /// These take calls out of the list: all, or those that reading or writing the storage needs.
  std::vector<Call*> take_all();
  std::vector<Call*> take_needed(Storage& target, bool to_write);
  void clear();
  /// The list without the calls that were dropped.
  void keep(std::vector<Call*> kept, std::span<Call* const> dropped);
  /// STATE CHANGE: calls that were taken out are not pending any more.
  static void leave(std::span<Call* const> calls);

 private:
  void leave_bytes(std::span<Call* const> calls);

  std::vector<Call*> calls_;
  std::int64_t bytes_ = 0;
};

}  // namespace afterglow::lazy
