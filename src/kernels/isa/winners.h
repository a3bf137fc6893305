// SPDX-License-Identifier: Apache-2.0
// Which places of windows have their maxima (winners), and what windows give to these or take from
// them. The winner is the first place that has the maximum; there may be none. Places of a window
// are numbered row by row.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/isa/pooling.h"
#include "kernels/winner_bands.h"

namespace afterglow::kernels {
namespace {

/// For windows over one plane. Rows and columns are put apart by their places in strides: what the
/// same place of all windows sees lies in one piece then, from row to row, so that small images
/// fill vectors too. What is read or written behind the end of a row belongs to the next row, and
/// is written again.
template <class T>
class WinnerBands {
 public:
  explicit WinnerBands(const WindowsCall<T>& call)
      : call_(call),
        rows_(call.windows.rows),
        columns_(call.windows.columns),
        band_(winner_band(rows_, columns_)),
        seen_(at_most(columns_.extent, at_least(band_.pitch * columns_.stride - columns_.pad, 0))),
        line_(call.scratch),
        values_(line_ + band_.line + band_.before),
        winners_(reinterpret_cast<Integer*>(line_ + band_.line + band_.windows) + band_.before),
        planes_(line_ + band_.line + 2 * band_.windows) {
    for (std::int64_t i = -band_.before; i < band_.windows - band_.before; ++i) {
      values_[i] = 0;
      winners_[i] = none;
    }
    for (std::int64_t row = 0; row < rows_.kernel; ++row) {
      for (std::int64_t column = 0; column < columns_.kernel; ++column)
        shifts_[row * columns_.kernel + column] =
            row / rows_.stride * band_.pitch + column / columns_.stride;
    }
  }

  void find() {
    for (std::int64_t image = 0; image < call_.images; ++image) {
      for (std::int64_t begin = 0; begin < rows_.results; begin += band_.rows) {
        const std::int64_t count = at_most(band_.rows, rows_.results - begin);
        split(image, begin, count);
        compare(count * band_.pitch);
        const std::int64_t first = (image * rows_.results + begin) * columns_.results;
        for (std::int64_t row = 0; row < count; ++row) {
          const std::int64_t at = row * band_.pitch, to = first + row * columns_.results;
          convert(values_ + at, columns_.results, call_.target + to);
          convert(winners_ + at, columns_.results, static_cast<std::uint8_t*>(call_.winners) + to);
        }
      }
    }
  }

  void give() {
    for (std::int64_t image = 0; image < call_.images; ++image) {
      for (std::int64_t i = -band_.before; i < 0; ++i) winners_[i] = none;
      const std::int64_t end = rows_.results + band_.row_shift;
      for (std::int64_t begin = 0; begin < end; begin += band_.rows) {
        const std::int64_t count = at_most(band_.rows, end - begin);
        fill_in(image, begin, count);
        add_up(count * band_.pitch);
        unite(image, begin, count);
        // What these windows give to the rows that follow.
        const std::int64_t on = count * band_.pitch;
        for (std::int64_t i = -band_.row_shift * band_.pitch; i < 0; ++i) {
          values_[i] = values_[i + on];
          winners_[i] = winners_[i + on];
        }
      }
      for (std::int64_t row = at_least(end * rows_.stride - rows_.pad, 0); row < rows_.extent;
           ++row)
        clear(row_of(image, row), 0);
    }
  }

 private:
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Vector [[gnu::vector_size(vector_size)]] = T;
  using Integers [[gnu::vector_size(vector_size)]] = Integer;
  static constexpr int width = vector_size / sizeof(T);
  static constexpr Integer none = no_byte_winner;
  /// Never the greatest.
  static constexpr T nowhere = std::numeric_limits<T>::quiet_NaN();

  template <class Lanes, class Element>
  AFTERGLOW_INLINE static Lanes load(const Element* from) {
    Lanes lanes;
    __builtin_memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }
  template <class Lanes, class Element>
  AFTERGLOW_INLINE static void store(const Lanes& lanes, Element* to) {
    __builtin_memcpy(to, &lanes, sizeof(lanes));
  }

