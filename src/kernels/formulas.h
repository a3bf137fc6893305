// SPDX-License-Identifier: Apache-2.0
// The formulas, one line each. A rule takes values of the compute type and returns that type, or
// bool for a comparison; the number of its parameters is the number of inputs.
//   fit(x, v)   v converted to the type of x as by a cast
//   wide(x)     x where integers wrap around
//   real(x)     x, or float64 for integers
#pragma once

#include "kernels/elementwise.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/functions.h"

namespace afterglow::kernels {
namespace {

template <class T, class Value>
AFTERGLOW_INLINE T fit(T, Value value) {
  return as<T>(value);
}

using F = Formula;
template <Formula formula>
const auto rule = nullptr;

// clang-format off
template <> const auto rule<F::copy> = [](auto x) { return x; };
template <> const auto rule<F::negative> = [](auto x) { return fit(x, -wide(x)); };
template <> const auto rule<F::absolute> = [](auto x) { return absolute(x); };
template <> const auto rule<F::exponential> = [](auto x) { return fit(x, exponential(real(x))); };
template <> const auto rule<F::logarithm> = [](auto x) { return fit(x, logarithm(real(x))); };
template <> const auto rule<F::square_root> = [](auto x) { return fit(x, square_root(real(x))); };
template <> const auto rule<F::hyperbolic_tangent> = [](auto x) { return fit(x, tanh(real(x))); };
template <> const auto rule<F::sigmoid> = [](auto x) { return fit(x, sigmoid(real(x))); };
template <> const auto rule<F::rectify> = [](auto x) { return x <= fit(x, 0) ? fit(x, 0) : x; };
template <> const auto rule<F::square> = [](auto x) { return fit(x, wide(x) * wide(x)); };
template <> const auto rule<F::cube> = [](auto x) { return fit(x, wide(fit(x, wide(x) * wide(x))) * wide(x)); };

template <> const auto rule<F::add> = [](auto a, auto b) { return fit(a, wide(a) + wide(b)); };
template <> const auto rule<F::subtract> = [](auto a, auto b) { return fit(a, wide(a) - wide(b)); };
template <> const auto rule<F::multiply> = [](auto a, auto b) { return fit(a, wide(a) * wide(b)); };
template <> const auto rule<F::divide> = [](auto a, auto b) { return divide(a, b); };
template <> const auto rule<F::modulo> = [](auto a, auto b) { return modulo(a, b); };
template <> const auto rule<F::power> = [](auto a, auto b) { return power(a, b); };
template <> const auto rule<F::maximum> = [](auto a, auto b) { return a >= b || a != a ? a : b; };
template <> const auto rule<F::minimum> = [](auto a, auto b) { return a <= b || a != a ? a : b; };
template <> const auto rule<F::equal> = [](auto a, auto b) { return a == b; };
template <> const auto rule<F::not_equal> = [](auto a, auto b) { return a != b; };
template <> const auto rule<F::less> = [](auto a, auto b) { return a < b; };
template <> const auto rule<F::less_equal> = [](auto a, auto b) { return a <= b; };
template <> const auto rule<F::greater> = [](auto a, auto b) { return a > b; };
template <> const auto rule<F::greater_equal> = [](auto a, auto b) { return a >= b; };

template <> const auto rule<F::select> = [](auto c, auto a, auto b) { return c != fit(c, 0) ? a : b; };
template <> const auto rule<F::clip> = [](auto x, auto low, auto high) { return x > high ? high : (x < low ? low : x); };
// clang-format on

}  // namespace
}  // namespace afterglow::kernels
