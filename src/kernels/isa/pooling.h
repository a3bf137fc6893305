// SPDX-License-Identifier: Apache-2.0
// Windows over one image. Rows are reduced into one first, and that along its columns then, so that
// all loops go over contiguous elements; windows two columns apart, the most common, are taken from
// pairs. What is added up has the same order on every machine.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// The places of a window within the data, and how many it counts.
struct Span {
  std::int64_t begin, end, counted;
};

/// Not a number is never the greatest, and neither is anything below the lowest number.
struct TakeGreatest {
  template <class T>
  static constexpr T neutral = std::numeric_limits<T>::lowest();
  template <class T>
  AFTERGLOW_INLINE static T join(T value, T so_far) {
    return value > so_far ? value : so_far;
  }
};

struct AddUp {
  template <class T>
  static constexpr T neutral = T(0);
  template <class T>
  AFTERGLOW_INLINE static T join(T value, T so_far) {
    return so_far + value;
  }
};

AFTERGLOW_INLINE std::int64_t at_least(std::int64_t value, std::int64_t least) {
  return value < least ? least : value;
}

AFTERGLOW_INLINE std::int64_t at_most(std::int64_t value, std::int64_t most) {
  return value > most ? most : value;
}

AFTERGLOW_INLINE std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return value > 0 ? (value + by - 1) / by : 0;
}

AFTERGLOW_INLINE std::int64_t begin_of(const WindowAxis& axis, std::int64_t result) {
  return result * axis.stride - axis.pad;
}

AFTERGLOW_INLINE Span span_of(const PoolingWindows& windows, const WindowAxis& axis,
                              std::int64_t result) {
  if (windows.is_adaptive) {
    const std::int64_t begin = result * axis.extent / axis.results;
    const std::int64_t end = ((result + 1) * axis.extent + axis.results - 1) / axis.results;
    return {begin, end, end - begin};
  }
  const std::int64_t begin = begin_of(axis, result);
  const std::int64_t padded = at_most(begin + axis.kernel, axis.extent + axis.pad);
  const std::int64_t first = at_least(begin, 0);
  const std::int64_t last = at_least(at_most(padded, axis.extent), first);
  return {first, last, at_least(windows.counts_pad ? padded - begin : last - first, 1)};
}

/// The rows of a window, one after the other.
template <class Step>
AFTERGLOW_INLINE void for_each_row(const PoolingWindows& windows, const Span& depth,
                                   const Span& rows, Step&& step) {
  for (std::int64_t d = depth.begin; d < depth.end; ++d) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) step(d * windows.rows.extent + r);
  }
}

/// The results whose windows have their place number `offset` within the data.
struct Reach {
  std::int64_t begin, end;
};
AFTERGLOW_INLINE Reach reach_of(const WindowAxis& axis, std::int64_t offset) {
  const std::int64_t begin = divided_up(axis.pad - offset, axis.stride);
  const std::int64_t end = divided_up(axis.extent + axis.pad - offset, axis.stride);
  return {begin, at_least(at_most(end, axis.results), begin)};
}

/// Elements of one row, or of all rows of a window joined place by place.
template <class Rule, class T>
const T* join_rows(const PoolingWindows& windows, const Span& depth, const Span& rows,
                   const T* data, T* joined) {
  const std::int64_t width = windows.columns.extent;
  const T* waiting[3];
  int count = 0;
  bool started = false;
  const auto join = [&] {
    if (count == 0) return;
    const T *const a = waiting[0], *const b = waiting[1], *const c = waiting[2];
    T* const into = joined;
    if (!started) {
      if (count == 3) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < width; ++i)
          into[i] = Rule::join(c[i], Rule::join(b[i], Rule::join(a[i], Rule::template neutral<T>)));
      } else if (count == 2) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < width; ++i)
          into[i] = Rule::join(b[i], Rule::join(a[i], Rule::template neutral<T>));
      } else {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < width; ++i)
          into[i] = Rule::join(a[i], Rule::template neutral<T>);
      }
    } else if (count == 3) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i)
        into[i] = Rule::join(c[i], Rule::join(b[i], Rule::join(a[i], into[i])));
    } else if (count == 2) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i)
        into[i] = Rule::join(b[i], Rule::join(a[i], into[i]));
    } else {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i) into[i] = Rule::join(a[i], into[i]);
    }
    started = true;
    count = 0;
  };
  for_each_row(windows, depth, rows, [&](std::int64_t row) {
    waiting[count++] = data + row * width;
    if (count == 3) join();
  });
  if (!started && count == 1) return waiting[0];
  join();
  if (!started) {
    for (std::int64_t i = 0; i < width; ++i) joined[i] = Rule::template neutral<T>;
  }
  return joined;
}

