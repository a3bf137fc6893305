// SPDX-License-Identifier: Apache-2.0
// Sorting one line of words, where the machine can pick elements out of a vector: a quicksort that
// splits a vector at a time, and a bitonic network in registers for what is short.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/isa/types.h"
#include "kernels/table.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace afterglow::kernels {
namespace {

#if defined(__AVX512F__)

template <class Word>
struct LineSort {
  static constexpr int width = 64 / sizeof(Word);
  static constexpr std::int64_t short_part = 8 * width;
  static constexpr int deepest = 64;

  /// Each lane with the one that is `distance` away. (Intrinsics with a mask of all lanes: the
  /// others are warned of for what they leave undefined.)
  template <int distance>
  AFTERGLOW_INLINE static void swap_lanes(__m512i own, __m512i& other) {
    constexpr int bytes = distance * static_cast<int>(sizeof(Word));
    if constexpr (bytes == 4)
      other = _mm512_maskz_shuffle_epi32(0xffff, own, _MM_PERM_CDAB);
    else if constexpr (bytes == 8)
      other = _mm512_maskz_shuffle_epi32(0xffff, own, _MM_PERM_BADC);
    else if constexpr (bytes == 16)
      other = _mm512_maskz_shuffle_i64x2(0xff, own, own, _MM_SHUFFLE(2, 3, 0, 1));
    else
      other = _mm512_maskz_shuffle_i64x2(0xff, own, own, _MM_SHUFFLE(1, 0, 3, 2));
  }

  /// Smaller elements of two vectors, but in the lanes of `greater_lanes` the greater ones.
  template <unsigned greater_lanes>
  AFTERGLOW_INLINE static void choose(__m512i first, __m512i second, __m512i& chosen) {
    if constexpr (sizeof(Word) == 4) {
      chosen = _mm512_maskz_min_epu32(0xffff, first, second);
      chosen = _mm512_mask_max_epu32(chosen, greater_lanes, first, second);
    } else {
      chosen = _mm512_maskz_min_epu64(0xff, first, second);
      chosen = _mm512_mask_max_epu64(chosen, greater_lanes, first, second);
    }
  }

  /// Whether a run of elements goes upwards, as every other one does.
  static constexpr bool upwards(int place, int run) { return (place & run) == 0; }

  static constexpr unsigned greater_lanes(int vector, int run, int distance) {
    unsigned lanes = 0;
    for (int lane = 0; lane < width; ++lane) {
      const bool second = (lane & distance) != 0;
      if (second == upwards(vector * width + lane, run)) lanes |= 1u << lane;
    }
    return lanes;
  }

  /// Puts the elements of a vector, or of two, that are `distance` apart in order.
  template <int run, int distance, int i, int vectors>
  AFTERGLOW_INLINE static void exchange_one(__m512i (&rows)[vectors]) {
    if constexpr (distance < width) {
      __m512i other;
      swap_lanes<distance>(rows[i], other);
      choose<greater_lanes(i, run, distance)>(rows[i], other, rows[i]);
    } else if constexpr ((i * width & distance) == 0) {
      constexpr int partner = i + distance / width;
      constexpr unsigned all = (1u << width) - 1;
      const __m512i first = rows[i], second = rows[partner];
      choose<upwards(i * width, run) ? 0 : all>(first, second, rows[i]);
      choose<upwards(i * width, run) ? all : 0>(first, second, rows[partner]);
    }
  }

  template <int run, int distance, int vectors, int... i>
  AFTERGLOW_INLINE static void exchange(__m512i (&rows)[vectors],
                                        std::integer_sequence<int, i...> all) {
    (exchange_one<run, distance, i>(rows), ...);
    if constexpr (distance > 1) exchange<run, distance / 2>(rows, all);
  }

  /// A bitonic network.
  template <int run = 2, int vectors>
  AFTERGLOW_INLINE static void sort_rows(__m512i (&rows)[vectors]) {
    exchange<run, run / 2>(rows, std::make_integer_sequence<int, vectors>());
    if constexpr (run < vectors * width) sort_rows<run * 2>(rows);
  }

  /// What of the elements from `begin` on is there.
  static unsigned lanes_of(std::int64_t begin, std::int64_t count) {
    const std::int64_t rest = count - begin;
    return rest >= width ? (1u << width) - 1 : rest > 0 ? (1u << rest) - 1 : 0;
  }

