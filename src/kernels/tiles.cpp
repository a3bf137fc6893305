// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles.h"

#include <algorithm>

#include "kernels/folding.h"
#include "kernels/prefetch.h"
#include "kernels/scratch.h"
#include "kernels/stores.h"

namespace afterglow::kernels {

namespace {

/// Elements: lines that are not written as a whole cost more than they spare.
constexpr std::int64_t shortest_streamed_row = 512;

char* scratch_of_size(std::int64_t size) {
  static thread_local Scratch scratch;
  return scratch.of_size(size);
}

bool dense(const Matrix& matrix, std::int64_t rows, std::int64_t columns) {
  return (columns == 1 || matrix.column_stride == 1) && (rows == 1 || matrix.row_stride == columns);
}

char* row_of(const Matrix& matrix, std::int64_t row, std::int64_t element) {
  return static_cast<char*>(matrix.data) + row * matrix.row_stride * element;
}

}  // namespace

TileRunner::TileRunner(const Plan& plan, bool around_caches)
    : plan_(plan),
      scratch_(scratch_of_size(plan.scratch_size)),
      around_caches_(around_caches),
      partials_(reinterpret_cast<Partial*>(scratch_ + plan.partials_offset)) {
  for (const Slot& slot : plan.slots) {
    if (slot.kind != Slot::Kind::scalar && slot.kind != Slot::Kind::constant) continue;
    const Slot& origin = plan.slots[slot.origin];
    void* value = origin.kind == Slot::Kind::operand ? plan.operands[origin.operand].data
                                                     : scratch_ + origin.offset;
    void* target = scratch_ + slot.offset;
    if (slot.kind == Slot::Kind::scalar) {
      cast_function(origin.dtype, slot.dtype)(value, target, 1);
    } else {
      const std::int64_t count = std::max(block_size, plan.tile_rows * plan.tile_columns);
      move_function(slot.dtype)({value, 0, 0}, {target, count, 1}, 1, count);
    }
  }
}

/// A slot seen as a tile, or as one row of a value for each row of the tile.
Matrix TileRunner::matrix(int number, Extent seen) const {
  const Slot& slot = plan_.slots[number];
  const bool as_row = seen == Extent::row;
  if (slot.kind == Slot::Kind::operand) {
    char* data = tile_->data[slot.operand];
    if (slot.extent == Extent::one) return {data, 0, 0};
    const std::int64_t row_stride = plan_.row_stride(slot.operand);
    if (as_row) return {data, 0, row_stride};
    return {data, row_stride, slot.extent == Extent::row ? 0 : plan_.column_stride(slot.operand)};
  }
  char* data = scratch_ + slot.offset;
  if (slot.kind == Slot::Kind::scalar) return {data, 0, 0};
  if (slot.extent == Extent::row && !as_row) return {data, 1, 0};
  return {data, tile_->columns, 1};
}

char* TileRunner::address(int number) const {
  const Slot& slot = plan_.slots[number];
  return slot.kind == Slot::Kind::operand ? tile_->data[slot.operand] : scratch_ + slot.offset;
}

void TileRunner::run(const Tile& tile, bool goes_on) {
  tile_ = &tile;
  const std::int64_t slices = static_cast<std::int64_t>(plan_.instructions.size());
  for (std::int64_t i = 0; i < slices; ++i) {
    const Instruction& instruction = plan_.instructions[i];
    if (goes_on) prefetch_slice(i, slices);
    switch (instruction.kind) {
      case Instruction::Kind::convert:
        if (tile.starts_row || !instruction.once_per_row) convert(instruction);
        break;
      case Instruction::Kind::formula:
        apply(instruction);
        break;
      case Instruction::Kind::fold:
        fold(instruction);
        break;
    }
  }
}

/// Asks for a part of the next tile. All of it at once would only wait for itself: a core has few
/// requests under way at a time.
void TileRunner::prefetch_slice(std::int64_t slice, std::int64_t slices) const {
  const std::int64_t count = tile_->rows * tile_->columns;
  const std::int64_t begin = count * slice / slices, end = count * (slice + 1) / slices;
  for (const Plan::Stream& stream : plan_.streams) {
    if (around_caches_ && !stream.read) continue;
    const int operand = stream.operand;
    if (!dense({nullptr, plan_.row_stride(operand), plan_.column_stride(operand)}, tile_->rows,
               tile_->columns))
      continue;
    const std::int64_t element = static_cast<std::int64_t>(size_of(plan_.operands[operand].dtype));
    prefetch(tile_->data[operand] + (count + begin) * element, (end - begin) * element,
             stream.written);
  }
}

void TileRunner::convert(const Instruction& instruction) {
  const bool as_row = instruction.extent == Extent::row;
  const std::int64_t rows = as_row ? 1 : tile_->rows;
  const std::int64_t columns = as_row ? tile_->rows : tile_->columns;
  const DType from_type = plan_.slots[instruction.inputs[0]].dtype;
  const DType to_type = plan_.slots[instruction.output].dtype;
  Matrix from = matrix(instruction.inputs[0], instruction.extent);
  const Matrix to = matrix(instruction.output, instruction.extent);
  if (from_type == to_type) {
    if (around_caches_ && instruction.to_memory_only && to.column_stride == 1 &&
        columns >= shortest_streamed_row) {
      stream_rows(from, to, to_type, rows, columns);
    } else if (from.data != to.data) {
      move_function(to_type)(from, to, rows, columns);
    }
    return;
  }
  const CastFunction cast = cast_function(from_type, to_type);
  void* raw = scratch_ + plan_.raw_offset;
  if (from.column_stride != 1 && !dense(from, rows, columns)) {
    move_function(from_type)(from, {raw, columns, 1}, rows, columns);
    from = {raw, columns, 1};
  }
  if (dense(from, rows, columns) && dense(to, rows, columns)) {
    cast(from.data, to.data, rows * columns);
  } else if (to.column_stride == 1) {
    const std::int64_t from_size = static_cast<std::int64_t>(size_of(from_type));
    const std::int64_t to_size = static_cast<std::int64_t>(size_of(to_type));
    for (std::int64_t row = 0; row < rows; ++row)
      cast(row_of(from, row, from_size), row_of(to, row, to_size), columns);
  } else {
    // Here the value comes from a register: a plan never casts from one strided view to another.
    cast(from.data, raw, rows * columns);
    move_function(to_type)({raw, columns, 1}, to, rows, columns);
  }
}

/// Copies rows around the caches, by way of scratch memory where they do not lie in one piece.
void TileRunner::stream_rows(const Matrix& from, const Matrix& to, DType dtype, std::int64_t rows,
                             std::int64_t columns) const {
  const std::int64_t element = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t row = 0; row < rows; ++row) {
    char* source = row_of(from, row, element);
    if (from.column_stride != 1) {
      void* raw = scratch_ + plan_.raw_offset;
      move_function(dtype)({source, 0, from.column_stride}, {raw, 0, 1}, 1, columns);
      source = static_cast<char*>(raw);
    }
    kernel_table().stream(source, row_of(to, row, element), columns * element);
  }
}

