// SPDX-License-Identifier: Apache-2.0
// The linear maps of Winograd's convolutions of 4 by 4 places with 3 by 3 weights, of 2 by 2 with
// 5 by 5, and of 5 by 5 with 2 by 2, which take polynomials by their values at 0, 1, -1, 2, -2 and
// infinity. Vectors hold channels.
#pragma once

#include <cstdint>

#include "kernels/isa/pixels.h"
#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

struct Winograd {
  using Vector [[gnu::vector_size(vector_size)]] = float;
  static constexpr int width = vector_size / sizeof(float);
  static constexpr float sixth = 1.0f / 6;

  struct SpreadImage {
    static constexpr int from = 6, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = x[4] - 4 * x[2], odd = x[3] - 4 * x[1];
      const Vector twice_even = x[4] - x[2], twice_odd = 2 * (x[3] - x[1]);
      y[0] = 4 * x[0] - 5 * x[2] + x[4];
      y[1] = even + odd;
      y[2] = even - odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = 4 * x[1] - 5 * x[3] + x[5];
    }
  };

  struct SpreadWeights {
    static constexpr int from = 3, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = -sixth * (x[0] + x[2]), odd = sixth * x[1];
      const Vector twice_even = sixth * (0.25f * x[0] + x[2]), twice_odd = 0.5f * odd;
      y[0] = 0.25f * x[0];
      y[1] = even - odd;
      y[2] = even + odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = x[2];
    }
  };

  struct GatherResult {
    static constexpr int from = 6, to = 4;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = x[1] + x[2], odd = x[1] - x[2];
      const Vector twice_even = x[3] + x[4], twice_odd = x[3] - x[4];
      y[0] = x[0] + even + twice_even;
      y[1] = odd + 2 * twice_odd;
      y[2] = even + 4 * twice_even;
      y[3] = x[5] + odd + 8 * twice_odd;
    }
  };

  struct SpreadGradient {
    static constexpr int from = 4, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = x[0] + x[2], odd = x[1] + x[3];
      const Vector twice_even = x[0] + 4 * x[2], twice_odd = 2 * x[1] + 8 * x[3];
      y[0] = x[0];
      y[1] = even + odd;
      y[2] = even - odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = x[3];
    }
  };

  struct GatherWeights {
    static constexpr int from = 6, to = 3;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = sixth * (x[1] + x[2]), twice_even = sixth * (x[3] + x[4]);
      y[0] = 0.25f * (x[0] + twice_even) - even;
      y[1] = sixth * (x[2] - x[1] + 0.5f * (x[3] - x[4]));
      y[2] = x[5] - even + twice_even;
    }
  };

  struct SpreadLargeWeights {
    static constexpr int from = 5, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = -sixth * (x[0] + x[2] + x[4]), odd = sixth * (x[1] + x[3]);
      const Vector twice_even = sixth * (0.25f * x[0] + x[2] + 4 * x[4]),
                   twice_odd = sixth * (0.5f * x[1] + 2 * x[3]);
      y[0] = 0.25f * x[0];
      y[1] = even - odd;
      y[2] = even + odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = x[4];
    }
  };

  struct GatherSmallResult {
    static constexpr int from = 6, to = 2;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      y[0] = x[0] + (x[1] + x[2]) + (x[3] + x[4]);
      y[1] = x[5] + (x[1] - x[2]) + 2 * (x[3] - x[4]);
    }
  };

  struct SpreadSmallGradient {
    static constexpr int from = 2, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector twice = 2 * x[1];
      y[0] = x[0];
      y[1] = x[0] + x[1];
      y[2] = x[0] - x[1];
      y[3] = x[0] + twice;
      y[4] = x[0] - twice;
      y[5] = x[1];
    }
  };

  struct GatherLargeWeights {
    static constexpr int from = 6, to = 5;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = sixth * (x[1] + x[2]), odd = sixth * (x[2] - x[1]);
      const Vector twice_even = sixth * (x[3] + x[4]), twice_odd = sixth * (x[3] - x[4]);
      y[0] = 0.25f * (x[0] + twice_even) - even;
      y[1] = odd + 0.5f * twice_odd;
      y[2] = twice_even - even;
      y[3] = odd + 2 * twice_odd;
      y[4] = x[5] + 4 * twice_even - even;
    }
  };

  struct SpreadSmallWeights {
    static constexpr int from = 2, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = -sixth * x[0], odd = sixth * x[1];
      const Vector twice_even = 0.25f * sixth * x[0], twice_odd = 0.5f * odd;
      y[0] = 0.25f * x[0];
      y[1] = even - odd;
      y[2] = even + odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = x[1];
    }
  };

  struct GatherLargeResult {
    static constexpr int from = 6, to = 5;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = x[1] + x[2], odd = x[1] - x[2];
      const Vector twice_even = x[3] + x[4], twice_odd = x[3] - x[4];
      y[0] = x[0] + even + twice_even;
      y[1] = odd + 2 * twice_odd;
      y[2] = even + 4 * twice_even;
      y[3] = odd + 8 * twice_odd;
      y[4] = x[5] + even + 16 * twice_even;
    }
  };

  struct SpreadLargeGradient {
    static constexpr int from = 5, to = 6;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      const Vector even = x[0] + x[2] + x[4], odd = x[1] + x[3];
      const Vector twice_even = x[0] + 4 * x[2] + 16 * x[4], twice_odd = 2 * x[1] + 8 * x[3];
      y[0] = x[0];
      y[1] = even + odd;
      y[2] = even - odd;
      y[3] = twice_even + twice_odd;
      y[4] = twice_even - twice_odd;
      y[5] = x[4];
    }
  };

  struct GatherSmallWeights {
    static constexpr int from = 6, to = 2;
    AFTERGLOW_INLINE static void apply(const Vector (&x)[from], Vector (&y)[to]) {
      y[0] = 0.25f * (x[0] + sixth * (x[3] + x[4])) - sixth * (x[1] + x[2]);
      y[1] = x[5] + sixth * (x[2] - x[1] + 0.5f * (x[3] - x[4]));
    }
  };

  /// `load(place)` gives what a place of the square has, and `store(place, vector)` takes what
  /// becomes of it.
  template <class Line, class Load, class Store>
  AFTERGLOW_INLINE static void both_axes_of(Load&& load, Store&& store) {
    Vector half[Line::from][Line::to];
#pragma GCC unroll 6
    for (int row = 0; row < Line::from; ++row) {
      Vector line[Line::from];
#pragma GCC unroll 6
      for (int i = 0; i < Line::from; ++i) line[i] = load(row * Line::from + i);
      Line::apply(line, half[row]);
    }
#pragma GCC unroll 6
    for (int column = 0; column < Line::to; ++column) {
      Vector line[Line::from], result[Line::to];
#pragma GCC unroll 6
      for (int i = 0; i < Line::from; ++i) line[i] = half[i][column];
      Line::apply(line, result);
#pragma GCC unroll 6
      for (int i = 0; i < Line::to; ++i) store(i * Line::to + column, result[i]);
    }
  }

  template <class Line>
  static void both_axes(const float* const* from, float* const* to, std::int64_t lanes) {
    for (std::int64_t lane = 0; lane < lanes; lane += width) {
      both_axes_of<Line>(
          [&](int place) {
            Vector vector;
            __builtin_memcpy(&vector, from[place] + lane, sizeof(Vector));
            return vector;
          },
          [&](int place, Vector vector) {
            __builtin_memcpy(to[place] + lane, &vector, sizeof(Vector));
          });
    }
  }

  template <class Line>
  static void gather_pixels(const float* const* from, const std::int64_t* pixels,
                            const PixelResult<float>& result, int columns) {
    using Pixels = PixelTiles<float>;
    for (int column = 0; column < columns; column += width) {
      const int count = columns - column;
      Vector start[1][1];
      Pixels::start(result, column, count, start);
      both_axes_of<Line>(
          [&](int place) {
            Vector vector;
            __builtin_memcpy(&vector, from[place] + column, sizeof(Vector));
            return vector;
          },
          [&](int place, Vector vector) {
            if (pixels[place] < 0) return;
            Vector sums[1][1] = {{vector + start[0][0]}};
            Pixels::finish(result, pixels[place] * result.stride + column, count, sums);
          });
    }
  }
};

