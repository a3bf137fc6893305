// SPDX-License-Identifier: Apache-2.0
#include "kernels/scan.h"

#include <algorithm>
#include <type_traits>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 64 * block_size;
constexpr std::int64_t most_columns = 512;

template <class Sum>
constexpr DType dtype_of_sum = std::is_same_v<Sum, double> ? DType::float64 : DType::int64;

/// Running sums of a block that follow `before`; the last of them. A sum waits for the one before
/// it, so four parts are summed up at a time and then set upon each other.
template <bool reverse, class Sum>
Sum scan_block(Sum* values, std::int64_t count, Sum before) {
  constexpr int parts = 4;
  const std::int64_t length = count / parts;
  const auto value = [&](std::int64_t i) -> Sum& { return values[reverse ? count - 1 - i : i]; };
  Sum sums[parts] = {};
  for (std::int64_t i = 0; i < length; ++i) {
    for (int part = 0; part < parts; ++part) {
      Sum& own = value(part * length + i);
      own = sums[part] += own;
    }
  }
  for (int part = 0; part < parts; ++part) {
    for (std::int64_t i = 0; i < length; ++i) value(part * length + i) += before;
    before += sums[part];
  }
  for (std::int64_t i = parts * length; i < count; ++i) {
    Sum& own = value(i);
    own = before += own;
  }
  return before;
}

}  // namespace

ScanPass::ScanPass(const Lines& input, bool reverse, void* output)
    : input_(input), reverse_(reverse), output_(static_cast<char*>(output)) {
  const std::int64_t size = input.outer * input.length * input.inner;
  if (size == 0) return;
  units_ = input.outer * (input.inner == 1 ? 1 : divide_up(input.inner, most_columns));
  shares_ = static_cast<int>(std::clamp<std::int64_t>(divide_up(size, share_size), 1, units_));
}

void ScanPass::run(int share) {
  const Range range = range_of(units_, shares_, share);
  for (std::int64_t unit = range.begin; unit < range.end; ++unit) {
    if (is_floating(input_.dtype))
      input_.inner == 1 ? run_line<double>(unit) : run_columns<double>(unit);
    else  // sums of 64 bits wrap around
      input_.inner == 1 ? run_line<std::uint64_t>(unit) : run_columns<std::uint64_t>(unit);
  }
}

template <class Sum>
void ScanPass::run_line(std::int64_t line) const {
  const CastFunction load = cast_function(input_.dtype, dtype_of_sum<Sum>);
  const CastFunction store = cast_function(dtype_of_sum<Sum>, input_.dtype);
  const std::int64_t element = static_cast<std::int64_t>(size_of(input_.dtype));
  const std::int64_t blocks = divide_up(input_.length, block_size);
  alignas(64) Sum values[block_size];
  Sum sum = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = (reverse_ ? blocks - 1 - block : block) * block_size;
    const std::int64_t count = std::min(block_size, input_.length - begin);
    const std::int64_t bytes = (line * input_.length + begin) * element;
    load(static_cast<const char*>(input_.data) + bytes, values, count);
    sum = reverse_ ? scan_block<true>(values, count, sum) : scan_block<false>(values, count, sum);
    store(values, output_ + bytes, count);
  }
}

template <class Sum>
void ScanPass::run_columns(std::int64_t unit) const {
  const CastFunction load = cast_function(input_.dtype, dtype_of_sum<Sum>);
  const CastFunction store = cast_function(dtype_of_sum<Sum>, input_.dtype);
  const std::int64_t element = static_cast<std::int64_t>(size_of(input_.dtype));
  const std::int64_t tiles = divide_up(input_.inner, most_columns);
  const std::int64_t column = unit % tiles * most_columns;
  const std::int64_t columns = std::min(most_columns, input_.inner - column);
  alignas(64) Sum sums[most_columns] = {};
  alignas(64) Sum values[most_columns];
  for (std::int64_t step = 0; step < input_.length; ++step) {
    const std::int64_t row =
        unit / tiles * input_.length + (reverse_ ? input_.length - 1 - step : step);
    const std::int64_t bytes = (row * input_.inner + column) * element;
    load(static_cast<const char*>(input_.data) + bytes, values, columns);
    for (std::int64_t c = 0; c < columns; ++c) sums[c] += values[c];
    store(sums, output_ + bytes, columns);
  }
}

}  // namespace afterglow::kernels
