// SPDX-License-Identifier: Apache-2.0
// The order of additions is a matter of the shape alone. Where the last axes are reduced, each run
// of values is folded in blocks of block_size; where they are kept, columns are folded side by side
// in groups of rows. Blocks and groups add up in float64, in order, chunk by chunk.
#include "kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "kernels/folding.h"

namespace afterglow::kernels {

namespace {

constexpr std::int64_t share_size = 128 * block_size;
constexpr std::int64_t group_rows = 64;   ///< rows folded in lanes before they go to a partial
constexpr std::int64_t staged_rows = 8;   ///< runs brought into scratch together
constexpr std::int64_t direct_rows = 64;  ///< runs folded in place together
constexpr std::int64_t staged_columns = 256;
constexpr std::int64_t scratch_size = staged_rows * block_size;
constexpr std::int64_t staged_group = scratch_size / staged_columns;

Fold fold_of(Reduction reduction) {
  using enum Fold;
  constexpr Fold folds[] = {sum, sum, maximum, minimum, sum_of_absolutes, sum_of_squares, product};
  return folds[static_cast<int>(reduction)];
}

/// Where element `position` of a view lies, and how many follow it along the last dimension.
struct Place {
  std::int64_t offset;
  std::int64_t following;
};
Place place_of(const JointView<1>& view, std::int64_t position) {
  const int last = view.rank - 1;
  if (last == 0) return {position * view.strides[0][0], view.shape[0] - position};
  std::int64_t offset = 0, following = 0;
  for (int i = last; i >= 0; --i) {
    const std::int64_t index = position % view.shape[i];
    if (i == last) following = view.shape[i] - index;
    offset += index * view.strides[0][i];
    position /= view.shape[i];
  }
  return {offset, following};
}

std::int64_t last_stride(const JointView<1>& view) {
  return view.strides[0][view.rank - 1];
}

}  // namespace

const FoldFunctions& fold_functions(Reduction reduction, DType compute) {
  return kernel_table().folds[static_cast<int>(fold_of(reduction))][static_cast<int>(compute)];
}

void write_totals(Reduction reduction, DType compute, std::int64_t length, Partial* totals,
                  std::int64_t count, void* target, DType dtype) {
  bool real = fold_functions(reduction, compute).real;
  if (reduction == Reduction::norm2) {
    for (std::int64_t i = 0; i < count; ++i) totals[i].real = std::sqrt(totals[i].real);
  } else if (reduction == Reduction::mean && (real || is_floating(dtype))) {
    const double divisor = static_cast<double>(length);
    for (std::int64_t i = 0; i < count; ++i)
      totals[i].real = (real ? totals[i].real : static_cast<double>(totals[i].integer)) / divisor;
    real = true;
  } else if (reduction == Reduction::mean && length > 0 && dtype != DType::boolean) {
    for (std::int64_t i = 0; i < count; ++i) totals[i].integer /= length;
  }
  cast_function(real ? DType::float64 : DType::int64, dtype)(totals, target, count);
}

struct ReducePass::Scratch {
  alignas(64) unsigned char values[scratch_size * 8];
  alignas(64) unsigned char halves[scratch_size * 2];
  Partial partials[block_size];

