// SPDX-License-Identifier: Apache-2.0
// The error function and the gamma function with their relatives. All but the error function of
// float32 come from the maths library, element by element.
#pragma once

#include "kernels/isa/functions.h"

namespace afterglow::kernels {
namespace {

/// From here on the error function is 1.
constexpr float error_function_is_one = 4.0f;

/// 1 - erf(x) up to there is e^-(x + excess).
AFTERGLOW_INLINE float excess_decay(float x) {
  const float square = x * x;
  const float even =
      polynomial(square, 0.12837917f, 0.10277784f, -0.00016035647f, -0.0006328183f, -9.25575e-06f);
  const float odd = polynomial(square, 0.6366194f, -0.019153088f, 0.001666991f, 0.00011763639f);
  return multiply_add(odd, x, even) * x;
}

/// e^-(sum + low) as scale (1 - lost).
struct SplitDecay {
  float scale, lost;
};
AFTERGLOW_INLINE SplitDecay split_decay(float sum, float low) {
  using R = Real<float>;
  const float shifted = multiply_add(sum, -R::inverse_ln2, R::to_integer);
  const float rest = multiply_add(shifted - R::to_integer, 0.69314718056f, sum);
  const float curved = multiply_add(-small_exponential_curve(-rest), rest * rest, low);
  const auto exponent = bits_of(shifted) - bits_of(R::to_integer) + R::bias;
  return {__builtin_bit_cast(float, exponent << R::mantissa_bits), rest + curved};
}

/// The lesser of two numbers that are not negative, as integers: a single instruction.
AFTERGLOW_INLINE float at_most(float x, float limit) {
  const std::uint32_t bits = bits_of(x), most = bits_of(limit);
  return __builtin_bit_cast(float, bits < most ? bits : most);
}

AFTERGLOW_INLINE float error_function_argument(float x) {
  return at_most(abs(x), error_function_is_one);
}
AFTERGLOW_INLINE float erf(float x, float excess) {
  const float size = error_function_argument(x);
  const float sum = size + excess;
  const auto [scale, lost] = split_decay(sum, excess - (sum - size));  // which counts near 0
  const float result = copysign(multiply_add(scale, lost, 1.0f - scale), x);
  return x == x ? result : x;
}
AFTERGLOW_INLINE float erf(float x) {
  return erf(x, excess_decay(error_function_argument(x)));
}
AFTERGLOW_INLINE double erf(double x) {
  return __builtin_erf(x);
}

/// x times the probability that a normal variable is smaller.
constexpr float gaussian_limit = error_function_is_one * 1.41421356237f;
AFTERGLOW_INLINE float gaussian_decay(float x) {
  const float size = at_most(abs(x), gaussian_limit) * 0.70710678118654752f;
  return size + excess_decay(size);
}
AFTERGLOW_INLINE float gelu(float x, float decay) {
  const auto [scale, lost] = split_decay(decay, 0.0f);
  const float twice_above = multiply_add(-scale, lost, scale);
  const float size = abs(x);
  const float factor = size < gaussian_limit ? -0.5f * size : 0.0f;
  return multiply_add(factor, twice_above, x < 0.0f ? 0.0f : x);
}
AFTERGLOW_INLINE float gelu(float x) {
  return gelu(x, gaussian_decay(x));
}
AFTERGLOW_INLINE double gelu(double x) {
  return 0.5 * x * (1.0 + erf(x * 0.70710678118654752440));
}

/// Newton's method on erf, or on its complement where erf is near 1, from an estimate by
/// elementary functions.
AFTERGLOW_INLINE double erfinv(double y) {
  const double size = __builtin_fabs(y);
  if (size == 1.0) return __builtin_copysign(__builtin_inf(), y);
  if (!(size < 1.0)) return __builtin_nan("");
  constexpr double slope = 1.12837916709551257390;  // 2 / sqrt(pi)
  constexpr double a = 0.147;
  const double log = __builtin_log1p(-size * size);
  const double half = 2.0 / (3.14159265358979323846 * a) + 0.5 * log;
  const double square = __builtin_sqrt(half * half - log / a) - half;
  double x = square > 0.0 ? __builtin_sqrt(square) : 0.0;
  for (int step = 0; step < 4; ++step) {
    const double excess = size < 0.5 ? __builtin_erf(x) - size : (1.0 - size) - __builtin_erfc(x);
    const double correction = excess / (slope * __builtin_exp(-x * x));
    x -= correction / (1.0 + x * correction);  // Halley's form of it
  }
  return __builtin_copysign(x, y);
}

AFTERGLOW_INLINE double gamma(double x) {
  return __builtin_tgamma(x);
}

AFTERGLOW_INLINE double gammaln(double x) {
  int sign;
  return __builtin_lgamma_r(x, &sign);
}

/// The derivative of the logarithm of gamma: reflected to positive numbers, moved up by the
/// recurrence, then the asymptotic series.
AFTERGLOW_INLINE double digamma(double x) {
  constexpr double pi = 3.14159265358979323846;
  double result = 0;
  if (x <= 0.0) {
    if (__builtin_floor(x) == x) return __builtin_inf();  // as MXNet has it
    result = -pi / __builtin_tan(pi * (x - __builtin_rint(x)));
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) result -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series = polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                   -691.0 / 32760, 1.0 / 12);
  return result + __builtin_log(x) - 0.5 / x - z * series;
}

}  // namespace
}  // namespace afterglow::kernels
