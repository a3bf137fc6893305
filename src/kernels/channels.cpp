// SPDX-License-Identifier: Apache-2.0
#include "kernels/channels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/scratch.h"
#include "kernels/stores.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

// Elements of a row of a tile: the longer the runs are, the less cores get into each other's way
// where their tiles meet. But there should be enough blocks to share out.
constexpr std::int64_t wide_tile = 2048, narrow_tile = 64, enough_blocks = 4;
// Elements of a share, and of work that is not cut any further.
constexpr std::int64_t share_elements = 1 << 15, small_work = 1 << 18;
// Elements that are handed on at a time, in the first-level cache.
constexpr std::int64_t handed_on = 4096;
// Elements of a row that is worth going around the caches.
constexpr std::int64_t shortest_streamed_row = 512;

template <class Real>
using Numbers = Real[wide_tile];

template <class Real>
Real* row_of_scratch(std::int64_t count) {
  static thread_local Scratch memory;
  return reinterpret_cast<Real*>(memory.of_size(count * static_cast<std::int64_t>(sizeof(Real))));
}

/// Calls `write(rows, offset, target)` for the rows of a tile of results, `offset` elements from
/// its first: all at once into `target`, or row by row into memory of the thread, from where they
/// go around the caches.
template <class Real, class Write>
void write_rows(const ChannelTile& tile, Real* target, std::int64_t all, Write write) {
  const std::int64_t length = tile.channels * tile.inner;
  const bool is_far = is_far_result(all) && tile.inner >= shortest_streamed_row;
  const std::int64_t bytes = length * static_cast<std::int64_t>(sizeof(Real));
  const ShareStores stores(is_far ? tile.rows * bytes : 0);
  if (!stores.around_caches()) return write(tile.rows, 0, target);
  Real* const row = row_of_scratch<Real>(length);
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    write(1, i * tile.row_stride, row);
    kernel_table().stream(row, target + i * tile.row_stride, bytes);
  }
}

}  // namespace

ChannelPass::ChannelPass(const Channels& channels, DType dtype)
    : channels_(channels),
      dtype_(dtype),
      block_(std::clamp<std::int64_t>(wide_tile / std::max<std::int64_t>(1, channels.inner), 1,
                                      std::max<std::int64_t>(1, channels.count))) {
  const std::int64_t size = channels.size();
  if (size == 0) return;
  while (block_ > 1 && block_ * channels.inner > narrow_tile &&
         divide_up(channels.count, block_) < enough_blocks)
    block_ = divide_up(block_, 2);
  blocks_ = divide_up(channels.count, block_);
  if (blocks_ < enough_blocks && size > small_work)
    parts_ = std::min(channels.outer, divide_up(size, blocks_ * share_elements));
  const std::int64_t tiles = blocks_ * parts_;
  shares_ = static_cast<int>(std::clamp<std::int64_t>(size / share_elements, 1, tiles));
  sums_.resize(static_cast<std::size_t>(2 * tiles * block_));
}

ChannelPass::Tile ChannelPass::tile(std::int64_t number) const {
  const std::int64_t channel = number % blocks_ * block_, part = number / blocks_;
  const std::int64_t row = channels_.outer * part / parts_;
  return {number, channel, std::min(block_, channels_.count - channel), row,
          channels_.outer * (part + 1) / parts_ - row};
}

double* ChannelPass::sums_of(const Tile& tile) {
  return &sums_[static_cast<std::size_t>(2 * tile.number * block_)];
}

template <class Step>
void ChannelPass::for_each_sum(std::int64_t channel, Step step) {
  for (std::int64_t part = 0; part < parts_; ++part) {
    const Tile part_of_it = tile(part * blocks_ + channel / block_);
    const double* const sums = sums_of(part_of_it) + (channel - part_of_it.channel);
    step(part_of_it, sums[0], sums[part_of_it.channels]);
  }
}