  /// Brings `rows` by `columns` elements into `values`, whose rows then are contiguous. Columns are
  /// `column_count` consecutive elements of a view, starting at `column`.
  void stage(const char* data, DType dtype, DType compute, std::int64_t rows,
             std::int64_t row_stride, const JointView<1>& columns, std::int64_t column,
             std::int64_t column_count) {
    const std::int64_t element = static_cast<std::int64_t>(size_of(dtype));
    unsigned char* target = dtype == compute ? values : halves;
    for (std::int64_t done = 0; done < column_count;) {
      const Place place = place_of(columns, column + done);
      const std::int64_t count = std::min(place.following, column_count - done);
      void* source = const_cast<char*>(data) + place.offset * element;
      move_function(dtype)({source, row_stride, last_stride(columns)},
                           {target + done * element, column_count, 1}, rows, count);
      done += count;
    }
    if (dtype != compute) cast_function(dtype, compute)(halves, values, rows * column_count);
  }
};

ReducePass::ReducePass(Reduction reduction, const StridedInput& input, std::uint32_t reduced_axes,
                       void* output, DType output_dtype)
    : reduction_(reduction),
      data_(static_cast<const char*>(input.data)),
      dtype_(input.dtype),
      compute_(input.dtype == DType::float16 ? DType::float32 : input.dtype),
      output_(output),
      output_dtype_(output_dtype) {
  struct Axes {
    int rank = 0;
    std::int64_t shape[max_rank], strides[max_rank];
  } kept, reduced;
  bool inner_ended = false, inner_started = false;
  for (int axis = input.rank - 1; axis >= 0; --axis) {
    const bool is_reduced = reduced_axes >> axis & 1u;
    const std::int64_t length = input.shape[axis];
    (is_reduced ? count_ : outputs_) *= length;
    if (length == 1) continue;
    if (!inner_started) inner_is_reduced_ = is_reduced;
    inner_started = true;
    inner_ended |= is_reduced != inner_is_reduced_;
    if (!inner_ended) inner_ *= length;
  }
  for (int axis = 0; axis < input.rank; ++axis) {
    Axes& axes = reduced_axes >> axis & 1u ? reduced : kept;
    axes.shape[axes.rank] = input.shape[axis];
    axes.strides[axes.rank++] = input.strides[axis];
  }
  const std::int64_t* kept_strides = kept.strides;
  const std::int64_t* reduced_strides = reduced.strides;
  kept_.join(kept.rank, kept.shape, 1, &kept_strides);
  reduced_.join(reduced.rank, reduced.shape, 1, &reduced_strides);

  if (outputs_ == 0 || count_ == 0) {
    units_ = 0;
    return;
  }
  if (inner_is_reduced_) {
    const std::int64_t blocks = count_ / inner_ * divide_up(inner_, block_size);
    chunk_ = fold_chunk_size / std::min(inner_, block_size);
    chunks_ = divide_up(blocks, chunk_);
    units_ = outputs_ * chunks_;
  } else {
    chunk_ = divide_up(fold_chunk_size * 4 / std::min(inner_, block_size), group_rows) * group_rows;
    chunks_ = divide_up(count_, chunk_);
    const bool direct =
        last_stride(kept_) == 1 && kept_.shape[kept_.rank - 1] % inner_ == 0 && dtype_ == compute_;
    tile_ = std::min(inner_, direct ? block_size : staged_columns);
    units_ = outputs_ / inner_ * divide_up(inner_, tile_) * chunks_;
  }
  one_decides_ = outputs_ == 1 && dtype_ == DType::boolean &&
                 (reduction == Reduction::maximum || reduction == Reduction::minimum);
  if (one_decides_ && chunks_ > 1 && first_block_decides()) {
    decided_ = true;
    chunks_ = units_ = 1;
  }
  if (chunks_ > 1) partials_.resize(static_cast<std::size_t>(chunks_ * outputs_));
  shares_ = static_cast<int>(
      std::clamp<std::int64_t>(divide_up(outputs_ * count_, share_size), 1, units_));
}

bool ReducePass::first_block_decides() const {
  Scratch scratch;
  scratch.partials[0] = fold_functions(reduction_, compute_).neutral;
  fold_rows(0, 1, 0, 1, scratch);
  return scratch.partials[0].integer == decisive();
}

void ReducePass::run(int share) {
  const Range range = range_of(units_, shares_, share);
  if (range.begin == range.end) return;
  if (inner_is_reduced_) {
    run_rows(range.begin, range.end);
  } else {
    for (std::int64_t unit = range.begin; unit < range.end; ++unit) run_columns(unit);
  }
}

void ReducePass::run_rows(std::int64_t first_unit, std::int64_t last_unit) {
  const std::int64_t blocks = count_ / inner_ * divide_up(inner_, block_size);
  const Partial neutral = fold_functions(reduction_, compute_).neutral;
  Scratch scratch;
  for (std::int64_t unit = first_unit; unit < last_unit;) {
    const std::int64_t output = unit / chunks_, chunk = unit % chunks_;
    std::int64_t rows = 1;
    if (chunks_ == 1)
      rows = std::min({last_unit - unit, direct_rows, place_of(kept_, output).following});
    std::fill_n(scratch.partials, rows, neutral);
    if (one_decides_ && decided_.load(std::memory_order_relaxed)) {
      scratch.partials[0].integer = decisive();
    } else {
      fold_rows(output, rows, chunk * chunk_, std::min(blocks, (chunk + 1) * chunk_), scratch);
      if (one_decides_ && scratch.partials[0].integer == decisive())
        decided_.store(true, std::memory_order_relaxed);
    }
    if (chunks_ > 1)
      partials_[chunk * outputs_ + output] = scratch.partials[0];
    else
      write(output, rows, scratch.partials);
    unit += rows;
  }
}

/// Folds blocks [first_block, last_block) of `rows` outputs that lie along one kept dimension.
void ReducePass::fold_rows(std::int64_t output, std::int64_t rows, std::int64_t first_block,
                           std::int64_t last_block, Scratch& scratch) const {
  const FoldFunctions& fold = fold_functions(reduction_, compute_);
  const std::int64_t element = static_cast<std::int64_t>(size_of(dtype_));
  const std::int64_t blocks_per_run = divide_up(inner_, block_size);
  const std::int64_t row_stride = last_stride(kept_);
  const char* base = data_ + place_of(kept_, output).offset * element;
  const bool in_place = last_stride(reduced_) == 1 && dtype_ == compute_;
  for (std::int64_t block = first_block; block < last_block;) {
    const std::int64_t run = block / blocks_per_run, begin = block % blocks_per_run * block_size;
    // As many blocks of this run as are wanted, if they can be folded where they are.
    const std::int64_t wanted = std::min(inner_ - begin, (last_block - block) * block_size);
    const std::int64_t position = run * inner_ + begin;
    const Place place = place_of(reduced_, position);
    if (in_place && place.following >= wanted) {
      fold.rows(base + place.offset * element, rows, row_stride, wanted, scratch.partials);
      block += divide_up(wanted, block_size);
      continue;
    }
    const std::int64_t count = std::min(wanted, block_size);
    for (std::int64_t row = 0; row < rows; row += staged_rows) {
      const std::int64_t some = std::min(staged_rows, rows - row);
      scratch.stage(base + row * row_stride * element, dtype_, compute_, some, row_stride, reduced_,
                    position, count);
      fold.rows(scratch.values, some, count, count, scratch.partials + row);
    }
    ++block;
  }
}

/// One tile of columns, one chunk of rows.
void ReducePass::run_columns(std::int64_t unit) {
  const FoldFunctions& fold = fold_functions(reduction_, compute_);
  const std::int64_t element = static_cast<std::int64_t>(size_of(dtype_));
  const std::int64_t tiles = divide_up(inner_, tile_);
  const std::int64_t chunk = unit % chunks_;
  const std::int64_t column = unit / chunks_ % tiles * tile_;
  const std::int64_t output = unit / chunks_ / tiles * inner_ + column;
  const std::int64_t columns = std::min(tile_, inner_ - column);
  const std::int64_t row_stride = last_stride(reduced_);
  const Place first_column = place_of(kept_, output);
  const bool in_place =
      last_stride(kept_) == 1 && dtype_ == compute_ && first_column.following >= columns;

  Scratch scratch;
  alignas(64) unsigned char lanes[block_size * 8];
  std::fill_n(scratch.partials, columns, fold.neutral);
  const std::int64_t end = std::min(count_, (chunk + 1) * chunk_);
  for (std::int64_t row = chunk * chunk_; row < end;) {
    const std::int64_t group_end = std::min(end, row + group_rows);
    fold.start_lanes(lanes, columns);
    while (row < group_end) {
      const Place place = place_of(reduced_, row);
      std::int64_t rows = std::min(place.following, group_end - row);
      const char* base = data_ + place.offset * element;
      if (in_place) {
        fold.columns(base + first_column.offset * element, rows, row_stride, columns, lanes);
      } else {
        rows = std::min(rows, staged_group);
        scratch.stage(base, dtype_, compute_, rows, row_stride, kept_, output, columns);
        fold.columns(scratch.values, rows, columns, columns, lanes);
      }
      row += rows;
    }
    fold.end_lanes(lanes, columns, scratch.partials);
  }
  if (chunks_ > 1)
    std::memcpy(&partials_[chunk * outputs_ + output], scratch.partials, columns * sizeof(Partial));
  else
    write(output, columns, scratch.partials);
}

void ReducePass::finish() {
  if (chunks_ == 1 && count_ > 0) return;
  const FoldFunctions& fold = fold_functions(reduction_, compute_);
  Partial totals[block_size];
  for (std::int64_t output = 0; output < outputs_; output += block_size) {
    const std::int64_t outputs = std::min(block_size, outputs_ - output);
    std::fill_n(totals, outputs, fold.neutral);
    for (std::int64_t chunk = 0; count_ > 0 && chunk < chunks_; ++chunk)
      fold.combine(&partials_[chunk * outputs_ + output], outputs, totals);
    write(output, outputs, totals);
  }
}

void ReducePass::write(std::int64_t output, std::int64_t count, Partial* totals) const {
  const std::int64_t bytes = output * static_cast<std::int64_t>(size_of(output_dtype_));
  write_totals(reduction_, compute_, count_, totals, count, static_cast<char*>(output_) + bytes,
               output_dtype_);
}

}  // namespace afterglow::kernels