  template <int vectors>
  static void sort_in_registers(Word* items, std::int64_t count) {
    __m512i rows[vectors];
    const __m512i greatest = _mm512_set1_epi32(-1);
    for (int i = 0; i < vectors; ++i) {
      const unsigned lanes = lanes_of(i * width, count);
      if constexpr (sizeof(Word) == 4)
        rows[i] =
            _mm512_mask_loadu_epi32(greatest, static_cast<__mmask16>(lanes), items + i * width);
      else
        rows[i] =
            _mm512_mask_loadu_epi64(greatest, static_cast<__mmask8>(lanes), items + i * width);
    }
    sort_rows(rows);
    for (int i = 0; i < vectors; ++i) {
      const unsigned lanes = lanes_of(i * width, count);
      if constexpr (sizeof(Word) == 4)
        _mm512_mask_storeu_epi32(items + i * width, static_cast<__mmask16>(lanes), rows[i]);
      else
        _mm512_mask_storeu_epi64(items + i * width, static_cast<__mmask8>(lanes), rows[i]);
    }
  }

  static void sort_short(Word* items, std::int64_t count) {
    if (count <= width) return sort_in_registers<1>(items, count);
    if (count <= 2 * width) return sort_in_registers<2>(items, count);
    if (count <= 4 * width) return sort_in_registers<4>(items, count);
    sort_in_registers<8>(items, count);
  }

  static Word pivot_of(const Word* items, std::int64_t count) {
    Word samples[width];
    for (int i = 0; i < width; ++i) samples[i] = items[(2 * i + 1) * count / (2 * width)];
    sort_in_registers<1>(samples, width);
    return samples[width / 2];
  }

  AFTERGLOW_INLINE static __m512i picked(unsigned mask, __m512i values) {
    if constexpr (sizeof(Word) == 4)
      return _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), values);
    else
      return _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), values);
  }

  template <bool also_equal>
  AFTERGLOW_INLINE static unsigned goes_first(__m512i values, __m512i pivot) {
    constexpr int order = also_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT;
    if constexpr (sizeof(Word) == 4)
      return _mm512_cmp_epu32_mask(values, pivot, order);
    else
      return _mm512_cmp_epu64_mask(values, pivot, order);
  }

  /// Those below the pivot go to the front; how many they are. What is stored lies behind what has
  /// been read, so the front needs no room of its own.
  template <bool also_equal>
  static std::int64_t split(Word* items, Word* spare, std::int64_t count, Word pivot) {
    constexpr unsigned all = (1u << width) - 1;
    const __m512i pivots = sizeof(Word) == 4 ? _mm512_set1_epi32(static_cast<int>(pivot))
                                             : _mm512_set1_epi64(static_cast<long long>(pivot));
    std::int64_t low = 0, high = 0, i = 0;
    for (; i + width <= count; i += width) {
      const __m512i values = _mm512_loadu_si512(items + i);
      const unsigned first = goes_first<also_equal>(values, pivots);
      _mm512_storeu_si512(items + low, picked(first, values));
      _mm512_storeu_si512(spare + high, picked(~first & all, values));
      const int firsts = __builtin_popcount(first);
      low += firsts;
      high += width - firsts;
    }
    for (; i < count; ++i) {
      const Word item = items[i];
      if (also_equal ? item <= pivot : item < pivot)
        items[low++] = item;
      else
        spare[high++] = item;
    }
    __builtin_memcpy(items + low, spare, static_cast<std::size_t>(high) * sizeof(Word));
    return low;
  }

  static bool sort(Word* items, Word* spare, std::int64_t count, int depth) {
    while (count > short_part) {
      if (depth-- == 0) return false;
      const Word pivot = pivot_of(items, count);
      std::int64_t low = split<false>(items, spare, count, pivot);
      if (low == 0)
        low = split<true>(items, spare, count, pivot);  // all of them equal
      else if (!sort(items, spare, low, depth))
        return false;
      items += low;
      count -= low;
    }
    sort_short(items, count);
    return true;
  }
};

template <class Word>
bool sort_line(Word* items, Word* spare, std::int64_t count) {
  return LineSort<Word>::sort(items, spare, count, LineSort<Word>::deepest);
}

#else

template <class Word>
constexpr bool (*sort_line)(Word*, Word*, std::int64_t) = nullptr;

#endif

}  // namespace
}  // namespace afterglow::kernels
