// SPDX-License-Identifier: Apache-2.0
#include "kernels/plan.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/planner.h"

namespace afterglow::kernels {

namespace {

constexpr std::int64_t row_tile_size = 2 * block_size;  ///< of tiles that hold whole rows
constexpr std::int64_t tile_size = 2 * block_size;      ///< of all others, at most
constexpr std::int64_t transposed_side = 32;
static_assert(transposed_side * transposed_side <= block_size);
constexpr std::int64_t line = 64;
constexpr std::int64_t largest_element = 8;
/// A step converts and gathers each input, and leaves what it produces and its value.
constexpr int most_values = most_steps * (2 * max_inputs + 2);

std::int64_t round_up(std::int64_t bytes) {
  return divide_up(bytes, line) * line;
}

bool folds_rows(const Program& program) {
  for (int i = 0; i < program.steps_used; ++i)
    if (program.steps[i].kind == Step::Kind::fold || program.steps[i].per_row) return true;
  return false;
}

/// The stride of dimensions [begin, end), which join.
std::int64_t joined_stride(int begin, int end, const std::int64_t* shape,
                           const std::int64_t* strides) {
  for (int dimension = end - 1; dimension >= begin; --dimension)
    if (shape[dimension] != 1) return strides[dimension];
  return 0;
}

void lay_out(const Program& program, Plan& plan) {
  static constexpr std::int64_t no_strides[max_rank] = {};
  std::int64_t contiguous_strides[max_rank];
  set_contiguous_strides(program.rank, program.shape, contiguous_strides);
  const std::int64_t* strides[most_operands];
  for (int i = 0; i < program.operands_used; ++i) {
    const Operand& operand = program.operands[i];
    strides[i] = operand.scalar    ? no_strides
                 : operand.strides ? operand.strides
                                   : contiguous_strides;
  }
  JointView<most_operands>& view = plan.view;
  if (program.split < 0) {
    view.join(program.rank, program.shape, program.operands_used, strides);
    return;
  }
  view.rank = 2;
  view.operands = program.operands_used;
  view.shape[0] = view.shape[1] = 1;
  for (int i = 0; i < program.rank; ++i) view.shape[i < program.split ? 0 : 1] *= program.shape[i];
  for (int i = 0; i < program.operands_used; ++i) {
    view.strides[i][0] = joined_stride(0, program.split, program.shape, strides[i]);
    view.strides[i][1] = joined_stride(program.split, program.rank, program.shape, strides[i]);
  }
}

/// Tiles are rows along one dimension by columns along the last one.
void choose_tiles(Plan& plan, bool folds) {
  const JointView<most_operands>& view = plan.view;
  const int last = view.rank - 1;
  const std::int64_t width = view.shape[last];
  plan.row_dimension = std::max(0, last - 1);
  plan.tile_rows = 1;
  plan.pieces = false;
  if (folds) {
    plan.pieces = width > longest_row;
    plan.tile_columns = plan.pieces ? block_size : width;
    if (!plan.pieces)
      plan.tile_rows =
          std::min(view.shape[0], std::clamp<std::int64_t>(row_tile_size / width, 1, block_size));
    return;
  }
  // Where an operand runs along another dimension than the last, square tiles share cache lines.
  for (int i = 0; i < view.operands; ++i) {
    if (std::abs(view.strides[i][last]) <= 1) continue;
    for (int dimension = 0; dimension < last; ++dimension) {
      if (view.strides[i][dimension] != 1 || std::min(view.shape[dimension], width) < 8) continue;
      plan.row_dimension = dimension;
      plan.tile_rows = std::min(view.shape[dimension], transposed_side);
      plan.tile_columns = std::min(width, transposed_side);
      return;
    }
  }
  if (width > tile_size) {
    const std::int64_t pieces = divide_up(width, tile_size);
    plan.tile_columns = std::min(divide_up(divide_up(width, pieces), 64) * 64, tile_size);
  } else {
    plan.tile_columns = width;
    if (view.rank > 1) plan.tile_rows = std::min(tile_size / width, view.shape[plan.row_dimension]);
  }
}

/// Gives registers to slots by a scan over the instructions: a dead value's register is free, and
/// a kernel may write over an input that dies there.
class Registers {
 public:
  explicit Registers(Plan& plan) : plan_(plan) {}