  /// Exactly so many elements. The last ones are written twice where they do not fill a vector.
  template <class From, class To>
  AFTERGLOW_INLINE static void convert(const From* from, std::int64_t count, To* to) {
    using Source [[gnu::vector_size(width * sizeof(From))]] = From;
    using Target [[gnu::vector_size(width * sizeof(To))]] = To;
    const auto one = [&](std::int64_t i) {
      store(__builtin_convertvector(load<Source>(from + i), Target), to + i);
    };
    if (count < width) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
      return;
    }
    for (std::int64_t i = 0; i < count - width; i += width) one(i);
    one(count - width);
  }

  T* plane(std::int64_t row_phase, std::int64_t column_phase) const {
    return planes_ + (row_phase * band_.column_phases + column_phase) * band_.plane;
  }
  T* row_of(std::int64_t image, std::int64_t row) const {
    return call_.target + (image * rows_.extent + row) * columns_.extent;
  }
  AFTERGLOW_INLINE void clear(T* row, std::int64_t begin) const {
    for (std::int64_t i = begin; i < columns_.extent; ++i) row[i] = 0;
  }
  /// Elements of a row that are read and written by whole vectors.
  std::int64_t in_vectors() const {
    const std::int64_t step = columns_.stride * width;
    return (seen_ + step - 1) / step * step;
  }

  /// The planes that some rows of windows see.
  void split(std::int64_t image, std::int64_t begin, std::int64_t count) {
    const std::int64_t size = rows_.extent * columns_.extent;
    const T* const last = call_.data + call_.images * size;
    for (std::int64_t position = 0; position < count + band_.row_shift; ++position) {
      for (std::int64_t phase = 0; phase < band_.row_phases; ++phase) {
        const std::int64_t row = (begin + position) * rows_.stride + phase - rows_.pad;
        T* const to = plane(phase, 0) + position * band_.pitch;
        if (row < 0 || row >= rows_.extent) {
          for (std::int64_t i = 0; i < band_.column_phases; ++i)
            for (std::int64_t j = 0; j < band_.pitch; ++j) to[i * band_.plane + j] = nowhere;
          continue;
        }
        const T* from = call_.data + image * size + row * columns_.extent;
        if (from + in_vectors() > last) {
          for (std::int64_t i = 0; i < seen_; ++i) line_[i] = from[i];
          from = line_;
        }
        split_row(from, to);
      }
    }
  }

  AFTERGLOW_INLINE void split_row(const T* from, T* to) const {
    const std::int64_t pad = columns_.pad;
    if (columns_.stride == 1) {
      for (std::int64_t i = 0; i < seen_; i += width) store(load<Vector>(from + i), to + pad + i);
    } else {
      T *const even = to + pad % 2 * band_.plane + pad / 2, *const odd =
                                                                to + (pad + 1) % 2 * band_.plane +
                                                                (pad + 1) / 2;
      for (std::int64_t i = 0; i < seen_; i += 2 * width)
        put_apart(from + i, even + i / 2, odd + i / 2, std::make_integer_sequence<int, width>());
    }
    const auto outside = [&](std::int64_t place) {
      to[place % columns_.stride * band_.plane + place / columns_.stride] = nowhere;
    };
    for (std::int64_t place = 0; place < pad; ++place) outside(place);
    for (std::int64_t place = pad + seen_; place < band_.pitch * columns_.stride; ++place)
      outside(place);
  }

  template <int... lane>
  AFTERGLOW_INLINE static void put_apart(const T* from, T* even, T* odd,
                                         std::integer_sequence<int, lane...>) {
    const Vector first = load<Vector>(from), second = load<Vector>(from + width);
    store(__builtin_shufflevector(first, second, (2 * lane)...), even);
    store(__builtin_shufflevector(first, second, (2 * lane + 1)...), odd);
  }

