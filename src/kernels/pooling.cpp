// SPDX-License-Identifier: Apache-2.0
#include "kernels/pooling.h"

#include <algorithm>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 32 * block_size;
constexpr std::int64_t most_lanes = 64, fewest_lanes = 16, enough_units = 8;

bool is_whole(const WindowAxis& axis) {
  return axis.results == 1 && axis.pad == 0 && axis.kernel >= axis.extent;
}

/// One window over all of the image is one row.
PoolingWindows simplified(PoolingWindows windows) {
  WindowAxis* const axes[] = {&windows.depth, &windows.rows, &windows.columns};
  if (windows.is_adaptive) {
    for (const WindowAxis* axis : axes) {
      if (axis->results != 1) return windows;
    }
    windows.is_adaptive = false;
    for (WindowAxis* axis : axes) *axis = {axis->extent, 1, axis->extent, 1, 0};
  }
  if (!is_whole(windows.depth) || !is_whole(windows.rows) || !is_whole(windows.columns))
    return windows;
  const std::int64_t places = windows.depth.extent * windows.rows.extent * windows.columns.extent;
  windows.depth = windows.rows = {1, 1, 1, 1, 0};
  windows.columns = {places, 1, places, 1, 0};
  return windows;
}

template <class T>
T* scratch(std::int64_t count) {
  static thread_local Scratch memory;
  return reinterpret_cast<T*>(memory.of_size(count * static_cast<std::int64_t>(sizeof(T))));
}

}  // namespace

PoolingPass::PoolingPass(WindowWork work, const PoolingWindows& windows, DType dtype,
                         const Arrays& arrays)
    : work_(work),
      windows_(simplified(windows)),
      dtype_(dtype),
      arrays_(arrays),
      places_(windows.depth.extent * windows.rows.extent * windows.columns.extent),
      results_(windows.depth.results * windows.rows.results * windows.columns.results) {
  const bool reads_places = work == WindowWork::maximum || work == WindowWork::sum;
  const std::int64_t rows = windows_.depth.results * windows_.rows.results;
  lane_block_ = most_lanes;
  if (reads_places && windows_.lanes > 1 && rows > 1 && dtype != DType::float16) {
    lane_block_ = windows_.lanes;
    row_blocks_ = rows;
  }
  while (row_blocks_ == 1 && lane_block_ > fewest_lanes &&
         windows.images * divide_up(windows.lanes, lane_block_) < enough_units)
    lane_block_ /= 2;
  units_ = windows.images * row_blocks_ * divide_up(windows.lanes, lane_block_);
  const std::int64_t size =
      windows.images * windows.lanes * std::max<std::int64_t>(1, std::max(places_, results_));
  if (units_) shares_ = static_cast<int>(std::min(divide_up(size, share_size), units_));
}

void PoolingPass::run(int share) const {
  const std::int64_t blocks = divide_up(windows_.lanes, lane_block_);
  const std::int64_t rows = windows_.depth.results * windows_.rows.results;
  const Range range = range_of(units_, shares_, share);
  for (std::int64_t number = range.begin; number < range.end; ++number) {
    const std::int64_t first = number % blocks * lane_block_, row = number / blocks % row_blocks_;
    const Unit unit = {number / blocks / row_blocks_, rows * row / row_blocks_,
                       rows * (row + 1) / row_blocks_, first,
                       std::min(lane_block_, windows_.lanes - first)};
    if (dtype_ == DType::float32)
      run_lanes<float>(unit);
    else if (dtype_ == DType::float64)
      run_lanes<double>(unit);
    else
      run_halves(unit);
  }
}

namespace {

/// Rows and results of it that a call may write to in between.
std::int64_t room_of(const PoolingWindows& windows) {
  const WindowAxis& columns = windows.columns;
  return 2 * (columns.extent + columns.stride) + 4 * (columns.results + 1) + most_lanes;
}

bool has_values_per_place(WindowWork work) {
  return work == WindowWork::maximum_taken;
}

bool has_target_per_place(WindowWork work) {
  return work == WindowWork::maximum_gradient || work == WindowWork::sum_gradient;
}

}  // namespace

template <class Real>
void PoolingPass::run_lanes(const Unit& unit) const {
  const auto at = [&](const void* array, bool per_place) {
    return array ? static_cast<const Real*>(array) +
                       unit.image * (per_place ? places_ : results_) * windows_.lanes + unit.first
                 : nullptr;
  };
  real_functions<Real>().windows(
      {work_, windows_, unit.row_begin, unit.row_end, unit.lanes, at(arrays_.data, true),
       at(arrays_.results, false), at(arrays_.values, has_values_per_place(work_)),
       const_cast<Real*>(at(arrays_.target, has_target_per_place(work_))),
       scratch<Real>(room_of(windows_))});
}

/// float16 is brought to float32, an image or a block of its lanes at a time.
void PoolingPass::run_halves(const Unit& unit) const {
  const std::int64_t lanes = unit.lanes;
  const CastFunction widen = cast_function(DType::float16, DType::float32);
  const CastFunction narrow = cast_function(DType::float32, DType::float16);
  const std::int64_t room = room_of(windows_);
  float* free = scratch<float>(room + 2 * (places_ + results_) * lanes) + room;
  const auto offset = [&](std::int64_t count, std::int64_t i) {
    return ((unit.image * count + i) * windows_.lanes + unit.first) * 2;
  };
  // Blocks without gaps are converted at once.
  const auto each = [&](std::int64_t count, auto&& convert) {
    if (lanes == windows_.lanes) return convert(std::int64_t{0}, count * lanes);
    for (std::int64_t i = 0; i < count; ++i) convert(i, lanes);
  };
  const auto wide = [&](const void* array, bool per_place) -> const float* {
    if (!array) return nullptr;
    const std::int64_t count = per_place ? places_ : results_;
    float* const values = free;
    free += count * lanes;
    each(count, [&](std::int64_t i, std::int64_t elements) {
      widen(static_cast<const char*>(array) + offset(count, i), values + i * lanes, elements);
    });
    return values;
  };
  PoolingWindows packed = windows_;
  packed.lanes = lanes;
  const float *const data = wide(arrays_.data, true), *const results = wide(arrays_.results, false),
                     *const values = wide(arrays_.values, has_values_per_place(work_));
  float* const target = free;
  real_functions<float>().windows({work_, packed, unit.row_begin, unit.row_end, lanes, data,
                                   results, values, target, scratch<float>(room)});
  const std::int64_t count = has_target_per_place(work_) ? places_ : results_;
  if (work_ == WindowWork::maximum) {
    constexpr float lowest = -65504;  // of float16
    for (std::int64_t i = 0; i < count * lanes; ++i) target[i] = std::max(target[i], lowest);
  }
  each(count, [&](std::int64_t i, std::int64_t elements) {
    narrow(target + i * lanes, static_cast<char*>(arrays_.target) + offset(count, i), elements);
  });
}

}  // namespace afterglow::kernels
