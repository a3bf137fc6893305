// SPDX-License-Identifier: Apache-2.0
// Division, remainder and other arithmetic whose rules differ between integers and reals.
#pragma once

#include "kernels/isa/types.h"

namespace afterglow::kernels {
namespace {

/// Division that truncates; by zero it gives zero, and the lowest number by -1 gives itself.
template <class T>
AFTERGLOW_INLINE T divide(T a, T b) {
  if constexpr (is_real<T>) {
    return a / b;
  } else if constexpr (sizeof(T) == 8) {
    const bool plain = b != 0 && b != -1;
    const T quotient = a / (plain ? b : T(1));
    return plain ? quotient : (b == 0 ? T(0) : as<T>(0 - wide(a)));
  } else {
    // Quotients of numbers with at most 32 bits are exact enough in float64, and vectorise.
    const bool plain = b != T(0) && b != T(-1);
    const double quotient = static_cast<double>(a) / (plain ? static_cast<double>(b) : 1.0);
    const T whole = static_cast<T>(static_cast<std::int32_t>(quotient));
    const T special = b == T(0) ? T(0) : as<T>(0 - wide(a));
    return plain || (std::is_unsigned_v<T> && b != T(0)) ? whole : special;
  }
}

/// The remainder with the sign of the divisor; by zero it is zero.
template <class T>
AFTERGLOW_INLINE T modulo(T a, T b) {
  if constexpr (is_real<T>) {
    T rest;
    if constexpr (sizeof(T) == 4)
      rest = __builtin_fmodf(a, b);
    else
      rest = __builtin_fmod(a, b);
    if (b == T(0)) return T(0);  // as MXNet has it; NumPy says nan
    const T shifted = rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
    return rest == T(0) ? T(b < T(0) ? -T(0) : T(0)) : shifted;
  } else {
    const T rest = b == T(0) ? T(0) : as<T>(wide(a) - wide(divide(a, b)) * wide(b));
    return rest != T(0) && (rest < T(0)) != (b < T(0)) ? as<T>(wide(rest) + wide(b)) : rest;
  }
}

template <class T>
AFTERGLOW_INLINE T abs(T x) {
  if constexpr (sizeof(T) == 4 && is_real<T>)
    return __builtin_fabsf(x);
  else if constexpr (is_real<T>)
    return __builtin_fabs(x);
  else
    return x < T(0) ? as<T>(0 - wide(x)) : x;
}

template <class T>
AFTERGLOW_INLINE T sqrt(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

// Rounding. These instructions vectorise; ties go away from 0, to the even or to the lower number.

template <class T>
AFTERGLOW_INLINE T trunc(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_truncf(x);
  else
    return __builtin_trunc(x);
}

template <class T>
AFTERGLOW_INLINE T floor(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_floorf(x);
  else
    return __builtin_floor(x);
}

template <class T>
AFTERGLOW_INLINE T ceil(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_ceilf(x);
  else
    return __builtin_ceil(x);
}

template <class T>
AFTERGLOW_INLINE T round_half_to_even(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_rintf(x);
  else
    return __builtin_rint(x);
}

template <class T>
AFTERGLOW_INLINE T round_half_away(T x) {
  const T whole = trunc(x);
  const T away = whole + (x < T(0) ? T(-1) : T(1));
  return abs(x - whole) >= T(0.5) ? away : whole;
}

template <class T>
AFTERGLOW_INLINE T round_half_down(T x) {
  const T low = floor(x), high = ceil(x);
  return x - low <= high - x ? low : high;
}

template <class T>
AFTERGLOW_INLINE T sign(T x) {
  const T neither = x == x ? T(0) : x;
  return x > T(0) ? T(1) : (x < T(0) ? T(-1) : neither);
}

AFTERGLOW_INLINE float hypot(float a, float b) {
  const double x = a, y = b;
  const bool infinite = abs(a) == __builtin_inff() || abs(b) == __builtin_inff();
  return infinite ? __builtin_inff() : static_cast<float>(sqrt(x * x + y * y));
}
AFTERGLOW_INLINE double hypot(double a, double b) {
  return __builtin_hypot(a, b);
}

/// Half the square near 0, where |x| < 1 / sigma^2, and straight beyond.
template <class T>
AFTERGLOW_INLINE T smooth_l1(T x, T sigma) {
  const T square = sigma * sigma;
  const T inverse = T(1) / square;
  const T size = abs(x);
  return size > inverse ? size - T(0.5) * inverse : T(0.5) * x * x * square;
}

}  // namespace
}  // namespace afterglow::kernels
