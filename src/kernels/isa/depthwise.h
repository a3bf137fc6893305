// SPDX-License-Identifier: Apache-2.0
// Square windows over planes that have a filter each, straight from the rows of the images: a
// vector is loaded once for several rows of places, and masks take the place of padding.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/isa/panels.h"
#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// Vectors of which only some elements are loaded or stored; others are not touched.
template <class Real>
struct MaskedVectors {
  using Vector = typename PanelTiles<Real>::Vector;
  using Mask = MaskOf<Real>;
  static constexpr int width = PanelTiles<Real>::width;
  static constexpr bool is_float = sizeof(Real) == 4;

#if defined(__AVX512F__)
  using Where = std::conditional_t<is_float, __mmask16, __mmask8>;
  AFTERGLOW_INLINE static Where where(const Mask* mask) {
    const __m512i vector = _mm512_loadu_si512(mask);
    if constexpr (is_float)
      return _mm512_movepi32_mask(vector);
    else
      return _mm512_movepi64_mask(vector);
  }
  AFTERGLOW_INLINE static Vector load(Where where, const Real* source) {
    if constexpr (is_float)
      return _mm512_maskz_loadu_ps(where, source);
    else
      return _mm512_maskz_loadu_pd(where, source);
  }
#else
  using Where [[gnu::vector_size(vector_size)]] = Mask;
  AFTERGLOW_INLINE static Where where(const Mask* mask) {
    Where vector;
    __builtin_memcpy(&vector, mask, sizeof(Where));
    return vector;
  }
  AFTERGLOW_INLINE static Vector load(Where where, const Real* source) {
#if defined(__AVX2__)
    if constexpr (is_float)
      return _mm256_maskload_ps(source, reinterpret_cast<__m256i>(where));
    else
      return _mm256_maskload_pd(source, reinterpret_cast<__m256i>(where));
#else
    Vector vector = {};
    for (int i = 0; i < width; ++i)
      if (where[i]) vector[i] = source[i];
    return vector;
#endif
  }
#endif

  /// The first elements, or all.
  AFTERGLOW_INLINE static void store(Vector vector, std::int64_t count, Real* target) {
    if (count >= width) {
      __builtin_memcpy(target, &vector, sizeof(Vector));
      return;
    }
#if defined(__AVX512F__)
    const auto first = static_cast<Where>(count > 0 ? (1u << count) - 1 : 0);
    if constexpr (is_float)
      _mm512_mask_storeu_ps(target, first, vector);
    else
      _mm512_mask_storeu_pd(target, first, vector);
#else
    PanelTiles<Real>::template copy_end<width / 2>(reinterpret_cast<const Real*>(&vector), count,
                                                   target);
#endif
  }
};

template <class Real, int kernel>
struct PlaneStrips {
  using Tiles = PanelTiles<Real>;
  using Masked = MaskedVectors<Real>;
  using Vector = typename Tiles::Vector;
  using Mask = MaskOf<Real>;
  using Where = typename Masked::Where;
  using Index [[gnu::vector_size(vector_size)]] = std::make_signed_t<Mask>;

  static constexpr int width = Tiles::width;
  /// Rows of places that are worked on together.
  static constexpr int most_rows = 4;
  /// Where masks cost nothing, all strips have them.
  static constexpr bool masks_are_free = vector_size == 64;

  static constexpr int lines_of(int rows, int stride) { return (rows - 1) * stride + kernel; }

  AFTERGLOW_INLINE static Vector load(bool masked, Where where, const Real* source) {
    return masked ? Masked::load(where, source) : Tiles::load(source);
  }

  struct Strip {
    std::int64_t first;  ///< place
    const Mask* masks;

    template <int loads>
    struct Wheres {
      Where each[loads];
    };
    template <int loads>
    AFTERGLOW_INLINE Wheres<loads> where() const {
      Wheres<loads> found;
      for (int i = 0; i < loads; ++i) found.each[i] = Masked::where(masks + i * width);
      return found;
    }
  };