template <class AddUp, class Join, class GoOver>
void ChannelPass::run_share(int share, AddUp add_up, Join join, GoOver go_over) {
  const std::int64_t tiles = blocks_ * parts_;
  // From both halves in turns: neighbours that run side by side would ask for each other's lines.
  const int half = share % 2 ? (shares_ + 1) / 2 : 0;
  const Range range = range_of(tiles, shares_, half + share / 2);
  if (parts_ == 1) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Tile whole = tile(i);
      add_up(whole);
      join(whole.channel, whole.channel + whole.channels);
      go_over(whole);
    }
    return;
  }
  for (std::int64_t i = next_++; i < tiles; i = next_++) {
    add_up(tile(i));
    if (++added_up_ < tiles) continue;
    join(std::int64_t{0}, channels_.count);
    joined_ = true;
    joined_.notify_all();
  }
  joined_.wait(false);  // what is missing is being added up by threads that run
  // The latest are in the caches still.
  for (std::int64_t i = range.begin; i < range.end; ++i) go_over(tile(tiles - 1 - i));
}

NormalisePass::NormalisePass(const Channels& channels, DType dtype, double epsilon,
                             const Arrays& arrays, Epilogue epilogue)
    : ChannelPass(channels, dtype),
      epsilon_(epsilon),
      arrays_(arrays),
      epilogue_(std::move(epilogue)) {}

void NormalisePass::run(int share) {
  dtype_ == DType::float32 ? run_as<float>(share) : run_as<double>(share);
}

template <class Real>
void NormalisePass::run_as(int share) {
  run_share(
      share, [&](const Tile& tile) { add_up<Real>(tile); },
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t channel = first; channel < last; ++channel) join<Real>(channel);
      },
      [&](const Tile& tile) { scale<Real>(tile); });
}

/// Sums, and those of squares of the distances from the means of the tile.
template <class Real>
void NormalisePass::add_up(const Tile& tile) {
  const ChannelTile elements = {tile.rows, channels_.count * channels_.inner, tile.channels,
                                channels_.inner};
  const Real* const data = static_cast<const Real*>(arrays_.data) + place_of(tile);
  double* const sums = sums_of(tile);
  const ChannelFunctions<Real>& functions = real_functions<Real>().channels;
  functions.sums(elements, data, sums);
  Numbers<Real> means;
  const auto places = static_cast<double>(tile.rows * channels_.inner);
  for (std::int64_t i = 0; i < tile.channels; ++i) means[i] = static_cast<Real>(sums[i] / places);
  functions.squares(elements, data, means, sums + tile.channels);
}

template <class Real>
void NormalisePass::join(std::int64_t channel) {
  const auto places = static_cast<double>(channels_.places());
  double sum = 0, squares = 0;
  for_each_sum(channel, [&](const Tile&, double part, double) { sum += part; });
  for_each_sum(channel, [&](const Tile& tile, double part, double part_of_squares) {
    const auto count = static_cast<double>(tile.rows * channels_.inner);
    const double distance = part / count - sum / places;
    squares += part_of_squares + count * distance * distance;
  });
  Real* const moments = static_cast<Real*>(arrays_.moments);
  moments[channel] = static_cast<Real>(sum / places);
  moments[channels_.count + channel] = static_cast<Real>(squares / places);
}

template <class Real>
void NormalisePass::scale(const Tile& tile) const {
  const Real *const means = static_cast<const Real*>(arrays_.moments) + tile.channel,
                    *const variances = means + channels_.count,
                    *const gamma = static_cast<const Real*>(arrays_.gamma),
                    *const shifts = static_cast<const Real*>(arrays_.shift) + tile.channel;
  Numbers<Real> factors;
  for (std::int64_t i = 0; i < tile.channels; ++i) {
    const Real deviation = std::sqrt(variances[i] + static_cast<Real>(epsilon_));
    factors[i] = (gamma ? gamma[tile.channel + i] : Real(1)) / deviation;
  }
  const std::int64_t place = place_of(tile), stride = channels_.count * channels_.inner;
  const Real* const data = static_cast<const Real*>(arrays_.data) + place;
  Real* const result = static_cast<Real*>(arrays_.result) + place;
  const auto scale_rows = [&](std::int64_t rows, std::int64_t offset, Real* target) {
    real_functions<Real>().channels.scale({rows, stride, tile.channels, channels_.inner},
                                          data + offset, means, factors, shifts, target);
  };
  if (!epilogue_)
    return write_rows({tile.rows, stride, tile.channels, channels_.inner}, result, channels_.size(),
                      scale_rows);
  const std::int64_t length = tile.channels * channels_.inner,
                     column = tile.channel * channels_.inner;
  const std::int64_t step = std::max<std::int64_t>(1, handed_on / length);
  for (std::int64_t row = 0; row < tile.rows; row += step) {
    const std::int64_t rows = std::min(step, tile.rows - row);
    scale_rows(rows, row * stride, result + row * stride);
    epilogue_(tile.row + row, tile.row + row + rows, column, column + length);
  }
}