void TileRunner::apply(const Instruction& instruction) {
  if (instruction.extent == Extent::tile && tile_->rows == 1) {  // every value is in one piece
    const void* data[max_inputs];
    for (int i = 0; i < instruction.inputs_used; ++i) data[i] = address(instruction.inputs[i]);
    char* output = address(instruction.output);
    if (!around_caches_ || !instruction.to_memory_only)
      return instruction.function(data, output, tile_->columns);
    void* raw = scratch_ + plan_.raw_offset;
    instruction.function(data, raw, tile_->columns);
    const DType dtype = plan_.slots[instruction.output].dtype;
    kernel_table().stream(raw, output, tile_->columns * static_cast<std::int64_t>(size_of(dtype)));
    return;
  }
  const bool as_row = instruction.extent == Extent::row;
  const std::int64_t rows = as_row ? 1 : tile_->rows;
  const std::int64_t columns = as_row ? tile_->rows : tile_->columns;
  Matrix inputs[max_inputs];
  const Matrix output = matrix(instruction.output, instruction.extent);
  bool whole = dense(output, rows, columns);
  const void* data[max_inputs];
  for (int i = 0; i < instruction.inputs_used; ++i) {
    inputs[i] = matrix(instruction.inputs[i], instruction.extent);
    data[i] = inputs[i].data;
    whole &= instruction.singles >> i & 1u ? rows == 1 || inputs[i].row_stride == 0
                                           : dense(inputs[i], rows, columns);
  }
  if (whole) return instruction.function(data, output.data, rows * columns);
  const std::int64_t input_size =
      static_cast<std::int64_t>(size_of(plan_.slots[instruction.inputs[0]].dtype));
  const std::int64_t output_size =
      static_cast<std::int64_t>(size_of(plan_.slots[instruction.output].dtype));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int i = 0; i < instruction.inputs_used; ++i) data[i] = row_of(inputs[i], row, input_size);
    instruction.function(data, row_of(output, row, output_size), columns);
  }
}