  template <int loads>
  AFTERGLOW_INLINE static void for_each_strip(const PlaneWindows<Real>& w, auto work) {
    const std::int64_t last = w.columns > width ? w.columns - width : 0;
    const Mask* masks = w.masks;
    for (std::int64_t first = 0, strip = 0;; ++strip) {
      if (masks_are_free || strip < w.inner_begin || strip >= w.inner_end)
        work(Strip{first, masks}, std::true_type());
      else
        work(Strip{first, masks}, std::false_type());
      if (first == last) break;
      first = first + width < last ? first + width : last;
      masks += (loads + 1) * width;
    }
  }

  /// What some columns of the windows see of a line.
  template <int stride, bool masked, int first, int columns, int loads>
  AFTERGLOW_INLINE static void look(const Real* line, std::int64_t dilate,
                                    const typename Strip::template Wheres<loads>& where,
                                    Vector (&seen)[columns]) {
    if constexpr (stride == 1) {
#pragma GCC unroll 8
      for (int i = 0; i < columns; ++i)
        seen[i] = load(masked, where.each[first + i], line + (first + i) * dilate);
    } else {
      Index even;
      for (int i = 0; i < width; ++i) even[i] = 2 * i;
#pragma GCC unroll 8
      for (int i = 0; i < columns; i += 2) {
        const int column = first + i;
        const Vector left = load(masked, where.each[column], line + column);
        const Vector right = load(masked, where.each[column + 1], line + column + width);
        seen[i] = __builtin_shuffle(left, right, even);
        if (i + 1 < columns) seen[i + 1] = __builtin_shuffle(left, right, even + 1);
      }
    }
  }

  /// Rows of a plane, or zeros where it has none.
  template <int count>
  AFTERGLOW_INLINE static void find_lines(const PlaneWindows<Real>& w, const Real* source,
                                          std::int64_t first, std::int64_t step,
                                          const Real* (&lines)[count]) {
#pragma GCC unroll 16
    for (int i = 0; i < count; ++i, first += step)
      lines[i] =
          (first >= 0 && first < w.height ? source + first * w.width : w.zeros) - w.pad_columns;
  }

  AFTERGLOW_INLINE static void spread_weights(const Real* weights, bool is_reversed,
                                              Vector (&spread)[kernel * kernel]) {
    constexpr int count = kernel * kernel;
#pragma GCC unroll 50
    for (int i = 0; i < count; ++i) spread[i] = weights[is_reversed ? count - 1 - i : i] - Vector{};
  }

  /// Asks for what comes next in memory: the hardware does not find out by itself that rows are
  /// read on.
  AFTERGLOW_INLINE static void prefetch(const Real* rows, std::int64_t count, bool for_writing) {
    constexpr std::int64_t line = 64 / sizeof(Real), ahead = 16 * line * 4;
    for (std::int64_t i = 0; i < count; i += line) {
      if (for_writing)
        __builtin_prefetch(rows + ahead + i, 1);
      else
        __builtin_prefetch(rows + ahead + i, 0);
    }
  }

  template <int stride, int rows, bool masked>
  AFTERGLOW_INLINE static void filter_strip(const PlaneWindows<Real>& w, const Strip& strip,
                                            const Real* (&lines)[lines_of(rows, stride)],
                                            const Vector (&weights)[kernel * kernel], Vector start,
                                            Real* target) {
    constexpr int count = lines_of(rows, stride);
    const auto where = strip.template where<plane_loads(kernel, stride)>();
    Vector sums[rows];
    for (int row = 0; row < rows; ++row) sums[row] = start;
#pragma GCC unroll 16
    for (int line = 0; line < count; ++line) {
      Vector seen[kernel];
      look<stride, masked, 0>(lines[line] + strip.first * stride, w.dilate, where, seen);
#pragma GCC unroll 4
      for (int row = 0; row < rows; ++row) {
        const int place = line - row * stride;
        if (place < 0 || place >= kernel) continue;
#pragma GCC unroll 8
        for (int i = 0; i < kernel; ++i)
          sums[row] = Tiles::multiply_add(weights[place * kernel + i], seen[i], sums[row]);
      }
    }
    for (int row = 0; row < rows; ++row)
      Masked::store(sums[row], w.columns - strip.first,
                    target + row * w.dilate * w.columns + strip.first);
  }

