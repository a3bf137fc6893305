// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation of rows, which stay in the cache between the steps. A row is taken in
// vectors of 64 bytes on every machine, so that sums are added in the same order everywhere.
#pragma once

#include "kernels/isa/folds.h"
#include "kernels/isa/functions.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

template <class T>
struct Rows {
  static constexpr std::int64_t width = 64 / sizeof(T);
  using Lanes [[gnu::vector_size(64)]] = T;

  /// A vector's elements, which functions of single elements can be mapped over.
  struct Block {
    T values[width];

    template <Fold fold>
    AFTERGLOW_INLINE void fold_into_lanes(Lanes& into) const {
      Lanes own;
      __builtin_memcpy(&own, values, sizeof(own));
      fold_into<fold>(into, own);
    }
    template <class Function>
    AFTERGLOW_INLINE void map(Function&& function) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i) values[i] = function(values[i]);
    }
  };

  AFTERGLOW_INLINE static Block load(const T* data) {
    Block block;
    __builtin_memcpy(&block, data, sizeof(block));
    return block;
  }
  /// The first elements; the others are `rest`. A function of its own, and so is the next: where
  /// they are inlined, compilers go through the elements one by one.
  [[gnu::noinline]] static Block load_some(const T* data, std::int64_t count, T rest) {
    Block block;
    const int some = static_cast<int>(count);
    for (int i = 0; i < width; ++i) block.values[i] = i < some ? data[i] : rest;
    return block;
  }
  [[gnu::noinline]] static void store_some(const Block& block, T* target, std::int64_t count) {
    const int some = static_cast<int>(count);
#pragma GCC ivdep
    for (int i = 0; i < width; ++i) {
      if (i < some) target[i] = block.values[i];
    }
  }
  /// All of a block, or so many of its elements as a shorter row has.
  AFTERGLOW_INLINE static void store(const Block& block, T* target, std::int64_t count) {
    if (count >= width)
      __builtin_memcpy(target, &block, sizeof(block));
    else
      store_some(block, target, count);
  }

  /// Calls `step(block, position, seen)` for a row. The last block overlaps the one before it where
  /// the row has room for one: so many of its elements were seen already. It is read before any
  /// step is taken, which may write over the row. In a row shorter than a block the missing
  /// elements are `rest`.
  template <class Step>
  AFTERGLOW_INLINE static void walk(const T* row, std::int64_t count, T rest, Step&& step) {
    if (count < width) {
      Block block = load_some(row, count, rest);
      if (count) step(block, 0, 0);
      return;
    }
    Block end = load(row + count - width);
    std::int64_t i = 0;
    for (; i + width <= count; i += width) {
      Block block = load(row + i);
      step(block, i, 0);
    }
    if (i < count) step(end, count - width, width - (count - i));
  }

  /// walk() for steps that change the block, which goes to the target.
  template <class Step>
  AFTERGLOW_INLINE static void map(const T* row, T* target, std::int64_t count, T rest,
                                   Step&& step) {
    walk(row, count, rest, [&](Block& block, std::int64_t position, std::int64_t seen) {
      step(block, position, seen);
      store(block, target + position, count);
    });
  }

  /// Adds the elements of a block that were not seen yet.
  AFTERGLOW_INLINE static void add_unseen(Block& block, std::int64_t seen, Lanes& sums) {
    if (seen) {
      for (std::int64_t i = 0; i < width; ++i) block.values[i] = i < seen ? T(0) : block.values[i];
    }
    block.template fold_into_lanes<Fold::sum>(sums);
  }

  template <Fold fold>
  AFTERGLOW_INLINE static T folded(const Lanes& lanes) {
    return fold_lanes<fold, T>(lanes, std::make_integer_sequence<int, width / 2>());
  }

  AFTERGLOW_INLINE static T greatest(const T* row, std::int64_t count) {
    const T lowest = neutral_value<Fold::maximum, T>();
    Lanes lanes = lowest - Lanes{};
    walk(row, count, lowest, [&](const Block& block, std::int64_t, std::int64_t) {
      block.template fold_into_lanes<Fold::maximum>(lanes);
    });
    return folded<Fold::maximum>(lanes);
  }
};

