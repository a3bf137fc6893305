// SPDX-License-Identifier: Apache-2.0
// Sorting one line of words: their keys, and where the machine can pick elements out of a vector, a
// quicksort that splits a vector at a time, with a bitonic network in registers for what is short.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/isa/types.h"
#include "kernels/table.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace afterglow::kernels {
namespace {

template <class Word>
AFTERGLOW_INLINE Word sign_everywhere(Word bits) {
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(bits) >> (8 * sizeof(Word) - 1));
}

template <class Word>
AFTERGLOW_INLINE Word key_of(Word bits, const KeyRule<Word>& rule) {
  using Signed = std::make_signed_t<Word>;
  const auto size = static_cast<Signed>(bits & static_cast<Word>(~Word{0} >> 1));
  const Word ordered = bits ^ ((sign_everywhere(bits) & rule.negative) | rule.sign);
  return (size > static_cast<Signed>(rule.infinity) ? ~Word{0} : ordered) ^ rule.flip;
}

/// The hardware looks ahead within a page only.
template <class Word>
AFTERGLOW_INLINE void ask_for(const Word* elements, std::int64_t count) {
  constexpr std::int64_t line = 64 / sizeof(Word);
  for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(elements + i);
}

template <class Word>
void make_keys(const Word* elements, std::int64_t count, const KeyRule<Word>& given, Word* keys) {
  const KeyRule<Word> rule = given;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) keys[i] = key_of(elements[i], rule);
}

template <class Word>
void take_values(const Word* keys, std::int64_t count, const KeyRule<Word>& given, Word* elements) {
  const KeyRule<Word> rule = given;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const Word key = keys[i] ^ rule.flip;
    elements[i] = key ^ ((~sign_everywhere(key) & rule.negative) | rule.sign);
  }
}

/// Keys are made so many at a time, which stay in the nearest cache.
constexpr std::int64_t keys_at_a_time = 1024;

/// How many come next.
AFTERGLOW_INLINE std::int64_t keys_from(std::int64_t begin, std::int64_t count) {
  return count - begin < keys_at_a_time ? count - begin : keys_at_a_time;
}

/// Not inlined: compilers exchange the loop with the one over the bounds, which is short.
template <class Word>
[[gnu::noinline]] std::int64_t count_below(const Word* keys, std::int64_t count, Word bound) {
  Word sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += keys[i] < bound;
  return static_cast<std::int64_t>(sum);
}

template <class Word>
void count_keys(const Word* elements, std::int64_t count, const KeyRule<Word>& rule,
                const Word* bounds, int bounds_used, std::int64_t* below) {
  Word keys[keys_at_a_time];
  for (std::int64_t begin = 0; begin < count; begin += keys_at_a_time) {
    const std::int64_t some = keys_from(begin, count);
    ask_for(elements + begin + some, keys_from(begin + some, count));
    make_keys(elements + begin, some, rule, keys);
    for (int i = 0; i < bounds_used; ++i) below[i] += count_below(keys, some, bounds[i]);
  }
}

#if defined(__AVX512F__)

template <class Word>
struct LineSort {
  static constexpr int width = 64 / sizeof(Word);
  static constexpr std::int64_t short_part = 8 * width;
  static constexpr std::int64_t long_part = 128 * width;  // deserves a better pivot
  static constexpr int held = 4;                          // vectors at either end of a split
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

