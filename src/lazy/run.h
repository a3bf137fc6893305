// SPDX-License-Identifier: Apache-2.0
// Running a call: poison check, buffers, kernel, failure. Whoever runs it, worker, helper or the
// thread that reads the value, comes through here.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "kernels/elementwise.h"
#include "lazy/call.h"
#include "lazy/failure.h"

namespace afterglow::lazy {

/// Runs one call, in shares. Never throws: a failure poisons the outputs and goes to the log.
class CallRun {
 public:
  CallRun(Call& call, FailureLog& log) : call_(call), log_(log) {}

  int prepare() noexcept;
  void run(int share) noexcept;
  void finish() noexcept;

 private:
  bool skip_poisoned();
  void prepare_elementwise();
  void fail() noexcept;

  Call& call_;
  FailureLog& log_;
  kernels::ElementwisePass elementwise_;
  std::unique_ptr<Pass> pass_;
  std::atomic<bool> failed_{false};
};

/// All of it at once on this thread.
void run_call(Call& call, FailureLog& log) noexcept;

}  // namespace afterglow::lazy