/// A few long stretches of a row, in 16 sums each.
template <class Rule, class T>
AFTERGLOW_INLINE T join_stretch(const T* values, std::int64_t count) {
  constexpr std::int64_t width = 16;
  T lanes[width];
  for (std::int64_t lane = 0; lane < width; ++lane) lanes[lane] = Rule::template neutral<T>;
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    for (std::int64_t lane = 0; lane < width; ++lane)
      lanes[lane] = Rule::join(values[i + lane], lanes[lane]);
  }
  for (std::int64_t lane = 0; i + lane < count; ++lane)
    lanes[lane] = Rule::join(values[i + lane], lanes[lane]);
  for (std::int64_t half = width / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = Rule::join(lanes[lane + half], lanes[lane]);
  }
  return lanes[0];
}

/// Windows of `kernel` columns, `stride` apart, that lie within the data.
template <class Rule, int kernel, int stride, class T>
AFTERGLOW_INLINE void join_inside(const T* row, std::int64_t count, T* target) {
#pragma GCC ivdep
  for (std::int64_t w = 0; w < count; ++w) {
    T joined = Rule::template neutral<T>;
    for (int k = 0; k < kernel; ++k) joined = Rule::join(row[w * stride + k], joined);
    target[w] = joined;
  }
}

/// Whether few windows are so wide that each is a loop of its own.
AFTERGLOW_INLINE bool takes_stretches(const WindowAxis& columns) {
  return columns.results < 8 && columns.kernel >= 16;
}

template <class Rule, class T>
void join_columns(const PoolingWindows& windows, const T* row, T* target) {
  const WindowAxis& columns = windows.columns;
  if (windows.is_adaptive || takes_stretches(columns)) {
    for (std::int64_t w = 0; w < columns.results; ++w) {
      const Span span = span_of(windows, columns, w);
      target[w] = join_stretch<Rule>(row + span.begin, span.end - span.begin);
    }
    return;
  }
  const std::int64_t kernel = columns.kernel, stride = columns.stride;
  if ((kernel == 2 || kernel == 3) && (stride == 1 || stride == 2)) {
    const Reach first = reach_of(columns, 0), last = reach_of(columns, kernel - 1);
    const std::int64_t begin = at_most(first.begin, columns.results);
    const std::int64_t end = at_least(last.end, begin);
    const auto edge = [&](std::int64_t w) {
      const Span span = span_of(windows, columns, w);
      T joined = Rule::template neutral<T>;
      for (std::int64_t i = span.begin; i < span.end; ++i) joined = Rule::join(row[i], joined);
      target[w] = joined;
    };
    for (std::int64_t w = 0; w < begin; ++w) edge(w);
    for (std::int64_t w = end; w < columns.results; ++w) edge(w);
    const T* const inside = row + begin_of(columns, begin);
    if (begin == end) return;
    if (kernel == 2 && stride == 2)
      return join_inside<Rule, 2, 2>(inside, end - begin, target + begin);
    if (kernel == 3 && stride == 2)
      return join_inside<Rule, 3, 2>(inside, end - begin, target + begin);
    if (kernel == 2) return join_inside<Rule, 2, 1>(inside, end - begin, target + begin);
    return join_inside<Rule, 3, 1>(inside, end - begin, target + begin);
  }
  for (std::int64_t w = 0; w < columns.results; ++w) target[w] = Rule::template neutral<T>;
  for (std::int64_t k = 0; k < kernel; ++k) {
    const Reach reach = reach_of(columns, k);
    const T* const from = row + (k - columns.pad);
    if (stride == 1) {
#pragma GCC ivdep
      for (std::int64_t w = reach.begin; w < reach.end; ++w)
        target[w] = Rule::join(from[w], target[w]);
    } else {
#pragma GCC ivdep
      for (std::int64_t w = reach.begin; w < reach.end; ++w)
        target[w] = Rule::join(from[w * stride], target[w]);
    }
  }
}

