// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh, sigmoid, power and their kin without branches, so that loops over them vectorise.
// What float32 needs rarely is computed in float64 with polynomials of just the accuracy needed;
// float64 then leaves it to the maths library. Fused multiply-adds are written out and contraction
// is off: a value has the same bits wherever it stands in a block.
#pragma once

#include "kernels/isa/types.h"

namespace afterglow::kernels {
namespace {

template <class T>
AFTERGLOW_INLINE T multiply_add(T a, T b, T c) {
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Coefficients from the constant term up.
template <class T, class... Rest>
AFTERGLOW_INLINE T polynomial(T x, T first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return first;
  else
    return multiply_add(polynomial(x, T(rest)...), x, first);
}

template <class T>
struct Real;

template <>
struct Real<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr Bits bias = 127;
  static constexpr float to_integer = 0x1.8p23f;  ///< added, the last bit is one
  static constexpr float inverse_ln2 = 1.44269504088896341f;
  static constexpr float ln2_high = 0.693359375f;
  static constexpr float ln2_low = -2.12194440054690583e-4f;
  static constexpr float exponential_low = -104, exponential_high = 89;
  static constexpr float exponential_minus_1_low = -18;
  static constexpr float tanh_is_one = 9.1f;
  static constexpr float smallest_normal = 0x1p-126f;
  static constexpr float sqrt_half = 0.70710678118654752f;
};

template <>
struct Real<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr Bits bias = 1023;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double inverse_ln2 = 1.44269504088896340736;
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double exponential_low = -746, exponential_high = 710;
  static constexpr double exponential_minus_1_low = -38;
  static constexpr double tanh_is_one = 19.1;
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr double sqrt_half = 0.70710678118654752440;
};

template <class T>
AFTERGLOW_INLINE auto bits_of(T value) {
  return __builtin_bit_cast(typename Real<T>::Bits, value);
}

/// e^r - 1 for |r| <= ln(2) / 2: minimax in float32, Taylor in float64.
AFTERGLOW_INLINE float small_exponential_minus_1(float r) {
  const float p = polynomial(r, 0.49999994f, 0.16666521f, 0.04166839f, 0.008368745f, 0.001381454f);
  return multiply_add(p, r * r, r);
}
AFTERGLOW_INLINE double small_exponential_minus_1(double r) {
  const double p =
      polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  return multiply_add(p, r * r, r);
}

/// x = n ln(2) + remainder; n comes as an integer to be added to exponent fields.
template <class T>
struct SplitExponent {
  typename Real<T>::Bits n;
  T remainder;
};
template <class T>
AFTERGLOW_INLINE SplitExponent<T> split_exponent(T x) {
  using R = Real<T>;
  const T shifted = multiply_add(x, R::inverse_ln2, R::to_integer);
  const T n = shifted - R::to_integer;
  const T remainder = multiply_add(n, -R::ln2_low, multiply_add(n, -R::ln2_high, x));
  return {bits_of(shifted) - bits_of(R::to_integer), remainder};
}

/// e^x between the limits, anything beyond.
template <class T>
AFTERGLOW_INLINE T exponential_within_limits(T x) {
  using R = Real<T>;
  const auto [n, r] = split_exponent(x);
  const T mantissa = small_exponential_minus_1(r) + T(1);
  // Two factors, so that neither leaves the range of normal numbers and only the last one rounds.
  const auto exponents = n + 2 * R::bias;
  const auto first = exponents >> 1;
  const auto second = exponents - first;
  return mantissa * __builtin_bit_cast(T, first << R::mantissa_bits) *
         __builtin_bit_cast(T, second << R::mantissa_bits);
}

template <class T>
AFTERGLOW_INLINE T exponential(T x) {
  using R = Real<T>;
  T result = exponential_within_limits(x);
  // Comparisons keep nan.
  result = x > R::exponential_high ? T(__builtin_inf()) : result;
  return x < R::exponential_low ? T(0) : result;
}

/// e^x - 1 with its relative precision near 0.
template <class T>
AFTERGLOW_INLINE T exponential_minus_1(T x) {
  using R = Real<T>;
  const T limited = x < R::exponential_minus_1_low ? R::exponential_minus_1_low : x;
  const auto [n, r] = split_exponent(limited);
  // Half of it, so that the power of two is finite up to the end of the range.
  const T half_scale = __builtin_bit_cast(T, (n + R::bias - 1) << R::mantissa_bits);
  const T half = multiply_add(small_exponential_minus_1(r), half_scale, half_scale - T(0.5));
  const T result = x > R::exponential_high ? T(__builtin_inf()) : T(2) * half;
  return x == T(0) ? x : result;  // keeps -0
}

/// log(2^exponent (1 + f)) for 1 + f in [sqrt(1/2), sqrt(2)].
AFTERGLOW_INLINE float assembled_logarithm(float f, float exponent) {
  using R = Real<float>;
  const float p = polynomial(f, 0.33333313f, -0.2500001f, 0.20002119f, -0.16667996f, 0.14219552f,
                             -0.12405589f, 0.11888162f, -0.11675652f, 0.06746641f);
  const float square = f * f;
  float tail = multiply_add(exponent, R::ln2_low, p * f * square);
  tail = multiply_add(-0.5f, square, tail);
  return multiply_add(exponent, R::ln2_high, f + tail);
}
AFTERGLOW_INLINE double assembled_logarithm(double f, double exponent) {
  using R = Real<double>;
  const double s = f / (f + 2.0);
  const double z = s * s;
  const double p =
      z * polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01,
                     2.857142874366239149e-01, 2.222219843214978396e-01, 1.818357216161805012e-01,
                     1.531383769920937332e-01, 1.479819860511658591e-01);
  const double half_square = 0.5 * f * f;
  const double tail = half_square - multiply_add(s, half_square + p, exponent * R::ln2_low);
  return multiply_add(exponent, R::ln2_high, f - tail);
}

