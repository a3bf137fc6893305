// SPDX-License-Identifier: Apache-2.0
// The rules of formulas.def, each by its formula, and the other ways that some formulas can go.
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
#define FORMULA(name, work, ...) \
  template <>                    \
  const auto rule<F::name> = __VA_ARGS__;
#include "kernels/formulas.def"

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
template <> const auto rule_of_normal<F::log> = [](std::same_as<float> auto x) { return logarithm_of_normal(x); };
template <> const auto rule_beyond<F::sin> = [](double x) { return __builtin_sin(x); };
template <> const auto rule_beyond<F::cos> = [](double x) { return __builtin_cos(x); };
template <> const auto rule_beyond<F::tan> = [](double x) { return __builtin_tan(x); };
template <> const auto first_step<F::erf> = [](std::same_as<float> auto x) { return excess_decay(error_function_argument(x)); };
template <> const auto second_step<F::erf> = [](float excess, float x) { return erf(x, excess); };
template <> const auto first_step<F::gelu> = [](std::same_as<float> auto x) { return gaussian_decay(x); };
template <> const auto second_step<F::gelu> = [](float decay, float x) { return gelu(x, decay); };
template <> const auto first_step<F::power> = [](std::same_as<float> auto a, auto b) { return b * binary_logarithm_of_normal(a); };
template <> const auto second_step<F::power> = [](double x, float) { return static_cast<float>(binary_exponential_within_limits(x)); };
// clang-format on

}  // namespace
}  // namespace afterglow::kernels
