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

/// For windows over one plane. To find winners, rows and columns are put apart by their places in
/// strides: what the same place of all windows sees lies in one piece then, from row to row, so
/// that small images fill vectors too. What is read or written behind the end of a row belongs to
/// the next row, and is written again.
template <class T>
class WinnerBands {
 public:
  explicit WinnerBands(const WindowsCall<T>& call)
      : call_(call),
        rows_(call.windows.rows),
        columns_(call.windows.columns),
        band_(winner_band(rows_, columns_)),
        seen_(at_most(columns_.extent, at_least(band_.pitch * columns_.stride - columns_.pad, 0))),
        vectors_(divided_up(seen_, columns_.stride * width) * columns_.stride * width),
        end_(call.target + call.images * rows_.extent * columns_.extent),
        line_(call.scratch),
        values_(line_ + band_.line + band_.before),
        winners_(reinterpret_cast<Integer*>(line_ + band_.line + band_.windows) + band_.before),
        planes_(line_ + band_.line + 2 * band_.windows) {
    for (std::int64_t i = -band_.before; i < band_.windows - band_.before; ++i) {
      values_[i] = 0;
      winners_[i] = none;
    }
    if (call.work == WindowWork::maximum_gradient) list_givers();
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
        give_band(image, begin, count);
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
    const auto one = [&](std::int64_t i) {
      From source[width];
      To target[width];
      __builtin_memcpy(source, from + i, sizeof(source));
      for (int lane = 0; lane < width; ++lane) target[lane] = static_cast<To>(source[lane]);
      __builtin_memcpy(to + i, target, sizeof(target));
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
        if (from + vectors_ > last) {
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
  AFTERGLOW_INLINE static void put_together(const Vector& even, const Vector& odd, T* to,
                                            std::integer_sequence<int, lane...>) {
    store(__builtin_shufflevector(even, odd, (lane / 2 + lane % 2 * width)...), to);
    store(__builtin_shufflevector(even, odd, ((width + lane) / 2 + lane % 2 * width)...),
          to + width);
  }

  /// Maxima and winners, from the last place to the first, so that this is the one of equals.
  void compare(std::int64_t count) {
    const T* places[most_byte_winners];
    int used = 0;
    for (std::int64_t i = 0; i < rows_.kernel; ++i) {
      for (std::int64_t j = 0; j < columns_.kernel; ++j, ++used)
        places[used] = plane(i % rows_.stride, j % columns_.stride) +
                       i / rows_.stride * band_.pitch + j / columns_.stride;
    }
    // Windows of two or three rows and columns are those that are met.
    if (used == 4) return compare<4>(places, used, count);
    if (used == 9) return compare<9>(places, used, count);
    compare<0>(places, used, count);
  }

  template <int fixed>
  void compare(const T* const* given, int used, std::int64_t count) {
    const T* known[fixed > 0 ? fixed : 1];
    for (int i = 0; i < fixed; ++i) known[i] = given[i];
    const T* const* const places = fixed > 0 ? known : given;
    T* const values = values_;
    const std::int64_t apart = band_.windows;
    for (std::int64_t i = 0; i < count; i += width) {
      Vector greatest = TakeGreatest::neutral<T> - Vector{};
      Integers winners = none - Integers{};
      for (int place = (fixed > 0 ? fixed : used) - 1; place >= 0; --place) {
        const Vector value = load<Vector>(places[place] + i);
        const auto is_greater = value >= greatest;
        greatest = is_greater ? value : greatest;
        winners = is_greater ? Integer(place) - Integers{} : winners;
      }
      store(greatest, values + i);
      store(winners, values + (i + apart));
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

  /// Of the windows that see a place: how far that is behind the place's own, and the number that
  /// the place has there.
  struct Giver {
    std::int64_t behind;
    Integer place;
  };

  /// Givers have the order of windows, for the rows of each phase, and there for even and odd
  /// columns, or for all columns.
  void list_givers() {
    const auto last_of = [](const WindowAxis& axis, std::int64_t phase) {
      return phase < axis.kernel ? phase + (axis.kernel - 1 - phase) / axis.stride * axis.stride
                                 : -1;
    };
    int used = 0;
    for (std::int64_t phase = 0; phase < band_.row_phases; ++phase) {
      for (std::int64_t first = 0; first < columns_.stride; ++first) {
        const std::int64_t column = first + columns_.pad;
        begins_[phase * columns_.stride + first] = used;
        for (std::int64_t i = last_of(rows_, phase); i >= 0; i -= rows_.stride) {
          for (std::int64_t j = last_of(columns_, column % columns_.stride); j >= 0;
               j -= columns_.stride)
            givers_[used++] = {
                i / rows_.stride * band_.pitch + j / columns_.stride - column / columns_.stride,
                static_cast<Integer>(i * columns_.kernel + j)};
        }
      }
    }
    begins_[band_.row_phases * columns_.stride] = used;
  }

  /// So many givers, or as many as there are.
  template <int fixed>
  class Givers {
   public:
    Givers(const Giver* givers, int count) : givers_(givers), count_(count) {
      for (int i = 0; i < fixed; ++i) known_[i] = givers[i];
    }
    /// Winners lie `apart` from the values, so that one pointer for each giver does for both.
    AFTERGLOW_INLINE Vector sum(const T* values, std::int64_t i, std::int64_t apart) const {
      Vector sums{};
      const auto add = [&](const Giver& giver) {
        const T* const from = values - giver.behind;
        sums += load<Integers>(from + (i + apart)) == giver.place - Integers{}
                    ? load<Vector>(from + i)
                    : Vector{};
      };
      if constexpr (fixed > 0) {
        for (int i = 0; i < fixed; ++i) add(known_[i]);
      } else {
        for (int i = 0; i < count_; ++i) add(givers_[i]);
      }
      return sums;
    }

   private:
    const Giver* givers_;
    int count_;
    Giver known_[fixed > 0 ? fixed : 1];
  };

  /// Of the even and odd columns of the rows of a phase, or of all columns.
  template <int even, int odd = 0>
  struct RowGivers {
    RowGivers(const WinnerBands& bands, std::int64_t phase)
        : first(bands.givers_ + bands.begins_[phase * bands.columns_.stride],
                bands.givers_of(phase, 0)),
          second(bands.givers_ + bands.begins_[phase * bands.columns_.stride + 1],
                 bands.givers_of(phase, 1)) {}
    Givers<even> first;
    Givers<odd> second;
  };
  int givers_of(std::int64_t phase, std::int64_t column) const {
    if (phase >= band_.row_phases || column >= columns_.stride) return 0;
    const std::int64_t at = phase * columns_.stride + column;
    return begins_[at + 1] - begins_[at];
  }
  bool are_givers(std::int64_t phase, int even, int odd) const {
    return givers_of(phase, 0) == even && givers_of(phase, 1) == odd;
  }

  /// Writes the rows of the image that some rows of windows begin in. Windows of two or three rows
  /// and columns are those that are met.
  void give_band(std::int64_t image, std::int64_t begin, std::int64_t count) {
    const auto all_rows = [&](const auto&... givers) {
      for (std::int64_t position = 0; position < count; ++position) {
        std::int64_t phase = 0;
        (give_row(image, begin, position, phase++, givers), ...);
      }
    };
    if (rows_.stride == 2 && are_givers(0, 1, 1) && are_givers(1, 1, 1))
      return all_rows(RowGivers<1, 1>(*this, 0), RowGivers<1, 1>(*this, 1));
    if (rows_.stride == 2 && are_givers(0, 2, 4) && are_givers(1, 1, 2))
      return all_rows(RowGivers<2, 4>(*this, 0), RowGivers<1, 2>(*this, 1));
    if (rows_.stride == 2 && are_givers(0, 4, 2) && are_givers(1, 2, 1))
      return all_rows(RowGivers<4, 2>(*this, 0), RowGivers<2, 1>(*this, 1));
    if (rows_.stride == 1 && are_givers(0, 9, 0)) return all_rows(RowGivers<9>(*this, 0));
    for (std::int64_t position = 0; position < count; ++position) {
      for (std::int64_t phase = 0; phase < rows_.stride; ++phase) {
        if (phase < band_.row_phases)
          give_row(image, begin, position, phase, RowGivers<0>(*this, phase));
        else if (const std::int64_t row = (begin + position) * rows_.stride + phase - rows_.pad;
                 row >= 0 && row < rows_.extent)
          clear(row_of(image, row), 0);
      }
    }
  }

  template <class Row>
  AFTERGLOW_INLINE void give_row(std::int64_t image, std::int64_t begin, std::int64_t position,
                                 std::int64_t phase, const Row& givers) {
    const std::int64_t row = (begin + position) * rows_.stride + phase - rows_.pad;
    if (row < 0 || row >= rows_.extent) return;
    T* const to = row_of(image, row);
    T* const into = to + vectors_ <= end_ ? to : line_;
    const T* const values = values_ + position * band_.pitch;
    const std::int64_t count = vectors_ / columns_.stride, apart = band_.windows;
    if (columns_.stride == 2) {
      for (std::int64_t i = 0; i < count; i += width)
        put_together(givers.first.sum(values, i, apart), givers.second.sum(values, i, apart),
                     into + 2 * i, std::make_integer_sequence<int, width>());
    } else {
      for (std::int64_t i = 0; i < count; i += width)
        store(givers.first.sum(values, i, apart), into + i);
    }
    if (into != to) {
      for (std::int64_t i = 0; i < seen_; ++i) to[i] = into[i];
    }
    clear(to, seen_);
  }

  const WindowsCall<T>& call_;
  const WindowAxis &rows_, &columns_;
  const WinnerBand band_;
  const std::int64_t seen_;     ///< columns, by any window
  const std::int64_t vectors_;  ///< columns that are read and written, by whole vectors
  const T* const end_;          ///< of the target
  T *const line_, *const values_;
  Integer* const winners_;
  T* const planes_;
  Giver givers_[most_byte_winners];
  int begins_[most_byte_winners * 2 + 1];  ///< in the givers
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
