// SPDX-License-Identifier: Apache-2.0
// Sine, cosine, tangent and their inverses, without branches for angles up to largest_angle.
#pragma once

#include "kernels/isa/functions.h"

namespace afterglow::kernels {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Up to here quarter turns are counted exactly; beyond it the maths library does it.
constexpr double largest_angle = 0x1p20;

/// An angle as quarter turns and a rest of about an eighth turn at most, with what it lost.
template <class T>
struct SplitAngle {
  T rest, lost;
  std::int32_t quarters;
};
AFTERGLOW_INLINE SplitAngle<double> split_angle(double x) {
  constexpr double to_integer = Real<double>::to_integer;
  const double n = multiply_add(x, 2.0 / pi, to_integer) - to_integer;
  // Pieces of pi / 2 with 33 bits: their products with n are exact.
  double rest = x - n * 1.57079632673412561417e+00;
  rest -= n * 6.07710050630396597660e-11;
  rest -= n * 2.02226624871116645580e-21;
  return {rest, 0.0, static_cast<std::int32_t>(n)};
}
AFTERGLOW_INLINE SplitAngle<float> split_angle(float x) {
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
  // A fused product is not rounded, so pieces of pi / 2 may have all bits of float32; the first
  // difference is exact.
  constexpr float to_integer = Real<float>::to_integer;
  const float shifted = multiply_add(x, static_cast<float>(2.0 / pi), to_integer);
  const float n = shifted - to_integer;
  const float first = multiply_add(n, -1.57079637e+00f, x);
  const float rest = multiply_add(n, 4.37113883e-08f, first);
  // The last bits count quarters, since to_integer is a multiple of four.
  return {rest, n * 1.71512451e-15f, __builtin_bit_cast(std::int32_t, shifted)};
#else
  const SplitAngle<double> angle = split_angle(static_cast<double>(x));
  return {static_cast<float>(angle.rest), 0.0f, angle.quarters};
#endif
}

/// For angles of at most an eighth turn.
AFTERGLOW_INLINE float small_sine(float r, float lost) {
  const float z = r * r;
  const float p = polynomial(z, -0.16666654f, 0.008332133f, -0.0001951146f);
  return r + multiply_add(z * p, r, lost);
}
AFTERGLOW_INLINE double small_sine(double r, double lost) {
  const double z = r * r;
  const double p = polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03,
                              -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                              -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  return r + multiply_add(z * p, r, lost);
}
AFTERGLOW_INLINE float small_cosine(float r) {
  const float z = r * r;
  const float p = polynomial(z, 0.04166664685f, -0.00138873669f, 2.44383794e-05f);
  return 1.0f + multiply_add(p, z * z, -0.5f * z);
}
AFTERGLOW_INLINE double small_cosine(double r) {
  const double z = r * r;
  const double p = polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03,
                              2.48015872894767294178e-05, -2.75573143513906633035e-07,
                              2.08757232129817482790e-09, -1.13596475577881948265e-11);
  // What 1 - z / 2 loses is added back.
  const double half = 0.5 * z, rest = 1.0 - half;
  return rest + ((1.0 - rest - half) + p * z * z);
}

/// The sine so many quarter turns further on.
template <class T>
AFTERGLOW_INLINE T sine_after(T x, std::int32_t quarters) {
  const SplitAngle<T> angle = split_angle(x);
  using Bits = typename Real<T>::Bits;
  constexpr int sign_bit = sizeof(T) * 8 - 1;
  const Bits turned = static_cast<Bits>(quarters + angle.quarters);
  const T value = turned & 1 ? small_cosine(angle.rest) : small_sine(angle.rest, angle.lost);
  const Bits sign = turned << (sign_bit - 1) & Bits(1) << sign_bit;
  return __builtin_bit_cast(T, bits_of(value) ^ sign);
}

template <class T>
AFTERGLOW_INLINE T sin(T x) {
  const T value = sine_after(x, 0);
  return x == T(0) ? x : value;  // keeps -0
}

template <class T>
AFTERGLOW_INLINE T cos(T x) {
  return sine_after(x, 1);
}

template <class T>
AFTERGLOW_INLINE T tan(T x) {
  const SplitAngle<double> angle = split_angle(static_cast<double>(x));
  const double sine = small_sine(angle.rest, angle.lost), cosine = small_cosine(angle.rest);
  const bool odd = angle.quarters & 1;
  const double value = (odd ? -cosine : sine) / (odd ? sine : cosine);
  return x == T(0) ? x : static_cast<T>(value);
}

/// The angle of a point whose coordinates are not negative, to be rounded to float32.
AFTERGLOW_INLINE double first_quadrant_angle(double y, double x) {
  const double less = y > x ? x : y, more = y > x ? y : x;
  double q = less / more;
  q = less == more ? (more == 0.0 ? 0.0 : 1.0) : q;  // 0 / 0, infinity / infinity
  const double z = q * q;
  const double p = polynomial(z, -0.33333333111104535, 0.19999984221709094, -0.14285320883608096,
                              0.1110614341119618, -0.09053629481108222, 0.07510510883485576,
                              -0.06056955267451218, 0.04417908579266215, -0.02654775963056874,
                              0.01177862918014252, -0.0033264819228496444, 0.0004406922547036642);
  const double angle = multiply_add(p * z, q, q);
  return y > x ? pi / 2 - angle : angle;
}

AFTERGLOW_INLINE float arctan(float x) {
  return copysign(static_cast<float>(first_quadrant_angle(abs(x), 1.0)), x);
}
AFTERGLOW_INLINE double arctan(double x) {
  return __builtin_atan(x);
}

AFTERGLOW_INLINE float arctan2(float y, float x) {
  const double angle = first_quadrant_angle(abs(y), abs(x));
  const bool left = copysign(1.0f, x) < 0.0f;
  return copysign(static_cast<float>(left ? pi - angle : angle), y);
}
AFTERGLOW_INLINE double arctan2(double y, double x) {
  return __builtin_atan2(y, x);
}

/// The other coordinate of a point of the unit circle; nan outside of it.
AFTERGLOW_INLINE double on_unit_circle(double x) {
  return __builtin_sqrt((1.0 - x) * (1.0 + x));
}

AFTERGLOW_INLINE float arcsin(float x) {
  const double size = abs(x);
  const double angle = first_quadrant_angle(size, on_unit_circle(size));
  return copysign(static_cast<float>(angle), x);
}
AFTERGLOW_INLINE double arcsin(double x) {
  return __builtin_asin(x);
}

AFTERGLOW_INLINE float arccos(float x) {
  const double size = abs(x);
  const double angle = first_quadrant_angle(on_unit_circle(size), size);
  return static_cast<float>(x < 0.0f ? pi - angle : angle);
}
AFTERGLOW_INLINE double arccos(double x) {
  return __builtin_acos(x);
}

}  // namespace
}  // namespace afterglow::kernels
