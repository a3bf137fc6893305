// SPDX-License-Identifier: Apache-2.0
// Moves between strided matrices. Words are unsigned integers of the element's size.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// One row: contiguous, filled from one element, or strided.
template <class Word>
AFTERGLOW_INLINE void move_row(const Word* from, std::int64_t from_stride, Word* to,
                               std::int64_t to_stride, std::int64_t count) {
  if (to_stride == 1 && from_stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else if (to_stride == 1 && from_stride == 0) {
    const Word value = *from;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = value;
  } else if (to_stride == 1 && from_stride == -1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[-i];
  } else if (to_stride == 1 && from_stride == 2) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

/// Swaps the off-diagonal blocks of a square of vectors, in blocks of 1, 2, 4...
template <int block, class Vector, int side>
AFTERGLOW_INLINE void transpose_square(Vector (&rows)[side]) {
  if constexpr (block < side) {
    Vector low, high;
    for (int i = 0; i < side; ++i) {
      low[i] = i & block ? side + i - block : i;
      high[i] = i & block ? side + i : i + block;
    }
    for (int i = 0; i < side; ++i) {
      if (i & block) continue;
      const Vector a = rows[i], b = rows[i + block];
      rows[i] = __builtin_shuffle(a, b, low);
      rows[i + block] = __builtin_shuffle(a, b, high);
    }
    transpose_square<block * 2>(rows);
  }
}

// Elements that vectors take along without use may be another thread's to write: a race without
// consequences, which ThreadSanitizer cannot tell from others.
#if defined(__SANITIZE_THREAD__)
constexpr bool takes_along = false;
#else
constexpr bool takes_along = true;
#endif

/// Source and target both run along their other dimension: columns there, rows here.
template <class Word>
void move_transposed(const Word* from, std::int64_t column_stride, Word* to,
                     std::int64_t row_stride, std::int64_t rows, std::int64_t columns) {
  // Narrow words have no fast shuffle on older machines.
  constexpr int side = sizeof(Word) >= 4 ? vector_size / sizeof(Word) : 8;
  constexpr std::int64_t ahead = 256 / sizeof(Word);
  using Vector [[gnu::vector_size(vector_size)]] = Word;
  for (std::int64_t row = 0; row < rows; row += side) {
    const std::int64_t high = rows - row < side ? rows - row : side;
    for (std::int64_t column = 0; column < columns; column += side) {
      const std::int64_t across = columns - column < side ? columns - column : side;
      const Word* corner = from + row + column * column_stride;
      Word* place = to + row * row_stride + column;
      if constexpr (sizeof(Word) >= 4) {
        // Where rows are missing, the vectors end among the columns that follow, if there are some.
        const std::int64_t following = (columns - column - side) * column_stride;
        if (across == side && (high == side || (takes_along && following >= side - high))) {
          Vector square[side];
          for (int i = 0; i < side; ++i) {
            __builtin_prefetch(corner + i * column_stride + ahead);
            __builtin_memcpy(&square[i], corner + i * column_stride, sizeof(Vector));
          }
          transpose_square<1>(square);
          for (int i = 0; i < side; ++i) {
            if (i < high) __builtin_memcpy(place + i * row_stride, &square[i], sizeof(Vector));
          }
          continue;
        }
      }
      for (std::int64_t i = 0; i < high; ++i)
        for (std::int64_t j = 0; j < across; ++j)
          place[i * row_stride + j] = corner[i + j * column_stride];
    }
  }
}

template <class Word>
void move(Matrix source, Matrix target, std::int64_t rows, std::int64_t columns) {
  if (target.row_stride == 1 && target.column_stride != 1) {
    source = {source.data, source.column_stride, source.row_stride};
    target = {target.data, target.column_stride, target.row_stride};
    const std::int64_t swapped = rows;
    rows = columns;
    columns = swapped;
  }
  const Word* from = static_cast<const Word*>(source.data);
  Word* to = static_cast<Word*>(target.data);
  if (target.column_stride == 1 && source.row_stride == 1 && source.column_stride > 1 && rows > 1) {
    move_transposed(from, source.column_stride, to, target.row_stride, rows, columns);
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row)
    move_row(from + row * source.row_stride, source.column_stride, to + row * target.row_stride,
             target.column_stride, columns);
}

template <class Word, int used>
void interleave_some(const void* const* sources, Word* __restrict target, std::int64_t count) {
  const Word* from[used];
  for (int s = 0; s < used; ++s) from[s] = static_cast<const Word*>(sources[s]);
  for (std::int64_t i = 0; i < count; ++i) {
    for (int s = 0; s < used; ++s) target[i * used + s] = from[s][i];
  }
}

template <class Word>
void interleave(const void* const* sources, int sources_used, void* target, std::int64_t count) {
  Word* const to = static_cast<Word*>(target);
  if (sources_used == 2) return interleave_some<Word, 2>(sources, to, count);
  if (sources_used == 3) return interleave_some<Word, 3>(sources, to, count);
  interleave_some<Word, 4>(sources, to, count);
}

void stream(const void* source, void* target, std::int64_t bytes) {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
#if defined(__SSE2__)
  constexpr std::int64_t line = 64;
  const std::int64_t head =
      -static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) & (line - 1);
  if (head < bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(head));
    std::int64_t i = head;
    for (; i + line <= bytes; i += line) {
#if defined(__AVX512F__)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#else
      for (std::int64_t part = i; part < i + line; part += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + part),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + part)));
#endif
    }
    from += i;
    to += i;
    bytes -= i;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace
}  // namespace afterglow::kernels
