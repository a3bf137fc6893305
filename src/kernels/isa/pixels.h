// SPDX-License-Identifier: Apache-2.0
// The inner parts of convolutions whose channels come last: vectors are filters, or channels, so
// that images are read as they lie.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/isa/panels.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

template <class Real>
struct PixelTiles {
  using Panels = PanelTiles<Real>;
  using Vector = typename Panels::Vector;

  static constexpr int width = Panels::width;
  /// Of a product: the sums, two vectors of weights and an element fill the registers.
  static constexpr int most_pixels = Panels::most_rows;
  static constexpr int columns = Panels::columns;
  /// Of a filter: its weights are loaded once for so many.
  static constexpr int most_filtered = 4;

  AFTERGLOW_INLINE static Vector load_part(const Real* source, std::int64_t count) {
    if (count >= width) return Panels::load(source);
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), source);
    else
      return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), source);
#else
    Vector vector = {};
    for (std::int64_t i = 0; i < count; ++i) vector[i] = source[i];
    return vector;
#endif
  }

  AFTERGLOW_INLINE static void store_part(Real* target, Vector vector, std::int64_t count) {
    if (count >= width) {
      __builtin_memcpy(target, &vector, sizeof(Vector));
      return;
    }
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      _mm512_mask_storeu_ps(target, static_cast<__mmask16>((1u << count) - 1), vector);
    else
      _mm512_mask_storeu_pd(target, static_cast<__mmask8>((1u << count) - 1), vector);
#else
    for (std::int64_t i = 0; i < count; ++i) target[i] = vector[i];
#endif
  }

  /// The sums of pixels side by side, of `count` columns from `column` on.
  template <int pixels, int vectors>
  AFTERGLOW_INLINE static void start(const PixelResult<Real>& result, std::int64_t column,
                                     std::int64_t count, Vector (&sums)[pixels][vectors]) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const Vector first =
          result.start ? load_part(result.start + column + v * width, count - v * width) : Vector{};
#pragma GCC unroll 12
      for (int i = 0; i < pixels; ++i) sums[i][v] = first;
    }
  }

  template <int pixels, int vectors>
  AFTERGLOW_INLINE static void finish(const PixelResult<Real>& result, std::int64_t column,
                                      std::int64_t count, Vector (&sums)[pixels][vectors]) {
    const Vector low = result.low - Vector{}, high = result.high - Vector{};
    // Whole vectors need no second look each.
    if (count >= vectors * width)
      finish_part(result, column, std::int64_t{vectors * width}, low, high, sums);
    else
      finish_part(result, column, count, low, high, sums);
  }

  template <int pixels, int vectors>
  AFTERGLOW_INLINE static void finish_part(const PixelResult<Real>& result, std::int64_t column,
                                           std::int64_t count, Vector low, Vector high,
                                           Vector (&sums)[pixels][vectors]) {
    if (result.addend) {
      const Real* from = result.addend + column;
#pragma GCC unroll 12
      for (int i = 0; i < pixels; ++i, from += result.stride)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v)
          sums[i][v] += load_part(from + v * width, count - v * width);
    }
    Real* to = result.target + column;
