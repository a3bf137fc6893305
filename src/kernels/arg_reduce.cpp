// SPDX-License-Identifier: Apache-2.0
// Along contiguous lines the value is found by the folds of reductions, block by block, and looked
// for only in blocks that bring a better one. Lines side by side are searched together.
#include "kernels/arg_reduce.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/element_types.h"
#include "kernels/folding.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 128 * block_size;
constexpr std::int64_t most_columns = 256;
constexpr std::int64_t short_line = 32;

template <class T>
T value_of(const Partial& partial) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(partial.real);
  else
    return static_cast<T>(partial.integer);
}

template <class T>
Partial partial_of(T value) {
  Partial partial;
  if constexpr (std::is_floating_point_v<T>)
    partial.real = value;
  else
    partial.integer = value;
  return partial;
}

/// Goes on from `i` by so many values at a time as long as none is `wanted`. They are compared
/// without asking each, which vectorises.
template <std::int64_t many, class T>
std::int64_t skip_others(const T* values, std::int64_t i, std::int64_t count, T wanted) {
  for (; i + many <= count; i += many) {
    unsigned hits = 0;
    for (std::int64_t j = 0; j < many; ++j) hits |= values[i + j] == wanted;
    if (hits) break;
  }
  return i;
}

/// The first of `count` values that is `wanted`; it is there.
template <class T>
std::int64_t place_of_value(const T* values, std::int64_t count, T wanted) {
  std::int64_t i = 0;
  if (wanted != wanted) {
    while (values[i] == values[i]) ++i;
    return i;
  }
  i = skip_others<64>(values, i, count, wanted);
  i = skip_others<16>(values, i, count, wanted);
  while (values[i] != wanted) ++i;
  return i;
}

/// The place of the greatest or smallest of a few values.
template <bool maximum, class T>
std::int64_t place_of_best(const T* values, std::int64_t count) {
  std::int64_t place = 0;
  T best = values[0];
  for (std::int64_t i = 1; i < count && best == best; ++i) {
    const bool better = maximum ? !(values[i] <= best) : !(values[i] >= best);
    best = better ? values[i] : best;
    place = better ? i : place;
  }
  return place;
}

}  // namespace

ArgReducePass::ArgReducePass(Reduction order, const Lines& input, void* output, DType output_dtype)
    : maximum_(order == Reduction::maximum),
      input_(input),
      compute_(input.dtype == DType::float16 ? DType::float32 : input.dtype),
      output_(static_cast<char*>(output)),
      output_dtype_(output_dtype) {
  const std::int64_t outputs = input.outer * input.inner;
  if (outputs == 0) {
    units_ = shares_ = 0;
    return;
  }
  tile_ = std::min(input.inner, most_columns);
  chunk_ = input.inner == 1 ? fold_chunk_size : 4 * fold_chunk_size / tile_;
  chunks_ = divide_up(input.length, chunk_);
  units_ = input.outer * divide_up(input.inner, tile_) * chunks_;
  if (chunks_ > 1) found_.resize(static_cast<std::size_t>(chunks_ * outputs));
  shares_ = static_cast<int>(
      std::clamp<std::int64_t>(divide_up(outputs * input.length, share_size), 1, units_));
}

void ArgReducePass::run(int share) {
  const Range range = range_of(units_, shares_, share);
  with_type(compute_, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, HalfBits>) {  // which float32 stands for
      if (input_.inner == 1) return run_lines<T>(range.begin, range.end);
      for (std::int64_t unit = range.begin; unit < range.end; ++unit) run_columns<T>(unit);
    }
  });
}

bool ArgReducePass::is_better(Partial value, Partial best, bool real) const {
  if (!real) return maximum_ ? value.integer > best.integer : value.integer < best.integer;
  if (std::isnan(best.real)) return false;
  return std::isnan(value.real) || (maximum_ ? value.real > best.real : value.real < best.real);
}

/// Searches elements [begin, end) of a contiguous line.
template <class T>
ArgReducePass::Found ArgReducePass::find_in_line(const char* line, std::int64_t begin,
                                                 std::int64_t end) const {
  const FoldFunctions& fold =
      fold_functions(maximum_ ? Reduction::maximum : Reduction::minimum, compute_);
  alignas(64) T widened[block_size];
  Found found{};
  for (std::int64_t start = begin; start < end; start += block_size) {
    const std::int64_t count = std::min(block_size, end - start);
    const char* source = line + start * static_cast<std::int64_t>(size_of(input_.dtype));
    const T* values = reinterpret_cast<const T*>(source);
    if (input_.dtype != compute_) {
      cast_function(input_.dtype, compute_)(source, widened, count);
      values = widened;
    }
    Partial best = fold.neutral;
    fold.rows(values, 1, count, count, &best);
    if (start == begin || is_better(best, found.value, fold.real))
      found = {best, start + place_of_value(values, count, value_of<T>(best))};
  }
  return found;
}

