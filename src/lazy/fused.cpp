// SPDX-License-Identifier: Apache-2.0
#include "lazy/fused.h"

#include <algorithm>
#include <cstring>

#include "engine/engine.h"
#include "lazy/passes/fuse.h"

namespace afterglow::lazy {
namespace {

using kernels::Source;
using kernels::Step;

bool leads_with_product(std::span<Call* const> calls) {
  return calls[0]->op->kernel_then && !calls[0]->is_elementwise();
}

/// Which results somebody reads after the group: all but those that die with it, and those that a
/// later member overwrites.
std::vector<bool> results_to_store(std::span<Call* const> calls, const Dying& dying) {
  std::vector<bool> stored(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Operand& output = calls[i]->outputs[0];
    stored[i] = !dying.contains(*output.storage);
    for (std::size_t later = i + 1; stored[i] && later < calls.size(); ++later) {
      stored[i] = !same_view(calls[later]->outputs[0], output);
    }
  }
  return stored;
}

}  // namespace

const Layout& FusedRun::space() const {
  const Call& first = *calls_[0];
  return first.op->reduction ? *first.inputs[0].layout : *first.outputs[0].layout;
}

bool FusedRun::is_poisoned() const {
  for (const Call* call : calls_) {
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate() && input.storage->failure) return true;
    }
  }
  return false;
}

bool FusedRun::is_per_row(const Call& call) const {
  return call.is_elementwise() && !same_shape(*call.outputs[0].layout, space());
}

int FusedRun::add_operand(const kernels::Operand& operand) {
  program_.operands[program_.operands_used] = operand;
  return program_.operands_used++;
}

/// The same view, or an equal number, is loaded once.
int FusedRun::add_input(const kernels::Operand& operand) {
  for (const int index : loaded_) {
    const kernels::Operand& other = program_.operands[index];
    if (other.dtype != operand.dtype || other.scalar != operand.scalar) continue;
    const bool equal = operand.scalar
                           ? !std::memcmp(other.data, operand.data, size_of(operand.dtype))
                           : other.data == operand.data && other.strides == operand.strides;
    if (equal) return index;
  }
  return loaded_.emplace_back(add_operand(operand));
}

kernels::Operand FusedRun::row_operand(const Operand& operand) const {
  kernels::Operand result = kernel_operand(operand, program_.size);
  if (!result.scalar) result.strides = row_strides_.data();
  return result;
}

bool FusedRun::made_before(const Call& reader, const Operand& input) const {
  return std::ranges::any_of(calls_, [&](const Call* call) {
    return call != &reader && call->outputs[0].storage.get() == input.storage.get();
  });
}

/// The value of an earlier member where it wrote the input, else memory.
Source FusedRun::source_of(std::size_t reader, const Operand& input) {
  if (!input.is_immediate()) {
    for (std::size_t i = reader; i-- > 0;) {
      const Operand& written = calls_[i]->outputs[0];
      if (written.storage.get() != input.storage.get() || !may_overlap(written, input)) continue;
      if (i == 0 && leads_with_product(calls_)) break;  // a product leaves its result in memory
      const std::size_t step = i - (leads_with_product(calls_) ? 1 : 0);
      return {Source::Kind::step, static_cast<std::int8_t>(step)};
    }
  }
  check_value(input);
  const bool per_row = is_per_row(*calls_[reader]);
  const int index = add_input(per_row ? row_operand(input) : kernel_operand(input, program_.size));
  return {Source::Kind::operand, static_cast<std::int8_t>(index)};
}

/// All buffers of the group, before anything is written.
void FusedRun::take_buffers(const std::vector<bool>& stored, const std::vector<Storage*>& donors) {
  std::vector<Storage*> taken;
  try {
    const auto take = [&](Storage& storage) {
      if (storage.data()) return;
      storage.take_buffer();
      taken.push_back(&storage);
    };
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto& outputs = calls_[i]->outputs;
      if (stored[i] && !donors[i]) take(*outputs[0].storage);
      // Those that a product has beside the one that is handed on.
      for (std::size_t other = 1; other < outputs.size(); ++other) take(*outputs[other].storage);
    }
  } catch (...) {
    for (Storage* storage : taken) storage->release_buffer();
    throw;
  }
}

