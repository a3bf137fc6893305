// SPDX-License-Identifier: Apache-2.0
// Folding blocks of values for reductions. A block is folded in 64-byte vectors of lanes, four at a
// time, whatever the machine's own width: the order of additions is the same everywhere.
#pragma once

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include <utility>

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// Lanes are wide enough for a block, and reals stay what they are, but for squares and products:
/// those of float32 can overflow in a result that does not. Sums of 64 bits wrap around.
template <Fold fold, class T>
struct LaneOf {
  static constexpr bool takes_order = fold == Fold::maximum || fold == Fold::minimum;
  using Sum = std::conditional_t<sizeof(T) == 1, std::int32_t, std::uint64_t>;
  using Square = std::conditional_t<sizeof(T) == 1, std::int32_t, double>;
  using Product = std::conditional_t<is_real<T>, double, std::uint64_t>;
  using type =
      std::conditional_t<fold == Fold::sum_of_squares, Square,
                         std::conditional_t<fold == Fold::product, Product,
                                            std::conditional_t<is_real<T> || takes_order, T, Sum>>>;
};

/// Works on single lanes and on vectors of them alike. Of vectors wider than the machine's own,
/// compilers would take the greater elements one by one.
template <Fold fold, class Value>
AFTERGLOW_INLINE void fold_into(Value& into, const Value& value) {
  constexpr bool takes_order = fold == Fold::maximum || fold == Fold::minimum;
  if constexpr (takes_order && sizeof(Value) > vector_size) {
    using Lane = std::remove_cvref_t<decltype(into[0])>;
    using Part [[gnu::vector_size(vector_size)]] = Lane;
    constexpr int parts = sizeof(Value) / vector_size;
    Part own[parts], others[parts];
    __builtin_memcpy(own, &into, sizeof(into));
    __builtin_memcpy(others, &value, sizeof(value));
    for (int i = 0; i < parts; ++i) fold_into<fold>(own[i], others[i]);
    __builtin_memcpy(&into, own, sizeof(into));
  } else if constexpr (fold == Fold::maximum && std::is_arithmetic_v<Value>)
    into = into >= value || into != into ? into : value;
  else if constexpr (fold == Fold::minimum && std::is_arithmetic_v<Value>)
    into = into <= value || into != into ? into : value;
  else if constexpr (fold == Fold::maximum)
    into = (into >= value) | (into != into) ? into : value;
  else if constexpr (fold == Fold::minimum)
    into = (into <= value) | (into != into) ? into : value;
  else if constexpr (fold == Fold::product && std::is_same_v<Value, std::int64_t>)
    into = static_cast<std::int64_t>(wide(into) * wide(value));
  else if constexpr (fold == Fold::product)
    into *= value;
  else if constexpr (std::is_same_v<Value, std::int64_t>)
    into = static_cast<std::int64_t>(wide(into) + wide(value));
  else
    into += value;
}

template <Fold fold, bool is_wrapping, class Value>
AFTERGLOW_INLINE void prepare(Value& value) {
  if constexpr (fold == Fold::sum_of_absolutes) {
    const Value zero{};
    if constexpr (is_wrapping)
      value = value >> 63 != zero ? zero - value : value;
    else
      value = value < zero ? zero - value : value;
  } else if constexpr (fold == Fold::sum_of_squares) {
    value *= value;
  }
}

template <Fold fold, class Value>
constexpr Value neutral_value() {
  if constexpr (fold == Fold::product) {
    return Value(1);
  } else if constexpr (fold != Fold::maximum && fold != Fold::minimum) {
    return Value(0);
  } else if constexpr (is_real<Value>) {
    return fold == Fold::maximum ? -Value(__builtin_inf()) : Value(__builtin_inf());
  } else {
    constexpr Value highest = std::is_signed_v<Value>
                                  ? Value((std::uint64_t(1) << (sizeof(Value) * 8 - 1)) - 1)
                                  : Value(-1);
    constexpr Value lowest = std::is_signed_v<Value> ? Value(-highest - 1) : Value(0);
    return fold == Fold::maximum ? lowest : highest;
  }
}

