// SPDX-License-Identifier: Apache-2.0
// What formulas and conversions should give, one value at a time in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

/// By the recurrence and two terms of the asymptotic series.
inline long double digamma(long double x) {
  constexpr long double pi = 3.14159265358979323846264338327950288L;
  if (x <= 0 && std::floor(x) == x) return std::numeric_limits<long double>::quiet_NaN();
  if (x < 0) return digamma(1 - x) - pi / std::tan(pi * (x - std::rint(x)));
  long double sum = 0;
  for (; x < 2000; ++x) sum -= 1 / x;
  return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * x * x * x * x);
}

/// The x with erf(x) = y, by bisection.
inline long double inverse_error(long double y) {
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  if (std::fabs(y) > 1) return std::numeric_limits<long double>::quiet_NaN();
  if (std::fabs(y) == 1) return y * infinity;
  long double low = -7, high = 7;
  for (int step = 0; step < 80; ++step) {
    const long double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return high;
}

inline long double bits(Formula formula, long double a, long double b) {
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  if (formula == Formula::bitwise_and) return static_cast<long double>(x & y);
  return static_cast<long double>(formula == Formula::bitwise_or ? x | y : x ^ y);
}

/// The wanted result, before it is brought into the type.
inline long double wanted(Formula formula, long double a, long double b, bool integers) {
  switch (formula) {
    case Formula::copy:
      return a;
    case Formula::negative:
      return -a;
    case Formula::abs:
      return std::fabs(a);
    case Formula::exp:
      return std::exp(a);
    case Formula::log:
      return std::log(a);
    case Formula::sqrt:
      return std::sqrt(a);
    case Formula::tanh:
      return std::tanh(a);
    case Formula::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Formula::relu:
      return a > 0 ? a : 0;
    case Formula::square:
      return a * a;
    case Formula::cube:
      return a * a * a;
    case Formula::sign:
      return a > 0 ? 1 : (a < 0 ? -1 : 0);
    case Formula::trunc:
      return std::trunc(a);
    case Formula::floor:
      return std::floor(a);
    case Formula::ceil:
      return std::ceil(a);
    case Formula::round:
      return std::round(a);
    case Formula::round_half_to_even:
      return std::nearbyint(a);
    case Formula::rint:
      return std::ceil(a - 0.5L);
    case Formula::softsign:
      return a / (1 + std::fabs(a));
    case Formula::rsqrt:
      return 1 / std::sqrt(a);
    case Formula::cbrt:
      return std::cbrt(a);
    case Formula::expm1:
      return std::expm1(a);
    case Formula::log1p:
      return std::log1p(a);
    case Formula::log2:
      return std::log2(a);
    case Formula::log10:
      return std::log10(a);
    case Formula::sin:
      return std::sin(a);
    case Formula::cos:
      return std::cos(a);
    case Formula::tan:
      return std::tan(a);
    case Formula::arcsin:
      return std::asin(a);
    case Formula::arccos:
      return std::acos(a);
    case Formula::arctan:
      return std::atan(a);
    case Formula::sinh:
      return std::sinh(a);
    case Formula::cosh:
      return std::cosh(a);
    case Formula::arcsinh:
      return std::asinh(a);
    case Formula::arccosh:
      return std::acosh(a);
    case Formula::arctanh:
      return std::atanh(a);
    case Formula::erf:
      return std::erf(a);
    case Formula::gelu:
      return a / 2 * std::erfc(-a / std::sqrt(2.0L));
    case Formula::softrelu:
      return std::log1p(std::exp(a));
    case Formula::erfinv:
      return inverse_error(a);
    case Formula::gamma:
      return std::tgamma(a);
    case Formula::gammaln:
      return std::lgamma(a);
    case Formula::digamma:
      return digamma(a);
    case Formula::copysign:
      return std::copysign(a, b);
    case Formula::hypot:
      return std::hypot(a, b);
    case Formula::arctan2:
      return std::atan2(a, b);
    case Formula::logical_and:
      return a != 0 && b != 0;
    case Formula::logical_or:
      return a != 0 || b != 0;
    case Formula::logical_xor:
      return (a != 0) != (b != 0);
    case Formula::leaky_relu:
      return a > 0 ? a : a * b;
    case Formula::elu:
      return a > 0 ? a : b * std::expm1(a);
    case Formula::smooth_l1:
      return std::fabs(a) > 1 / (b * b) ? std::fabs(a) - 1 / (2 * b * b) : a * a * b * b / 2;
    case Formula::bitwise_and:
    case Formula::bitwise_or:
    case Formula::bitwise_xor:
      return bits(formula, a, b);
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
    case Formula::multiply_add:  // b is the factor and what is added
      return a * b + b;
    case Formula::is_within:  // from b to b
      return a == b;
    case Formula::select:  // between b and b
    case Formula::clip:
      return b;
    case Formula::count_of_formulas:
      break;
  }
  return 0;
}

/// What errors are relative to: the result, or at least 1 where terms of that size cancel.
inline long double scale_of_errors(Formula formula, long double result) {
  const bool cancels = formula == Formula::gelu || formula == Formula::gammaln ||
                       formula == Formula::digamma || formula == Formula::smooth_l1;
  return cancels ? std::max(std::fabs(result), 1.0L) : std::fabs(result);
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
