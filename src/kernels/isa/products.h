// SPDX-License-Identifier: Apache-2.0
// Products with small results: a tile of the result stays in registers while the sum
// goes on, and the factors are read where they lie. The maths library would pack them first. And
// the packing of factors of large products.
#pragma once

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/isa/moves.h"
#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

template <class Real>
class ProductTiles {
 public:
  explicit ProductTiles(const TiledProduct<Real>& product) : p_(product) {}

  void run() {
    copy_last_rows();
    // So many rows of both factors stay in the nearest cache until all tiles have seen them.
    const std::int64_t fitting = 8192 / (p_.m + p_.n), depth = fitting < 64 ? 64 : fitting;
    for (std::int64_t begin = 0; begin < p_.k; begin += depth) {
      begin_ = begin;
      end_ = p_.k - begin < depth ? p_.k : begin + depth;
      adds_ = p_.add || begin > 0;
      std::int64_t column = 0;
      for (; p_.n - column > width; column += 2 * width) run_columns<2>(column);
      if (column < p_.n) run_columns<1>(column);
    }
  }

 private:
  using Vector [[gnu::vector_size(vector_size)]] = Real;
  using Tile = void (ProductTiles::*)(std::int64_t row, std::int64_t column) const;
  static constexpr std::int64_t width = vector_size / sizeof(Real);
  /// Of a tile: its sums, two vectors of b and one of a fill the registers.
  static constexpr int most_rows = vector_size == 64 ? 12 : 4;

  /// The hardware looks ahead within a page only, so what comes next is asked for.
  static constexpr std::int64_t rows_ahead = 64;

  /// A vector that begins in one of the last rows of b may go beyond its end.
  void copy_last_rows() {
    const std::int64_t beyond = (p_.n + width - 1) / width * width - p_.n;
    const std::int64_t rows = (beyond + p_.b_stride - 1) / p_.b_stride;
    copied_stride_ = p_.n + beyond;
    direct_ = p_.k - (rows < p_.k ? rows : p_.k);
    for (std::int64_t row = direct_; row < p_.k; ++row) {
      std::memcpy(copied_ + (row - direct_) * copied_stride_, p_.b + row * p_.b_stride,
                  static_cast<std::size_t>(p_.n) * sizeof(Real));
    }
  }

  template <int vectors, int... rows>
  static Tile tile_of(std::int64_t wanted, std::integer_sequence<int, rows...>) {
    static constexpr Tile tiles[] = {&ProductTiles::run_tile<rows + 1, vectors>...};
    return tiles[wanted - 1];
  }

  /// Tiles of about as many rows each.
  template <int vectors>
  void run_columns(std::int64_t column) const {
    std::int64_t tiles = (p_.m + most_rows - 1) / most_rows;
    for (std::int64_t row = 0; tiles > 0; --tiles) {
      const std::int64_t rows = (p_.m - row + tiles - 1) / tiles;
      const auto run = tile_of<vectors>(rows, std::make_integer_sequence<int, most_rows>());
      (this->*run)(row, column);
      row += rows;
    }
  }

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

  template <int rows, int vectors>
  AFTERGLOW_INLINE static void add_rows(const Real* a, std::int64_t a_row, std::int64_t a_column,
                                        const Real* b, std::int64_t b_stride, std::int64_t count,
                                        std::int64_t ahead, Vector (&sums)[rows][vectors]) {
    for (std::int64_t i = 0; i < count; ++i, a += a_column, b += b_stride) {
      __builtin_prefetch(b + ahead * b_stride);
      __builtin_prefetch(a + ahead * a_column);
      Vector right[vectors];
      for (int v = 0; v < vectors; ++v) __builtin_memcpy(&right[v], b + v * width, sizeof(Vector));
#pragma GCC unroll 12
      for (int r = 0; r < rows; ++r) {
        const Vector left = a[r * a_row] - Vector{};
        for (int v = 0; v < vectors; ++v) sums[r][v] = multiply_add(left, right[v], sums[r][v]);
      }
    }
  }

