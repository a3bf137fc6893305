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

/// Columns [begin, end) of rows in which the channels take turns.
struct ChannelColumns {
  std::int64_t channels, inner, begin, end;

  std::int64_t count() const { return end - begin; }
  /// Calls `step(channel, first, last)` for each channel in turn with its columns, counted from
  /// `begin`.
  template <class Step>
  AFTERGLOW_INLINE void for_each_channel(Step&& step) const {
    std::int64_t channel = begin / inner % channels, next = begin / inner * inner;
    for (std::int64_t first = begin; first < end;) {
      next += inner;
      const std::int64_t last = next < end ? next : end;
      step(channel, first - begin, last - begin);
      channel = channel + 1 < channels ? channel + 1 : 0;
      first = last;
    }
  }
};

/// Calls `work(place, rows, row_stride, columns)` for pieces of columns until all have been met.
/// Short rows that lie one behind the other count as one.
template <class Work>
AFTERGLOW_INLINE void for_each_piece(const ChannelTile& tile, Work&& work) {
  const std::int64_t width = tile.channels * tile.inner;
  const std::int64_t together =
      tile.row_stride == width && width < channel_piece ? channel_piece / width : 1;
  const std::int64_t long_rows = tile.rows / together, rest = tile.rows % together;
  for (std::int64_t begin = 0; begin < together * width && long_rows > 0; begin += channel_piece) {
    const std::int64_t end = begin + channel_piece;
    work(begin, long_rows, together * tile.row_stride,
         ChannelColumns{tile.channels, tile.inner, begin,
                        end < together * width ? end : together * width});
  }
  if (rest > 0)
    work(long_rows * together * width, rest, width,
         ChannelColumns{tile.channels, tile.inner, 0, width});
}

/// The numbers of channels, for each of their columns.
template <class Real>
void repeat_numbers(const Real* numbers, const ChannelColumns& columns, Real* target) {
  columns.for_each_channel([&](std::int64_t channel, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) target[i] = numbers[channel];
  });
}

template <class Real>
void add_columns(const Real* sums, const ChannelColumns& columns, double* totals) {
  columns.for_each_channel([&](std::int64_t channel, std::int64_t first, std::int64_t last) {
    Real sum = 0;
    if (columns.inner >= 16)
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
  for_each_piece(tile, [&](std::int64_t place, std::int64_t rows, std::int64_t stride,
                           const ChannelColumns& columns) {
    Real repeated[channel_piece], sums[kinds][channel_piece];
    if (means) repeat_numbers(means, columns, repeated);
    for (std::int64_t row = 0; row < rows;) {
      const std::int64_t last = row + rows_of_sums < rows ? row + rows_of_sums : rows;
      for (auto& some : sums)
        for (Real& sum : some) sum = 0;
      // Four rows at a time spare three of four loads and stores of the sums.
      for (; row + 4 <= last; row += 4)
        add_rows<4>(place + row * stride, stride, columns.count(), repeated, sums, term);
      for (; row < last; ++row)
        add_rows<1>(place + row * stride, stride, columns.count(), repeated, sums, term);
      for (int kind = 0; kind < kinds; ++kind)
        add_columns(sums[kind], columns, totals + kind * tile.channels);
    }
  });
}

/// Calls `rule(place, numbers)` for each element, with the numbers of its channel.
template <int kinds, class Real, class Rule>
AFTERGLOW_INLINE void for_each_element(const ChannelTile& tile, const Real* const (&numbers)[kinds],
                                       Rule rule) {
  if (tile.inner >= long_channel) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t channel = 0; channel < tile.channels; ++channel) {
        Real own[kinds];
        for (int kind = 0; kind < kinds; ++kind) own[kind] = numbers[kind][channel];
        const std::int64_t place = row * tile.row_stride + channel * tile.inner;
#pragma GCC ivdep
        for (std::int64_t i = 0; i < tile.inner; ++i) rule(place + i, own);
      }
    }
    return;
  }
  for_each_piece(tile, [&](std::int64_t place, std::int64_t rows, std::int64_t stride,
                           const ChannelColumns& columns) {
    Real repeated[kinds][channel_piece];
    for (int kind = 0; kind < kinds; ++kind) repeat_numbers(numbers[kind], columns, repeated[kind]);
    const std::int64_t count = columns.count();
    for (std::int64_t row = 0; row < rows; ++row) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) {
        Real own[kinds];
        for (int kind = 0; kind < kinds; ++kind) own[kind] = repeated[kind][i];
        rule(place + row * stride + i, own);
      }
    }
  });
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