template <class T>
void divide(T* values, const T* counts, std::int64_t of_rows, std::int64_t count) {
  const T rows = static_cast<T>(of_rows);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) values[i] /= rows * counts[i];
}

/// How many columns the windows of each result count.
template <class T>
void count_columns(const PoolingWindows& windows, T* counts) {
  for (std::int64_t w = 0; w < windows.columns.results; ++w)
    counts[w] = static_cast<T>(span_of(windows, windows.columns, w).counted);
}

/// Channels first: one lane. `scratch` has room for a row of places and one of results.
template <class Rule, class T>
void join_image(const PoolingWindows& windows, const T* data, T* target, T* scratch) {
  T *const joined = scratch, *const counts = scratch + windows.columns.extent;
  if (windows.is_mean) count_columns(windows, counts);
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      join_columns<Rule>(windows, join_rows<Rule>(windows, depth, rows, data, joined), target);
      if (windows.is_mean)
        divide(target, counts, depth.counted * rows.counted, windows.columns.results);
      target += windows.columns.results;
    }
  }
}

/// The rows of an image that windows are written to: a row is written when it is met first, and
/// added to after that. Rows that are passed over become zeros.
template <class T>
class RowsInTurn {
 public:
  RowsInTurn(const PoolingWindows& windows, T* target)
      : target_(target),
        width_(windows.columns.extent),
        rows_(windows.depth.extent * windows.rows.extent) {}
  ~RowsInTurn() { clear(rows_); }

  /// Whether the row is new.
  AFTERGLOW_INLINE bool meet(std::int64_t row) {
    if (row < next_) return false;
    clear(row);
    next_ = row + 1;
    return true;
  }

 private:
  AFTERGLOW_INLINE void clear(std::int64_t end) {
    if (end > next_)
      __builtin_memset(target_ + next_ * width_, 0,
                       static_cast<std::size_t>((end - next_) * width_) * sizeof(T));
  }

  T* target_;
  std::int64_t width_, rows_, next_ = 0;
};

template <class T>
AFTERGLOW_INLINE void put(const T* values, bool is_new, std::int64_t count, T* target) {
  if (is_new) {
    __builtin_memcpy(target, values, static_cast<std::size_t>(count) * sizeof(T));
  } else {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) target[i] += values[i];
  }
}

/// Gives what is left of each result to the place where its maximum is, if that is here.
template <class T>
AFTERGLOW_INLINE void give(const T* data, const T* maxima, std::int64_t count, T* left, T* target) {
#pragma GCC ivdep
  for (std::int64_t w = 0; w < count; ++w) {
    const T value = left[w];
    const bool here = data[w] == maxima[w];
    target[w] += here ? value : T(0);
    left[w] = here ? T(0) : value;
  }
}

/// The columns of a row by their places in strides: those of phase p are p, p + stride, and so on.
template <int fixed, class T>
AFTERGLOW_INLINE void split(const T* row, std::int64_t width, std::int64_t stride,
                            std::int64_t length, T* phases) {
  if constexpr (fixed != 0) stride = fixed;
  const std::int64_t whole = width / stride;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < whole; ++i) {
    for (std::int64_t phase = 0; phase < stride; ++phase)
      phases[phase * length + i] = row[i * stride + phase];
  }
  for (std::int64_t i = whole * stride; i < width; ++i)
    phases[(i - whole * stride) * length + whole] = row[i];
}

/// The way back.
template <int fixed, class T>
AFTERGLOW_INLINE void unite(const T* phases, std::int64_t width, std::int64_t stride,
                            std::int64_t length, bool is_new, T* row) {
  if constexpr (fixed != 0) stride = fixed;
  const std::int64_t whole = width / stride;
  if (is_new) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < whole; ++i) {
      for (std::int64_t phase = 0; phase < stride; ++phase)
        row[i * stride + phase] = phases[phase * length + i];
    }
  } else {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < whole; ++i) {
      for (std::int64_t phase = 0; phase < stride; ++phase)
        row[i * stride + phase] += phases[phase * length + i];
    }
  }
  for (std::int64_t i = whole * stride; i < width; ++i) {
    const T value = phases[(i - whole * stride) * length + whole];
    row[i] = is_new ? value : row[i] + value;
  }
}