  template <int rows, int vectors>
  [[gnu::noinline]] void run_tile(std::int64_t row, std::int64_t column) const {
    Vector sums[rows][vectors] = {};
    const Real* const a = p_.a + row * p_.a_row;
    const std::int64_t split = direct_ < begin_ ? begin_ : direct_ < end_ ? direct_ : end_;
    add_rows<rows, vectors>(a + begin_ * p_.a_column, p_.a_row, p_.a_column,
                            p_.b + begin_ * p_.b_stride + column, p_.b_stride, split - begin_,
                            rows_ahead, sums);
    if (split < end_) {
      add_rows<rows, vectors>(a + split * p_.a_column, p_.a_row, p_.a_column,
                              copied_ + (split - direct_) * copied_stride_ + column, copied_stride_,
                              end_ - split, 0, sums);
    }
    Real* target = p_.c + row * p_.c_stride + column;
    const std::int64_t last = p_.n - column - (vectors - 1) * width;
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r, target += p_.c_stride) {
      if constexpr (vectors == 2) store(sums[r][0], target);
      Real* const place = target + (vectors - 1) * width;
      if (last >= width)
        store(sums[r][vectors - 1], place);
      else
        store_first(sums[r][vectors - 1], place, last);
    }
  }

  AFTERGLOW_INLINE void store(Vector sum, Real* target) const {
    Vector before = {};
    if (adds_) __builtin_memcpy(&before, target, sizeof(Vector));
    sum += before;
    __builtin_memcpy(target, &sum, sizeof(Vector));
  }

  AFTERGLOW_INLINE void store_first(Vector sum, Real* target, std::int64_t count) const {
#if defined(__AVX512F__)
    const unsigned lanes = (1u << count) - 1;
    if constexpr (sizeof(Real) == 4) {
      const auto mask = static_cast<__mmask16>(lanes);
      if (adds_) sum += _mm512_maskz_loadu_ps(mask, target);
      _mm512_mask_storeu_ps(target, mask, sum);
    } else {
      const auto mask = static_cast<__mmask8>(lanes);
      if (adds_) sum += _mm512_maskz_loadu_pd(mask, target);
      _mm512_mask_storeu_pd(target, mask, sum);
    }
#else
    for (std::int64_t i = 0; i < count; ++i) target[i] = adds_ ? target[i] + sum[i] : sum[i];
#endif
  }

  TiledProduct<Real> p_;
  std::int64_t begin_ = 0, end_ = 0;  ///< rows of b that are being added
  std::int64_t direct_ = 0;           ///< so many are read where they lie, the others from a copy
  Real copied_[2 * most_tiled_columns] = {};  ///< zeros behind each row: what is there takes part
  std::int64_t copied_stride_ = 0;
  bool adds_ = false;
};

template <class Real>
void tiled_product(const TiledProduct<Real>& product) {
  ProductTiles<Real>(product).run();
}

/// Of lines whose elements lie apart, and the lines side by side: a few panels at a time, so that
/// rows are read in long pieces.
template <int width, class Real>
void pack_across(const PanelLines<Real>& p) {
  constexpr std::int64_t together = 1 + 160 / width, rows_ahead = 16;
  constexpr std::int64_t line = 64 / sizeof(Real);
  const std::int64_t whole = p.lines / width, panel = width * p.steps;
  for (std::int64_t first = 0; first < whole; first += together) {
    const std::int64_t count = whole - first < together ? whole - first : together;
    const Real* from = p.source + first * width;
    Real* to = p.target + first * panel;
    for (std::int64_t step = 0; step < p.steps; ++step, from += p.step_distance, to += width) {
      for (std::int64_t i = 0; i < count * width; i += line)
        __builtin_prefetch(from + rows_ahead * p.step_distance + i);
      for (std::int64_t i = 0; i < count; ++i)
        __builtin_memcpy(to + i * panel, from + i * width, width * sizeof(Real));
    }
  }
  const std::int64_t left = p.lines - whole * width;
  if (!left) return;
  const Real* from = p.source + whole * width;
  Real* to = p.target + whole * panel;
  for (std::int64_t step = 0; step < p.steps; ++step, from += p.step_distance, to += width) {
    for (std::int64_t i = 0; i < width; ++i) to[i] = i < left ? from[i] : Real(0);
  }
}

template <int count, class Vector, class Real>
AFTERGLOW_INLINE void store_first(const Vector& vector, Real* target) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4)
    _mm512_mask_storeu_epi32(target, (1u << count) - 1, reinterpret_cast<const __m512i&>(vector));
  else
    _mm512_mask_storeu_epi64(target, (1u << count) - 1, reinterpret_cast<const __m512i&>(vector));
#else
  __builtin_memcpy(target, &vector, count * sizeof(Real));
#endif
}

/// Of lines that lie one after the other: squares of them are transposed.
template <int width, class Real>
void pack_along(const PanelLines<Real>& p) {
  constexpr int side = vector_size / sizeof(Real), ahead = 256 / sizeof(Real);
  using Word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  using Vector [[gnu::vector_size(vector_size)]] = Word;
  Real* to = p.target;
  for (std::int64_t first = 0; first < p.lines; first += width, to += width * p.steps) {
    const Real* const from = p.source + first * p.line_distance;
    const std::int64_t count = p.lines - first < width ? p.lines - first : width;
    if (p.steps < side) {
      for (std::int64_t step = 0; step < p.steps; ++step) {
        for (std::int64_t i = 0; i < width; ++i)
          to[step * width + i] = i < count ? from[i * p.line_distance + step] : Real(0);
      }
      continue;
    }
    for (std::int64_t next = 0; next < p.steps; next += side) {
      // The last square begins so early that it ends with the lines.
      const std::int64_t step = next < p.steps - side ? next : p.steps - side;
#pragma GCC unroll 4
      for (int column = 0; column < width; column += side) {
        Vector square[side] = {};
        for (int i = 0; i < side; ++i) {
          if (column + i >= count) continue;
          const Real* const place = from + (column + i) * p.line_distance + step;
          __builtin_prefetch(place + ahead);
          __builtin_memcpy(&square[i], place, sizeof(Vector));
        }
        transpose_square<1>(square);
        Real* const place = to + step * width + column;
        for (int i = 0; i < side; ++i) {
          if (column + side <= width)
            __builtin_memcpy(place + i * width, &square[i], sizeof(Vector));
          else
            store_first<width % side>(square[i], place + i * width);
        }
      }
    }
  }
}

template <int width, class Real>
void pack_lines(const PanelLines<Real>& lines) {
  lines.step_distance == 1 ? pack_along<width>(lines) : pack_across<width>(lines);
}

}  // namespace
}  // namespace afterglow::kernels
