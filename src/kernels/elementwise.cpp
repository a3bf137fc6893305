// SPDX-License-Identifier: Apache-2.0
// Contiguous operands of the kernel's own type go to it directly; every other pass is a program of
// one step.
#include "kernels/elementwise.h"

#include <algorithm>

#include "kernels/plan.h"
#include "kernels/prefetch.h"
#include "kernels/stores.h"
#include "kernels/table.h"
#include "kernels/tiles.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {

/// Up to so many elements, filling a block from a scalar is cheaper than finding another kernel.
constexpr std::int64_t tiny_size = 64;

bool contiguous(const Operand& operand, int rank, const std::int64_t* shape) {
  return !operand.strides || is_contiguous(rank, shape, operand.strides);
}

/// Passes only carry kernels of the table.
Formula formula_of(BlockFunction function, DType compute) {
  const KernelTable& table = kernel_table();
  int formula = 0;
  while (table.formulas[formula][static_cast<int>(compute)] != function) ++formula;
  return static_cast<Formula>(formula);
}

/// One element of the compute type, and as many copies of it as are asked for.
class ScalarInput {
 public:
  const void* convert(const Operand& operand, DType compute) {
    if (operand.dtype == compute) return operand.data;
    cast_function(operand.dtype, compute)(operand.data, block_, 1);
    return block_;
  }
  const void* fill(const Operand& operand, DType compute, std::int64_t count) {
    const void* value = convert(operand, compute);
    switch (size_of(compute)) {
      case 1:
        return fill_words<std::uint8_t>(value, count);
      case 4:
        return fill_words<std::uint32_t>(value, count);
      default:
        return fill_words<std::uint64_t>(value, count);
    }
  }

 private:
  template <class Word>
  const void* fill_words(const void* value, std::int64_t count) {
    std::fill_n(reinterpret_cast<Word*>(block_), count, *static_cast<const Word*>(value));
    return block_;
  }

  alignas(64) unsigned char block_[block_size * 8];
};

/// Without any layout to work out: true when every operand is a contiguous run or a scalar and has
/// the kernel's type. Runs elements [begin, end).
bool run_linear(const ElementwisePass& pass, std::int64_t begin, std::int64_t end) {
  unsigned scalars = 0;
  for (int i = 0; i < pass.inputs_used; ++i) {
    const Operand& input = pass.inputs[i];
    if (input.scalar)
      scalars |= 1u << i;
    else if (input.dtype != pass.compute || !contiguous(input, pass.rank, pass.shape))
      return false;
  }
  if (pass.output.dtype != pass.produced || !contiguous(pass.output, pass.rank, pass.shape))
    return false;

  BlockFunction function = pass.function;
  bool fills = scalars != 0;
  if (fills && end - begin > tiny_size) {
    const BlockFunction other =
        block_function(formula_of(pass.function, pass.compute), pass.compute, scalars);
    fills = !other;
    if (other) function = other;
  }
  const std::size_t compute_size = size_of(pass.compute);
  const std::size_t produced_size = size_of(pass.produced);
  bool in_place = false;
  for (int i = 0; i < pass.inputs_used; ++i) in_place |= pass.inputs[i].data == pass.output.data;
  const bool to_memory_only = is_far_result(pass.size) && !in_place;
  const ShareStores stores(to_memory_only ? (end - begin) * produced_size : 0);
  const bool far = pass.size >= far_size;
  const bool in_blocks = fills || far || stores.around_caches();
  const std::int64_t step = in_blocks ? block_size : end - begin;
  const void* inputs[max_inputs];
  ScalarInput scalar[max_inputs];
  for (int i = 0; i < pass.inputs_used; ++i) {
    if (!pass.inputs[i].scalar) continue;
    inputs[i] = fills ? scalar[i].fill(pass.inputs[i], pass.compute, std::min(step, end - begin))
                      : scalar[i].convert(pass.inputs[i], pass.compute);
  }
  alignas(64) char block[block_size * 8];
  for (std::int64_t position = begin; position < end; position += step) {
    char* output = static_cast<char*>(pass.output.data) + position * produced_size;
    const std::int64_t ahead = far ? std::min(step, end - position - step) : 0;
    for (int i = 0; i < pass.inputs_used; ++i) {
      if (pass.inputs[i].scalar) continue;
      const char* input = static_cast<const char*>(pass.inputs[i].data) + position * compute_size;
      inputs[i] = input;
      if (ahead > 0) prefetch(input + step * compute_size, ahead * compute_size, false);
    }
    const std::int64_t count = std::min(step, end - position);
    if (stores.around_caches()) {
      function(inputs, block, count);
      kernel_table().stream(block, output, count * produced_size);
      continue;
    }
    if (ahead > 0) prefetch(output + step * produced_size, ahead * produced_size, true);
    function(inputs, output, count);
  }
  return true;
}

/// Small passes come often: a thread keeps what it needs to plan them.
void run_program(const ElementwisePass& pass, int share) {
  static thread_local Program program;
  static thread_local Plan plan;
  program.rank = pass.rank;
  program.shape = pass.shape;
  program.size = pass.size;
  program.operands_used = pass.inputs_used + 1;
  program.operands[0] = pass.output;
  program.steps_used = 1;
  Step& step = program.steps[0];
  step.formula = formula_of(pass.function, pass.compute);
  step.compute = pass.compute;
  step.dtype = pass.produced;
  step.inputs_used = static_cast<std::int8_t>(pass.inputs_used);
  step.output = 0;
  for (int i = 0; i < pass.inputs_used; ++i) {
    program.operands[i + 1] = pass.inputs[i];
    step.inputs[i].index = static_cast<std::int8_t>(i + 1);
  }
  plan.prepare(program);
  run_tiles(plan, share_count(pass), share);
}

}  // namespace

BlockFunction block_function(Formula formula, DType compute) {
  return kernel_table().formulas[static_cast<int>(formula)][static_cast<int>(compute)];
}

DType produced_type(Formula formula, DType compute) {
  return kernel_table().produces_boolean[static_cast<int>(formula)] ? DType::boolean : compute;
}

int input_count(Formula formula) {
  return kernel_table().input_counts[static_cast<int>(formula)];
}

int share_count(const ElementwisePass& pass) {
  return static_cast<int>(std::max<std::int64_t>(1, divide_up(pass.size, share_size)));
}

void run_share(const ElementwisePass& pass, int share) {
  const std::int64_t begin = share * share_size;
  const std::int64_t end = std::min(pass.size, begin + share_size);
  if (begin >= end || run_linear(pass, begin, end)) return;
  run_program(pass, share);
}

}  // namespace afterglow::kernels
