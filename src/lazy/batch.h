// SPDX-License-Identifier: Apache-2.0
// A batch: all calls that one thread issues between two points of its program. engine.pipeline()
// waits for whole batches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace afterglow::lazy {

struct Call;

class Batch {
 public:
  void add_call() { ++unfinished_; }
  void end_call() { --unfinished_; }
  bool finished() const { return unfinished_ == 0; }
  /// Of all threads, for the passes that begin with a call of the batch.
  std::int64_t computing_nanoseconds() const { return computing_; }
  void add_computing(std::int64_t nanoseconds) { computing_ += nanoseconds; }

 private:
  std::atomic<std::int64_t> unfinished_{0};
  std::atomic<std::int64_t> computing_{0};
};

/// The batches that a call belongs to: those that its thread had begun and not ended. They need not
/// be nested.
using Batches = std::vector<std::shared_ptr<Batch>>;

/// Those of this thread; nullptr for none.
inline thread_local std::shared_ptr<const Batches> current_batches;

/// Some thread has begun one. Before that calls need not ask which.
inline std::atomic<bool> any_batches{false};

/// Calls have ended, and whoever waits for their batches may look at their values.
void end_in_batches(std::span<Call* const> calls);

}  // namespace afterglow::lazy
