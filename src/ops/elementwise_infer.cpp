// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise_infer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lazy/immediate.h"
#include "ops/common.h"

namespace afterglow::ops {

using kernels::Formula;
using lazy::Inference;
using lazy::Operand;

DType common_type(const Inference& inference, std::size_t begin) {
  const Operand* first = nullptr;
  DType type = DType::float32;
  for (std::size_t i = begin; i < inference.call.inputs.size(); ++i) {
    const Operand& input = inference.call.inputs[i];
    if (input.is_immediate()) continue;
    if (first && inference.legacy && input.dtype != first->dtype) {
      inference.refuse("inputs must have the same type; convert one with astype");
    }
    type = first ? promote(type, input.dtype) : input.dtype;
    if (!first) first = &input;
  }
  if (!first) inference.refuse("needs at least one array", ErrorKind::type);
  return type;
}

bool has_immediate(const Inference& inference) {
  return std::ranges::any_of(inference.call.inputs, &Operand::is_immediate);
}

void add_result(Inference& inference, DType compute, DType result, Formula formula) {
  for (Operand& input : inference.call.inputs) settle(inference, input, compute);
  inference.add_output(broadcast_inputs(inference), result);
  finish_elementwise(inference, compute_type(compute), formula);
}

void add_result(Inference& inference, DType compute, DType result) {
  add_result(inference, compute, result, *inference.op.formula);
}

namespace {

/// The type of the array stays, whatever the number beside it: `int_array + 1.5` adds 1. A boolean
/// array meets a number as int64.
DType arithmetic_type(const Inference& inference) {
  const DType type = common_type(inference);
  if (type != DType::boolean) return type;
  if (has_immediate(inference)) return DType::int64;
  const Formula formula = *inference.op.formula;
  const bool logical = formula == Formula::add || formula == Formula::multiply ||
                       formula == Formula::power || formula == Formula::maximum ||
                       formula == Formula::minimum;
  if (inference.legacy || !logical) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  return type;
}

std::int64_t integer_given(const Operand& immediate) {
  return std::bit_cast<std::int64_t>(immediate.immediate);
}

/// The value of a number as the user gave it, before it is settled to the type of an array.
double number_given(const Operand& immediate) {
  if (immediate.dtype == DType::float64) return std::bit_cast<double>(immediate.immediate);
  return static_cast<double>(integer_given(immediate));
}

/// What computes a power of elements of `type`: multiplications where the exponent is 1, 2 or 3.
/// The square root is none of them: it gives -0 for -0 and nan for -inf, where the power 0.5 gives
/// 0 and inf.
Formula power_formula(const Operand& exponent, DType type) {
  if (!exponent.is_immediate()) return Formula::power;
  const double given = number_given(exponent);
  const double number = is_floating(type) ? given : std::trunc(given);
  if (number == 1) return Formula::copy;
  if (number == 2) return Formula::square;
  if (number == 3) return Formula::cube;
  return Formula::power;
}

/// The comparison that says the same with its sides exchanged.
Formula mirrored(Formula comparison) {
  switch (comparison) {
    case Formula::less:
      return Formula::greater;
    case Formula::less_equal:
      return Formula::greater_equal;
    case Formula::greater:
      return Formula::less;
    case Formula::greater_equal:
      return Formula::less_equal;
    default:
      return comparison;
  }
}

/// Replaces a number that elements of type `integer` cannot have by one that they can, and returns
/// the comparison with it that says the same of each of them. The number stands on the right.
Formula exact_comparison(Operand& immediate, DType integer, Formula formula) {
  const IntegerRange range = range_of(integer);
  const double number = number_given(immediate);
  const bool is_float = immediate.dtype == DType::float64;
  const double whole = std::floor(number);
  // 2**63 is a float64, the highest integer is none.
  const bool is_above = is_float ? whole >= static_cast<double>(range.highest) + 1
                                 : integer_given(immediate) > range.highest;
  const bool is_below = is_float ? number < static_cast<double>(range.lowest)
                                 : integer_given(immediate) < range.lowest;
  const bool asks_for_less = formula == Formula::less || formula == Formula::less_equal;
  const bool asks_for_equal = formula == Formula::equal || formula == Formula::not_equal;
  if (!is_above && !is_below && whole == number) {
    if (is_float) lazy::set_immediate(immediate, static_cast<std::int64_t>(whole));
    return formula;
  }
  if (!asks_for_equal && !is_above && !is_below && !std::isnan(number)) {
    lazy::set_immediate(immediate, static_cast<std::int64_t>(whole));
    return asks_for_less ? Formula::less_equal : Formula::greater;
  }
  bool answer = formula == Formula::not_equal;
  if (!asks_for_equal && !std::isnan(number)) answer = asks_for_less == is_above;
  lazy::set_immediate(immediate, range.lowest);
  return answer ? Formula::greater_equal : Formula::less;
}

/// The type of the only input. Functions of reals take booleans for the numbers 0 and 1; mx.nd
/// refuses them.
DType number_type(const Inference& inference) {
  const DType type = common_type(inference);
  if (type != DType::boolean) return type;
  if (inference.legacy || *inference.op.formula == Formula::sign) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  return DType::float32;
}

void keep_truth(Inference& inference, bool of_integers) {
  const DType type = common_type(inference);
  const bool is_truth = type == DType::boolean && !inference.legacy;
  if (type == DType::boolean && !is_truth) number_type(inference);
  const bool is_copy = is_truth || (of_integers && !is_floating(type));
  add_result(inference, type, type, is_copy ? Formula::copy : *inference.op.formula);
}

/// Where a function of reals is computed: integers in float64, from which the result is cut off.
DType real_type(DType type) {
  return is_floating(type) ? type : DType::float64;
}

}  // namespace

void arithmetic(Inference& inference) {
  const DType type = arithmetic_type(inference);
  add_result(inference, type, type);
}

void infer_power(Inference& inference) {
  const DType type = arithmetic_type(inference);
  auto& inputs = inference.call.inputs;
  const Formula formula = power_formula(inputs[1], type);
  if (formula != Formula::power) {  // the formula has the exponent in it
    Operand base = std::move(inputs[0]);
    inputs.clear();
    inputs.emplace_back() = std::move(base);
  }
  add_result(inference, type, type, formula);
}

void division(Inference& inference) {
  DType type = common_type(inference);
  if (!is_floating(type)) {
    if (!inference.legacy) {
      type = DType::float32;
    } else if (type == DType::boolean) {
      if (!has_immediate(inference)) {
        inference.refuse("is not defined for booleans", ErrorKind::type);
      }
      type = DType::int64;
    }
  }
  add_result(inference, type, type);
}

void comparison(Inference& inference) {
  DType type = common_type(inference);
  if (type == DType::boolean && has_immediate(inference)) type = DType::int64;
  Formula formula = *inference.op.formula;
  if (!is_floating(type) && has_immediate(inference)) {
    auto& inputs = inference.call.inputs;
    if (inputs[0].is_immediate()) {
      std::swap(inputs[0], inputs[1]);
      formula = mirrored(formula);
    }
    formula = exact_comparison(inputs[1], type, formula);
  }
  add_result(inference, type, inference.legacy ? type : DType::boolean, formula);
}

void keep_type(Inference& inference) {
  const DType type = number_type(inference);
  add_result(inference, type, type);
}

void real_function(Inference& inference) {
  const DType type = number_type(inference);
  add_result(inference, real_type(type), type);
}

void double_function(Inference& inference) {
  add_result(inference, DType::float64, number_type(inference));
}

void floats_only(Inference& inference) {
  const DType type = common_type(inference);
  if (!is_floating(type)) inference.refuse("is for floats only", ErrorKind::type);
  add_result(inference, type, type);
}

void scaling(Inference& inference, double factor) {
  const DType type = number_type(inference);
  lazy::set_immediate(inference.call.inputs.emplace_back(), factor);
  add_result(inference, real_type(type), type);
}

void reciprocal(Inference& inference) {
  const DType type = number_type(inference);
  auto& inputs = inference.call.inputs;
  Operand divisor = std::move(inputs[0]);
  inputs.clear();
  lazy::set_immediate(inputs.emplace_back(), 1.0);
  inputs.emplace_back() = std::move(divisor);
  add_result(inference, real_type(type), type);
}

void real_function_of_two(Inference& inference) {
  DType type = common_type(inference);
  if (type == DType::boolean) {
    if (!has_immediate(inference)) {
      inference.refuse("is not defined for booleans", ErrorKind::type);
    }
    type = DType::int64;
  }
  add_result(inference, real_type(type), type);
}

void logic(Inference& inference) {
  DType type = common_type(inference);
  const DType compute = real_type(type);
  if (type == DType::boolean && has_immediate(inference)) type = DType::int64;
  add_result(inference, compute, inference.legacy ? type : DType::boolean);
}

void bits(Inference& inference) {
  const DType type = common_type(inference);
  if (is_floating(type)) {
    inference.refuse("is for integers and booleans, not for floats", ErrorKind::type);
  }
  for (const Operand& input : inference.call.inputs) {
    if (!input.is_immediate()) continue;
    Operand settled = input;  // computed in int64, but a number of the type all the same
    settle(inference, settled, type);
  }
  if (type == DType::boolean && !has_immediate(inference)) {  // without conversions
    const Formula formula = *inference.op.formula;
    return add_result(inference, type, type,
                      formula == Formula::bitwise_and  ? Formula::multiply
                      : formula == Formula::bitwise_or ? Formula::add
                                                       : Formula::not_equal);
  }
  add_result(inference, DType::int64, type);
}

void keep_type_but_boolean(Inference& inference) {
  const DType type = inference.call.inputs[0].dtype;
  add_result(inference, type == DType::boolean ? DType::int64 : type,
             type == DType::boolean ? DType::int64 : type);
}

void keep_truth(Inference& inference) {
  keep_truth(inference, false);
}

void keep_integers(Inference& inference) {
  keep_truth(inference, true);
}

void is_zero(Inference& inference) {
  lazy::set_immediate(inference.call.inputs.emplace_back(), std::int64_t{0});
  comparison(inference);
}

void inverted_bits(Inference& inference) {
  const DType type = inference.call.inputs[0].dtype;
  if (type == DType::boolean) {
    lazy::set_immediate(inference.call.inputs.emplace_back(), std::int64_t{0});
    return add_result(inference, type, type, Formula::equal);
  }
  const std::int64_t all = type == DType::uint8 ? 255 : -1;
  lazy::set_immediate(inference.call.inputs.emplace_back(), all);
  bits(inference);
}

}  // namespace afterglow::ops