  /// Rows of places that are `dilate` apart, which share most of what they see.
  template <int stride, int rows>
  [[gnu::noinline]] static void filter_rows(const PlaneFilter<Real>& p, const Real* source,
                                            const Real* weights, Real start, std::int64_t row,
                                            Real* target) {
    const PlaneWindows<Real> w = p.windows;
    const Real* lines[lines_of(rows, stride)];
    find_lines(w, source, row * stride - w.pad_rows, w.dilate, lines);
    prefetch(source + row * stride * w.width, rows * stride * w.width, false);
    target += row * w.columns;
    prefetch(target, rows * w.columns, true);
    Vector spread[kernel * kernel];
    spread_weights(weights, p.is_reversed, spread);
    for_each_strip<plane_loads(kernel, stride)>(w, [&](const Strip& strip, auto masked) {
      filter_strip<stride, rows, masked>(w, strip, lines, spread, start - Vector{}, target);
    });
  }

  template <int stride>
  static void filter(const PlaneFilter<Real>& p) {
    const PlaneWindows<Real>& w = p.windows;
    for (std::int64_t plane = 0; plane < p.planes; ++plane) {
      const Real* const source = p.source + plane * w.height * w.width;
      Real* const target = p.target + plane * w.rows * w.columns;
      const Real* const weights = p.weights + plane * kernel * kernel;
      const Real start = p.start ? p.start[plane] : Real(0);
      std::int64_t row = p.row_begin;
      for (; row + (most_rows - 1) * w.dilate < p.row_end; row += most_rows * w.dilate)
        filter_rows<stride, most_rows>(p, source, weights, start, row, target);
      for (; row < p.row_end; row += w.dilate)
        filter_rows<stride, 1>(p, source, weights, start, row, target);
    }
  }

  /// Two rows of the target for each row of places, and two columns for each column.
  template <bool masked>
  AFTERGLOW_INLINE static void spread_strip(const PlaneFilter<Real>& p, const Strip& strip,
                                            const Real* (&lines)[spread_loads(kernel)],
                                            const Vector (&weights)[kernel * kernel], Vector start,
                                            std::int64_t target_rows, Real* target) {
    constexpr int loads = spread_loads(kernel), before = spread_before(kernel), pad = kernel / 2;
    const auto where = strip.template where<loads>();
    Vector seen[loads][loads];
#pragma GCC unroll 8
    for (int line = 0; line < loads; ++line)
      look<1, masked, 0>(lines[line] + strip.first, 1, where, seen[line]);
    Index low;
    for (int i = 0; i < width; ++i) low[i] = i / 2 + i % 2 * width;
    const std::int64_t count = p.target_width - 2 * strip.first;
#pragma GCC unroll 2
    for (int y = 0; y < 2; ++y) {
      if (y >= target_rows) break;
      Vector sums[2] = {start, start};
#pragma GCC unroll 8
      for (int i = 0; i < kernel; ++i) {
        if ((y + pad - i) % 2) continue;
#pragma GCC unroll 8
        for (int j = 0; j < kernel; ++j) {
          const int x = (pad + j) % 2;
          sums[x] = Tiles::multiply_add(
              weights[i * kernel + j], seen[(y + pad - i) / 2 + before][(x + pad - j) / 2 + before],
              sums[x]);
        }
      }
      Real* const to = target + y * p.target_width + 2 * strip.first;
      Masked::store(__builtin_shuffle(sums[0], sums[1], low), count, to);
      Masked::store(__builtin_shuffle(sums[0], sums[1], low + width / 2), count - width,
                    to + width);
    }
  }

  [[gnu::noinline]] static void spread_plane(const PlaneFilter<Real>& p, const Real* source,
                                             const Real* weights, Real start, Real* target) {
    const PlaneWindows<Real> w = p.windows;
    Vector spread[kernel * kernel];
    spread_weights(weights, false, spread);
    for (std::int64_t row = p.row_begin; row < p.row_end; ++row) {
      const Real* lines[spread_loads(kernel)];
      find_lines(w, source, row - w.pad_rows, 1, lines);
      Real* const to = target + 2 * row * p.target_width;
      prefetch(source + row * w.width, w.width, false);
      prefetch(to, 2 * p.target_width, true);
      for_each_strip<spread_loads(kernel)>(w, [&](const Strip& strip, auto masked) {
        spread_strip<masked>(p, strip, lines, spread, start - Vector{}, p.target_height - 2 * row,
                             to);
      });
    }
  }

