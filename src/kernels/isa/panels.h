// SPDX-License-Identifier: Apache-2.0
// The inner part of large products: a tile of the result stays in registers while packed panels of
// both factors go by. And rows of images that pass a small filter.
#pragma once

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <type_traits>
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
  static constexpr int vectors_of_line = 64 / vector_size;  ///< of the caches

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

  /// Loaded once: the compiler would read it again for each of its products.
  AFTERGLOW_INLINE static Vector load_once(const Real* source) {
    Vector vector = load(source);
#if defined(__AVX512F__) || defined(__FMA__)
    asm("" : "+v"(vector));
#endif
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
      // Panels that are too many for the second cache are asked for while the one before goes by.
      for (int v = 0; v < vectors; v += vectors_of_line)
        __builtin_prefetch(b + p.depth * b_step + v * width, 0, 2);
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

  /// Vectors of each row that fill the registers.
  static constexpr int most_vectors(int rows) {
    int vectors = 2;
    while (vectors < 8 && rows * vectors <= most_rows) vectors *= 2;
    return vectors;
  }

  template <int rows, int vectors>
  [[gnu::noinline]] static void run_gathered(const GatheredProduct<Real>& p, std::int64_t column) {
    Vector sums[rows][vectors] = {};
    constexpr int bases = (rows + 2) / 3;
    const Real* a[bases];
    for (int i = 0; i < bases; ++i) a[i] = p.a + 3 * i * p.a_row;
    const std::int64_t offset = p.offset + column;
    for (std::int64_t i = 0; i < p.depth; ++i) {
      const Real* const b = p.sources[i] + offset;
      if constexpr (rows < vectors) {
        Vector left[rows];
#pragma GCC unroll 12
        for (int r = 0; r < rows; ++r) left[r] = a[r / 3][r % 3 * p.a_row] - Vector{};
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
          const Vector right = load_once(b + v * width);
#pragma GCC unroll 12
          for (int r = 0; r < rows; ++r) sums[r][v] = multiply_add(left[r], right, sums[r][v]);
        }
      } else {
        Vector right[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) right[v] = load(b + v * width);
#pragma GCC unroll 12
        for (int r = 0; r < rows; ++r) {
          const Vector left = a[r / 3][r % 3 * p.a_row] - Vector{};
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) sums[r][v] = multiply_add(left, right[v], sums[r][v]);
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < bases; ++r) a[r] += p.a_step;
    }
    Real* c = p.c + column;
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r, c += p.c_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        if (p.add) sums[r][v] += load(c + v * width);
        __builtin_memcpy(c + v * width, &sums[r][v], sizeof(Vector));
      }
    }
  }

  /// The product is not copied: reading anew what was written just now waits for all stores.
  template <int rows>
  static void run_all_gathered(const GatheredProduct<Real>& p) {
    constexpr int most = most_vectors(rows);
    for (std::int64_t column = 0; column < p.columns;) {
      const std::int64_t left = (p.columns - column + width - 1) / width;
      if (most >= 8 && left >= 8)
        run_gathered<rows, most >= 8 ? 8 : 1>(p, column), column += 8 * width;
      else if (most >= 4 && left >= 4)
        run_gathered<rows, most >= 4 ? 4 : 1>(p, column), column += 4 * width;
      else if (left >= 2)
        run_gathered<rows, 2>(p, column), column += 2 * width;
      else
        run_gathered<rows, 1>(p, column), column += width;
    }
  }

  template <int... rows>
  static void dispatch_gathered(const GatheredProduct<Real>& p,
                                std::integer_sequence<int, rows...>) {
    static constexpr void (*functions[])(const GatheredProduct<Real>&) = {
        &run_all_gathered<rows + 1>...};
    functions[p.rows - 1](p);
  }

  static void gathered_product(const GatheredProduct<Real>& p) {
    dispatch_gathered(p, std::make_integer_sequence<int, most_rows>());
  }

  static std::int64_t gathered_columns(std::int64_t rows) {
    return most_vectors(static_cast<int>(rows)) * width;
  }

  /// The last elements, fewer than 2 * size: nothing beyond them is read.
  template <int size>
  AFTERGLOW_INLINE static void copy_end(const Real* from, std::int64_t count, Real* to) {
    if constexpr (size > 0) {
      if (count >= size) {
        __builtin_memcpy(to, from, size * sizeof(Real));
        from += size;
        to += size;
        count -= size;
      }
      copy_end<size / 2>(from, count, to);
    }
  }

  AFTERGLOW_INLINE static void copy_line(const Real* from, std::int64_t count, Real* to) {
    for (; count >= width; count -= width, from += width, to += width) {
      const Vector vector = load(from);
      __builtin_memcpy(to, &vector, sizeof(Vector));
    }
    copy_end<width / 2>(from, count, to);
  }

  AFTERGLOW_INLINE static void write_zeros(Real* target, std::int64_t count) {
    constexpr Vector zeros = {};
    for (; count >= width; count -= width, target += width)
      __builtin_memcpy(target, &zeros, sizeof(Vector));
    alignas(Vector) constexpr Real source[width] = {};
    copy_end<width / 2>(source, count, target);
  }

  /// By vectors of `size` elements, or smaller ones: lines are often a little shorter than those of
  /// the machine. The last vector overlaps the one before.
  template <int size>
  AFTERGLOW_INLINE static void copy_every_other(const Real* from, std::int64_t count, Real* to) {
    if constexpr (size * sizeof(Real) < 16) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
    } else {
      if (count < size) return copy_every_other<size / 2>(from, count, to);
      using Part [[gnu::vector_size(size * sizeof(Real))]] = Real;
      using Index [[gnu::vector_size(size * sizeof(Real))]] =
          std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
      // The second vector begins one element early, so that it ends with the last that is needed.
      Index places;
      for (int i = 0; i < size; ++i) places[i] = 2 * i < size ? 2 * i : 2 * i + 1;
      const auto copy = [&](std::int64_t i) {
        Part first, second;
        __builtin_memcpy(&first, from + 2 * i, sizeof(Part));
        __builtin_memcpy(&second, from + 2 * i + size - 1, sizeof(Part));
        first = __builtin_shuffle(first, second, places);
        __builtin_memcpy(to + i, &first, sizeof(Part));
      };
      std::int64_t i = 0;
      for (; i + size <= count; i += size) copy(i);
      if (i < count) copy(count - size);
    }
  }

  static void pad_lines(const PaddedLines<Real>& p) {
    std::int64_t line = 0;
    // Whole vectors may go too far where lines follow that are written later.
    if (p.step == 1 && p.target_stride == p.before + p.count + p.after) {
      constexpr Vector zeros = {};
      const std::int64_t least =
          p.source_stride < p.target_stride ? p.source_stride : p.target_stride;
      for (; p.before <= width && p.after <= width && (p.lines - 1 - line) * least >= width;
           ++line) {
        const Real* const from = p.source + line * p.source_stride;
        Real* const to = p.target + line * p.target_stride;
        if (p.before) __builtin_memcpy(to, &zeros, sizeof(Vector));
        for (std::int64_t i = 0; i < p.count; i += width) {
          const Vector vector = load(from + i);
          __builtin_memcpy(to + p.before + i, &vector, sizeof(Vector));
        }
        if (p.after) __builtin_memcpy(to + p.before + p.count, &zeros, sizeof(Vector));
      }
    }
    for (; line < p.lines; ++line) {
      const Real* const from = p.source + line * p.source_stride;
      Real* const to = p.target + line * p.target_stride;
      write_zeros(to, p.before);
      if (p.step == 1)
        copy_line(from, p.count, to + p.before);
      else if (p.step == 2)
        copy_every_other<width>(from, p.count, to + p.before);
      else
        for (std::int64_t i = 0; i < p.count; ++i) to[p.before + i] = from[i * p.step];
      write_zeros(to + p.before + p.count, p.after);
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

  static constexpr int dot_rows = vector_size == 64 ? 4 : 2, dot_taps = 6;

  template <int rows, int taps>
  [[gnu::noinline]] static void add_lane_dots(const LaneDots<Real>& p) {
    Vector totals[rows][taps];
    const Real* sources[taps];
    for (int tap = 0; tap < taps; ++tap) sources[tap] = p.source + p.offsets[tap];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 6
      for (int tap = 0; tap < taps; ++tap)
        totals[r][tap] = load(p.sums + r * p.sum_stride + tap * width);
    for (std::int64_t i = 0; i < p.count; i += width) {
      Vector values[rows];
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) values[r] = load(p.values + r * p.value_stride + i);
#pragma GCC unroll 6
      for (int tap = 0; tap < taps; ++tap) {
        const Vector found = load(sources[tap] + i);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r)
          totals[r][tap] = multiply_add(values[r], found, totals[r][tap]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 6
      for (int tap = 0; tap < taps; ++tap)
        __builtin_memcpy(p.sums + r * p.sum_stride + tap * width, &totals[r][tap], sizeof(Vector));
  }

  template <int... numbers>
  static void dispatch_lane_dots(const LaneDots<Real>& p, std::integer_sequence<int, numbers...>) {
    static constexpr void (*functions[])(const LaneDots<Real>&) = {
        &add_lane_dots<numbers / dot_taps + 1, numbers % dot_taps + 1>...};
    functions[(p.rows - 1) * dot_taps + p.taps - 1](p);
  }

  static void lane_dots(const LaneDots<Real>& p) {
    dispatch_lane_dots(p, std::make_integer_sequence<int, dot_rows * dot_taps>());
  }

  static constexpr PanelFunctions<Real> functions() {
    return {most_rows, columns, width,     product,  gathered_product, gathered_columns,
            pad_lines, filter,  lane_dots, dot_rows, dot_taps};
  }
};

}  // namespace
}  // namespace afterglow::kernels