/// Adds the value of each result to all columns of its window. `scratch` has room for a row of
/// places and a stride more.
template <class T>
void spread_columns(const PoolingWindows& windows, const T* values, T* target, T* scratch) {
  const WindowAxis& columns = windows.columns;
  const std::int64_t width = columns.extent, stride = columns.stride;
  if (windows.is_adaptive || takes_stretches(columns)) {
    for (std::int64_t i = 0; i < width; ++i) target[i] = 0;
    for (std::int64_t w = 0; w < columns.results; ++w) {
      const Span span = span_of(windows, columns, w);
      for (std::int64_t i = span.begin; i < span.end; ++i) target[i] += values[w];
    }
    return;
  }
  const std::int64_t length = width / stride + 1;
  T* const phases = stride == 1 ? target : scratch;
  __builtin_memset(phases, 0,
                   static_cast<std::size_t>(stride == 1 ? width : length * stride) * sizeof(T));
  for (std::int64_t k = 0; k < columns.kernel; ++k) {
    const Reach reach = reach_of(columns, k);
    if (reach.begin == reach.end) continue;
    const std::int64_t column = begin_of(columns, reach.begin) + k;
    T* const into = phases + (column % stride * length + column / stride);
    const T* const from = values + reach.begin;
    const std::int64_t count = reach.end - reach.begin;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
  }
  if (stride == 2)
    unite<2>(phases, width, stride, length, true, target);
  else if (stride != 1)
    unite<0>(phases, width, stride, length, true, target);
}

/// `scratch` has room for two rows of places, with a stride more, and two of results.
template <class T>
void spread_image(const PoolingWindows& windows, const T* values, T* target, T* scratch) {
  const std::int64_t width = windows.columns.extent, results = windows.columns.results;
  T *const counts = scratch, *const shares = counts + results, *const spread = shares + results,
           *const phases = spread + width;
  if (windows.is_mean) count_columns(windows, counts);
  RowsInTurn<T> met(windows, target);
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      const T* row = values + (d * windows.rows.results + r) * results;
      if (windows.is_mean) {
        __builtin_memcpy(shares, row, static_cast<std::size_t>(results) * sizeof(T));
        divide(shares, counts, depth.counted * rows.counted, results);
        row = shares;
      }
      spread_columns(windows, row, spread, phases);
      for_each_row(windows, depth, rows,
                   [&](std::int64_t at) { put(spread, met.meet(at), width, target + at * width); });
    }
  }
}

