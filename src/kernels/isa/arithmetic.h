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
AFTERGLOW_INLINE T absolute(T x) {
  if constexpr (sizeof(T) == 4 && is_real<T>)
    return __builtin_fabsf(x);
  else if constexpr (is_real<T>)
    return __builtin_fabs(x);
  else
    return x < T(0) ? as<T>(0 - wide(x)) : x;
}

template <class T>
AFTERGLOW_INLINE T square_root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

}  // namespace
}  // namespace afterglow::kernels
