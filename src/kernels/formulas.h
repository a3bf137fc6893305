// SPDX-License-Identifier: Apache-2.0
// The formulas, one line each. A rule takes values of the compute type and returns that type, or
// bool for a comparison; the number of its parameters is the number of inputs.
//   fit(x, v)   v converted to the type of x as by a cast
//   wide(x)     x where integers wrap around
//   real(x)     x, or float64 for integers
// A parameter's type can be limited: there are kernels only for the types that a rule takes. Ops
// convert what they can to one of them.
#pragma once

#include <concepts>

#include "kernels/elementwise.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/functions.h"
#include "kernels/isa/special.h"
#include "kernels/isa/trigonometry.h"

namespace afterglow::kernels {
namespace {

template <class T, class Value>
AFTERGLOW_INLINE T fit(T, Value value) {
  return as<T>(value);
}

using F = Formula;
using Long = std::int64_t;
template <Formula formula>
const auto rule = nullptr;
/// What the rare arguments take that a rule does not cover: is_beyond(x) of blocks.h tells which.
template <Formula formula>
const auto rule_beyond = nullptr;
/// A shorter way to the same bits for blocks of positive normal numbers; is_plain(...) of blocks.h
/// tells whether a block can take it.
template <Formula formula>
const auto rule_of_normal = nullptr;
/// Long rules in two steps: the first takes the inputs, the second its results and the first input.
/// Powers go this way in such blocks only.
template <Formula formula>
const auto first_step = nullptr;
template <Formula formula>
const auto second_step = nullptr;

// clang-format off
template <> const auto rule<F::copy> = [](auto x) { return x; };
template <> const auto rule<F::negative> = [](auto x) { return fit(x, -wide(x)); };
template <> const auto rule<F::absolute> = [](auto x) { return absolute(x); };
template <> const auto rule<F::exponential> = [](auto x) { return fit(x, exponential(real(x))); };
template <> const auto rule<F::logarithm> = [](auto x) { return fit(x, logarithm(real(x))); };
template <> const auto rule_of_normal<F::logarithm> = [](std::same_as<float> auto x) { return logarithm_of_normal(x); };
template <> const auto rule<F::square_root> = [](auto x) { return fit(x, square_root(real(x))); };
template <> const auto rule<F::hyperbolic_tangent> = [](auto x) { return fit(x, tanh(real(x))); };
template <> const auto rule<F::sigmoid> = [](auto x) { return fit(x, sigmoid(real(x))); };
template <> const auto rule<F::rectify> = [](auto x) { return x <= fit(x, 0) ? fit(x, 0) : x; };
template <> const auto rule<F::square> = [](auto x) { return fit(x, wide(x) * wide(x)); };
template <> const auto rule<F::cube> = [](auto x) { return fit(x, wide(fit(x, wide(x) * wide(x))) * wide(x)); };

template <> const auto rule<F::sign> = [](std::floating_point auto x) { return sign(x); };
template <> const auto rule<F::truncate> = [](std::floating_point auto x) { return truncate(x); };
template <> const auto rule<F::round_down> = [](std::floating_point auto x) { return round_down(x); };
template <> const auto rule<F::round_up> = [](std::floating_point auto x) { return round_up(x); };
template <> const auto rule<F::round_half_away> = [](std::floating_point auto x) { return round_half_away(x); };
template <> const auto rule<F::round_half_to_even> = [](std::floating_point auto x) { return round_half_to_even(x); };
template <> const auto rule<F::round_half_down> = [](std::floating_point auto x) { return round_half_down(x); };
template <> const auto rule<F::soft_sign> = [](std::floating_point auto x) { return x / (1 + absolute(x)); };
template <> const auto rule<F::reciprocal_square_root> = [](std::floating_point auto x) { return 1 / square_root(x); };
template <> const auto rule<F::cube_root> = [](std::floating_point auto x) { return cube_root(x); };
template <> const auto rule<F::exponential_minus_1> = [](std::floating_point auto x) { return exponential_minus_1(x); };
template <> const auto rule<F::logarithm_of_1_plus> = [](std::floating_point auto x) { return logarithm_of_1_plus(x); };
template <> const auto rule<F::logarithm_2> = [](std::floating_point auto x) { return logarithm_2(x); };
template <> const auto rule<F::logarithm_10> = [](std::floating_point auto x) { return logarithm_10(x); };
template <> const auto rule<F::sine> = [](std::floating_point auto x) { return sine(x); };
template <> const auto rule<F::cosine> = [](std::floating_point auto x) { return cosine(x); };
template <> const auto rule<F::tangent> = [](std::floating_point auto x) { return tangent(x); };
template <> const auto rule_beyond<F::sine> = [](double x) { return __builtin_sin(x); };
template <> const auto rule_beyond<F::cosine> = [](double x) { return __builtin_cos(x); };
template <> const auto rule_beyond<F::tangent> = [](double x) { return __builtin_tan(x); };
template <> const auto rule<F::arc_sine> = [](std::floating_point auto x) { return arc_sine(x); };
template <> const auto rule<F::arc_cosine> = [](std::floating_point auto x) { return arc_cosine(x); };
template <> const auto rule<F::arc_tangent> = [](std::floating_point auto x) { return arc_tangent(x); };
template <> const auto rule<F::hyperbolic_sine> = [](std::floating_point auto x) { return hyperbolic_sine(x); };
template <> const auto rule<F::hyperbolic_cosine> = [](std::floating_point auto x) { return hyperbolic_cosine(x); };
template <> const auto rule<F::inverse_hyperbolic_sine> = [](std::floating_point auto x) { return inverse_hyperbolic_sine(x); };
template <> const auto rule<F::inverse_hyperbolic_cosine> = [](std::floating_point auto x) { return inverse_hyperbolic_cosine(x); };
template <> const auto rule<F::inverse_hyperbolic_tangent> = [](std::floating_point auto x) { return inverse_hyperbolic_tangent(x); };
template <> const auto rule<F::error_function> = [](std::floating_point auto x) { return error_function(x); };
template <> const auto rule<F::gaussian_linear_unit> = [](std::floating_point auto x) { return gaussian_linear_unit(x); };
template <> const auto first_step<F::error_function> = [](std::same_as<float> auto x) { return excess_decay(error_function_argument(x)); };
template <> const auto second_step<F::error_function> = [](float excess, float x) { return error_function(x, excess); };
template <> const auto first_step<F::gaussian_linear_unit> = [](std::same_as<float> auto x) { return gaussian_decay(x); };
template <> const auto second_step<F::gaussian_linear_unit> = [](float decay, float x) { return gaussian_linear_unit(x, decay); };
template <> const auto rule<F::soft_rectify> = [](std::floating_point auto x) { return soft_rectify(x); };
template <> const auto rule<F::inverse_error_function> = [](std::same_as<double> auto x) { return inverse_error_function(x); };
template <> const auto rule<F::gamma_function> = [](std::same_as<double> auto x) { return gamma_function(x); };
template <> const auto rule<F::logarithm_of_gamma> = [](std::same_as<double> auto x) { return logarithm_of_gamma(x); };
template <> const auto rule<F::digamma> = [](std::same_as<double> auto x) { return digamma(x); };

template <> const auto rule<F::add> = [](auto a, auto b) { return fit(a, wide(a) + wide(b)); };
template <> const auto rule<F::subtract> = [](auto a, auto b) { return fit(a, wide(a) - wide(b)); };
template <> const auto rule<F::multiply> = [](auto a, auto b) { return fit(a, wide(a) * wide(b)); };
template <> const auto rule<F::divide> = [](auto a, auto b) { return divide(a, b); };
template <> const auto rule<F::modulo> = [](auto a, auto b) { return modulo(a, b); };
template <> const auto rule<F::power> = [](auto a, auto b) { return power(a, b); };
template <> const auto first_step<F::power> = [](std::same_as<float> auto a, auto b) { return b * binary_logarithm_of_normal(a); };
template <> const auto second_step<F::power> = [](double x, float) { return static_cast<float>(binary_exponential_within_limits(x)); };
template <> const auto rule<F::maximum> = [](auto a, auto b) { return a >= b || a != a ? a : b; };
template <> const auto rule<F::minimum> = [](auto a, auto b) { return a <= b || a != a ? a : b; };
template <> const auto rule<F::equal> = [](auto a, auto b) { return a == b; };
template <> const auto rule<F::not_equal> = [](auto a, auto b) { return a != b; };
template <> const auto rule<F::less> = [](auto a, auto b) { return a < b; };
template <> const auto rule<F::less_equal> = [](auto a, auto b) { return a <= b; };
template <> const auto rule<F::greater> = [](auto a, auto b) { return a > b; };
template <> const auto rule<F::greater_equal> = [](auto a, auto b) { return a >= b; };

template <> const auto rule<F::copy_sign> = [](std::floating_point auto a, auto b) { return copy_sign(a, b); };
template <> const auto rule<F::hypotenuse> = [](std::floating_point auto a, auto b) { return hypotenuse(a, b); };
template <> const auto rule<F::arc_tangent_of_point> = [](std::floating_point auto a, auto b) { return arc_tangent_of_point(a, b); };
template <> const auto rule<F::logical_and> = [](std::floating_point auto a, auto b) { return a != 0 && b != 0; };
template <> const auto rule<F::logical_or> = [](std::floating_point auto a, auto b) { return a != 0 || b != 0; };
template <> const auto rule<F::logical_xor> = [](std::floating_point auto a, auto b) { return (a != 0) != (b != 0); };
template <> const auto rule<F::leaky_rectify> = [](std::floating_point auto x, auto slope) { return x > 0 ? x : slope * x; };
template <> const auto rule<F::exponential_linear> = [](std::floating_point auto x, auto slope) { return x > 0 ? x : slope * exponential_minus_1(x); };
template <> const auto rule<F::smooth_absolute> = [](std::floating_point auto x, auto sigma) { return smooth_absolute(x, sigma); };
template <> const auto rule<F::bitwise_and> = [](std::same_as<Long> auto a, auto b) { return a & b; };
template <> const auto rule<F::bitwise_or> = [](std::same_as<Long> auto a, auto b) { return a | b; };
template <> const auto rule<F::bitwise_xor> = [](std::same_as<Long> auto a, auto b) { return a ^ b; };

template <> const auto rule<F::select> = [](auto c, auto a, auto b) { return c != fit(c, 0) ? a : b; };
template <> const auto rule<F::clip> = [](auto x, auto low, auto high) { return x > high ? high : (x < low ? low : x); };
// clang-format on

}  // namespace
}  // namespace afterglow::kernels