/// Fills `target` with e to the power of the elements of a row over its greatest one, or leaves it
/// out if that is nullptr. Returns the sum.
template <class T>
AFTERGLOW_INLINE T raise_row(const T* source, std::int64_t columns, T greatest, T* target) {
  using R = Rows<T>;
  using Block = typename R::Block;
  typename R::Lanes lanes{};
  const auto raise = [&](Block& block, std::int64_t position, std::int64_t seen) {
    block.map([&](T value) { return exponential_of_negative(value - greatest); });
    if (target) R::store(block, target + position, columns);
    R::add_unseen(block, seen, lanes);
  };
  R::walk(source, columns, neutral_value<Fold::maximum, T>(), raise);
  return R::template folded<Fold::sum>(lanes);
}

/// Rows that are worked on together: their chains of steps overlap, and a single logarithm takes as
/// long as a row. They stay in the nearest cache.
template <class T>
AFTERGLOW_INLINE std::int64_t rows_together(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most_elements = 4096;
  const std::int64_t fitting = columns < most_elements ? most_elements / columns : 1;
  const std::int64_t most = fitting < Rows<T>::width ? fitting : Rows<T>::width;
  return rows < most ? rows : most;
}

template <class T>
AFTERGLOW_INLINE void log_softmax(const T* source, std::int64_t rows, std::int64_t columns,
                                  T* target) {
  using R = Rows<T>;
  using Block = typename R::Block;
  T greatest[R::width];
  Block totals;
  for (std::int64_t i = 0; i < R::width; ++i) totals.values[i] = T(1);
  for (std::int64_t i = 0; i < rows; ++i) greatest[i] = R::greatest(source + i * columns, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    totals.values[i] = raise_row<T>(source + i * columns, columns, greatest[i], nullptr);
  totals.map([](T value) { return log(value); });
  for (std::int64_t i = 0; i < rows; ++i) {
    const T top = greatest[i], shift = totals.values[i];
    R::map(source + i * columns, target + i * columns, columns, T(0),
           [&](Block& block, std::int64_t, std::int64_t) {
             block.map([&](T value) { return value - top - shift; });
           });
  }
}

/// Multiplies a row. Its end is read before the blocks that overlap it are written.
template <class T>
AFTERGLOW_INLINE void scale_row(T* row, std::int64_t columns, T factor) {
  using R = Rows<T>;
  using Block = typename R::Block;
  const auto multiply = [&](Block& block) { block.map([&](T value) { return value * factor; }); };
  if (columns < R::width) {
    Block all = R::load_some(row, columns, T(0));
    multiply(all);
    R::store(all, row, columns);
    return;
  }
  Block end = R::load(row + columns - R::width);
  multiply(end);
  for (std::int64_t i = 0; i + R::width <= columns; i += R::width) {
    Block block = R::load(row + i);
    multiply(block);
    __builtin_memcpy(row + i, &block, sizeof(block));
  }
  __builtin_memcpy(row + columns - R::width, &end, sizeof(end));
}

template <class T>
AFTERGLOW_INLINE void plain_softmax(const T* source, std::int64_t rows, std::int64_t columns,
                                    T* target) {
  using R = Rows<T>;
  T values[R::width];
  for (std::int64_t i = 0; i < rows; ++i) values[i] = R::greatest(source + i * columns, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    values[i] = raise_row(source + i * columns, columns, values[i], target + i * columns);
  for (std::int64_t i = 0; i < rows; ++i)
    scale_row(target + i * columns, columns, T(1) / values[i]);
}

template <class T>
void softmax(const T* source, std::int64_t rows, std::int64_t columns, bool as_logarithm,
             T* target) {
  while (rows > 0) {
    const std::int64_t some = rows_together<T>(rows, columns);
    if (as_logarithm)
      log_softmax(source, some, columns, target);
    else
      plain_softmax(source, some, columns, target);
    rows -= some;
    source += some * columns;
    target += some * columns;
  }
}

/// Where the greatest or smallest elements of rows are: the first of equal ones, or the first nan.
/// A row has as many elements as a vector at least.
template <class T>
void places_in_rows(const T* row, std::int64_t rows, std::int64_t columns, bool maximum,
                    std::int64_t* places) {
  using R = Rows<T>;
  using Lanes = typename R::Lanes;
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Indices [[gnu::vector_size(64)]] = Index;
  Index counted[R::width];
  for (std::int64_t i = 0; i < R::width; ++i) counted[i] = static_cast<Index>(i);
  Indices from_zero;
  __builtin_memcpy(&from_zero, counted, sizeof(from_zero));
  for (std::int64_t number = 0; number < rows; ++number, row += columns) {
    Lanes best;
    __builtin_memcpy(&best, row, sizeof(best));
    Indices found = from_zero;
    const auto look = [&](std::int64_t position) {
      Lanes values;
      __builtin_memcpy(&values, row + position, sizeof(values));
      const Indices at = from_zero + static_cast<Index>(position);
      const Indices beaten = (maximum ? ~(values <= best) : ~(values >= best)) & (best == best);
      best = beaten ? values : best;
      found = beaten ? at : found;
    };
    std::int64_t i = R::width;
    for (; i + R::width <= columns; i += R::width) look(i);
    // The last vector overlaps what was seen, which changes nothing.
    if (i < columns) look(columns - R::width);
    const T top =
        maximum ? R::template folded<Fold::maximum>(best) : R::template folded<Fold::minimum>(best);
    const Lanes tops = top - Lanes{};
    const Indices wanted = top == top ? Indices(best == tops) : Indices(best != best);
    const Indices nowhere = neutral_value<Fold::minimum, Index>() - Indices{};
    const Indices candidates = wanted ? found : nowhere;
    places[number] = fold_lanes<Fold::minimum, Index>(
        candidates, std::make_integer_sequence<int, R::width / 2>());
  }
}

template <class T>
void layer_norm(const T* source, const T* scale, const T* shift, std::int64_t rows,
                std::int64_t columns, T epsilon, T* target, T* means, T* deviations) {
  using R = Rows<T>;
  using Block = typename R::Block;
  const T count = static_cast<T>(columns);
  for (std::int64_t row = 0; row < rows; ++row, source += columns, target += columns) {
    typename R::Lanes sums{}, squares{};
    R::walk(source, columns, T(0), [&](Block& block, std::int64_t, std::int64_t seen) {
      R::add_unseen(block, seen, sums);
    });
    const T mean = R::template folded<Fold::sum>(sums) / count;
    R::walk(source, columns, mean, [&](Block& block, std::int64_t, std::int64_t seen) {
      block.map([&](T value) { return (value - mean) * (value - mean); });
      R::add_unseen(block, seen, squares);
    });
    const T variance = R::template folded<Fold::sum>(squares) / count;
    const T deviation = sqrt(variance + epsilon);
    const T factor = T(1) / deviation;
    R::map(source, target, columns, mean, [&](Block& block, std::int64_t position, std::int64_t) {
      const bool whole = columns >= R::width;
      const Block scales = whole ? R::load(scale + position) : R::load_some(scale, columns, T(0));
      const Block added = whole ? R::load(shift + position) : R::load_some(shift, columns, T(0));
#pragma GCC ivdep
      for (std::int64_t i = 0; i < R::width; ++i) {
        block.values[i] = (block.values[i] - mean) * factor * scales.values[i] + added.values[i];
      }
    });
    means[row] = mean;
    deviations[row] = deviation;
  }
}

}  // namespace
}  // namespace afterglow::kernels