/// Windows of two or three columns, two apart. What goes to each of their columns is found for all
/// results first; the first and the third column of neighbours are the same place then.
template <int kernel, class T>
void give_pairs(const WindowAxis& columns, const T* row, const T* maxima, T* left, bool is_new,
                T* target, T* scratch) {
  const std::int64_t width = columns.extent, results = columns.results, pad = columns.pad;
  // [kernel][1 + results], so that there is one before the first and one behind the last.
  const std::int64_t length = results + 1;
  T* const given = scratch + 1;
  const Reach first = reach_of(columns, 0), last = reach_of(columns, kernel - 1);
  const std::int64_t begin = at_most(first.begin, results), end = at_least(last.end, begin);
  const auto edge = [&](std::int64_t w) {
    for (int k = 0; k < kernel; ++k) {
      const std::int64_t column = begin_of(columns, w) + k;
      const bool here = column >= 0 && column < width && row[column] == maxima[w];
      given[k * length + w] = here ? left[w] : T(0);
      if (here) left[w] = 0;
    }
  };
  for (std::int64_t w = 0; w < begin; ++w) edge(w);
  for (std::int64_t w = end; w < results; ++w) edge(w);
  const T* const inside = row - pad;
#pragma GCC ivdep
  for (std::int64_t w = begin; w < end; ++w) {
    T value = left[w];
    const T greatest = maxima[w];
    for (int k = 0; k < kernel; ++k) {
      const bool here = inside[2 * w + k] == greatest;
      given[k * length + w] = here ? value : T(0);
      value = here ? T(0) : value;
    }
    left[w] = value;
  }
  given[results] = 0;
  if constexpr (kernel == 3) given[2 * length - 1] = 0;
  const auto shared = [&](std::int64_t pair) -> T {
    if constexpr (kernel == 3) return given[pair] + given[2 * length + pair - 1];
    return given[pair];
  };
  // Pairs of columns that are both there.
  const std::int64_t pairs_begin = (pad + 1) / 2;
  const std::int64_t pairs_end = at_least(at_most((width + pad) / 2, results), pairs_begin);
  T* const pairs = target - pad;
  const T* const middle = given + length;
  if (is_new) {
    for (std::int64_t i = 0; i < at_most(2 * pairs_begin - pad, width); ++i) target[i] = 0;
    for (std::int64_t i = at_least(2 * pairs_end - pad, 0); i < width; ++i) target[i] = 0;
#pragma GCC ivdep
    for (std::int64_t j = pairs_begin; j < pairs_end; ++j) {
      pairs[2 * j] = shared(j);
      pairs[2 * j + 1] = middle[j];
    }
  } else {
#pragma GCC ivdep
    for (std::int64_t j = pairs_begin; j < pairs_end; ++j) {
      pairs[2 * j] += shared(j);
      pairs[2 * j + 1] += middle[j];
    }
  }
  // What is left of a pair at either end, and the third column of the last window.
  if (pad % 2 && pad / 2 < results && width > 0) target[0] += middle[pad / 2];
  const std::int64_t behind = 2 * pairs_end - pad;
  if (behind >= 0 && behind < width && pairs_end < results + (kernel == 3 ? 1 : 0))
    target[behind] += shared(pairs_end);
}

/// For few results to a row, one by one.
template <class T>
void give_few(const PoolingWindows& windows, const T* data, const T* maxima, const T* values,
              T* target) {
  const std::int64_t width = windows.columns.extent;
  __builtin_memset(
      target, 0,
      static_cast<std::size_t>(windows.depth.extent * windows.rows.extent * width) * sizeof(T));
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      for (std::int64_t w = 0; w < windows.columns.results; ++w, ++maxima, ++values) {
        const Span columns = span_of(windows, windows.columns, w);
        const auto find = [&]() -> std::int64_t {
          for (std::int64_t plane = depth.begin; plane < depth.end; ++plane) {
            for (std::int64_t row = rows.begin; row < rows.end; ++row) {
              const std::int64_t first = (plane * windows.rows.extent + row) * width;
              for (std::int64_t i = columns.begin; i < columns.end; ++i) {
                if (data[first + i] == *maxima) return first + i;
              }
            }
          }
          return -1;
        };
        const std::int64_t place = find();
        if (place >= 0) target[place] += *values;
      }
    }
  }
}

/// Values go to the first place of their window that has its maximum. `scratch` as before.
template <class T>
void give_image(const PoolingWindows& windows, const T* data, const T* maxima, const T* values,
                T* target, T* scratch) {
  const WindowAxis& columns = windows.columns;
  const std::int64_t width = columns.extent, stride = columns.stride, results = columns.results;
  if (results < 8) return give_few(windows, data, maxima, values, target);
  const std::int64_t length = width / stride + 1;
  T *const left = scratch, *const split_data = left + results,
           *const split_target = split_data + length * stride;
  RowsInTurn<T> met(windows, target);
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      const std::int64_t first = (d * windows.rows.results + r) * results;
      __builtin_memcpy(left, values + first, static_cast<std::size_t>(results) * sizeof(T));
      for_each_row(windows, depth, rows, [&](std::int64_t at) {
        const T* const row = data + at * width;
        T* const into = target + at * width;
        const bool is_new = met.meet(at);
        if (stride == 2 && columns.kernel == 2)
          return give_pairs<2>(columns, row, maxima + first, left, is_new, into, split_data);
        if (stride == 2 && columns.kernel == 3)
          return give_pairs<3>(columns, row, maxima + first, left, is_new, into, split_data);
        if (stride == 1) {
          if (is_new) __builtin_memset(into, 0, static_cast<std::size_t>(width) * sizeof(T));
          for (std::int64_t k = 0; k < columns.kernel; ++k) {
            const Reach reach = reach_of(columns, k);
            const std::int64_t begin = reach.begin + k - columns.pad;
            give(row + begin, maxima + first + reach.begin, reach.end - reach.begin,
                 left + reach.begin, into + begin);
          }
          return;
        }
        if (stride == 2)
          split<2>(row, width, stride, length, split_data);
        else
          split<0>(row, width, stride, length, split_data);
        __builtin_memset(split_target, 0, static_cast<std::size_t>(length * stride) * sizeof(T));
        for (std::int64_t k = 0; k < columns.kernel; ++k) {
          const Reach reach = reach_of(columns, k);
          if (reach.begin == reach.end) continue;
          const std::int64_t column = begin_of(columns, reach.begin) + k;
          const std::int64_t begin = column % stride * length + column / stride;
          give(split_data + begin, maxima + first + reach.begin, reach.end - reach.begin,
               left + reach.begin, split_target + begin);
        }
        if (stride == 2)
          unite<2>(split_target, width, stride, length, is_new, into);
        else
          unite<0>(split_target, width, stride, length, is_new, into);
      });
    }
  }
}

