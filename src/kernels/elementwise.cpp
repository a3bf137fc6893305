// SPDX-License-Identifier: Apache-2.0
// Feeds block kernels: a pass is walked in tiles of at most block_size elements; what an operand
// has contiguous and of the right type is used in place, everything else goes through a scratch
// block.
#include "kernels/elementwise.h"

#include <algorithm>
#include <cstring>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {

constexpr std::int64_t share_size = 64 * block_size;
constexpr std::int64_t far_size = 1 << 18;  // elements of a pass that is not in the nearer caches
constexpr std::int64_t transposed_side = 32;
static_assert(transposed_side * transposed_side <= block_size);

constexpr int max_operands = max_inputs + 1;
constexpr int max_element_size = 8;

struct alignas(64) Scratch {
  unsigned char bytes[block_size * max_element_size];
};

template <class Word>
void fill(const void* value, void* block, std::int64_t count) {
  std::fill_n(static_cast<Word*>(block), count, *static_cast<const Word*>(value));
}

void fill_from_scalar(const Operand& operand, DType compute, void* block, std::int64_t count) {
  alignas(8) unsigned char converted[max_element_size];
  const void* value = operand.data;
  if (operand.dtype != compute) {
    cast_function(operand.dtype, compute)(operand.data, converted, 1);
    value = converted;
  }
  switch (size_of(compute)) {
    case 1:
      return fill<std::uint8_t>(value, block, count);
    case 4:
      return fill<std::uint32_t>(value, block, count);
    case 8:
      return fill<std::uint64_t>(value, block, count);
  }
}

bool contiguous(const Operand& operand, int rank, const std::int64_t* shape) {
  return !operand.strides || is_contiguous(rank, shape, operand.strides);
}

/// Asks for the lines of a block that comes next. Pays for arrays beyond the second-level cache:
/// the hardware looks ahead within a page only.
void prefetch_block(const void* data, std::int64_t bytes, bool for_writing) {
  constexpr std::int64_t line = 64;
  const char* first = static_cast<const char*>(data);
  for (std::int64_t offset = 0; offset < bytes; offset += line) {
    if (for_writing)
      __builtin_prefetch(first + offset, 1);
    else
      __builtin_prefetch(first + offset, 0);
  }
}

/// Without any layout to work out: true when every operand is a contiguous run or a scalar and has
/// the kernel's type. Runs elements [begin, end).
bool run_linear(const ElementwisePass& pass, std::int64_t begin, std::int64_t end) {
  bool scalars = false;
  for (int i = 0; i < pass.inputs_used; ++i) {
    const Operand& input = pass.inputs[i];
    scalars |= input.scalar;
    if (input.scalar) continue;
    if (input.dtype != pass.compute || !contiguous(input, pass.rank, pass.shape)) return false;
  }
  if (pass.output.dtype != pass.produced || !contiguous(pass.output, pass.rank, pass.shape))
    return false;

  Scratch scratch[max_inputs];
  const bool far = pass.size >= far_size;
  const std::int64_t step = scalars || far ? block_size : end - begin;
  const std::size_t compute_size = size_of(pass.compute);
  const std::size_t produced_size = size_of(pass.produced);
  const void* inputs[max_inputs];
  for (int i = 0; i < pass.inputs_used; ++i) {
    if (!pass.inputs[i].scalar) continue;
    fill_from_scalar(pass.inputs[i], pass.compute, scratch[i].bytes, std::min(step, end - begin));
    inputs[i] = scratch[i].bytes;
  }
  for (std::int64_t position = begin; position < end; position += step) {
    char* output = static_cast<char*>(pass.output.data) + position * produced_size;
    const std::int64_t ahead = far ? std::min(step, end - position - step) : 0;
    for (int i = 0; i < pass.inputs_used; ++i) {
      if (pass.inputs[i].scalar) continue;
      const char* input = static_cast<const char*>(pass.inputs[i].data) + position * compute_size;
      inputs[i] = input;
      if (ahead > 0) prefetch_block(input + step * compute_size, ahead * compute_size, false);
    }
    if (ahead > 0) prefetch_block(output + step * produced_size, ahead * produced_size, true);
    pass.function(inputs, output, std::min(step, end - position));
  }
  return true;
}

/// The pass with joined dimensions. Operand 0 is the output, then the inputs; scalars are left out
/// by strides of 0.
struct Layout {
  int operands = 0;
  Operand operand[max_operands];
  JointView<max_operands> view;
};

