// SPDX-License-Identifier: Apache-2.0
// Contiguous operands of the kernel's own type go to it directly; every other pass is a program of
// one step.
#include "kernels/elementwise.h"

#include <algorithm>
#include <cstring>

#include "base/element_types.h"
#include "kernels/plan.h"
#include "kernels/prefetch.h"
#include "kernels/stores.h"
#include "kernels/table.h"
#include "kernels/tiles.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {

/// How many elements ahead memory is asked for.
constexpr std::int64_t far_distance = 1024;

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

/// A number all of whose bits are 0.
bool is_zero(const Operand& scalar) {
  constexpr unsigned char zeros[8] = {};
  return !std::memcmp(scalar.data, zeros, size_of(scalar.dtype));
}

/// A copy between two types needs nothing but the conversion.
CastFunction plain_cast(const ElementwisePass& pass) {
  const DType from = pass.inputs[0].dtype, to = pass.output.dtype;
  if (from == to || pass.inputs_used != 1 || pass.inputs[0].scalar ||
      (from != pass.compute && to != pass.compute) ||
      pass.function != block_function(Formula::copy, pass.compute))
    return nullptr;
  return cast_function(from, to);
}

/// Without any layout to work out: true when every operand is a contiguous run or a scalar and has
/// the kernel's type, or is merely converted. Runs elements [begin, end).
bool run_linear(const ElementwisePass& pass, std::int64_t begin, std::int64_t end) {
  const CastFunction cast = plain_cast(pass);
  unsigned scalars = 0;
  for (int i = 0; i < pass.inputs_used; ++i) {
    const Operand& input = pass.inputs[i];
    if (input.scalar)
      scalars |= 1u << i;
    else if ((input.dtype != pass.compute && !cast) || !contiguous(input, pass.rank, pass.shape))
      return false;
  }
  if ((pass.output.dtype != pass.produced && !cast) ||
      !contiguous(pass.output, pass.rank, pass.shape))
    return false;

  BlockFunction function = pass.function;
  bool fills = scalars != 0;
  if (fills && end - begin > tiny_size) {
    const BlockFunction other =
        block_function(formula_of(pass.function, pass.compute), pass.compute, scalars);
    fills = !other;
    if (other) function = other;
  }
  if (pass.inputs_used == 1 && scalars && !is_far_result(pass.size) && is_zero(pass.inputs[0]) &&
      pass.function == block_function(Formula::copy, pass.compute)) {
    const auto item = static_cast<std::int64_t>(size_of(pass.produced));
    std::memset(static_cast<char*>(pass.output.data) + begin * item, 0,
                static_cast<std::size_t>((end - begin) * item));
    return true;
  }
  const std::size_t input_size = size_of(cast ? pass.inputs[0].dtype : pass.compute);
  const std::size_t produced_size = size_of(pass.output.dtype);
  bool in_place = false;
  for (int i = 0; i < pass.inputs_used; ++i) in_place |= pass.inputs[i].data == pass.output.data;
  const bool to_memory_only = is_far_result(pass.size) && !in_place;
  const ShareStores stores(to_memory_only ? (end - begin) * produced_size : 0);
  const bool far = pass.size >= far_size;
  const bool in_steps = far || stores.around_caches();
  const std::int64_t step = in_steps ? far_step : fills ? block_size : end - begin;
  const void* inputs[max_inputs];
  ScalarInput scalar[max_inputs];
  for (int i = 0; i < pass.inputs_used; ++i) {
    if (!pass.inputs[i].scalar) continue;
    inputs[i] = fills ? scalar[i].fill(pass.inputs[i], pass.compute, std::min(step, end - begin))
                      : scalar[i].convert(pass.inputs[i], pass.compute);
  }
  const auto run = [&](void* target, std::int64_t count) {
    if (cast)
      cast(inputs[0], target, count);
    else
      function(inputs, target, count);
  };
  alignas(64) char block[far_step * 8];
  for (std::int64_t position = begin; position < end; position += step) {
    char* output = static_cast<char*>(pass.output.data) + position * produced_size;
    const std::int64_t ahead = far ? std::min(step, end - position - far_distance) : 0;
    for (int i = 0; i < pass.inputs_used; ++i) {
      if (pass.inputs[i].scalar) continue;
      const char* input = static_cast<const char*>(pass.inputs[i].data) + position * input_size;
      inputs[i] = input;
      if (ahead > 0) prefetch(input + far_distance * input_size, ahead * input_size, false);
    }
    const std::int64_t count = std::min(step, end - position);
    if (stores.around_caches()) {
      run(block, count);
      kernel_table().stream(block, output, count * produced_size);
      continue;
    }
    if (ahead > 0) prefetch(output + far_distance * produced_size, ahead * produced_size, true);
    run(output, count);
  }
  return true;
}