constexpr WinogradFunctions winograd_functions = {
    Winograd::both_axes<Winograd::SpreadImage>,    Winograd::both_axes<Winograd::SpreadWeights>,
    Winograd::both_axes<Winograd::GatherResult>,   Winograd::gather_pixels<Winograd::GatherResult>,
    Winograd::both_axes<Winograd::SpreadGradient>, Winograd::both_axes<Winograd::GatherWeights>};
constexpr WinogradFunctions large_winograd_functions = {
    Winograd::both_axes<Winograd::SpreadImage>,
    Winograd::both_axes<Winograd::SpreadLargeWeights>,
    Winograd::both_axes<Winograd::GatherSmallResult>,
    Winograd::gather_pixels<Winograd::GatherSmallResult>,
    Winograd::both_axes<Winograd::SpreadSmallGradient>,
    Winograd::both_axes<Winograd::GatherLargeWeights>};
constexpr WinogradFunctions small_winograd_functions = {
    Winograd::both_axes<Winograd::SpreadImage>,
    Winograd::both_axes<Winograd::SpreadSmallWeights>,
    Winograd::both_axes<Winograd::GatherLargeResult>,
    Winograd::gather_pixels<Winograd::GatherLargeResult>,
    Winograd::both_axes<Winograd::SpreadLargeGradient>,
    Winograd::both_axes<Winograd::GatherSmallWeights>};

}  // namespace
}  // namespace afterglow::kernels