void FusedRun::build(const RunTerms& terms, const Dying& dying) {
  const Layout& space = this->space();
  const bool product = leads_with_product(calls_);
  program_.rank = space.rank();
  program_.shape = space.shape().data();
  program_.size = space.size();
  program_.split = product ? calls_[0]->row_axes : -1;
  for (const Call* call : calls_) {
    if (call->op->reduction) program_.split = split_of_reduction(*call);
  }
  if (program_.split >= 0) {
    row_strides_.assign(static_cast<std::size_t>(space.rank()), 0);
    std::int64_t stride = 1;
    for (int axis = program_.split - 1; axis >= 0; --axis) {
      row_strides_[static_cast<std::size_t>(axis)] = stride;
      stride *= space.shape()[axis];
    }
  }

  const std::vector<bool> stored = results_to_store(calls_, dying);
  std::vector<Storage*> given(calls_.size(), nullptr);
  if (terms.reuse) given = donors(calls_, dying);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (!stored[i]) given[i] = nullptr;
  }
  std::vector<bool> in_memory = stored;
  if (product) in_memory[0] = true;  // parts of it are handed on there
  take_buffers(in_memory, given);

  if (product) {
    for (const Operand& input : calls_[0]->inputs) check_value(input);
    product_ = calls_[0]->op->kernel_then(
        *calls_[0], [this](std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                           std::int64_t column_end) {
          pass_->run_region(row_begin, row_end, column_begin, column_end);
        });
  }
  for (std::size_t i = product ? 1 : 0; i < calls_.size(); ++i) {
    const Call& call = *calls_[i];
    Step& step = program_.steps[program_.steps_used++];
    const Operand& output = call.outputs[0];
    step.kind = call.op->reduction ? Step::Kind::fold : Step::Kind::formula;
    step.per_row = is_per_row(call);
    step.dtype = output.dtype;
    if (call.op->reduction) {
      const DType dtype = call.inputs[0].dtype;
      step.reduction = *call.op->reduction;
      step.compute = dtype == DType::float16 ? DType::float32 : dtype;
    } else {
      step.formula = call.formula;
      step.compute = call.compute;
    }
    step.inputs_used = static_cast<std::int8_t>(call.inputs.size());
    for (std::size_t k = 0; k < call.inputs.size(); ++k) {
      step.inputs[k] = source_of(i, call.inputs[k]);
    }
    if (!stored[i]) continue;
    const bool one_per_row = step.per_row || step.kind == Step::Kind::fold;
    kernels::Operand target = kernel_operand(output, program_.size);
    if (given[i]) target.data = given[i]->data();
    target.scalar = false;
    if (one_per_row) target.strides = row_strides_.data();
    step.output = static_cast<std::int8_t>(add_operand(target));
  }
  pass_.emplace(program_);
  // Nothing can fail any more: now buffers change hands.
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (given[i]) calls_[i]->outputs[0].storage->adopt_buffer(*given[i]);
  }
}

/// Of the results on the way only those take memory that somebody reads later.
void FusedRun::build_rows(const RunTerms& terms, const Dying& dying, RowChain chain) {
  std::vector<bool> stored = results_to_store(calls_, dying);
  stored.back() = true;
  for (const Call* call : {calls_.front(), calls_.back()}) {
    for (const Operand& input : call->inputs) {
      if (!made_before(*call, input)) check_value(input);
    }
  }
  take_buffers(stored, std::vector<Storage*>(calls_.size(), nullptr));
  product_ = std::make_unique<RowChainPass>(calls_, std::move(chain), stored, terms.threads);
}

int FusedRun::prepare(const RunTerms& terms, const Dying& dying) noexcept {
  log_ = &terms.log;
  try {
    if (!is_poisoned()) {
      if (std::optional<RowChain> chain = row_chain(calls_))
        build_rows(terms, dying, std::move(*chain));
      else
        build(terms, dying);
      return product_ ? product_->shares() : pass_->shares();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory && !terms.must) return engine::not_now;
  } catch (const std::exception&) {
    // Each call reports for itself below.
  }
  one_by_one_ = true;
  return 1;
}

void FusedRun::run(int share) noexcept {
  if (one_by_one_) {
    for (Call* call : calls_) run_call(*call, {*log_});
    return;
  }
  try {
    if (product_) {
      product_->run(share);
    } else {
      pass_->run(share);
    }
  } catch (...) {
    fail();
  }
}

void FusedRun::finish() noexcept {
  if (one_by_one_ || failed_) return;
  try {
    if (product_) {
      product_->finish();
    } else {
      pass_->finish();
    }
    for (const Call* call : calls_) heal(*call);
  } catch (...) {
    fail();
  }
}

void FusedRun::fail() noexcept {
  if (failed_.exchange(true)) return;
  for (Call* call : calls_) fail_with_current_exception(*call, *log_);
}

}  // namespace afterglow::lazy
