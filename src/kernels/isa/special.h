// SPDX-License-Identifier: Apache-2.0
// The error function and the gamma function with their relatives. All but the error function of
// float32 come from the maths library, element by element.
#pragma once

#include "kernels/isa/functions.h"

namespace afterglow::kernels {
namespace {

/// x P(x^2) up to 1, beyond it 1 - e^-Q(|x|).
AFTERGLOW_INLINE float error_function(float x) {
  const float size = magnitude(x);
  const float z = x * x;
  const float near =
      multiply_add(polynomial(z, 0.1283791657f, -0.3761262583f, 0.1128358518f, -0.0268538131f,
                              0.00518832954f, -0.000801020833f, 7.85390619e-05f),
                   x, x);
  const float limited = size > 4.0f ? 4.0f : size;
  const float q = polynomial(limited, -0.000188466737f, 1.1295803068f, 0.6332164054f, 0.1084220912f,
                             -0.02521033495f, 0.00420528315f, -0.00044147236f, 2.169759197e-05f);
  const float far = 1.0f - exponential_within_limits(-q);
  return size < 1.0f ? near : copy_sign(far, x);
}
AFTERGLOW_INLINE double error_function(double x) {
  return __builtin_erf(x);
}

/// x times the probability that a normal variable is smaller.
template <class T>
AFTERGLOW_INLINE T gaussian_linear_unit(T x) {
  return T(0.5) * x * (T(1) + error_function(x * T(0.70710678118654752440)));
}

/// Newton's method on erf, or on its complement where erf is near 1, from an estimate by
/// elementary functions.
AFTERGLOW_INLINE double inverse_error_function(double y) {
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

AFTERGLOW_INLINE double gamma_function(double x) {
  return __builtin_tgamma(x);
}

AFTERGLOW_INLINE double logarithm_of_gamma(double x) {
  int sign;
  return __builtin_lgamma_r(x, &sign);
}

/// The derivative of the logarithm of gamma: reflected to positive numbers, moved up by the
/// recurrence, then the asymptotic series.
AFTERGLOW_INLINE double digamma(double x) {
  constexpr double pi = 3.14159265358979323846;
  double result = 0;
  if (x <= 0.0) {
    if (__builtin_floor(x) == x) return __builtin_nan("");
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