  static void spread(const PlaneFilter<Real>& p) {
    const PlaneWindows<Real>& w = p.windows;
    for (std::int64_t plane = 0; plane < p.planes; ++plane)
      spread_plane(p, p.source + plane * w.height * w.width, p.weights + plane * kernel * kernel,
                   p.start ? p.start[plane] : Real(0),
                   p.target + plane * p.target_height * p.target_width);
  }

  template <int stride, int rows, bool masked, int first, int columns>
  AFTERGLOW_INLINE static void add_strip(const PlaneWindows<Real>& w, const Strip& strip,
                                         const Real* (&lines)[lines_of(rows, stride)],
                                         const Real* values, Vector (&totals)[kernel][columns]) {
    constexpr int loads = plane_loads(kernel, stride), count = lines_of(rows, stride);
    const auto where = strip.template where<loads>();
    const Where fresh = Masked::where(strip.masks + loads * width);
    Vector value[rows];
#pragma GCC unroll 4
    for (int row = 0; row < rows; ++row)
      value[row] = load(masked, fresh, values + row * w.dilate * w.columns + strip.first);
#pragma GCC unroll 16
    for (int line = 0; line < count; ++line) {
      Vector seen[columns];
      look<stride, masked, first>(lines[line] + strip.first * stride, w.dilate, where, seen);
#pragma GCC unroll 4
      for (int row = 0; row < rows; ++row) {
        const int place = line - row * stride;
        if (place < 0 || place >= kernel) continue;
#pragma GCC unroll 8
        for (int i = 0; i < columns; ++i)
          totals[place][i] = Tiles::multiply_add(value[row], seen[i], totals[place][i]);
      }
    }
  }

  template <int stride, int rows, int first, int columns>
  AFTERGLOW_INLINE static void add_rows(const PlaneWindows<Real>& w, const Real* source,
                                        const Real* values, std::int64_t row,
                                        Vector (&totals)[kernel][columns]) {
    const Real* lines[lines_of(rows, stride)];
    find_lines(w, source, row * stride - w.pad_rows, w.dilate, lines);
    prefetch(source + row * stride * w.width, rows * stride * w.width, false);
    values += row * w.columns;
    prefetch(values, rows * w.columns, false);
    for_each_strip<plane_loads(kernel, stride)>(w, [&](const Strip& strip, auto masked) {
      add_strip<stride, rows, masked, first>(w, strip, lines, values, totals);
    });
  }

  /// For some columns of the windows.
  template <int stride, int first, int columns>
  [[gnu::noinline]] static void add_dots(const PlaneDots<Real>& p) {
    const PlaneWindows<Real> w = p.windows;
    Vector totals[kernel][columns];
#pragma GCC unroll 8
    for (int i = 0; i < kernel; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < columns; ++j)
        totals[i][j] = Tiles::load(p.sums + (i * kernel + first + j) * width);
    for (std::int64_t plane = 0; plane < p.planes; ++plane) {
      const Real* const source = p.source + plane * p.source_step;
      const Real* const values = p.values + plane * p.value_step;
      std::int64_t row = p.row_begin;
      for (; row + (most_rows - 1) * w.dilate < p.row_end; row += most_rows * w.dilate)
        add_rows<stride, most_rows, first>(w, source, values, row, totals);
      for (; row < p.row_end; row += w.dilate)
        add_rows<stride, 1, first>(w, source, values, row, totals);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kernel; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < columns; ++j)
        __builtin_memcpy(p.sums + (i * kernel + first + j) * width, &totals[i][j], sizeof(Vector));
  }

  /// Columns whose sums fit into the registers.
  static constexpr int most_columns =
      kernel == 3 || (kernel == 5 && vector_size == 64) ? kernel : 2;

  template <int stride, int first = 0>
  static void dots(const PlaneDots<Real>& p) {
    constexpr int columns = kernel - first < most_columns ? kernel - first : most_columns;
    add_dots<stride, first, columns>(p);
    if constexpr (first + columns < kernel) dots<stride, first + columns>(p);
  }

  static constexpr PlaneFunctions<Real> functions() {
    return {{filter<1>, filter<2>}, {dots<1>, dots<2>}, spread};
  }
};

}  // namespace
}  // namespace afterglow::kernels