Layout make_layout(const ElementwisePass& pass) {
  Layout layout;
  layout.operands = pass.inputs_used + 1;
  layout.operand[0] = pass.output;
  for (int i = 0; i < pass.inputs_used; ++i) layout.operand[i + 1] = pass.inputs[i];
  const std::int64_t* strides[max_operands];
  std::int64_t contiguous_strides[max_rank];
  set_contiguous_strides(pass.rank, pass.shape, contiguous_strides);
  static constexpr std::int64_t no_strides[max_rank] = {};
  for (int i = 0; i < layout.operands; ++i) {
    const Operand& operand = layout.operand[i];
    strides[i] = operand.scalar    ? no_strides
                 : operand.strides ? operand.strides
                                   : contiguous_strides;
  }
  layout.view.join(pass.rank, pass.shape, layout.operands, strides);
  for (int i = 1; i < layout.operands; ++i) layout.operand[i].scalar = layout.view.all_zero(i);
  return layout;
}

/// Tiles are `rows` along one dimension by `columns` along the last one.
struct Tiling {
  int row_dimension = 0;
  std::int64_t rows = 1, columns = 1;
};

Tiling choose_tiling(const Layout& layout) {
  const JointView<max_operands>& view = layout.view;
  const int last = view.rank - 1;
  const std::int64_t width = view.shape[last];
  Tiling tiling;
  tiling.row_dimension = std::max(0, last - 1);
  // Where an operand runs along another dimension than the last, square tiles share cache lines.
  for (int i = 0; i < layout.operands; ++i) {
    if (std::abs(view.strides[i][last]) <= 1) continue;
    for (int dimension = 0; dimension < last; ++dimension) {
      if (view.strides[i][dimension] != 1 || std::min(view.shape[dimension], width) < 8) continue;
      tiling.row_dimension = dimension;
      tiling.rows = std::min(view.shape[dimension], transposed_side);
      tiling.columns = std::min(width, transposed_side);
      return tiling;
    }
  }
  if (width > block_size) {
    const std::int64_t pieces = (width + block_size - 1) / block_size;
    tiling.columns = std::min(((width + pieces - 1) / pieces + 63) / 64 * 64, block_size);
  } else {
    tiling.columns = width;
    if (view.rank > 1) tiling.rows = std::min(block_size / width, view.shape[tiling.row_dimension]);
  }
  return tiling;
}

/// One tile of an operand.
struct Tile {
  Matrix matrix;
  std::int64_t rows, columns;

  std::int64_t size() const { return rows * columns; }
  bool dense() const {
    return (columns == 1 || matrix.column_stride == 1) &&
           (rows == 1 || matrix.row_stride == columns);
  }
};

/// Brings a tile into contiguous memory of type `to` at `target`.
void gather(const Tile& tile, DType from, DType to, void* target, Scratch& raw) {
  if (from == to) {
    move_function(to)(tile.matrix, {target, tile.columns, 1}, tile.rows, tile.columns);
  } else if (tile.dense()) {
    cast_function(from, to)(tile.matrix.data, target, tile.size());
  } else {
    move_function(from)(tile.matrix, {raw.bytes, tile.columns, 1}, tile.rows, tile.columns);
    cast_function(from, to)(raw.bytes, target, tile.size());
  }
}

void scatter(void* source, DType from, DType to, const Tile& tile, Scratch& raw) {
  if (from == to) {
    move_function(to)({source, tile.columns, 1}, tile.matrix, tile.rows, tile.columns);
  } else if (tile.dense()) {
    cast_function(from, to)(source, tile.matrix.data, tile.size());
  } else {
    cast_function(from, to)(source, raw.bytes, tile.size());
    move_function(to)({raw.bytes, tile.columns, 1}, tile.matrix, tile.rows, tile.columns);
  }
}

class TileRunner {
 public:
  TileRunner(const ElementwisePass& pass, const Layout& layout)
      : pass_(pass),
        operands_(layout.operands),
        operand_(layout.operand),
        copies_(pass.function == block_function(Formula::copy, pass.compute)) {
    for (int i = 1; i < operands_; ++i)
      if (operand_[i].scalar)
        fill_from_scalar(operand_[i], pass.compute, scratch_[i].bytes,
                         std::min(pass.size, block_size));
  }

