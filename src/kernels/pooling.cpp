// SPDX-License-Identifier: Apache-2.0
#include "kernels/pooling.h"

#include <algorithm>
#include <cstring>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"
#include "kernels/winner_bands.h"

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

/// Whether winners are looked for in many windows at once: in those over one plane, with columns
/// side by side or two apart.
bool suits_bands(const PoolingWindows& windows) {
  constexpr std::int64_t fewest = 4;
  const auto& [depth, rows, columns, images, lanes, is_mean, counts_pad, is_adaptive] = windows;
  return lanes == 1 && depth.extent == 1 && depth.results == 1 && depth.kernel == 1 &&
         depth.pad == 0 && columns.stride <= 2 && columns.kernel >= columns.stride &&
         rows.results * columns.results >= fewest;
}

bool has_values_per_place(WindowWork work) {
  return work == WindowWork::maximum_taken;
}

bool has_target_per_place(WindowWork work) {
  return work == WindowWork::maximum_gradient || work == WindowWork::sum_gradient;
}

template <class T>
T* scratch(std::int64_t count) {
  static thread_local Scratch memory;
  return reinterpret_cast<T*>(memory.of_size(count * static_cast<std::int64_t>(sizeof(T))));
}

}  // namespace

DType winner_type(std::int64_t places) {
  return places <= most_byte_winners ? DType::uint8 : DType::int32;
}

PoolingPass::PoolingPass(WindowWork work, const PoolingWindows& windows, DType dtype,
                         const Arrays& arrays)
    : work_(work),
      windows_(simplified(windows)),
      dtype_(dtype),
      arrays_(arrays),
      has_byte_winners_(winner_type(windows.depth.kernel * windows.rows.kernel *
                                    windows.columns.kernel) == DType::uint8),
      by_bands_(has_byte_winners_ && suits_bands(windows_) && asks_for_winners(work) &&
                work != WindowWork::maximum_taken),
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
  const std::int64_t together = by_bands_ && dtype_ != DType::float16 ? range.end - range.begin : 1;
  for (std::int64_t number = range.begin; number < range.end; number += together) {
    const std::int64_t first = number % blocks * lane_block_, row = number / blocks % row_blocks_;
    const Unit unit = {
        number / blocks / row_blocks_,  together, rows * row / row_blocks_,
        rows * (row + 1) / row_blocks_, first,    std::min(lane_block_, windows_.lanes - first)};
    if (dtype_ == DType::float32)
      run_unit<float>(unit);
    else if (dtype_ == DType::float64)
      run_unit<double>(unit);
    else
      run_halves(unit);
  }
}

/// Elements that a call may write to in between.
std::int64_t PoolingPass::room() const {
  const WindowAxis& columns = windows_.columns;
  if (by_bands_) return winner_band(windows_.rows, columns).room();
  return 2 * (columns.extent + columns.stride) + 4 * (columns.results + 1) + most_lanes;
}

void* PoolingPass::winners_of(const Unit& unit) const {
  if (!arrays_.winners) return nullptr;
  const std::int64_t at = unit.image * results_ * windows_.lanes + unit.first;
  if (has_byte_winners_) return static_cast<std::uint8_t*>(arrays_.winners) + at;
  return static_cast<std::int32_t*>(arrays_.winners) + at;
}

template <class Real>
void PoolingPass::run_unit(const Unit& unit) const {
  const auto at = [&](const void* array, bool per_place) {
    return array ? static_cast<const Real*>(array) +
                       unit.image * (per_place ? places_ : results_) * windows_.lanes + unit.first
                 : nullptr;
  };
  real_functions<Real>().windows(
      {work_, windows_, by_bands_, has_byte_winners_, unit.images, unit.row_begin, unit.row_end,
       unit.lanes, at(arrays_.data, true), at(arrays_.values, has_values_per_place(work_)),
       winners_of(unit), const_cast<Real*>(at(arrays_.target, has_target_per_place(work_))),
       scratch<Real>(room())});
}

/// float16 is brought to float32, an image or a block of its lanes at a time.
void PoolingPass::run_halves(const Unit& unit) const {
  const std::int64_t lanes = unit.lanes;
  const CastFunction widen = cast_function(DType::float16, DType::float32);
  const CastFunction narrow = cast_function(DType::float32, DType::float16);
  const std::int64_t room = this->room();
  float* free = scratch<float>(room + 2 * (places_ + 2 * results_) * lanes) + room;
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
  const float *const data = wide(arrays_.data, true), *const values =
                                                          wide(arrays_.values,
                                                               has_values_per_place(work_));
  const std::int64_t count = has_target_per_place(work_) ? places_ : results_;
  float* const target = free;
  // Winners stay what they are, but come without gaps too.
  char* const there = static_cast<char*>(winners_of(unit));
  char* const winners =
      lanes == windows_.lanes || !there ? there : reinterpret_cast<char*>(target + count * lanes);
  const auto copy_winners = [&](bool back) {
    if (winners == there) return;
    const std::int64_t size = has_byte_winners_ ? 1 : 4;
    for (std::int64_t i = 0; i < results_; ++i) {
      char *const near = winners + i * lanes * size, *const far = there + i * windows_.lanes * size;
      std::memcpy(back ? far : near, back ? near : far, static_cast<std::size_t>(lanes * size));
    }
  };
  if (work_ != WindowWork::maximum_found) copy_winners(false);
  real_functions<float>().windows({work_, packed, by_bands_, has_byte_winners_, 1, unit.row_begin,
                                   unit.row_end, lanes, data, values, winners, target,
                                   scratch<float>(room)});
  if (work_ == WindowWork::maximum_found) copy_winners(true);
  if (work_ == WindowWork::maximum || work_ == WindowWork::maximum_found) {
    constexpr float lowest = -65504;  // of float16
    for (std::int64_t i = 0; i < count * lanes; ++i) target[i] = std::max(target[i], lowest);
  }
  each(count, [&](std::int64_t i, std::int64_t elements) {
    narrow(target + i * lanes, static_cast<char*>(arrays_.target) + offset(count, i), elements);
  });
}

}  // namespace afterglow::kernels
