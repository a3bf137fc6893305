// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh, sigmoid and power without branches, so that loops over them vectorise. Fused
// multiply-adds are written out and contraction is off: a value has the same bits wherever it
// stands in a block.
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

template <class T>
AFTERGLOW_INLINE T logarithm(T x) {
  using R = Real<T>;
  constexpr T infinity = __builtin_inf();
  constexpr T lift = T(std::uint64_t(1) << (R::mantissa_bits + 1));
  constexpr T integer_base = T(std::uint64_t(1) << R::mantissa_bits);
  const bool subnormal = x < R::smallest_normal;
  const auto bits = bits_of(subnormal ? x * lift : x);
  // Biased exponent of the mantissa's place in [sqrt(1/2), sqrt(2)), without signed shifts.
  const auto exponent =
      (bits - bits_of(R::sqrt_half) + (R::bias << R::mantissa_bits)) >> R::mantissa_bits;
  const T f = __builtin_bit_cast(T, bits - ((exponent - R::bias) << R::mantissa_bits)) - T(1);
  const T real_exponent = __builtin_bit_cast(T, exponent | bits_of(integer_base)) -
                          (integer_base + T(R::bias)) -
                          (subnormal ? T(R::mantissa_bits + 1) : T(0));
  const T result = assembled_logarithm(f, real_exponent);
  const T outside = x == T(0) ? -infinity : T(__builtin_nan(""));
  return x > T(0) ? (x < infinity ? result : x) : outside;
}

template <class T>
AFTERGLOW_INLINE T magnitude(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fabsf(x);
  else
    return __builtin_fabs(x);
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
  const T result = minus_1 / (minus_1 + T(2));
  if constexpr (sizeof(T) == 4)
    return __builtin_copysignf(result, x);
  else
    return __builtin_copysign(result, x);
}

template <class T>
AFTERGLOW_INLINE T sigmoid(T x) {
  const T size = magnitude(x);
  const T small = exponential_within_limits(-size);
  const T e = size > -Real<T>::exponential_low ? T(0) : small;
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// 2^(b log2 |a|) in float64, with IEEE 754's special cases.
AFTERGLOW_INLINE float power(float a, float b) {
  using R = Real<double>;
  constexpr double infinity = __builtin_inf();
  constexpr double integer_base = 0x1p52;
  const double base = __builtin_fabs(static_cast<double>(a));
  const double exponent = b;
  const auto bits = bits_of(base);
  const auto binary =
      (bits - bits_of(R::sqrt_half) + (R::bias << R::mantissa_bits)) >> R::mantissa_bits;
  const double m = __builtin_bit_cast(double, bits - ((binary - R::bias) << R::mantissa_bits));
  const double s = (m - 1.0) / (m + 1.0);
  const double log2_m =
      s * polynomial(s * s, 2.88539008177785, 0.9617966941130505, 0.5770779424456266,
                     0.4122092446386317, 0.3199059977561591, 0.2828960831510978);
  double log2 = __builtin_bit_cast(double, binary | bits_of(integer_base)) -
                (integer_base + static_cast<double>(R::bias)) + log2_m;
  log2 = base == 0.0 ? -infinity : log2;
  log2 = base < infinity ? log2 : base;
  double scaled = exponent * log2;
  scaled = scaled < -200.0 ? -200.0 : scaled;
  scaled = scaled > 200.0 ? 200.0 : scaled;
  const double shifted = scaled + R::to_integer;
  const double r = scaled - (shifted - R::to_integer);
  const double mantissa =
      multiply_add(r,
                   polynomial(r, 0.6931471805482118, 0.2402265069811071, 0.055504109352685065,
                              0.00961812861611225, 0.0013333454858799091, 0.0001540382546564091,
                              1.530915656483855e-05, 1.3178933480517062e-06),
                   1.0);
  const auto n = bits_of(shifted) - bits_of(R::to_integer);
  const double scale = __builtin_bit_cast(double, (n + R::bias) << R::mantissa_bits);
  double result = mantissa * scale;
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

}  // namespace
}  // namespace afterglow::kernels