/// Up to so many elements, gathering them is cheaper than planning a walk over them.
constexpr std::int64_t gathered_size = 256;

/// Where the elements of an operand lie, one after another.
void list_offsets(const ElementwisePass& pass, const std::int64_t* strides, std::int64_t* offsets) {
  std::int64_t count = 1;
  offsets[0] = 0;
  for (int axis = 0; axis < pass.rank; ++axis) {
    const std::int64_t extent = pass.shape[axis], stride = strides[axis];
    // Backwards, for the list grows in its own place.
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const std::int64_t start = offsets[i];
      for (std::int64_t k = extent - 1; k >= 0; --k) offsets[i * extent + k] = start + k * stride;
    }
    count *= extent;
  }
}

/// Copies of float16 keep every bit, which a way through the compute type does not.
bool has_halves(const ElementwisePass& pass) {
  bool found = pass.output.dtype == DType::float16;
  for (int i = 0; i < pass.inputs_used; ++i) found |= pass.inputs[i].dtype == DType::float16;
  return found;
}

/// A few elements anywhere, of any type: gathered, computed in one block, and put in their places.
void run_gathered(const ElementwisePass& pass) {
  alignas(64) unsigned char values[max_inputs][gathered_size * 8], raw[gathered_size * 8];
  std::int64_t offsets[gathered_size];
  const void* inputs[max_inputs];
  const std::int64_t count = pass.size;
  for (int i = 0; i < pass.inputs_used; ++i) {
    const Operand& input = pass.inputs[i];
    const bool is_own_type = input.dtype == pass.compute;
    const bool is_run = !input.scalar && contiguous(input, pass.rank, pass.shape);
    inputs[i] = is_run && is_own_type ? input.data : values[i];
    if (inputs[i] == input.data) continue;
    const void* source = input.data;
    if (!is_run) {
      if (input.scalar)
        std::fill_n(offsets, count, 0);
      else
        list_offsets(pass, input.strides, offsets);
      unsigned char* const target = is_own_type ? values[i] : raw;
      with_word(size_of(input.dtype), [&]<class Word>(Word) {
        for (std::int64_t k = 0; k < count; ++k)
          reinterpret_cast<Word*>(target)[k] = static_cast<const Word*>(input.data)[offsets[k]];
      });
      source = target;
    }
    if (!is_own_type) cast_function(input.dtype, pass.compute)(source, values[i], count);
  }
  const Operand& output = pass.output;
  const bool is_run = contiguous(output, pass.rank, pass.shape);
  if (is_run && output.dtype == pass.produced) return pass.function(inputs, output.data, count);
  alignas(64) unsigned char results[gathered_size * 8];
  pass.function(inputs, results, count);
  const unsigned char* source = results;
  if (output.dtype != pass.produced) {
    void* const converted = is_run ? output.data : raw;
    cast_function(pass.produced, output.dtype)(results, converted, count);
    if (is_run) return;
    source = raw;
  }
  list_offsets(pass, output.strides, offsets);
  with_word(size_of(output.dtype), [&]<class Word>(Word) {
    for (std::int64_t k = 0; k < count; ++k)
      static_cast<Word*>(output.data)[offsets[k]] = reinterpret_cast<const Word*>(source)[k];
  });
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
  if (pass.size <= gathered_size && !has_halves(pass)) return run_gathered(pass);
  run_program(pass, share);
}

}  // namespace afterglow::kernels