// --- channels last ---

/// Calls `step(result, place...)` with the windows of an image, in order; `begin` and `end` before
/// and after the places of each.
template <class Begin, class Step, class End>
AFTERGLOW_INLINE void for_each_window(const PoolingWindows& windows, Begin&& begin, Step&& step,
                                      End&& end) {
  std::int64_t result = 0;
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      for (std::int64_t w = 0; w < windows.columns.results; ++w, ++result) {
        const Span columns = span_of(windows, windows.columns, w);
        begin(result, depth.counted * rows.counted * columns.counted);
        for_each_row(windows, depth, rows, [&](std::int64_t row) {
          for (std::int64_t i = columns.begin; i < columns.end; ++i)
            step(result, row * windows.columns.extent + i);
        });
        end(result, depth.counted * rows.counted * columns.counted);
      }
    }
  }
}

/// `vectors` of lanes of all places of a window, in registers.
template <class Rule, int vectors, class T>
AFTERGLOW_INLINE void join_places(const PoolingWindows& windows, const Span& depth,
                                  const Span& rows, const Span& columns, const T* data, T* target) {
  using Vector [[gnu::vector_size(vector_size)]] = T;
  constexpr std::int64_t width = vector_size / sizeof(T);
  Vector joined[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) joined[v] = Rule::template neutral<T> - Vector{};
  for_each_row(windows, depth, rows, [&](std::int64_t row) {
    const T* from = data + (row * windows.columns.extent + columns.begin) * windows.lanes;
    for (std::int64_t i = columns.begin; i < columns.end; ++i, from += windows.lanes) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        Vector values;
        __builtin_memcpy(&values, from + v * width, sizeof(Vector));
        joined[v] = Rule::join(values, joined[v]);
      }
    }
  });
  if (windows.is_mean) {
    const T count = static_cast<T>(depth.counted * rows.counted * columns.counted);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) joined[v] /= count;
  }
  __builtin_memcpy(target, joined, sizeof joined);
}

template <class Rule, class T>
void join_lanes(const WindowsCall<T>& call) {
  const PoolingWindows& windows = call.windows;
  constexpr std::int64_t width = vector_size / sizeof(T);
  for (std::int64_t row = call.row_begin; row < call.row_end; ++row) {
    const Span depth = span_of(windows, windows.depth, row / windows.rows.results);
    const Span rows = span_of(windows, windows.rows, row % windows.rows.results);
    T* target = call.target + row * windows.columns.results * windows.lanes;
    for (std::int64_t w = 0; w < windows.columns.results; ++w, target += windows.lanes) {
      const Span columns = span_of(windows, windows.columns, w);
      std::int64_t lane = 0;
      for (; lane + 4 * width <= call.lanes; lane += 4 * width)
        join_places<Rule, 4>(windows, depth, rows, columns, call.data + lane, target + lane);
      for (; lane + width <= call.lanes; lane += width)
        join_places<Rule, 1>(windows, depth, rows, columns, call.data + lane, target + lane);
      const T count = static_cast<T>(depth.counted * rows.counted * columns.counted);
      for (; lane < call.lanes; ++lane) {
        T joined = Rule::template neutral<T>;
        for_each_row(windows, depth, rows, [&](std::int64_t at) {
          for (std::int64_t i = columns.begin; i < columns.end; ++i)
            joined = Rule::join(call.data[(at * windows.columns.extent + i) * windows.lanes + lane],
                                joined);
        });
        target[lane] = windows.is_mean ? joined / count : joined;
      }
    }
  }
}