  template <int... lane>
  AFTERGLOW_INLINE static void put_together(const T* even, const T* odd, T* to,
                                            std::integer_sequence<int, lane...>) {
    const Vector first = load<Vector>(even), second = load<Vector>(odd);
    store(__builtin_shufflevector(first, second, (lane / 2 + lane % 2 * width)...), to);
    store(__builtin_shufflevector(first, second, ((width + lane) / 2 + lane % 2 * width)...),
          to + width);
  }

  /// Maxima and winners, from the last place to the first, so that this is the one of equals.
  void compare(std::int64_t count) {
    const T* places[most_byte_winners];
    int used = 0;
    for (std::int64_t i = 0; i < rows_.kernel; ++i) {
      for (std::int64_t j = 0; j < columns_.kernel; ++j, ++used)
        places[used] = plane(i % rows_.stride, j % columns_.stride) + shifts_[used];
    }
    for (std::int64_t i = 0; i < count; i += width) {
      Vector greatest = TakeGreatest::neutral<T> - Vector{};
      Integers winners = none - Integers{};
      for (int place = used - 1; place >= 0; --place) {
        const Vector value = load<Vector>(places[place] + i);
        const auto is_greater = value >= greatest;
        greatest = is_greater ? value : greatest;
        winners = is_greater ? Integer(place) - Integers{} : winners;
      }
      store(greatest, values_ + i);
      store(winners, winners_ + i);
    }
  }

  /// Values and winners of the windows, none where there are no windows.
  void fill_in(std::int64_t image, std::int64_t begin, std::int64_t count) {
    const std::int64_t there = at_most(count, at_least(rows_.results - begin, 0));
    const std::int64_t first = (image * rows_.results + begin) * columns_.results;
    for (std::int64_t row = 0; row < there; ++row) {
      const std::int64_t from = first + row * columns_.results, at = row * band_.pitch;
      convert(call_.values + from, columns_.results, values_ + at);
      convert(static_cast<const std::uint8_t*>(call_.winners) + from, columns_.results,
              winners_ + at);
    }
    for (std::int64_t i = there * band_.pitch; i < count * band_.pitch; ++i) winners_[i] = none;
  }

  /// What windows give to the places of each plane.
  void add_up(std::int64_t count) {
    for (std::int64_t row_phase = 0; row_phase < band_.row_phases; ++row_phase) {
      for (std::int64_t column_phase = 0; column_phase < band_.column_phases; ++column_phase) {
        int places[most_byte_winners];
        int used = 0;
        for (std::int64_t i = row_phase; i < rows_.kernel; i += rows_.stride) {
          for (std::int64_t j = column_phase; j < columns_.kernel; j += columns_.stride)
            places[used++] = static_cast<int>(i * columns_.kernel + j);
        }
        T* const target = plane(row_phase, column_phase);
        for (std::int64_t i = 0; i < count; i += width) {
          Vector sums{};
          for (int number = 0; number < used; ++number) {
            const int place = places[number];
            const std::int64_t from = i - shifts_[place];
            sums += load<Integers>(winners_ + from) == Integer(place) - Integers{}
                        ? load<Vector>(values_ + from)
                        : Vector{};
          }
          store(sums, target + i);
        }
      }
    }
  }

  /// Writes the rows of the image that the planes have.
  void unite(std::int64_t image, std::int64_t begin, std::int64_t count) {
    const T* const last = row_of(call_.images, 0);
    for (std::int64_t position = 0; position < count; ++position) {
      for (std::int64_t phase = 0; phase < rows_.stride; ++phase) {
        const std::int64_t row = (begin + position) * rows_.stride + phase - rows_.pad;
        if (row < 0 || row >= rows_.extent) continue;
        T* const to = row_of(image, row);
        if (phase >= band_.row_phases) {
          clear(to, 0);
          continue;
        }
        const T* const from = plane(phase, 0) + position * band_.pitch;
        if (to + in_vectors() <= last) {
          unite_row(from, to);
        } else {
          unite_row(from, line_);
          for (std::int64_t i = 0; i < seen_; ++i) to[i] = line_[i];
        }
        clear(to, seen_);
      }
    }
  }