/// A positive normal number as 2^exponent (1 + f) for 1 + f in [sqrt(1/2), sqrt(2)).
template <class T>
struct SplitNumber {
  T f, exponent;
  typename Real<T>::Bits biased_exponent;
};
template <class T>
AFTERGLOW_INLINE SplitNumber<T> split_number(T x) {
  using R = Real<T>;
  constexpr T integer_base = T(std::uint64_t(1) << R::mantissa_bits);
  const auto bits = bits_of(x);
  // Without signed shifts.
  const auto biased =
      (bits - bits_of(R::sqrt_half) + (R::bias << R::mantissa_bits)) >> R::mantissa_bits;
  const T f = __builtin_bit_cast(T, bits - ((biased - R::bias) << R::mantissa_bits)) - T(1);
  const T exponent =
      __builtin_bit_cast(T, biased | bits_of(integer_base)) - (integer_base + T(R::bias));
  return {f, exponent, biased};
}

template <class T>
AFTERGLOW_INLINE T logarithm(T x) {
  using R = Real<T>;
  constexpr T infinity = __builtin_inf();
  constexpr T lift = T(std::uint64_t(1) << (R::mantissa_bits + 1));
  const bool subnormal = x < R::smallest_normal;
  const auto split = split_number(subnormal ? x * lift : x);
  const T exponent = split.exponent - (subnormal ? T(R::mantissa_bits + 1) : T(0));
  const T result = assembled_logarithm(split.f, exponent);
  const T outside = x == T(0) ? -infinity : T(__builtin_nan(""));
  return x > T(0) ? (x < infinity ? result : x) : outside;
}

/// log(1 + x) with its relative precision near 0.
template <class T>
AFTERGLOW_INLINE T logarithm_of_1_plus(T x) {
  using R = Real<T>;
  constexpr T infinity = __builtin_inf();
  constexpr T alone = T(std::uint64_t(1) << (R::mantissa_bits + 1));
  const T sum = T(1) + x;
  const auto split = split_number(sum);
  // What the sum lost belongs to the fraction, unless the 1 does not count at all.
  const T lost = x < T(1) ? x - (sum - T(1)) : T(1) - (sum - x);
  const T scale = __builtin_bit_cast(T, (2 * R::bias - split.biased_exponent) << R::mantissa_bits);
  const T f = split.f + (x < alone ? lost * scale : T(0));
  T result = assembled_logarithm(f, split.exponent);
  result = x == T(0) ? x : result;  // keeps -0
  const T outside = x == T(-1) ? -infinity : T(__builtin_nan(""));
  return x > T(-1) ? (x < infinity ? result : x) : outside;
}