  /// tiles[i] is the tile of operand i.
  void run(const Tile* tiles) {
    const Tile& output = tiles[0];
    const bool in_place = output.dense() && pass_.output.dtype == pass_.produced;
    if (copies_ && copy(tiles, in_place)) return;
    const void* inputs[max_inputs];
    for (int i = 1; i < operands_; ++i) {
      const bool direct = tiles[i].dense() && operand_[i].dtype == pass_.compute;
      inputs[i - 1] = direct && !operand_[i].scalar ? tiles[i].matrix.data : scratch_[i].bytes;
      if (!direct && !operand_[i].scalar)
        gather(tiles[i], operand_[i].dtype, pass_.compute, scratch_[i].bytes, raw_);
    }
    void* target = in_place ? output.matrix.data : scratch_[0].bytes;
    pass_.function(inputs, target, output.size());
    if (!in_place) scatter(target, pass_.produced, pass_.output.dtype, output, raw_);
  }

 private:
  /// A copy needs no kernel where the move or the cast can write the output itself.
  bool copy(const Tile* tiles, bool in_place) {
    if (operand_[1].scalar) return false;
    if (in_place) {
      if (tiles[0].matrix.data != tiles[1].matrix.data)
        gather(tiles[1], operand_[1].dtype, pass_.compute, tiles[0].matrix.data, raw_);
      return true;
    }
    if (operand_[1].dtype != pass_.output.dtype || operand_[1].dtype != pass_.compute) return false;
    move_function(pass_.compute)(tiles[1].matrix, tiles[0].matrix, tiles[0].rows, tiles[0].columns);
    return true;
  }

  const ElementwisePass& pass_;
  int operands_;
  const Operand* operand_;
  bool copies_;
  Scratch scratch_[max_operands];
  Scratch raw_;
};

void run_tiled(const ElementwisePass& pass, int share) {
  const Layout layout = make_layout(pass);
  const JointView<max_operands>& view = layout.view;
  const Tiling tiling = choose_tiling(layout);
  const int last = view.rank - 1;

  // The grid of tiles: dimensions as they are, but in steps of rows and columns where tiled.
  std::int64_t steps[max_rank], counts[max_rank];
  std::int64_t tiles = 1;
  for (int dimension = 0; dimension < view.rank; ++dimension) {
    steps[dimension] = dimension == last                   ? tiling.columns
                       : dimension == tiling.row_dimension ? tiling.rows
                                                           : 1;
    counts[dimension] = (view.shape[dimension] + steps[dimension] - 1) / steps[dimension];
    tiles *= counts[dimension];
  }
  const int shares = share_count(pass);
  const std::int64_t begin = tiles / shares * share + std::min<std::int64_t>(tiles % shares, share);
  const std::int64_t end = begin + tiles / shares + (share < tiles % shares ? 1 : 0);

  Odometer odometer(view.rank, counts, begin);
  TileRunner runner(pass, layout);
  for (std::int64_t number = begin; number < end; ++number, odometer.advance()) {
    const std::int64_t columns =
        std::min(tiling.columns, view.shape[last] - odometer.index[last] * tiling.columns);
    const std::int64_t rows =
        view.rank == 1
            ? 1
            : std::min(tiling.rows, view.shape[tiling.row_dimension] -
                                        odometer.index[tiling.row_dimension] * tiling.rows);
    Tile tile[max_operands];
    for (int i = 0; i < layout.operands; ++i) {
      std::int64_t offset = 0;
      for (int dimension = 0; dimension < view.rank; ++dimension)
        offset += odometer.index[dimension] * steps[dimension] * view.strides[i][dimension];
      const std::int64_t bytes =
          offset * static_cast<std::int64_t>(size_of(layout.operand[i].dtype));
      tile[i] = {{static_cast<char*>(layout.operand[i].data) + bytes,
                  view.strides[i][tiling.row_dimension], view.strides[i][last]},
                 rows,
                 columns};
    }
    runner.run(tile);
  }
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
  return static_cast<int>(std::max<std::int64_t>(1, (pass.size + share_size - 1) / share_size));
}

void run_share(const ElementwisePass& pass, int share) {
  const std::int64_t begin = share * share_size;
  const std::int64_t end = std::min(pass.size, begin + share_size);
  if (begin >= end || run_linear(pass, begin, end)) return;
  run_tiled(pass, share);
}

}  // namespace afterglow::kernels
