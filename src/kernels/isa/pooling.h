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

/// Puts columns together that were apart by their places in strides: those of phase p are p,
/// p + stride, and so on.
template <int fixed, class T>
AFTERGLOW_INLINE void unite(const T* phases, std::int64_t width, std::int64_t stride,
                            std::int64_t length, T* row) {
  if constexpr (fixed != 0) stride = fixed;
  const std::int64_t whole = width / stride;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < whole; ++i) {
    for (std::int64_t phase = 0; phase < stride; ++phase)
      row[i * stride + phase] = phases[phase * length + i];
  }
  for (std::int64_t i = whole * stride; i < width; ++i)
    row[i] = phases[(i - whole * stride) * length + whole];
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
    unite<2>(phases, width, stride, length, target);
  else if (stride != 1)
    unite<0>(phases, width, stride, length, target);
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

}  // namespace
}  // namespace afterglow::kernels