/// Searches several lines of one block each.
template <class T>
void ArgReducePass::find_in_lines(const char* lines, std::int64_t count,
                                  std::int64_t* indices) const {
  if constexpr (std::is_floating_point_v<T>)
    return real_functions<T>().places(reinterpret_cast<const T*>(lines), count, input_.length,
                                      maximum_, indices);
  const FoldFunctions& fold =
      fold_functions(maximum_ ? Reduction::maximum : Reduction::minimum, compute_);
  Partial best[most_columns];
  std::fill_n(best, count, fold.neutral);
  fold.rows(lines, count, input_.length, input_.length, best);
  const T* values = reinterpret_cast<const T*>(lines);
  for (std::int64_t i = 0; i < count; ++i, values += input_.length) {
    indices[i] = place_of_value(values, input_.length, value_of<T>(best[i]));
  }
}

template <class T>
void ArgReducePass::run_lines(std::int64_t first_unit, std::int64_t last_unit) {
  const std::int64_t bytes = input_.length * static_cast<std::int64_t>(size_of(input_.dtype));
  const char* data = static_cast<const char*>(input_.data);
  if (chunks_ > 1) {
    for (std::int64_t unit = first_unit; unit < last_unit; ++unit) {
      const std::int64_t line = unit / chunks_, chunk = unit % chunks_;
      found_[chunk * input_.outer + line] = find_in_line<T>(
          data + line * bytes, chunk * chunk_, std::min(input_.length, (chunk + 1) * chunk_));
    }
    return;
  }
  std::int64_t indices[most_columns];
  for (std::int64_t line = first_unit; line < last_unit;) {
    const std::int64_t count = std::min(most_columns, last_unit - line);
    if (input_.length > short_line && input_.length <= block_size && input_.dtype == compute_) {
      find_in_lines<T>(data + line * bytes, count, indices);
      write(line, count, indices);
      line += count;
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const char* first = data + (line + i) * bytes;
      if (input_.length > short_line || input_.dtype != compute_) {
        indices[i] = find_in_line<T>(first, 0, input_.length).index;
      } else {
        const T* values = reinterpret_cast<const T*>(first);
        indices[i] = maximum_ ? place_of_best<true>(values, input_.length)
                              : place_of_best<false>(values, input_.length);
      }
    }
    write(line, count, indices);
    line += count;
  }
}

/// One tile of lines side by side, one chunk of their elements.
template <class T>
void ArgReducePass::run_columns(std::int64_t unit) {
  // As wide as the values, so that both are chosen by one mask.
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const std::int64_t tiles = divide_up(input_.inner, tile_);
  const std::int64_t chunk = unit % chunks_;
  const std::int64_t column = unit / chunks_ % tiles * tile_;
  const std::int64_t outer = unit / chunks_ / tiles;
  const std::int64_t columns = std::min(tile_, input_.inner - column);
  const std::int64_t begin = chunk * chunk_, end = std::min(input_.length, begin + chunk_);
  const std::int64_t row_bytes = input_.inner * static_cast<std::int64_t>(size_of(input_.dtype));
  const char* row = static_cast<const char*>(input_.data) +
                    (outer * input_.length + begin) * row_bytes +
                    column * static_cast<std::int64_t>(size_of(input_.dtype));
  alignas(64) T best[most_columns], widened[most_columns];
  alignas(64) Index places[most_columns] = {};
  for (std::int64_t i = begin; i < end; ++i, row += row_bytes) {
    const T* values = reinterpret_cast<const T*>(row);
    if (input_.dtype != compute_) {
      cast_function(input_.dtype, compute_)(row, widened, columns);
      values = widened;
    }
    if (i == begin) {
      std::copy_n(values, columns, best);
      continue;
    }
    const Index place = static_cast<Index>(i - begin);
    const bool maximum = maximum_;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < columns; ++c) {
      const T value = values[c], old = best[c];
      const bool beaten = maximum ? !(value <= old) : !(value >= old);
      const bool better = beaten & (old == old);
      best[c] = better ? value : old;
      places[c] = better ? place : places[c];
    }
  }
  const std::int64_t output = outer * input_.inner + column;
  if (chunks_ > 1) {
    Found* found = &found_[chunk * input_.outer * input_.inner + output];
    for (std::int64_t c = 0; c < columns; ++c) found[c] = {partial_of(best[c]), begin + places[c]};
    return;
  }
  std::int64_t indices[most_columns];
  std::copy_n(places, columns, indices);
  write(output, columns, indices);
}

void ArgReducePass::finish() {
  if (found_.empty()) return;
  const bool real = is_floating(compute_);
  const std::int64_t outputs = input_.outer * input_.inner;
  for (std::int64_t output = 0; output < outputs; ++output) {
    Found best = found_[output];
    for (std::int64_t chunk = 1; chunk < chunks_; ++chunk) {
      const Found& other = found_[chunk * outputs + output];
      if (is_better(other.value, best.value, real)) best = other;
    }
    write(output, 1, &best.index);
  }
}

void ArgReducePass::write(std::int64_t output, std::int64_t count,
                          const std::int64_t* indices) const {
  const std::int64_t bytes = output * static_cast<std::int64_t>(size_of(output_dtype_));
  cast_function(DType::int64, output_dtype_)(indices, output_ + bytes, count);
}

}  // namespace afterglow::kernels
