// SPDX-License-Identifier: Apache-2.0
// A batch: all calls that one thread issues between two points of its program. engine.pipeline()
// waits for whole batches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace afterglow::lazy {

class Batch {
 public:
  explicit Batch(std::shared_ptr<Batch> outer) : outer_(std::move(outer)) {}

  /// A call of an inner batch belongs to the outer ones as well.
  void add_call() {
    for (Batch* batch = this; batch; batch = batch->outer_.get()) batch->unfinished_ += 1;
  }
  void end_call() {
    for (Batch* batch = this; batch; batch = batch->outer_.get()) batch->unfinished_ -= 1;
  }
  bool finished() const { return unfinished_ == 0; }

  /// The batch that calls of this thread join.
  static inline thread_local std::shared_ptr<Batch> current;

 private:
  const std::shared_ptr<Batch> outer_;
  std::atomic<std::int64_t> unfinished_{0};
};

}  // namespace afterglow::lazy
