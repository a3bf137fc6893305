// SPDX-License-Identifier: Apache-2.0
// Running a call: poison check, buffers, kernel, failure. Whoever runs it, worker, helper or the
// thread that reads the value, comes through here, alone or as a member of a fused group.
#pragma once

#include <atomic>
#include <exception>
#include <memory>

#include "kernels/elementwise.h"
#include "lazy/call.h"
#include "lazy/failure.h"
#include "lazy/passes/reuse.h"

namespace afterglow::lazy {

struct RunTerms {
  FailureLog& log;
  /// The group cannot be put off any more: what cannot be allocated now is a failure.
  bool must = true;
  /// Results may take over the buffers of dying inputs.
  bool reuse = false;
  /// So many shares run at once at most.
  int threads = 1;
};

/// Runs one call, in shares. Never throws: a failure poisons the outputs and goes to the log.
class CallRun {
 public:
  explicit CallRun(Call& call) : call_(call) {}

  /// The number of shares, or engine::not_now.
  int prepare(const RunTerms& terms, const Dying& dying) noexcept;
  void run(int share) noexcept;
  void finish() noexcept;

 private:
  bool skip_poisoned();
  void prepare_elementwise(const RunTerms& terms, const Dying& dying);
  void tell_host() noexcept;
  void fail() noexcept;

  Call& call_;
  FailureLog* log_ = nullptr;
  kernels::ElementwisePass elementwise_;
  std::unique_ptr<Pass> pass_;
  std::atomic<bool> failed_{false};
};

/// All of it at once on this thread.
void run_call(Call& call, const RunTerms& terms) noexcept;

/// How a kernel sees an operand of a pass over `pass_size` elements.
kernels::Operand kernel_operand(const Operand& operand, std::int64_t pass_size);

/// Poisons what the call writes; returns the failure.
std::shared_ptr<Failure> poison(Call& call, const std::exception_ptr& reason);

/// The same, and tells the log. To be called in a handler.
void fail_with_current_exception(Call& call, FailureLog& log) noexcept;

/// Marks a write as having succeeded: one that covers its storage heals it.
void heal(const Call& call);

}  // namespace afterglow::lazy