/// The lanes of a vector, its upper half folded into its lower one until one lane is left.
template <Fold fold, class Lane, class Vector, int... lane>
AFTERGLOW_INLINE Lane fold_lanes(const Vector& vector, std::integer_sequence<int, lane...>) {
  constexpr int half = sizeof...(lane);
  if constexpr (half == 1) {
    Lane result = vector[0];
    fold_into<fold, Lane>(result, vector[1]);
    return result;
  } else {
    using Half [[gnu::vector_size(half * sizeof(Lane))]] = Lane;
    Half low = __builtin_shufflevector(vector, vector, lane...);
    const Half high = __builtin_shufflevector(vector, vector, (half + lane)...);
    fold_into<fold>(low, high);
    return fold_lanes<fold, Lane>(low, std::make_integer_sequence<int, half / 2>());
  }
}

/// T is the element as stored; booleans are folded as bytes.
template <Fold fold, class T, class LaneType = typename LaneOf<fold, T>::type>
struct Folding {
  using Lane = LaneType;
  static constexpr bool real = is_real<T> || fold == Fold::sum_of_squares;
  using Total = std::conditional_t<real, double, std::int64_t>;
  static constexpr int width = 64 / sizeof(Lane);
  static constexpr int vectors = 4;
  using Lanes [[gnu::vector_size(64)]] = Lane;
  static constexpr bool is_wrapping = std::is_same_v<Lane, std::uint64_t>;
  using Stored [[gnu::vector_size(width * sizeof(T))]] = T;

  static Total& total(Partial& partial) {
    if constexpr (real)
      return partial.real;
    else
      return partial.integer;
  }

  /// Fewer values than a vector has; the others are neutral.
  AFTERGLOW_INLINE static void load_some(const T* data, std::int64_t count, Stored& some) {
    const Stored neutral = neutral_value<fold, T>() - Stored{};
#if defined(__AVX512VL__)
    const auto mask = static_cast<unsigned>((1u << count) - 1);
    if constexpr (sizeof(Stored) == 64 && sizeof(T) == 4) {
      some = reinterpret_cast<Stored>(_mm512_mask_loadu_epi32(reinterpret_cast<__m512i>(neutral),
                                                              static_cast<__mmask16>(mask), data));
      return;
    } else if constexpr (sizeof(Stored) == 64 && sizeof(T) == 8) {
      some = reinterpret_cast<Stored>(_mm512_mask_loadu_epi64(reinterpret_cast<__m512i>(neutral),
                                                              static_cast<__mmask8>(mask), data));
      return;
    } else if constexpr (sizeof(Stored) == 32 && sizeof(T) == 4) {
      some = reinterpret_cast<Stored>(_mm256_mask_loadu_epi32(reinterpret_cast<__m256i>(neutral),
                                                              static_cast<__mmask8>(mask), data));
      return;
    }
#endif
    T values[width];
    __builtin_memcpy(values, &neutral, sizeof(values));
    for (int i = 0; i < count; ++i) values[i] = data[i];
    __builtin_memcpy(&some, values, sizeof(some));
  }

  AFTERGLOW_INLINE static void fold_vector(Lanes& into, const T* data) {
    Stored stored;
    __builtin_memcpy(&stored, data, sizeof(stored));
    fold_vector(into, stored);
  }

  AFTERGLOW_INLINE static void fold_vector(Lanes& into, const Stored& stored) {
    Lanes value = __builtin_convertvector(stored, Lanes);
    prepare<fold, is_wrapping>(value);
    fold_into<fold>(into, value);
  }

  AFTERGLOW_INLINE static void fold_element(Lane& into, T element) {
    Lane value = static_cast<Lane>(element);
    prepare<fold, is_wrapping>(value);
    fold_into<fold>(into, value);
  }

  /// In order: for few values, and for integers, where any order gives the same.
  AFTERGLOW_INLINE static Lane fold_plainly(const T* data, std::int64_t count) {
    Lane result = neutral_value<fold, Lane>();
    for (std::int64_t i = 0; i < count; ++i) fold_element(result, data[i]);
    return result;
  }

