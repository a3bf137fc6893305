// SPDX-License-Identifier: Apache-2.0
#include "lazy/run.h"

#include <exception>
#include <new>

#include "engine/engine.h"
#include "lazy/composing.h"
#include "lazy/passes/reuse.h"

namespace afterglow::lazy {
namespace {

ErrorKind kind_of(const std::exception_ptr& exception, std::string& message) {
  try {
    std::rethrow_exception(exception);
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

kernels::Operand kernel_operand(const Operand& operand, std::int64_t pass_size) {
  kernels::Operand result;
  result.dtype = operand.dtype;
  if (operand.is_immediate()) {
    result.data = const_cast<std::byte*>(operand.immediate.data());
    result.scalar = true;
    return result;
  }
  result.data = operand.data();
  result.scalar = operand.size() == 1 && pass_size != 1;
  result.strides = operand.layout->is_contiguous() ? nullptr : operand.layout->strides().data();
  return result;
}

void heal(const Call& call) {
  for (const Operand& output : call.outputs) {
    // A partial write leaves the rest of a poisoned storage poisoned; a full one heals it.
    if (call.overwrites && output.storage->failure) output.storage->failure.reset();
  }
}

bool CallRun::skip_poisoned() {
  const std::shared_ptr<Failure>* poison = nullptr;
  for (const Operand& input : call_.inputs) {
    if (!input.is_immediate() && input.storage->failure && !poison)
      poison = &input.storage->failure;
  }
  if (!poison) {
    for (const Operand& input : call_.inputs) check_value(input);
    return false;
  }
  for (Operand& output : call_.outputs) {
    // The storage may be the poisoned input itself (an in-place call): keep the failure alive.
    const std::shared_ptr<Failure> failure = *poison;
    output.storage->failure = failure;
  }
  return true;
}

void CallRun::prepare_elementwise(const RunTerms& terms, const Dying& dying) {
  kernels::ElementwisePass& pass = elementwise_;
  Operand& output = call_.outputs[0];
  pass.function = call_.function;
  pass.compute = call_.compute;
  pass.produced = kernels::produced_type(call_.formula, call_.compute);
  pass.size = output.size();
  pass.rank = output.layout->rank();
  pass.shape = output.layout->shape().data();
  pass.inputs_used = static_cast<int>(call_.inputs.size());
  // The inputs first, since a donor has no buffer any more once it has given it away.
  for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
    pass.inputs[i] = kernel_operand(call_.inputs[i], pass.size);
  }
  Storage* donor = nullptr;
  if (terms.reuse && !dying.empty()) {
    Call* const group[] = {&call_};
    donor = donors(group, dying)[0];
  }
  if (donor) {
    output.storage->adopt_buffer(*donor);
  } else {
    output.storage->take_buffer();
  }
  pass.output = kernel_operand(output, pass.size);
  pass.output.scalar = false;
}

int CallRun::prepare(const RunTerms& terms, const Dying& dying) noexcept {
  log_ = &terms.log;
  try {
    // Rows of an aggregate are poisoned each by itself, which its kernel sees to.
    if (!call_.aggregate && skip_poisoned()) {
      failed_ = true;
      tell_host();
      return 0;
    }
    if (call_.injected_failure) throw Error(*call_.injected_failure, "a failure was injected");
    try {
      if (call_.is_elementwise()) {
        prepare_elementwise(terms, dying);
        return elementwise_.size ? kernels::share_count(elementwise_) : 0;
      }
      for (Operand& output : call_.outputs) output.storage->take_buffer();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory && !terms.must) return engine::not_now;
      throw;
    }
    pass_ = call_.op->kernel(call_);
    return pass_->shares();
  } catch (...) {
    fail();
    tell_host();
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
    heal(call_);
  } catch (...) {
    fail();
  }
}

/// Others may wait for what the host would have done.
void CallRun::tell_host() noexcept {
  if (call_.host) call_.host->skip(call_.outputs[0].storage->failure->message);
}

void CallRun::fail() noexcept {
  if (!failed_.exchange(true)) fail_with_current_exception(call_, *log_);
}

std::shared_ptr<Failure> poison(Call& call, const std::exception_ptr& reason) {
  auto failure = std::make_shared<Failure>();
  std::string message;
  failure->kind = kind_of(reason, message);
  failure->message = named(*call.op, call.outer) + message;
  if (call.inputs.size()) failure->message += "; inputs: " + describe_inputs(call);
  failure->site = std::move(call.site);
  failure->layer = call.layer;
  failure->sequence = call.sequence;
  for (Operand& output : call.outputs) output.storage->failure = failure;
  return failure;
}

void fail_with_current_exception(Call& call, FailureLog& log) noexcept {
  log.add(poison(call, std::current_exception()));
}

void run_call(Call& call, const RunTerms& terms) noexcept {
  CallRun run(call);
  const int shares = run.prepare(terms, {});
  for (int share = 0; share < shares; ++share) run.run(share);
  run.finish();
}

}  // namespace afterglow::lazy
