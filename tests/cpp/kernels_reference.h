// SPDX-License-Identifier: Apache-2.0
// What formulas and conversions should give, one value at a time in long double.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels_support.h"

namespace kernels_test {

using afterglow::kernels::Formula;

inline long double floor_modulo(long double a, long double b) {
  long double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// By plain multiplication, modulo 2^64.
inline long double wrapped_power(long double a, long double b) {
  std::uint64_t result = 1;
  for (long double i = 0; i < b; ++i) {
    result *= static_cast<std::uint64_t>(static_cast<std::int64_t>(a));
  }
  return static_cast<long double>(static_cast<std::int64_t>(result));
}

/// The wanted result, before it is brought into the type.
inline long double wanted(Formula formula, long double a, long double b, bool integers) {
  switch (formula) {
    case Formula::copy:
      return a;
    case Formula::negative:
      return -a;
    case Formula::absolute:
      return std::fabs(a);
    case Formula::exponential:
      return std::exp(a);
    case Formula::logarithm:
      return std::log(a);
    case Formula::square_root:
      return std::sqrt(a);
    case Formula::hyperbolic_tangent:
      return std::tanh(a);
    case Formula::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Formula::rectify:
      return a > 0 ? a : 0;
    case Formula::square:
      return a * a;
    case Formula::cube:
      return a * a * a;
    case Formula::add:
      return a + b;
    case Formula::subtract:
      return a - b;
    case Formula::multiply:
      return a * b;
    case Formula::divide:
      return integers ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case Formula::modulo:
      return b == 0 ? 0 : floor_modulo(a, b);
    case Formula::power:
      return integers && b >= 0 ? wrapped_power(a, b) : std::pow(a, b);
    case Formula::maximum:
      return std::max(a, b);
    case Formula::minimum:
      return std::min(a, b);
    case Formula::equal:
      return a == b;
    case Formula::not_equal:
      return a != b;
    case Formula::less:
      return a < b;
    case Formula::less_equal:
      return a <= b;
    case Formula::greater:
      return a > b;
    case Formula::greater_equal:
      return a >= b;
    case Formula::select:  // between b and b
    case Formula::clip:
      return b;
    case Formula::count_of_formulas:
      break;
  }
  return 0;
}

/// A result brought into an integer type.
inline long double bring(Formula formula, DType dtype, long double value) {
  if (is_floating(dtype)) return value;
  if (dtype == DType::boolean) return value != 0;
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const long double span = std::ldexp(1.0L, bits);
  const long double low = dtype == DType::uint8 ? 0 : -span / 2;
  if (formula == Formula::power && std::isinf(value)) return 0;  // of 0 by a negative exponent
  if (std::isnan(value) || std::fabs(value) >= 0x1p63L) return bits == 8 ? 0 : low;
  value = std::trunc(value);
  return value - std::floor((value - low) / span) * span;
}

}  // namespace kernels_test