  AFTERGLOW_INLINE static __m512i load(unsigned lanes, const Word* items) {
    if constexpr (sizeof(Word) == 4)
      return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), items);
    else
      return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes), items);
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

  /// The middle one of some elements, and whether all of those are equal.
  struct Pivot {
    Word value;
    bool among_equals;
  };

  template <int vectors>
  static Pivot pivot_of(const Word* items, std::int64_t count) {
    constexpr int samples = vectors * width;
    Word chosen[samples];
    const std::int64_t step = count / samples;
    for (int i = 0; i < samples; ++i) chosen[i] = items[i * step + step / 2];
    sort_in_registers<vectors>(chosen, samples);
    return {chosen[samples / 2], chosen[0] == chosen[samples - 1]};
  }

  AFTERGLOW_INLINE static __m512i picked(unsigned mask, __m512i values) {
    if constexpr (sizeof(Word) == 4)
      return _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), values);
    else
      return _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), values);
  }

  AFTERGLOW_INLINE static void store_first(Word* target, int count, __m512i values) {
    const unsigned lanes = (1u << count) - 1;
    if constexpr (sizeof(Word) == 4)
      _mm512_mask_storeu_epi32(target, static_cast<__mmask16>(lanes), values);
    else
      _mm512_mask_storeu_epi64(target, static_cast<__mmask8>(lanes), values);
  }

  AFTERGLOW_INLINE static __m512i spread(Word value) {
    if constexpr (sizeof(Word) == 4)
      return _mm512_set1_epi32(static_cast<int>(value));
    else
      return _mm512_set1_epi64(static_cast<long long>(value));
  }

  template <int order>
  AFTERGLOW_INLINE static unsigned compared(__m512i values, __m512i pivot) {
    if constexpr (sizeof(Word) == 4)
      return _mm512_cmp_epu32_mask(values, pivot, order);
    else
      return _mm512_cmp_epu64_mask(values, pivot, order);
  }

  static bool all_equal(const Word* items, std::int64_t count, Word value) {
    const __m512i values = spread(value);
    std::int64_t i = 0;
    for (; i + width <= count; i += width) {
      if (compared<_MM_CMPINT_NE>(_mm512_loadu_si512(items + i), values)) return false;
    }
    for (; i < count; ++i) {
      if (items[i] != value) return false;
    }
    return true;
  }

  /// Those below the pivot (or equal to it) go to the front; how many they are. In place: the first
  /// and last vectors are held back, and the next ones are read at the side that has less room, so
  /// that either has enough for what they hold. Needs `2 * held` vectors at least.
  template <bool also_equal>
  static std::int64_t split(Word* items, std::int64_t count, Word pivot) {
    constexpr int order = also_equal ? _MM_CMPINT_LE : _MM_CMPINT_LT;
    constexpr std::int64_t step = held * width;
    const __m512i pivots = spread(pivot);
    Word *low = items, *high = items + count;
    const auto put = [&](__m512i values, unsigned lanes, auto roomy)
                         __attribute__((always_inline)) {
                           const unsigned first = compared<order>(values, pivots) & lanes;
                           const int firsts = __builtin_popcount(first);
                           const int others = __builtin_popcount(lanes) - firsts;
                           const __m512i lows = picked(first, values);
                           if constexpr (roomy())
                             _mm512_storeu_si512(low, lows);
                           else
                             store_first(low, firsts, lows);
                           low += firsts;
                           high -= others;
                           store_first(high, others, picked(lanes & ~first, values));
                         };
    constexpr unsigned all = (1u << width) - 1;
    __m512i kept[3 * held];
    const Word *left = items + step, *right = items + count - step;
    for (int i = 0; i < held; ++i) {
      kept[i] = _mm512_loadu_si512(items + i * width);
      kept[held + i] = _mm512_loadu_si512(right + i * width);
    }
    while (right - left >= step) {
      const bool from_left = left - low <= high - right;
      const Word* next = from_left ? left : right - step;
      left += from_left ? step : 0;
      right -= from_left ? 0 : step;
      __m512i values[held];
      for (int i = 0; i < held; ++i) values[i] = _mm512_loadu_si512(next + i * width);
      for (int i = 0; i < held; ++i) put(values[i], all, std::true_type());
    }
    unsigned lanes[held];
    for (int i = 0; i < held; ++i) {
      lanes[i] = lanes_of(i * width, right - left);
      kept[2 * held + i] = load(lanes[i], left + i * width);
    }
    for (int i = 0; i < 2 * held; ++i) put(kept[i], all, std::false_type());
    for (int i = 0; i < held; ++i) put(kept[2 * held + i], lanes[i], std::false_type());
    return low - items;
  }

  static bool sort(Word* items, std::int64_t count, int depth) {
    while (count > short_part) {
      if (depth-- == 0) return false;
      const Pivot pivot = count > long_part ? pivot_of<4>(items, count) : pivot_of<1>(items, count);
      if (pivot.among_equals && all_equal(items, count, pivot.value)) return true;
      std::int64_t low = split<false>(items, count, pivot.value);
      if (low == 0)
        low = split<true>(items, count, pivot.value);  // the smallest ones are equal
      else if (!sort(items, low, depth))
        return false;
      items += low;
      count -= low;
    }
    sort_short(items, count);
    return true;
  }
};

