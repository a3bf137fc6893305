// SPDX-License-Identifier: Apache-2.0
// Element types and conversions between them, in code that is compiled per instruction set. All of
// src/kernels/isa is in an anonymous namespace and always inlined or static: nothing compiled for
// a newer instruction set may be merged by the linker with code for an older one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"

namespace afterglow::kernels {
namespace {

/// Bytes of the machine's own vectors.
#if defined(__AVX512F__)
constexpr int vector_size = 64;
#elif defined(__AVX2__)
constexpr int vector_size = 32;
#else
constexpr int vector_size = 16;
#endif

struct Half {
  std::uint16_t bits;
};

template <int dtype>
struct TypeOf;
template <>
struct TypeOf<static_cast<int>(DType::float32)> : std::type_identity<float> {};
template <>
struct TypeOf<static_cast<int>(DType::float64)> : std::type_identity<double> {};
template <>
struct TypeOf<static_cast<int>(DType::float16)> : std::type_identity<Half> {};
template <>
struct TypeOf<static_cast<int>(DType::uint8)> : std::type_identity<std::uint8_t> {};
template <>
struct TypeOf<static_cast<int>(DType::int32)> : std::type_identity<std::int32_t> {};
template <>
struct TypeOf<static_cast<int>(DType::int8)> : std::type_identity<std::int8_t> {};
template <>
struct TypeOf<static_cast<int>(DType::int64)> : std::type_identity<std::int64_t> {};
template <>
struct TypeOf<static_cast<int>(DType::boolean)> : std::type_identity<bool> {};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half>;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;

/// Truncates; what does not fit in Integer (also nan) becomes its lowest value, as x86 converts.
template <class Integer, class Real>
AFTERGLOW_INLINE Integer truncated(Real value) {
  constexpr Real limit = sizeof(Integer) == 8 ? Real(0x1p63) : Real(0x1p31);
  constexpr Integer lowest = Integer(std::uint64_t(1) << (sizeof(Integer) * 8 - 1));
  const bool fits = value >= -limit && value < limit;
  const Integer converted = static_cast<Integer>(fits ? value : Real(0));
  return fits ? converted : lowest;
}

/// The conversion of every cast. Integers wrap; reals truncate (see above; to 8 bits they wrap
/// after truncation to 32 bits, so -1.0 becomes 255); booleans are "not zero".
template <class To, class From>
AFTERGLOW_INLINE To as(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (is_real<From> && std::is_integral_v<To>) {
    using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
    return static_cast<To>(truncated<Wide>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Where arithmetic of T is done: integers wrap around in an unsigned type, reals stay.
template <class T>
AFTERGLOW_INLINE auto wide(T value) {
  if constexpr (is_real<T>)
    return value;
  else
    return static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
}

/// Where functions of real numbers are computed: integers in float64.
template <class T>
AFTERGLOW_INLINE auto real(T value) {
  if constexpr (is_real<T>)
    return value;
  else
    return static_cast<double>(value);
}

}  // namespace
}  // namespace afterglow::kernels
