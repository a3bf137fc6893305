// SPDX-License-Identifier: Apache-2.0
// Sorting short lines, a vector of them at a time: the same comparisons serve all of them, so that
// there is nothing to foresee. Batcher's merge exchange, for any length.
#pragma once

#include <cstdint>

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

template <class Word>
using WordLanes [[gnu::vector_size(64)]] = Word;

template <class Word>
AFTERGLOW_INLINE void put_in_order(Word* low, Word* high) {
  WordLanes<Word> first, second;
  __builtin_memcpy(&first, low, sizeof(first));
  __builtin_memcpy(&second, high, sizeof(second));
  const WordLanes<Word> smaller = first < second ? first : second;
  const WordLanes<Word> greater = first < second ? second : first;
  __builtin_memcpy(low, &smaller, sizeof(smaller));
  __builtin_memcpy(high, &greater, sizeof(greater));
}

/// Word [step][lane], 64 bytes of lanes a step: every lane is put in order.
template <class Word>
void sort_side_by_side(Word* words, std::int64_t steps) {
  constexpr std::int64_t lanes = 64 / sizeof(Word);
  std::int64_t top = 1;
  while (2 * top < steps) top *= 2;
  for (std::int64_t run = top; run > 0; run /= 2) {
    std::int64_t start = 0, distance = run;
    for (std::int64_t part = top;; part /= 2) {
      for (std::int64_t first = start; first < steps - distance; first += 2 * run) {
        const std::int64_t end = first + run < steps - distance ? first + run : steps - distance;
        for (std::int64_t i = first; i < end; ++i) {
          put_in_order(words + i * lanes, words + (i + distance) * lanes);
        }
      }
      if (part == run) break;
      distance = part - run;
      start = run;
    }
  }
}

}  // namespace
}  // namespace afterglow::kernels
