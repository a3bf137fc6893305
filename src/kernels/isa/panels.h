// SPDX-License-Identifier: Apache-2.0
// The inner part of large products: a tile of the result stays in registers while packed panels of
// both factors go by. And rows of images that pass a small filter.
#pragma once

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <utility>

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

template <class Real>
struct PanelTiles {
  using Vector [[gnu::vector_size(vector_size)]] = Real;
  using Tile = void (*)(const PanelProduct<Real>&);

  static constexpr int width = vector_size / sizeof(Real);
  /// The sums, two vectors of b and one of a fill the registers.
  static constexpr int most_rows = vector_size == 64 ? 12 : vector_size == 32 ? 6 : 4;
  static constexpr int columns = 2 * width;

  AFTERGLOW_INLINE static Vector multiply_add(Vector x, Vector y, Vector sum) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      return _mm512_fmadd_ps(x, y, sum);
    else
      return _mm512_fmadd_pd(x, y, sum);
#elif defined(__FMA__)
    if constexpr (sizeof(Real) == 4)
      return _mm256_fmadd_ps(x, y, sum);
    else
      return _mm256_fmadd_pd(x, y, sum);
#else
    return x * y + sum;
#endif
  }

  AFTERGLOW_INLINE static Vector load(const Real* source) {
    Vector vector;
    __builtin_memcpy(&vector, source, sizeof(Vector));
    return vector;
  }

  template <int rows, int vectors>
  [[gnu::noinline]] static void run_tile(const PanelProduct<Real>& p) {
    Vector sums[rows][vectors] = {};
    // Addresses reach two rows further by themselves.
    constexpr int bases = (rows + 2) / 3;
    const Real* a[bases];
    for (int i = 0; i < bases; ++i) a[i] = p.a + 3 * i * p.a_row;
    const std::int64_t a_step = p.a_step ? p.a_step : most_rows;
    const std::int64_t b_step = p.b_step ? p.b_step : columns;
    const Real* b = p.b;
    for (std::int64_t i = 0; i < p.depth; ++i, b += b_step) {
      Vector right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = load(b + v * width);
#pragma GCC unroll 12
      for (int r = 0; r < rows; ++r) {
        const Vector left = a[r / 3][r % 3 * p.a_row] - Vector{};
        for (int v = 0; v < vectors; ++v) sums[r][v] = multiply_add(left, right[v], sums[r][v]);
      }
#pragma GCC unroll 4
      for (int r = 0; r < bases; ++r) a[r] += a_step;
    }
    Real* c = p.c;
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r, c += p.c_stride) {
      for (int v = 0; v < vectors; ++v) {
        if (p.add) sums[r][v] += load(c + v * width);
        __builtin_memcpy(c + v * width, &sums[r][v], sizeof(Vector));
      }
    }
  }

  template <int vectors, int... rows>
  static void run(const PanelProduct<Real>& p, std::integer_sequence<int, rows...>) {
    static constexpr Tile tiles[] = {&run_tile<rows + 1, vectors>...};
    tiles[p.rows - 1](p);
  }

  static void product(const PanelProduct<Real>& p) {
    constexpr auto all_rows = std::make_integer_sequence<int, most_rows>();
    p.columns > width ? run<2>(p, all_rows) : run<1>(p, all_rows);
  }

  /// Whole vectors are copied: what goes too far is overwritten by the next piece, or not used.
  static void pack(const Real* const* rows, std::int64_t count, const PanelPiece* pieces,
                   std::int64_t pieces_used, Real* target) {
    if (pieces_used == 1) {
      for (std::int64_t i = 0; i < count; ++i, target += columns) {
        const Real* const from = rows[i] + pieces[0].offset;
        const Vector first = load(from), second = load(from + width);
        __builtin_memcpy(target, &first, sizeof(Vector));
        __builtin_memcpy(target + width, &second, sizeof(Vector));
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i, target += columns) {
      for (std::int64_t piece = 0; piece < pieces_used; ++piece) {
        const Real* const from = rows[i] + pieces[piece].offset;
        Real* const to = target + pieces[piece].column;
        for (std::int64_t j = 0; j < pieces[piece].count; j += width) {
          const Vector vector = load(from + j);
          __builtin_memcpy(to + j, &vector, sizeof(Vector));
        }
      }
    }
  }

  template <int vectors>
  AFTERGLOW_INLINE static void filter_part(const Real* source, const std::int64_t* offsets,
                                           const Real* weights, std::int64_t taps, Real start,
                                           Real* target) {
    Vector sums[vectors];
    for (int v = 0; v < vectors; ++v) sums[v] = start - Vector{};
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const Vector weight = weights[tap] - Vector{};
      const Real* const from = source + offsets[tap];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v)
        sums[v] = multiply_add(weight, load(from + v * width), sums[v]);
    }
    for (int v = 0; v < vectors; ++v)
      __builtin_memcpy(target + v * width, &sums[v], sizeof(Vector));
  }

  /// Writes whole vectors.
  static void filter(const Real* source, const std::int64_t* offsets, const Real* weights,
                     std::int64_t taps, Real start, std::int64_t count, Real* target) {
    std::int64_t i = 0;
    for (; count - i > 2 * width; i += 4 * width)
      filter_part<4>(source + i, offsets, weights, taps, start, target + i);
    for (; i < count; i += width)
      filter_part<1>(source + i, offsets, weights, taps, start, target + i);
  }

  template <int taps>
  AFTERGLOW_INLINE static void add_dots(const Real* values, const Real* source,
                                        const std::int64_t* offsets, std::int64_t count,
                                        Real* sums) {
    Vector totals[taps];
    for (int tap = 0; tap < taps; ++tap) totals[tap] = load(sums + tap * width);
    for (std::int64_t i = 0; i < count; i += width) {
      const Vector value = load(values + i);
#pragma GCC unroll 8
      for (int tap = 0; tap < taps; ++tap)
        totals[tap] = multiply_add(value, load(source + offsets[tap] + i), totals[tap]);
    }
    for (int tap = 0; tap < taps; ++tap)
      __builtin_memcpy(sums + tap * width, &totals[tap], sizeof(Vector));
  }

  static void dots(const Real* values, const Real* source, const std::int64_t* offsets,
                   std::int64_t taps, std::int64_t count, Real* sums) {
    std::int64_t tap = 0;
    for (; taps - tap >= 4; tap += 4)
      add_dots<4>(values, source, offsets + tap, count, sums + tap * width);
    for (; tap < taps; ++tap) add_dots<1>(values, source, offsets + tap, count, sums + tap * width);
  }

  static constexpr PanelFunctions<Real> functions() {
    return {most_rows, columns, width, product, pack, filter, dots};
  }
};

}  // namespace
}  // namespace afterglow::kernels