template <class T>
void clear_lanes(const PoolingWindows& windows, std::int64_t lanes, T* target) {
  const std::int64_t places = windows.depth.extent * windows.rows.extent * windows.columns.extent;
  for (std::int64_t place = 0; place < places; ++place)
    __builtin_memset(target + place * windows.lanes, 0,
                     static_cast<std::size_t>(lanes) * sizeof(T));
}

/// `scratch` has room for the lanes.
template <class T>
void spread_lanes(const PoolingWindows& windows, const T* values, std::int64_t lanes, T* target,
                  T* scratch) {
  const std::int64_t step = windows.lanes;
  clear_lanes(windows, lanes, target);
  for_each_window(
      windows,
      [&](std::int64_t result, std::int64_t counted) {
        const T* const from = values + result * step;
        const T count = windows.is_mean ? static_cast<T>(counted) : T(1);
        for (std::int64_t i = 0; i < lanes; ++i) scratch[i] = from[i] / count;
      },
      [&](std::int64_t, std::int64_t place) {
        T* const into = target + place * step;
#pragma GCC ivdep
        for (std::int64_t i = 0; i < lanes; ++i) into[i] += scratch[i];
      },
      [](std::int64_t, std::int64_t) {});
}

template <class T>
void give_lanes(const PoolingWindows& windows, const T* data, const T* maxima, const T* values,
                std::int64_t lanes, T* target, T* scratch) {
  const std::int64_t step = windows.lanes;
  clear_lanes(windows, lanes, target);
  for_each_window(
      windows,
      [&](std::int64_t result, std::int64_t) {
        __builtin_memcpy(scratch, values + result * step,
                         static_cast<std::size_t>(lanes) * sizeof(T));
      },
      [&](std::int64_t result, std::int64_t place) {
        give(data + place * step, maxima + result * step, lanes, scratch, target + place * step);
      },
      [](std::int64_t, std::int64_t) {});
}

/// What `values`, one per place, have where the maxima are.
template <class T>
void take_lanes(const PoolingWindows& windows, const T* data, const T* maxima, const T* values,
                std::int64_t lanes, T* target) {
  const std::int64_t step = windows.lanes;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    bool found = false;
    for_each_window(
        windows, [&](std::int64_t, std::int64_t) { found = false; },
        [&](std::int64_t result, std::int64_t place) {
          if (found || data[place * step + lane] != maxima[result * step + lane]) return;
          found = true;
          target[result * step + lane] = values[place * step + lane];
        },
        [&](std::int64_t result, std::int64_t) {
          if (!found) target[result * step + lane] = 0;
        });
  }
}

/// One image, from a lane on.
template <class T>
void run_windows(const WindowsCall<T>& call) {
  const PoolingWindows& windows = call.windows;
  const bool rows = windows.lanes == 1;
  switch (call.work) {
    case WindowWork::maximum:
      if (rows) return join_image<TakeGreatest>(windows, call.data, call.target, call.scratch);
      return join_lanes<TakeGreatest>(call);
    case WindowWork::sum:
      if (rows) return join_image<AddUp>(windows, call.data, call.target, call.scratch);
      return join_lanes<AddUp>(call);
    case WindowWork::sum_gradient:
      if (rows) return spread_image(windows, call.values, call.target, call.scratch);
      return spread_lanes(windows, call.values, call.lanes, call.target, call.scratch);
    case WindowWork::maximum_gradient:
      if (rows)
        return give_image(windows, call.data, call.results, call.values, call.target, call.scratch);
      return give_lanes(windows, call.data, call.results, call.values, call.lanes, call.target,
                        call.scratch);
    case WindowWork::maximum_taken:
      return take_lanes(windows, call.data, call.results, call.values, call.lanes, call.target);
  }
}

}  // namespace
}  // namespace afterglow::kernels