  static Lane fold_block(const T* data, std::int64_t count) {
    if (std::is_integral_v<Lane> || count < 16) return fold_plainly(data, count);
    if constexpr (fold == Fold::sum_of_squares && sizeof(T) < sizeof(Lane) && is_real<T>) {
      // In lanes of the type itself it takes half the time. They do unless squares leave its range.
      const T total = Folding<fold, T, T>::fold_block(data, count);
      if (total > T(0x1p-100) && total < T(0x1p126)) return total;
    }
    Lanes lanes[vectors];
    for (Lanes& lane : lanes) lane = neutral_value<fold, Lane>() - Lanes{};
    std::int64_t i = 0;
    for (; i + vectors * width <= count; i += vectors * width)
      for (int v = 0; v < vectors; ++v) fold_vector(lanes[v], data + i + v * width);
    int v = 0;
    for (; i + width <= count; i += width) fold_vector(lanes[v++], data + i);
    if (i < count) {
      Stored rest;
      load_some(data + i, count - i, rest);
      fold_vector(lanes[v], rest);
    }
    fold_into<fold>(lanes[0], lanes[1]);
    fold_into<fold>(lanes[2], lanes[3]);
    fold_into<fold>(lanes[0], lanes[2]);
    return fold_lanes<fold, Lane>(lanes[0], std::make_integer_sequence<int, width / 2>());
  }

  static void rows(const void* data, std::int64_t rows, std::int64_t row_stride,
                   std::int64_t columns, Partial* partials) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* values = static_cast<const T*>(data) + row * row_stride;
      for (std::int64_t begin = 0; begin < columns; begin += block_size) {
        const std::int64_t count = columns - begin < block_size ? columns - begin : block_size;
        fold_into<fold>(total(partials[row]),
                        static_cast<Total>(fold_block(values + begin, count)));
      }
    }
  }

  static void start_lanes(void* lanes, std::int64_t columns) {
    Lane* lane = static_cast<Lane*>(lanes);
    for (std::int64_t i = 0; i < columns; ++i) lane[i] = neutral_value<fold, Lane>();
  }

  static void columns(const void* data, std::int64_t rows, std::int64_t row_stride,
                      std::int64_t columns, void* lanes) {
    const T* first = static_cast<const T*>(data);
    Lane* lane = static_cast<Lane*>(lanes);
    std::int64_t row = 0;
    // Four rows at a time spare three of four loads and stores of the lanes.
    for (; row + 4 <= rows; row += 4)
      fold_rows<4>(first + row * row_stride, row_stride, columns, lane);
    for (; row < rows; ++row) fold_rows<1>(first + row * row_stride, row_stride, columns, lane);
  }

  template <int rows>
  AFTERGLOW_INLINE static void fold_rows(const T* data, std::int64_t row_stride,
                                         std::int64_t columns, Lane* lane) {
    std::int64_t column = 0;
    // Comparisons of reals are vectorised by hand, since the compiler branches on nan.
    if constexpr (is_real<Lane> && std::is_same_v<T, Lane>) {
      for (; column + width <= columns; column += width) {
        Lanes sums;
        __builtin_memcpy(&sums, lane + column, sizeof(sums));
        for (int row = 0; row < rows; ++row) fold_vector(sums, data + column + row * row_stride);
        __builtin_memcpy(lane + column, &sums, sizeof(sums));
      }
    }
#pragma GCC ivdep
    for (; column < columns; ++column) {
      Lane sum = lane[column];
      for (int row = 0; row < rows; ++row) fold_element(sum, data[column + row * row_stride]);
      lane[column] = sum;
    }
  }

  static void end_lanes(const void* lanes, std::int64_t columns, Partial* partials) {
    const Lane* lane = static_cast<const Lane*>(lanes);
    for (std::int64_t i = 0; i < columns; ++i)
      fold_into<fold>(total(partials[i]), static_cast<Total>(lane[i]));
  }

  static void combine(const Partial* from, std::int64_t count, Partial* into) {
    for (std::int64_t i = 0; i < count; ++i) {
      Partial value = from[i];
      fold_into<fold>(total(into[i]), total(value));
    }
  }

  static constexpr FoldFunctions functions() {
    FoldFunctions result{rows, start_lanes, columns, end_lanes, combine, {}, real};
    if constexpr (real)
      result.neutral.real = neutral_value<fold, double>();
    else
      result.neutral.integer = neutral_value<fold, std::int64_t>();
    return result;
  }
};

}  // namespace
}  // namespace afterglow::kernels
