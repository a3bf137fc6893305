// SPDX-License-Identifier: Apache-2.0
#include "lazy/run.h"

#include <exception>
#include <new>

namespace afterglow::lazy {
namespace {

void set_operand(kernels::Operand& target, const Operand& operand, std::int64_t pass_size) {
  target.dtype = operand.dtype;
  if (operand.is_immediate()) {
    target.data = const_cast<std::byte*>(operand.immediate.data());
    target.scalar = true;
    return;
  }
  target.data = operand.data();
  target.scalar = operand.size() == 1 && pass_size != 1;
  target.strides = operand.layout->is_contiguous() ? nullptr : operand.layout->strides().data();
}

ErrorKind kind_of_current_exception(std::string& message) {
  try {
    throw;
  } catch (const Error& error) {
    message = error.what();
    return error.kind();
  } catch (const std::bad_alloc&) {
    message = "out of memory";
    return ErrorKind::memory;
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an exception of unknown type";
  }
  return ErrorKind::mxnet;
}

}  // namespace

bool CallRun::skip_poisoned() {
  const std::shared_ptr<Failure>* poison = nullptr;
  for (const Operand& input : call_.inputs) {
    if (!input.is_immediate() && input.storage->failure && !poison)
      poison = &input.storage->failure;
  }
  if (!poison) return false;
  for (Operand& output : call_.outputs) {
    // The storage may be the poisoned input itself (an in-place call): keep the failure alive.
    const std::shared_ptr<Failure> failure = *poison;
    output.storage->failure = failure;
  }
  return true;
}

void CallRun::prepare_elementwise() {
  kernels::ElementwisePass& pass = elementwise_;
  const Operand& output = call_.outputs[0];
  pass.function = call_.function;
  pass.compute = call_.compute;
  pass.produced = kernels::produced_type(*call_.op->formula, call_.compute);
  pass.size = output.size();
  pass.rank = output.layout->rank();
  pass.shape = output.layout->shape().data();
  pass.inputs_used = static_cast<int>(call_.inputs.size());
  for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
    set_operand(pass.inputs[i], call_.inputs[i], pass.size);
  }
  set_operand(pass.output, output, pass.size);
  pass.output.scalar = false;
}

int CallRun::prepare() noexcept {
  try {
    if (skip_poisoned()) {
      failed_ = true;
      return 0;
    }
    if (call_.injected_failure) throw Error(*call_.injected_failure, "a failure was injected");
    for (Operand& output : call_.outputs) output.storage->take_buffer();
    if (call_.op->formula) {
      prepare_elementwise();
      return elementwise_.size ? kernels::share_count(elementwise_) : 0;
    }
    pass_ = call_.op->kernel(call_);
    return pass_->shares();
  } catch (...) {
    fail();
    return 0;
  }
}

void CallRun::run(int share) noexcept {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    if (pass_) {
      pass_->run(share);
    } else {
      kernels::run_share(elementwise_, share);
    }
  } catch (...) {
    fail();
  }
}

void CallRun::finish() noexcept {
  if (failed_) return;
  try {
    if (pass_) pass_->finish();
    for (Operand& output : call_.outputs) {
      // A partial write leaves the rest of a poisoned storage poisoned; a full one heals it.
      if (call_.overwrites && output.storage->failure) output.storage->failure.reset();
    }
  } catch (...) {
    fail();
  }
}

void CallRun::fail() noexcept {
  if (failed_.exchange(true)) return;
  auto failure = std::make_shared<Failure>();
  std::string message;
  failure->kind = kind_of_current_exception(message);
  failure->message = "[" + std::string(call_.op->name) + "] " + message;
  if (call_.inputs.size()) failure->message += "; inputs: " + describe_inputs(call_);
  failure->site = std::move(call_.site);
  failure->sequence = call_.sequence;
  for (Operand& output : call_.outputs) output.storage->failure = failure;
  log_.add(std::move(failure));
}

void run_call(Call& call, FailureLog& log) noexcept {
  CallRun run(call, log);
  const int shares = run.prepare();
  for (int share = 0; share < shares; ++share) run.run(share);
  run.finish();
}

}  // namespace afterglow::lazy