NormaliseGradientPass::NormaliseGradientPass(const Channels& channels, DType dtype, double epsilon,
                                             const Arrays& arrays)
    : ChannelPass(channels, dtype), epsilon_(epsilon), arrays_(arrays) {}

void NormaliseGradientPass::run(int share) {
  dtype_ == DType::float32 ? run_as<float>(share) : run_as<double>(share);
}

template <class Real>
void NormaliseGradientPass::run_as(int share) {
  run_share(
      share, [&](const Tile& tile) { add_up<Real>(tile); },
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t channel = first; channel < last; ++channel) join<Real>(channel);
      },
      [&](const Tile& tile) { spread<Real>(tile); });
}

/// The sums of values, and of values * (data - mean).
template <class Real>
void NormaliseGradientPass::add_up(const Tile& tile) {
  const std::int64_t place = place_of(tile);
  real_functions<Real>().channels.products(
      {tile.rows, channels_.count * channels_.inner, tile.channels, channels_.inner},
      static_cast<const Real*>(arrays_.values) + place,
      static_cast<const Real*>(arrays_.data) + place,
      static_cast<const Real*>(arrays_.moments) + tile.channel, sums_of(tile));
}

template <class Real>
void NormaliseGradientPass::join(std::int64_t channel) {
  double sum = 0, products = 0;
  for_each_sum(channel, [&](const Tile&, double part, double part_of_products) {
    sum += part;
    products += part_of_products;
  });
  const Real variance = static_cast<const Real*>(arrays_.moments)[channels_.count + channel];
  const double deviation = std::sqrt(static_cast<double>(variance) + epsilon_);
  Real* const sums = static_cast<Real*>(arrays_.sums);
  sums[channel] = static_cast<Real>(sum);
  sums[channels_.count + channel] = static_cast<Real>(products / deviation);
}

/// gradient = factor * (value - mean of values - unit * mean of values * unit), where a unit is the
/// distance from the mean by the deviation.
template <class Real>
void NormaliseGradientPass::spread(const Tile& tile) const {
  const Real *const means = static_cast<const Real*>(arrays_.moments) + tile.channel,
                    *const variances = means + channels_.count,
                    *const gamma = static_cast<const Real*>(arrays_.gamma),
                    *const sums = static_cast<const Real*>(arrays_.sums) + tile.channel,
                    *const products = sums + channels_.count;
  Numbers<Real> factors, slopes, shifts;
  const auto places = static_cast<double>(channels_.places());
  for (std::int64_t i = 0; i < tile.channels; ++i) {
    const double deviation = std::sqrt(static_cast<double>(variances[i]) + epsilon_);
    const double factor = (gamma ? static_cast<double>(gamma[tile.channel + i]) : 1) / deviation;
    factors[i] = static_cast<Real>(factor);
    slopes[i] =
        static_cast<Real>(-factor * static_cast<double>(products[i]) / (deviation * places));
    shifts[i] = static_cast<Real>(-factor * static_cast<double>(sums[i]) / places);
  }
  const std::int64_t place = place_of(tile), stride = channels_.count * channels_.inner;
  const Real *const values = static_cast<const Real*>(arrays_.values) + place,
                    *const data = static_cast<const Real*>(arrays_.data) + place;
  write_rows({tile.rows, stride, tile.channels, channels_.inner},
             static_cast<Real*>(arrays_.gradient) + place, channels_.size(),
             [&](std::int64_t rows, std::int64_t offset, Real* target) {
               real_functions<Real>().channels.gradient(
                   {rows, stride, tile.channels, channels_.inner}, values + offset, data + offset,
                   means, factors, slopes, shifts, target);
             });
}

}  // namespace afterglow::kernels