/// The keys of a block between two bounds; how many they are.
template <class Word>
std::int64_t pick_block(const Word* keys, std::int64_t count, Word least, Word greatest,
                        Word* target) {
  using Lines = LineSort<Word>;
  const __m512i low = Lines::spread(least), high = Lines::spread(greatest);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; i += Lines::width) {
    const __m512i values = _mm512_loadu_si512(keys + i);
    const unsigned lanes = Lines::template compared<_MM_CMPINT_NLT>(values, low) &
                           Lines::template compared<_MM_CMPINT_LE>(values, high) &
                           Lines::lanes_of(i, count);
    const int some = __builtin_popcount(lanes);
    Lines::store_first(target + found, some, Lines::picked(lanes, values));
    found += some;
  }
  return found;
}

template <class Word>
bool sort_line(Word* items, std::int64_t count) {
  return LineSort<Word>::sort(items, count, LineSort<Word>::deepest);
}

template <class Word>
std::int64_t drop_equals(Word* items, std::int64_t count, Word apart) {
  using Lines = LineSort<Word>;
  constexpr int width = Lines::width;
  const __m512i bits = Lines::spread(apart), zero = _mm512_setzero_si512();
  // No element is equal to the one before the first.
  __m512i before = Lines::spread(static_cast<Word>(~items[0]));
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; i += width) {
    const unsigned lanes = Lines::lanes_of(i, count);
    const __m512i values = Lines::load(lanes, items + i);
    __m512i shifted;
    if constexpr (sizeof(Word) == 4)
      shifted = _mm512_maskz_alignr_epi32(0xffff, values, before, width - 1);
    else
      shifted = _mm512_maskz_alignr_epi64(0xff, values, before, width - 1);
    const __m512i either = _mm512_and_si512(_mm512_or_si512(values, shifted), bits);
    const unsigned differ = Lines::template compared<_MM_CMPINT_NE>(values, shifted) &
                            Lines::template compared<_MM_CMPINT_NE>(either, zero) & lanes;
    const int some = __builtin_popcount(differ);
    Lines::store_first(items + found, some, Lines::picked(differ, values));
    found += some;
    before = values;
  }
  return found;
}

#else

template <class Word>
constexpr bool (*sort_line)(Word*, std::int64_t) = nullptr;

template <class Word>
std::int64_t drop_equals(Word* items, std::int64_t count, Word apart) {
  std::int64_t found = 1;
  Word before = items[0];
  for (std::int64_t i = 1; i < count; ++i) {
    const Word item = items[i];
    const bool differs = item != before && ((item | before) & apart) != 0;
    items[found] = item;
    found += differs;
    before = item;
  }
  return found;
}

template <class Word>
std::int64_t pick_block(const Word* keys, std::int64_t count, Word least, Word greatest,
                        Word* target) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (keys[i] >= least && keys[i] <= greatest) target[found++] = keys[i];
  }
  return found;
}

#endif

template <class Word>
void pick_keys(const Word* elements, std::int64_t count, const KeyRule<Word>& rule, Word least,
               Word greatest, Word* target) {
  Word keys[keys_at_a_time];
  for (std::int64_t begin = 0; begin < count; begin += keys_at_a_time) {
    const std::int64_t some = keys_from(begin, count);
    ask_for(elements + begin + some, keys_from(begin + some, count));
    make_keys(elements + begin, some, rule, keys);
    target += pick_block(keys, some, least, greatest, target);
  }
}

template <class Word>
constexpr LineFunctions<Word> line_functions = {make_keys<Word>,  take_values<Word>,
                                                count_keys<Word>, pick_keys<Word>,
                                                sort_line<Word>,  drop_equals<Word>};

}  // namespace
}  // namespace afterglow::kernels