  AFTERGLOW_INLINE void unite_row(const T* from, T* to) const {
    const std::int64_t pad = columns_.pad;
    if (columns_.stride == 1) {
      for (std::int64_t i = 0; i < seen_; i += width) store(load<Vector>(from + pad + i), to + i);
      return;
    }
    const T *const even = from + pad % 2 * band_.plane + pad / 2, *const odd =
                                                                      from +
                                                                      (pad + 1) % 2 * band_.plane +
                                                                      (pad + 1) / 2;
    for (std::int64_t i = 0; i < seen_; i += 2 * width)
      put_together(even + i / 2, odd + i / 2, to + i, std::make_integer_sequence<int, width>());
  }

  const WindowsCall<T>& call_;
  const WindowAxis &rows_, &columns_;
  const WinnerBand band_;
  const std::int64_t seen_;  ///< columns, by any window
  T *const line_, *const values_;
  Integer* const winners_;
  T* const planes_;
  std::int64_t shifts_[most_byte_winners];  ///< of the places of a window, in their planes
};

// --- any windows ---

/// Calls `step(result, base)` for the windows of an image: `base` is where a window begins, which
/// may be outside of the image.
template <class Step>
AFTERGLOW_INLINE void for_each_base(const PoolingWindows& windows, Step&& step) {
  std::int64_t result = 0;
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const std::int64_t row =
          begin_of(windows.depth, d) * windows.rows.extent + begin_of(windows.rows, r);
      for (std::int64_t w = 0; w < windows.columns.results; ++w, ++result)
        step(result, row * windows.columns.extent + begin_of(windows.columns, w));
    }
  }
}

/// How far the places of windows are from where these begin.
template <class Winner>
class Distances {
 public:
  explicit Distances(const PoolingWindows& windows) : windows_(windows) {
    if constexpr (is_short) {
      const std::int64_t places =
          windows.depth.kernel * windows.rows.kernel * windows.columns.kernel;
      for (std::int64_t place = 0; place < places; ++place) known_[place] = computed(place);
    }
  }
  AFTERGLOW_INLINE std::int64_t operator[](std::int64_t place) const {
    if constexpr (is_short) return known_[place];
    return computed(place);
  }

 private:
  static constexpr bool is_short = sizeof(Winner) == 1;

  AFTERGLOW_INLINE std::int64_t computed(std::int64_t place) const {
    const std::int64_t row = place / windows_.columns.kernel, depth = row / windows_.rows.kernel;
    return (depth * windows_.rows.extent + row % windows_.rows.kernel) * windows_.columns.extent +
           place % windows_.columns.kernel;
  }

  const PoolingWindows& windows_;
  std::int64_t known_[is_short ? most_byte_winners : 1];
};

/// The winners of windows whose maxima are known.
template <class T, class Winner>
void find_winners(const PoolingWindows& windows, const T* data, const T* maxima, std::int64_t lanes,
                  Winner* winners) {
  const std::int64_t step = windows.lanes;
  std::int64_t result = 0;
  for (std::int64_t d = 0; d < windows.depth.results; ++d) {
    const Span depth = span_of(windows, windows.depth, d);
    for (std::int64_t r = 0; r < windows.rows.results; ++r) {
      const Span rows = span_of(windows, windows.rows, r);
      for (std::int64_t w = 0; w < windows.columns.results; ++w, ++result) {
        const Span columns = span_of(windows, windows.columns, w);
        const auto number = [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
          return ((plane - begin_of(windows.depth, d)) * windows.rows.kernel + row -
                  begin_of(windows.rows, r)) *
                     windows.columns.kernel +
                 column - begin_of(windows.columns, w);
        };
        Winner* const found = winners + result * step;
        for (std::int64_t lane = 0; lane < lanes; ++lane) found[lane] = static_cast<Winner>(-1);
        // From the last place to the first, so that this is the one of equals.
        for (std::int64_t plane = depth.end - 1; plane >= depth.begin; --plane) {
          for (std::int64_t row = rows.end - 1; row >= rows.begin; --row) {
            for (std::int64_t column = columns.end - 1; column >= columns.begin; --column) {
              const std::int64_t place =
                  (plane * windows.rows.extent + row) * windows.columns.extent + column;
              const auto here = static_cast<Winner>(number(plane, row, column));
              const T *const values = data + place * step, *const greatest = maxima + result * step;
#pragma GCC ivdep
              for (std::int64_t lane = 0; lane < lanes; ++lane)
                found[lane] = values[lane] == greatest[lane] ? here : found[lane];
            }
          }
        }
      }
    }
  }
}