  void assign() {
    find_last_uses();
    sizes_[0] = round_up(tile_size * largest_element);
    sizes_[1] = round_up(std::max(block_size, plan_.tile_rows * plan_.tile_columns) *
                         largest_tile_element());
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      release_inputs(i, true);
      if (instruction.output >= 0) {
        Slot& output = plan_.slots[instruction.output];
        if (output.kind == Slot::Kind::block && output.offset < 0) output.offset = take(output);
        if (output.last_use <= static_cast<int>(i)) release(output);
      }
      release_inputs(i, false);
    }
    for (Slot& slot : plan_.slots) {
      if (slot.kind == Slot::Kind::constant) slot.offset = extend(sizes_[1]);
      if (slot.kind == Slot::Kind::scalar) slot.offset = extend(line);
    }
    plan_.raw_offset = extend(sizes_[1]);
    plan_.partials_offset = extend(round_up(block_size * sizeof(Partial)));
    plan_.scratch_size = end_;
  }

 private:
  void find_last_uses() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i)
      for (int k = 0; k < plan_.instructions[i].inputs_used; ++k)
        plan_.slots[plan_.instructions[i].inputs[k]].last_use = static_cast<std::int16_t>(i);
  }

  std::int64_t largest_tile_element() const {
    std::size_t largest = 1;
    for (const Slot& slot : plan_.slots) largest = std::max(largest, size_of(slot.dtype));
    return static_cast<std::int64_t>(largest);
  }

  /// Offsets of registers that are free.
  struct FreeList {
    int count = 0;
    std::int64_t offsets[most_values];
  };
  FreeList& free_of(const Slot& slot) { return free_[slot.extent == Extent::tile ? 1 : 0]; }
  std::int64_t extend(std::int64_t bytes) {
    end_ += bytes;
    return end_ - bytes;
  }
  std::int64_t take(const Slot& slot) {
    FreeList& free = free_of(slot);
    if (free.count == 0) return extend(sizes_[slot.extent == Extent::tile ? 1 : 0]);
    return free.offsets[--free.count];
  }
  void release(const Slot& slot) {
    if (slot.kind != Slot::Kind::block) return;
    FreeList& free = free_of(slot);
    free.offsets[free.count++] = slot.offset;
  }
  /// Inputs that die at instruction i: those the output may be written over, or the others.
  void release_inputs(std::size_t i, bool overwritable) {
    const Instruction& instruction = plan_.instructions[i];
    for (int k = 0; k < instruction.inputs_used; ++k) {
      const int input = instruction.inputs[k];
      const Slot& slot = plan_.slots[input];
      if (slot.last_use != static_cast<int>(i)) continue;
      if (std::find(instruction.inputs, instruction.inputs + k, input) != instruction.inputs + k)
        continue;
      const bool fits = instruction.kind == Instruction::Kind::formula &&
                        size_of(slot.dtype) == size_of(plan_.slots[instruction.output].dtype);
      if (fits == overwritable) release(slot);
    }
  }

  Plan& plan_;
  std::int64_t sizes_[2];
  FreeList free_[2];
  std::int64_t end_ = 0;
};

}  // namespace

void Plan::prepare(const Program& program) {
  operands_used = program.operands_used;
  size = program.size;
  folds = 0;
  slots.clear();
  instructions.clear();
  streams.clear();
  bytes_to_memory = 0;
  std::copy_n(program.operands, operands_used, operands);
  lay_out(program, *this);
  choose_tiles(*this, folds_rows(program));
  Planner(program, *this).plan_steps();
  Registers(*this).assign();
}

}  // namespace afterglow::kernels
