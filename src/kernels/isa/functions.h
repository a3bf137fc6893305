// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh, sigmoid, power and their kin without branches, so that loops over them vectorise.
// What float32 needs rarely is computed in float64 with polynomials of just the accuracy needed;
// float64 then leaves it to the maths library. Fused multiply-adds are written out and contraction
// is off: a value has the same bits wherever it stands in a block.
#pragma once

#include "kernels/isa/arithmetic.h"

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

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2: minimax, in pairs of terms.
AFTERGLOW_INLINE float small_exponential_curve(float r) {
  const float square = r * r;
  const float low = multiply_add(0.16666521f, r, 0.49999994f);
  const float high = multiply_add(0.008368745f, r, 0.04166839f);
  return multiply_add(multiply_add(0.001381454f, square, high), square, low);
}
/// e^r - 1 for |r| <= ln(2) / 2: minimax in float32, Taylor in float64.
AFTERGLOW_INLINE float small_exponential_minus_1(float r) {
  return multiply_add(small_exponential_curve(r), r * r, r);
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

/// e^x for x <= 0 in fewer steps: with a fixed second factor neither leaves the normal numbers.
template <class T>
AFTERGLOW_INLINE T exponential_of_negative(T x) {
  using R = Real<T>;
  const auto [n, r] = split_exponent(x);
  const T mantissa = small_exponential_minus_1(r) + T(1);
  const T scale = __builtin_bit_cast(T, (n + R::bias + 64) << R::mantissa_bits);
  const T result = mantissa * scale * T(0x1p-64);
  return x < R::exponential_low ? T(0) : result;  // keeps nan
}

template <class T>
AFTERGLOW_INLINE T exp(T x) {
  using R = Real<T>;
  T result = exponential_within_limits(x);
  // Comparisons keep nan.
  result = x > R::exponential_high ? T(__builtin_inf()) : result;
  return x < R::exponential_low ? T(0) : result;
}

/// e^x - 1 with its relative precision near 0.
template <class T>
AFTERGLOW_INLINE T expm1(T x) {
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
  const float square = f * f;
  // Even and odd terms side by side, for the chain of one polynomial would be waited for.
  const float even = polynomial(square, 0.3333333f, 0.20001227f, 0.14201762f, 0.1276155f);
  const float odd = polynomial(square, -0.25000823f, -0.16623357f, -0.13160194f, -0.0763443f);
  const float p = multiply_add(odd, f, even);
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
AFTERGLOW_INLINE SplitNumber<float> split_number(float x) {
  using R = Real<float>;
  const auto bits = bits_of(x);
  const auto above = bits - bits_of(R::sqrt_half);
  const auto exponent = static_cast<std::int32_t>(above) >> R::mantissa_bits;
  const float fraction = __builtin_bit_cast(float, bits - (above & 0xff800000u));
  return {fraction - 1.0f, static_cast<float>(exponent),
          static_cast<std::uint32_t>(exponent) + R::bias};
}
AFTERGLOW_INLINE SplitNumber<double> split_number(double x) {
  using R = Real<double>;
  constexpr double integer_base = 0x1p52;
  const auto bits = bits_of(x);
  // Without signed shifts.
  const auto biased =
      (bits - bits_of(R::sqrt_half) + (R::bias << R::mantissa_bits)) >> R::mantissa_bits;
  const double f =
      __builtin_bit_cast(double, bits - ((biased - R::bias) << R::mantissa_bits)) - 1.0;
  const double exponent = __builtin_bit_cast(double, biased | bits_of(integer_base)) -
                          (integer_base + static_cast<double>(R::bias));
  return {f, exponent, biased};
}

template <class T>
AFTERGLOW_INLINE T logarithm_of_normal(T x) {
  const auto split = split_number(x);
  return assembled_logarithm(split.f, split.exponent);
}

template <class T>
AFTERGLOW_INLINE T log(T x) {
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
AFTERGLOW_INLINE T log1p(T x) {
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

/// The size of one number and the sign of another.
template <class T>
AFTERGLOW_INLINE T copysign(T size, T sign) {
  if constexpr (sizeof(T) == 4)
    return __builtin_copysignf(size, sign);
  else
    return __builtin_copysign(size, sign);
}

/// (e^2x - 1) / (e^2x + 1), where e^2x - 1 keeps its relative precision near 0.
template <class T>
AFTERGLOW_INLINE T tanh(T x) {
  using R = Real<T>;
  T twice = T(2) * abs(x);
  twice = twice > 2 * R::tanh_is_one ? 2 * R::tanh_is_one : twice;
  const auto [n, r] = split_exponent(twice);
  const T scale = __builtin_bit_cast(T, (n + R::bias) << R::mantissa_bits);
  const T minus_1 = multiply_add(small_exponential_minus_1(r), scale, scale - T(1));
  return copysign(minus_1 / (minus_1 + T(2)), x);
}

template <class T>
AFTERGLOW_INLINE T sigmoid(T x) {
  const T size = abs(x);
  const T e = exponential_of_negative(-size);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// log(1 + e^x).
template <class T>
AFTERGLOW_INLINE T softrelu(T x) {
  return (x > T(0) ? x : T(0)) + log1p(exponential_of_negative(-abs(x)));
}

/// log2 of a positive normal number of float32, good enough to be rounded to float32. A division
/// would take longer than the whole polynomial.
AFTERGLOW_INLINE double binary_logarithm_of_normal(float x) {
  const auto [fraction, exponent, biased] = split_number(x);
  const double f = fraction;
  // In four parts side by side, for a single chain of so many steps would be waited for.
  const double f2 = f * f, f4 = f2 * f2;
  const double part_0 = polynomial(f4, 1.442695040886574, 0.28853879570165797, 0.16021664755900492,
                                   0.13251136253359844);
  const double part_1 = polynomial(f4, -0.7213475203275499, -0.2404464335799001,
                                   -0.1424986281535093, -0.06973822930591225);
  const double part_2 = polynomial(f4, 0.4808983488031121, 0.20610712411029528, 0.1302757975515422);
  const double part_3 =
      polynomial(f4, -0.36067379313728665, -0.18043675079855107, -0.13462946619483512);
  const double p =
      multiply_add(multiply_add(part_3, f, part_2), f2, multiply_add(part_1, f, part_0));
  return multiply_add(p, f, static_cast<double>(exponent));
}

/// The same of any number that is not negative.
AFTERGLOW_INLINE double binary_logarithm(float x) {
  constexpr float infinity = __builtin_inff();
  const bool subnormal = x < Real<float>::smallest_normal;
  const double normal = binary_logarithm_of_normal(subnormal ? x * 0x1p24f : x);
  const double result = x == 0.0f ? -__builtin_inf() : normal - (subnormal ? 24.0 : 0.0);
  return x < infinity ? result : static_cast<double>(x);
}

/// 2^x for |x| <= largest_binary_power, to be rounded to float32.
constexpr double largest_binary_power = 1000.0;
AFTERGLOW_INLINE double binary_exponential_within_limits(double x) {
  using R = Real<double>;
  const double shifted = x + R::to_integer;
  const double r = x - (shifted - R::to_integer);
  const double square = r * r;
  const double even =
      polynomial(square, 1.0, 0.24022651066567657, 0.009618038131302938, 0.00015466756520727163);
  const double odd = polynomial(square, 0.6931471807045374, 0.05550410365976788,
                                0.001333393506618993, 1.5196154287076396e-05);
  const double mantissa = multiply_add(odd, r, even);
  return __builtin_bit_cast(double, bits_of(mantissa) + (bits_of(shifted) << R::mantissa_bits));
}
AFTERGLOW_INLINE double binary_exponential(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  return binary_exponential_within_limits(x);
}

/// 2^(b log2 |a|) in float64, with IEEE 754's special cases.
AFTERGLOW_INLINE float power(float a, float b) {
  constexpr float infinity = __builtin_inff();
  const float base = abs(a);
  float result = static_cast<float>(binary_exponential(b * binary_logarithm(base)));
  // a^0 = 1^b = (-1)^(+-inf) = 1, also for nan.
  const bool is_one = b == 0.0f || a == 1.0f || (base == 1.0f && abs(b) == infinity);
  result = is_one ? 1.0f : result;
  const bool integer = __builtin_truncf(b) == b;
  const float halved = b * 0.5f;
  const bool odd = integer && __builtin_truncf(halved) != halved;
  result = a < 0.0f && a > -infinity && !integer ? __builtin_nanf("") : result;
  const std::uint32_t sign = odd ? bits_of(a) & 0x80000000u : 0u;
  return __builtin_bit_cast(float, bits_of(result) ^ sign);
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

AFTERGLOW_INLINE float log2(float x) {
  return x < 0.0f ? __builtin_nanf("") : static_cast<float>(binary_logarithm(x));
}
AFTERGLOW_INLINE double log2(double x) {
  return __builtin_log2(x);
}

AFTERGLOW_INLINE float log10(float x) {
  constexpr double log10_of_2 = 0.30102999566398119521;
  return x < 0.0f ? __builtin_nanf("") : static_cast<float>(binary_logarithm(x) * log10_of_2);
}
AFTERGLOW_INLINE double log10(double x) {
  return __builtin_log10(x);
}

AFTERGLOW_INLINE float cbrt(float x) {
  const double size = binary_exponential(binary_logarithm(abs(x)) * (1.0 / 3.0));
  return copysign(static_cast<float>(size), x);
}
AFTERGLOW_INLINE double cbrt(double x) {
  return __builtin_cbrt(x);
}

// Hyperbolic functions and their inverses.

/// e^|x| - 1 as far as float32 reaches.
AFTERGLOW_INLINE double growth(float x) {
  const double size = abs(x);
  return expm1(size > 100.0 ? 100.0 : size);
}

AFTERGLOW_INLINE float sinh(float x) {
  const double t = growth(x);
  return copysign(static_cast<float>(0.5 * (t + t / (t + 1.0))), x);
}
AFTERGLOW_INLINE double sinh(double x) {
  return __builtin_sinh(x);
}

AFTERGLOW_INLINE float cosh(float x) {
  const double e = growth(x) + 1.0;
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
AFTERGLOW_INLINE double cosh(double x) {
  return __builtin_cosh(x);
}

AFTERGLOW_INLINE float arcsinh(float x) {
  const double size = abs(x);
  const double square = size * size;
  const double more = square / (1.0 + __builtin_sqrt(1.0 + square));
  const double result = log1p(size + (size < __builtin_inf() ? more : 0.0));
  return copysign(static_cast<float>(result), x);
}
AFTERGLOW_INLINE double arcsinh(double x) {
  return __builtin_asinh(x);
}

AFTERGLOW_INLINE float arccosh(float x) {
  const double above = static_cast<double>(x) - 1.0;
  const double result = log1p(above + __builtin_sqrt(above * (above + 2.0)));
  return x < 1.0f ? __builtin_nanf("") : static_cast<float>(result);
}
AFTERGLOW_INLINE double arccosh(double x) {
  return __builtin_acosh(x);
}

AFTERGLOW_INLINE float arctanh(float x) {
  const double size = abs(x);
  const double result = 0.5 * log1p(2.0 * size / (1.0 - size));
  return copysign(static_cast<float>(result), x);
}
AFTERGLOW_INLINE double arctanh(double x) {
  return __builtin_atanh(x);
}

}  // namespace
}  // namespace afterglow::kernels