/// Calls `step(result, place)` for each window that has a winner, in one of the lanes.
template <class Winner, class Step>
AFTERGLOW_INLINE void for_each_winner(const PoolingWindows& windows, const Winner* winners,
                                      std::int64_t lanes, Step&& step) {
  const Distances<Winner> distances(windows);
  for_each_base(windows, [&](std::int64_t result, std::int64_t base) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = result * windows.lanes + lane;
      if (winners[at] == static_cast<Winner>(-1)) continue;
      step(at, (base + distances[winners[at]]) * windows.lanes + lane);
    }
  });
}

/// The work on one image.
template <class Winner, class T>
void run_winners(const WindowsCall<T>& call) {
  const PoolingWindows& windows = call.windows;
  Winner* const winners = static_cast<Winner*>(call.winners);
  switch (call.work) {
    case WindowWork::maximum_found:
      if (windows.lanes == 1)
        join_image<TakeGreatest>(windows, call.data, call.target, call.scratch);
      else
        join_lanes<TakeGreatest>(call);
      return find_winners(windows, call.data, call.target, call.lanes, winners);
    case WindowWork::maximum_gradient:
      clear_lanes(windows, call.lanes, call.target);
      return for_each_winner(windows, winners, call.lanes,
                             [&](std::int64_t result, std::int64_t place) {
                               call.target[place] += call.values[result];
                             });
    default:  // maximum_taken
      for_each_base(windows, [&](std::int64_t result, std::int64_t) {
        for (std::int64_t lane = 0; lane < call.lanes; ++lane)
          call.target[result * windows.lanes + lane] = 0;
      });
      return for_each_winner(windows, winners, call.lanes,
                             [&](std::int64_t result, std::int64_t place) {
                               call.target[result] = call.values[place];
                             });
  }
}

/// The work on one image that asks for no winners.
template <class T>
void run_joined(const WindowsCall<T>& call) {
  const PoolingWindows& windows = call.windows;
  const bool rows = windows.lanes == 1;
  switch (call.work) {
    case WindowWork::maximum:
      if (rows) return join_image<TakeGreatest>(windows, call.data, call.target, call.scratch);
      return join_lanes<TakeGreatest>(call);
    case WindowWork::sum:
      if (rows) return join_image<AddUp>(windows, call.data, call.target, call.scratch);
      return join_lanes<AddUp>(call);
    default:  // sum_gradient
      if (rows) return spread_image(windows, call.values, call.target, call.scratch);
      return spread_lanes(windows, call.values, call.lanes, call.target, call.scratch);
  }
}

template <class T>
void run_windows(const WindowsCall<T>& call) {
  if (!asks_for_winners(call.work)) return run_joined(call);
  if (call.by_bands && call.work == WindowWork::maximum_found) return WinnerBands<T>(call).find();
  if (call.by_bands) return WinnerBands<T>(call).give();
  if (call.has_byte_winners) return run_winners<std::uint8_t>(call);
  run_winners<std::int32_t>(call);
}

}  // namespace
}  // namespace afterglow::kernels