#pragma GCC unroll 12
    for (int i = 0; i < pixels; ++i, to += result.stride) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        // A sum that is nan stays it.
        const Vector no_less = low > sums[i][v] ? low : sums[i][v];
        store_part(to + v * width, high < no_less ? high : no_less, count - v * width);
      }
    }
  }

  template <int pixels, int vectors>
  [[gnu::noinline]] static void multiply_tile(const PixelProduct<Real>& p) {
    // All loops over sums are unrolled at once, or the compiler may keep sums in memory.
    Vector sums[pixels][vectors];
    start(p.result, 0, p.columns, sums);
    const Real* weights = p.weights;
    const Real* const* sources = p.sources;
    for (std::int64_t tap = 0; tap < p.taps; ++tap, sources += p.source_stride) {
      const Real* from[pixels];
#pragma GCC unroll 12
      for (int i = 0; i < pixels; ++i) from[i] = sources[i];
      for (std::int64_t channel = 0; channel < p.channels; ++channel, weights += columns) {
        Vector right[vectors];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) right[v] = Panels::load(weights + v * width);
#pragma GCC unroll 12
        for (int i = 0; i < pixels; ++i) {
          const Vector left = from[i][channel] - Vector{};
#pragma GCC unroll 2
          for (int v = 0; v < vectors; ++v)
            sums[i][v] = Panels::multiply_add(left, right[v], sums[i][v]);
        }
      }
    }
    finish(p.result, 0, p.columns, sums);
  }

  template <int vectors, int... pixels>
  static void multiply(const PixelProduct<Real>& p, std::integer_sequence<int, pixels...>) {
    using Tile = void (*)(const PixelProduct<Real>&);
    static constexpr Tile tiles[] = {&multiply_tile<pixels + 1, vectors>...};
    tiles[p.pixels - 1](p);
  }

  static void product(const PixelProduct<Real>& p) {
    constexpr auto all = std::make_integer_sequence<int, most_pixels>();
    p.columns > width ? multiply<2>(p, all) : multiply<1>(p, all);
  }

  /// Vectors [channel, channel + vectors * width), of which `count` elements are there.
  template <int pixels, int vectors>
  AFTERGLOW_INLINE static void filter_channels(const PixelFilter<Real>& p, std::int64_t channel,
                                               std::int64_t count) {
    Vector sums[pixels][vectors];
    start(p.result, channel, count, sums);
    const Real* weights = p.weights + channel;
    const Real* const* sources = p.sources;
    for (std::int64_t tap = 0; tap < p.taps;
         ++tap, sources += p.source_stride, weights += p.weight_stride) {
      for (int v = 0; v < vectors; ++v) {
        const Vector weight = load_part(weights + v * width, count - v * width);
#pragma GCC unroll 4
        for (int i = 0; i < pixels; ++i)
          sums[i][v] = Panels::multiply_add(
              weight, load_part(sources[i] + channel + v * width, count - v * width), sums[i][v]);
      }
    }
    finish(p.result, channel, count, sums);
  }

  template <int pixels>
  static void filter_tile(const PixelFilter<Real>& p) {
    std::int64_t channel = 0;
    for (; channel + 2 * width <= p.channels; channel += 2 * width)
      filter_channels<pixels, 2>(p, channel, 2 * width);
    for (; channel < p.channels; channel += width)
      filter_channels<pixels, 1>(p, channel, p.channels - channel);
  }

  static void filter(const PixelFilter<Real>& p) {
    switch (p.pixels) {
      case 1:
        return filter_tile<1>(p);
      case 2:
        return filter_tile<2>(p);
      case 3:
        return filter_tile<3>(p);
      default:
        return filter_tile<4>(p);
    }
  }

  /// One vector of channels of a square, of which `count` are there. What the filters see is loaded
  /// once for all that see it, and summed up in the order of taps.
  template <int stride, int rows>
  AFTERGLOW_INLINE static void filter_square_channels(const PixelSquare<Real>& p,
                                                      std::int64_t channel, std::int64_t count) {
    constexpr int taps = 3, height = (rows - 1) * stride + taps,
                  length = (most_filtered - 1) * stride + taps;
    Vector weights[taps * taps];
#pragma GCC unroll 9
    for (int tap = 0; tap < taps * taps; ++tap)
      weights[tap] = load_part(p.weights + tap * p.weight_stride + channel, count);
    Vector sums[rows][most_filtered][1];
#pragma GCC unroll 2
    for (int row = 0; row < rows; ++row) start(p.result, channel, count, sums[row]);
#pragma GCC unroll 5
    for (int y = 0; y < height; ++y) {
#pragma GCC unroll 9
      for (int x = 0; x < length; ++x) {
        const Vector seen = load_part(p.sources[y * length + x] + channel, count);
#pragma GCC unroll 2
        for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
          for (int i = 0; i < most_filtered; ++i) {
            const int tap_y = y - row * stride, tap_x = x - i * stride;
            if (tap_y >= 0 && tap_y < taps && tap_x >= 0 && tap_x < taps)
              sums[row][i][0] =
                  Panels::multiply_add(weights[tap_y * taps + tap_x], seen, sums[row][i][0]);
          }
        }
      }
    }
#pragma GCC unroll 2
    for (int row = 0; row < rows; ++row)
      finish(p.result, row * p.row_stride + channel, count, sums[row]);
  }

  template <int stride, int rows>
  static void filter_square(const PixelSquare<Real>& p) {
    std::int64_t channel = 0;
    for (; channel + width <= p.channels; channel += width)
      filter_square_channels<stride, rows>(p, channel, width);
    if (channel < p.channels)
      filter_square_channels<stride, rows>(p, channel, p.channels - channel);
  }

  static constexpr PixelFunctions<Real> functions() {
    return {
        most_pixels,
        columns,
        width,
        product,
        most_filtered,
        filter,
        most_filtered,
        {{filter_square<1, 1>, filter_square<1, 2>}, {filter_square<2, 1>, filter_square<2, 2>}}};
  }
};

}  // namespace
}  // namespace afterglow::kernels
