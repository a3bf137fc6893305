// SPDX-License-Identifier: Apache-2.0
// Sums over channels, and what is done to their elements with numbers of each. Rows of several
// channels are looked at as columns, each with a sum of its own, so that short rows fill vectors as
// long ones do and the order of additions is the same on every machine.
#pragma once

#include <cstdint>

#include "kernels/isa/folds.h"
#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// Columns at a time, whose sums and numbers stay in the first-level cache.
constexpr std::int64_t channel_piece = 512;
/// Channels of so many columns need not have their numbers repeated for each of these.
constexpr std::int64_t long_channel = 256;
/// Rows after which the sums of columns go to those of their channels, which are wider.
constexpr std::int64_t rows_of_sums = 64;

/// Calls `step(channel, begin, end)` for each channel that columns [begin, end) meet, with its part
/// of them, counted from the first.
template <class Step>
AFTERGLOW_INLINE void for_each_channel(std::int64_t inner, std::int64_t begin, std::int64_t end,
                                       Step&& step) {
  std::int64_t channel = begin / inner;
  for (std::int64_t first = begin; first < end; ++channel) {
    const std::int64_t next = (channel + 1) * inner, last = next < end ? next : end;
    step(channel, first - begin, last - begin);
    first = last;
  }
}

/// The numbers of channels, for each of their columns.
template <class Real>
void repeat_numbers(const Real* numbers, std::int64_t inner, std::int64_t begin, std::int64_t end,
                    Real* target) {
  for_each_channel(inner, begin, end, [&](std::int64_t channel, auto first, auto last) {
    for (std::int64_t i = first; i < last; ++i) target[i] = numbers[channel];
  });
}

template <class Real>
void add_columns(const Real* sums, std::int64_t inner, std::int64_t begin, std::int64_t end,
                 double* totals) {
  for_each_channel(inner, begin, end, [&](std::int64_t channel, auto first, auto last) {
    Real sum = 0;
    if (inner >= 16)
      sum = Folding<Fold::sum, Real>::fold_block(sums + first, last - first);
    else
      for (std::int64_t i = first; i < last; ++i) sum += sums[i];
    totals[channel] += static_cast<double>(sum);
  });
}

/// Some rows of some columns: adds `term(place, mean, sums)` of each.
template <int rows, int kinds, class Real, class Term>
AFTERGLOW_INLINE void add_rows(std::int64_t place, std::int64_t row_stride, std::int64_t columns,
                               const Real* means, Real (&sums)[kinds][channel_piece], Term term) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < columns; ++i) {
    Real own[kinds];
    for (int kind = 0; kind < kinds; ++kind) own[kind] = sums[kind][i];
    for (int row = 0; row < rows; ++row) term(place + row * row_stride + i, means[i], own);
    for (int kind = 0; kind < kinds; ++kind) sums[kind][i] = own[kind];
  }
}

/// Adds up so many kinds of terms for each channel, all channels of a kind one behind the other.
template <int kinds, class Real, class Term>
AFTERGLOW_INLINE void add_up(const ChannelTile& tile, const Real* means, double* totals,
                             Term term) {
  const std::int64_t width = tile.channels * tile.inner, stride = tile.row_stride;
  for (std::int64_t begin = 0; begin < width; begin += channel_piece) {
    const std::int64_t end = begin + channel_piece < width ? begin + channel_piece : width;
    Real repeated[channel_piece], sums[kinds][channel_piece];
    if (means) repeat_numbers(means, tile.inner, begin, end, repeated);
    for (std::int64_t row = 0; row < tile.rows;) {
      const std::int64_t last = row + rows_of_sums < tile.rows ? row + rows_of_sums : tile.rows;
      for (auto& some : sums)
        for (Real& sum : some) sum = 0;
      // Four rows at a time spare three of four loads and stores of the sums.
      for (; row + 4 <= last; row += 4)
        add_rows<4>(row * stride + begin, stride, end - begin, repeated, sums, term);
      for (; row < last; ++row)
        add_rows<1>(row * stride + begin, stride, end - begin, repeated, sums, term);
      for (int kind = 0; kind < kinds; ++kind)
        add_columns(sums[kind], tile.inner, begin, end, totals + kind * tile.channels);
    }
  }
}

/// Calls `rule(place, numbers)` for each element, with the numbers of its channel.
template <int kinds, class Real, class Rule>
AFTERGLOW_INLINE void for_each_element(const ChannelTile& tile, const Real* const (&numbers)[kinds],
                                       Rule rule) {
  const std::int64_t inner = tile.inner, width = tile.channels * inner;
  if (inner >= long_channel) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t channel = 0; channel < tile.channels; ++channel) {
        Real own[kinds];
        for (int kind = 0; kind < kinds; ++kind) own[kind] = numbers[kind][channel];
        const std::int64_t place = row * tile.row_stride + channel * inner;
#pragma GCC ivdep
        for (std::int64_t i = 0; i < inner; ++i) rule(place + i, own);
      }
    }
    return;
  }
  for (std::int64_t begin = 0; begin < width; begin += channel_piece) {
    const std::int64_t end = begin + channel_piece < width ? begin + channel_piece : width;
    Real repeated[kinds][channel_piece];
    for (int kind = 0; kind < kinds; ++kind)
      repeat_numbers(numbers[kind], inner, begin, end, repeated[kind]);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const std::int64_t place = row * tile.row_stride + begin;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < end - begin; ++i) {
        Real own[kinds];
        for (int kind = 0; kind < kinds; ++kind) own[kind] = repeated[kind][i];
        rule(place + i, own);
      }
    }
  }
}

template <class Real>
void sum_channels(const ChannelTile& tile, const Real* x, double* sums) {
  add_up<1, Real>(tile, nullptr, sums,
                  [=](std::int64_t place, Real, Real* own) { own[0] += x[place]; });
}

template <class Real>
void sum_squares(const ChannelTile& tile, const Real* x, const Real* means, double* sums) {
  add_up<1>(tile, means, sums, [=](std::int64_t place, Real mean, Real* own) {
    const Real distance = x[place] - mean;
    own[0] += distance * distance;
  });
}

template <class Real>
void sum_products(const ChannelTile& tile, const Real* values, const Real* x, const Real* means,
                  double* sums) {
  add_up<2>(tile, means, sums, [=](std::int64_t place, Real mean, Real* own) {
    own[0] += values[place];
    own[1] += values[place] * (x[place] - mean);
  });
}

template <class Real>
void scale_channels(const ChannelTile& tile, const Real* x, const Real* means, const Real* factors,
                    const Real* shifts, Real* target) {
  for_each_element<3, Real>(tile, {means, factors, shifts},
                            [=](std::int64_t place, const Real* own) {
                              target[place] = (x[place] - own[0]) * own[1] + own[2];
                            });
}

template <class Real>
void scale_gradient(const ChannelTile& tile, const Real* values, const Real* x, const Real* means,
                    const Real* factors, const Real* slopes, const Real* shifts, Real* target) {
  for_each_element<4, Real>(
      tile, {means, factors, slopes, shifts}, [=](std::int64_t place, const Real* own) {
        target[place] = (values[place] * own[1] + own[3]) + (x[place] - own[0]) * own[2];
      });
}

template <class Real>
constexpr ChannelFunctions<Real> channel_functions = {sum_channels, sum_squares, sum_products,
                                                      scale_channels, scale_gradient};

}  // namespace
}  // namespace afterglow::kernels