template <class T>
AFTERGLOW_INLINE T magnitude(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fabsf(x);
  else
    return __builtin_fabs(x);
}

/// The size of one number and the sign of another.
template <class T>
AFTERGLOW_INLINE T copy_sign(T size, T sign) {
  if constexpr (sizeof(T) == 4)
    return __builtin_copysignf(size, sign);
  else
    return __builtin_copysign(size, sign);
}

/// (e^2x - 1) / (e^2x + 1), where e^2x - 1 keeps its relative precision near 0.
template <class T>
AFTERGLOW_INLINE T tanh(T x) {
  using R = Real<T>;
  T twice = T(2) * magnitude(x);
  twice = twice > 2 * R::tanh_is_one ? 2 * R::tanh_is_one : twice;
  const auto [n, r] = split_exponent(twice);
  const T scale = __builtin_bit_cast(T, (n + R::bias) << R::mantissa_bits);
  const T minus_1 = multiply_add(small_exponential_minus_1(r), scale, scale - T(1));
  return copy_sign(minus_1 / (minus_1 + T(2)), x);
}

template <class T>
AFTERGLOW_INLINE T sigmoid(T x) {
  const T size = magnitude(x);
  const T small = exponential_within_limits(-size);
  const T e = size > -Real<T>::exponential_low ? T(0) : small;
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// log(1 + e^x).
template <class T>
AFTERGLOW_INLINE T soft_rectify(T x) {
  return (x > T(0) ? x : T(0)) + logarithm_of_1_plus(exponential(-magnitude(x)));
}

/// log2 of a number of float32 that is not negative, good enough to be rounded to float32.
AFTERGLOW_INLINE double binary_logarithm(double x) {
  constexpr double infinity = __builtin_inf();
  const auto [f, exponent, biased] = split_number(x);
  const double s = f / (f + 2.0);
  const double fraction =
      s * polynomial(s * s, 2.88539008177785, 0.9617966941130505, 0.5770779424456266,
                     0.4122092446386317, 0.3199059977561591, 0.2828960831510978);
  const double result = x == 0.0 ? -infinity : exponent + fraction;
  return x < infinity ? result : x;
}

/// 2^x, to be rounded to float32.
AFTERGLOW_INLINE double binary_exponential(double x) {
  using R = Real<double>;
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double shifted = x + R::to_integer;
  const double r = x - (shifted - R::to_integer);
  const double mantissa =
      multiply_add(r,
                   polynomial(r, 0.6931471805482118, 0.2402265069811071, 0.055504109352685065,
                              0.00961812861611225, 0.0013333454858799091, 0.0001540382546564091,
                              1.530915656483855e-05, 1.3178933480517062e-06),
                   1.0);
  const auto n = bits_of(shifted) - bits_of(R::to_integer);
  return mantissa * __builtin_bit_cast(double, (n + R::bias) << R::mantissa_bits);
}

/// 2^(b log2 |a|) in float64, with IEEE 754's special cases.
AFTERGLOW_INLINE float power(float a, float b) {
  constexpr double infinity = __builtin_inf();
  const double base = __builtin_fabs(static_cast<double>(a));
  double result = binary_exponential(b * binary_logarithm(base));
  // a^0 = 1^b = (-1)^(+-inf) = 1, also for nan.
  result = b == 0.0f || a == 1.0f || (base == 1.0 && __builtin_fabsf(b) == infinity) ? 1.0 : result;
  const bool integer = __builtin_truncf(b) == b;
  const float halved = b * 0.5f;
  const bool odd = integer && __builtin_truncf(halved) != halved;
  result = a < 0.0f && a > -infinity && !integer ? __builtin_nan("") : result;
  const float rounded = static_cast<float>(result);
  const std::uint32_t sign = odd ? bits_of(a) & 0x80000000u : 0u;
  return __builtin_bit_cast(float, bits_of(rounded) ^ sign);
}
AFTERGLOW_INLINE double power(double a, double b) {
  return __builtin_pow(a, b);
}
/// Wraps around like all integer arithmetic. A negative exponent leaves nothing but of 1 and -1.
template <class Integer>
AFTERGLOW_INLINE Integer power(Integer a, Integer b) {
  if constexpr (std::is_same_v<Integer, bool>) {
    return a || !b;
  } else {
    if (b < Integer(0)) {
      if (a == Integer(1)) return a;
      return a == Integer(-1) ? Integer(b % 2 ? -1 : 1) : Integer(0);
    }
    auto result = wide(Integer(1));
    auto base = wide(a);
    for (auto left = wide(b); left; left >>= 1) {
      if (left & 1) result *= base;
      base *= base;
    }
    return as<Integer>(result);
  }
}

AFTERGLOW_INLINE float logarithm_2(float x) {
  return x < 0.0f ? __builtin_nanf("") : static_cast<float>(binary_logarithm(x));
}
AFTERGLOW_INLINE double logarithm_2(double x) {
  return __builtin_log2(x);
}

AFTERGLOW_INLINE float logarithm_10(float x) {
  constexpr double log10_of_2 = 0.30102999566398119521;
  return x < 0.0f ? __builtin_nanf("") : static_cast<float>(binary_logarithm(x) * log10_of_2);
}
AFTERGLOW_INLINE double logarithm_10(double x) {
  return __builtin_log10(x);
}

AFTERGLOW_INLINE float cube_root(float x) {
  const double size = binary_exponential(binary_logarithm(magnitude(x)) * (1.0 / 3.0));
  return copy_sign(static_cast<float>(size), x);
}
AFTERGLOW_INLINE double cube_root(double x) {
  return __builtin_cbrt(x);
}

// Hyperbolic functions and their inverses.

/// e^|x| - 1 as far as float32 reaches.
AFTERGLOW_INLINE double growth(float x) {
  const double size = magnitude(x);
  return exponential_minus_1(size > 100.0 ? 100.0 : size);
}

AFTERGLOW_INLINE float hyperbolic_sine(float x) {
  const double t = growth(x);
  return copy_sign(static_cast<float>(0.5 * (t + t / (t + 1.0))), x);
}
AFTERGLOW_INLINE double hyperbolic_sine(double x) {
  return __builtin_sinh(x);
}

AFTERGLOW_INLINE float hyperbolic_cosine(float x) {
  const double e = growth(x) + 1.0;
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
AFTERGLOW_INLINE double hyperbolic_cosine(double x) {
  return __builtin_cosh(x);
}

AFTERGLOW_INLINE float inverse_hyperbolic_sine(float x) {
  const double size = magnitude(x);
  const double square = size * size;
  const double more = square / (1.0 + __builtin_sqrt(1.0 + square));
  const double result = logarithm_of_1_plus(size + (size < __builtin_inf() ? more : 0.0));
  return copy_sign(static_cast<float>(result), x);
}
AFTERGLOW_INLINE double inverse_hyperbolic_sine(double x) {
  return __builtin_asinh(x);
}

AFTERGLOW_INLINE float inverse_hyperbolic_cosine(float x) {
  const double above = static_cast<double>(x) - 1.0;
  const double result = logarithm_of_1_plus(above + __builtin_sqrt(above * (above + 2.0)));
  return x < 1.0f ? __builtin_nanf("") : static_cast<float>(result);
}
AFTERGLOW_INLINE double inverse_hyperbolic_cosine(double x) {
  return __builtin_acosh(x);
}

AFTERGLOW_INLINE float inverse_hyperbolic_tangent(float x) {
  const double size = magnitude(x);
  const double result = 0.5 * logarithm_of_1_plus(2.0 * size / (1.0 - size));
  return copy_sign(static_cast<float>(result), x);
}
AFTERGLOW_INLINE double inverse_hyperbolic_tangent(double x) {
  return __builtin_atanh(x);
}

}  // namespace
}  // namespace afterglow::kernels