void TileRunner::fold(const Instruction& instruction) {
  const DType compute = plan_.slots[instruction.inputs[0]].dtype;
  const FoldFunctions& functions = fold_functions(instruction.reduction, compute);
  const Matrix input = matrix(instruction.inputs[0], Extent::tile);
  if (instruction.output < 0) {
    functions.rows(input.data, 1, 0, tile_->columns, &partials_[instruction.fold]);
    return;
  }
  std::fill_n(partials_, tile_->rows, functions.neutral);
  functions.rows(input.data, tile_->rows, input.row_stride, tile_->columns, partials_);
  write_totals(instruction.reduction, compute, plan_.columns(), partials_, tile_->rows,
               matrix(instruction.output, Extent::row).data, plan_.slots[instruction.output].dtype);
}

void run_tiles(const Plan& plan, int shares, int share) {
  const JointView<most_operands>& view = plan.view;
  const int last = view.rank - 1;

  // The grid of tiles: dimensions as they are, but in steps of rows and columns where tiled.
  std::int64_t steps[max_rank], counts[max_rank];
  std::int64_t tiles = 1;
  for (int dimension = 0; dimension < view.rank; ++dimension) {
    steps[dimension] = dimension == last                 ? plan.tile_columns
                       : dimension == plan.row_dimension ? plan.tile_rows
                                                         : 1;
    counts[dimension] = divide_up(view.shape[dimension], steps[dimension]);
    tiles *= counts[dimension];
  }
  const Range range = range_of(tiles, shares, share);
  if (range.begin == range.end) return;

  Odometer odometer(view.rank, counts, range.begin);
  const ShareStores stores(plan.bytes_to_memory / shares);
  TileRunner runner(plan, stores.around_caches());
  const bool far = plan.size >= far_size;
  Tile tile;
  for (std::int64_t number = range.begin; number < range.end; ++number, odometer.advance()) {
    const auto length = [&](int dimension) {
      return std::min(steps[dimension],
                      view.shape[dimension] - odometer.index[dimension] * steps[dimension]);
    };
    tile.columns = length(last);
    tile.rows = view.rank == 1 ? 1 : length(plan.row_dimension);
    for (int i = 0; i < plan.operands_used; ++i) {
      std::int64_t offset = 0;
      for (int dimension = 0; dimension < view.rank; ++dimension)
        offset += odometer.index[dimension] * steps[dimension] * view.strides[i][dimension];
      tile.data[i] = static_cast<char*>(plan.operands[i].data) +
                     offset * static_cast<std::int64_t>(size_of(plan.operands[i].dtype));
    }
    runner.run(tile, far && number + 1 < range.end);
  }
}

}  // namespace afterglow::kernels
