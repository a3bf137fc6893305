// SPDX-License-Identifier: Apache-2.0
// Elementwise ops. The formula itself is one line in kernels/formulas.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using kernels::Formula;
using lazy::Inference;
using lazy::Operand;

/// The common type of array inputs, from the input `begin` on; mx.nd demands that they are equal.
DType common_type(const Inference& inference, std::size_t begin = 0) {
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
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate()) return true;
  }
  return false;
}

void add_result(Inference& inference, DType compute, DType result, Formula formula) {
  for (Operand& input : inference.call.inputs) lazy::settle_immediate(input, compute);
  inference.add_output(broadcast_inputs(inference), result);
  finish_elementwise(inference, compute_type(compute), formula);
}

void add_result(Inference& inference, DType compute, DType result) {
  add_result(inference, compute, result, *inference.op.formula);
}

/// The type of the array stays, whatever the number beside it: `int_array + 1.5` adds 1. A boolean
/// array meets a number as int64.
DType arithmetic_type(const Inference& inference) {
  const DType type = common_type(inference);
  if (type != DType::boolean) return type;
  if (has_immediate(inference)) return DType::int64;
  const Formula formula = *inference.op.formula;
  const bool logical =
      formula == Formula::add || formula == Formula::multiply || formula == Formula::power;
  if (inference.legacy || !logical) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  return type;
}

void arithmetic(Inference& inference) {
  const DType type = arithmetic_type(inference);
  add_result(inference, type, type);
}

/// The value of a number as the user gave it, before it is settled to the type of an array.
double number_given(const Operand& immediate) {
  if (immediate.dtype == DType::float64) {
    double number;
    std::memcpy(&number, immediate.immediate.data(), sizeof number);
    return number;
  }
  std::int64_t integer;
  std::memcpy(&integer, immediate.immediate.data(), sizeof integer);
  return static_cast<double>(integer);
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

void power(Inference& inference) {
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

/// NumPy's true division: integers become float32. mx.nd divides integers as C does.
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

/// Truth values: booleans in NumPy, 0 and 1 of the input's type in mx.nd.
void comparison(Inference& inference) {
  DType type = common_type(inference);
  if (type == DType::boolean && has_immediate(inference)) type = DType::int64;
  add_result(inference, type, inference.legacy ? type : DType::boolean);
}

void keep_type(Inference& inference) {
  const DType type = inference.call.inputs[0].dtype;
  if (inference.call.inputs[0].is_immediate()) common_type(inference);
  if (type == DType::boolean) inference.refuse("is not defined for booleans", ErrorKind::type);
  add_result(inference, type, type);
}

void keep_type_but_boolean(Inference& inference) {
  const DType type = inference.call.inputs[0].dtype;
  add_result(inference, type == DType::boolean ? DType::int64 : type,
             type == DType::boolean ? DType::int64 : type);
}

/// mx.nd stretches nothing but a condition with one value per row of x and y.
void fit_condition(const Inference& inference) {
  Operand& condition = inference.call.inputs[0];
  const Operand& x = inference.call.inputs[1];
  const Operand& y = inference.call.inputs[2];
  const bool one_shape = same_shape(*x.layout, *y.layout);
  if (one_shape && same_shape(*condition.layout, *x.layout)) return;
  if (!one_shape || condition.layout->rank() != 1 || x.layout->rank() == 0 ||
      condition.shape()[0] != x.shape()[0]) {
    inference.refuse(
        "x and y must have one shape, and the condition the same or one value per row");
  }
  Shape strides(x.shape().size(), 0);
  strides[0] = condition.layout->strides()[0];
  condition.given = std::exchange(condition.layout, Layout::strided(x.shape(), strides));
}

/// The condition is converted to the type of the result. Where that could make 0 of something else,
/// the front end gives a mask instead.
void where(Inference& inference) {
  const auto& inputs = inference.call.inputs;
  if (inputs[0].is_immediate()) inference.refuse("condition must be an array", ErrorKind::type);
  const bool numbers = inputs[1].is_immediate() && inputs[2].is_immediate();
  if (inference.legacy) {
    if (has_immediate(inference)) inference.refuse("x and y must be arrays", ErrorKind::type);
    fit_condition(inference);
  }
  const DType type = numbers ? DType::float32 : common_type(inference, 1);
  add_result(inference, type, type);
}

struct IntegerRange {
  std::int64_t lowest, highest;
};

template <class T>
constexpr IntegerRange range_of_type() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

IntegerRange range_of(DType integer) {
  switch (integer) {
    case DType::uint8:
      return range_of_type<std::uint8_t>();
    case DType::int8:
      return range_of_type<std::int8_t>();
    case DType::int32:
      return range_of_type<std::int32_t>();
    default:
      return range_of_type<std::int64_t>();
  }
}

/// A bound for elements of type `integer`: without its fraction, and within the range of the type.
std::int64_t integer_bound(double bound, DType integer) {
  const IntegerRange range = range_of(integer);
  if (bound <= static_cast<double>(range.lowest)) return range.lowest;
  if (bound >= static_cast<double>(range.highest)) return range.highest;
  return static_cast<std::int64_t>(bound);
}

/// Adds the argument `name` as an input of the call. None and nan bound nothing: `unbounded`, an
/// infinity, stands for them.
void add_bound(Inference& inference, std::string_view name, double unbounded) {
  const DType type = inference.call.inputs[0].dtype;
  const lazy::Argument& given = inference.argument(name);
  const auto* number = std::get_if<double>(&given);
  const bool none = inference.is_none(name) && !inference.legacy;
  if (number || none) {
    const double bound = none || std::isnan(*number) ? unbounded : *number;
    Operand& input = inference.call.inputs.emplace_back();
    if (is_floating(type)) return lazy::set_immediate(input, bound);
    return lazy::set_immediate(input, integer_bound(bound, type));
  }
  if (!std::holds_alternative<std::int64_t>(given) && !std::holds_alternative<bool>(given)) {
    inference.refuse(std::string(name) + " must be a number", ErrorKind::type);
  }
  std::int64_t bound = inference.integer(name);
  if (!is_floating(type)) {
    bound = std::clamp(bound, range_of(type).lowest, range_of(type).highest);
  }
  lazy::set_immediate(inference.call.inputs.emplace_back(), bound);
}

/// The bounds take the type of the array: they become two more inputs of the call.
void clip(Inference& inference) {
  const DType type = common_type(inference);
  if (type == DType::boolean) inference.refuse("is not defined for booleans", ErrorKind::type);
  if (inference.is_none("a_min") && inference.is_none("a_max")) {
    inference.refuse("a_min or a_max must be given");
  }
  add_bound(inference, "a_min", -std::numeric_limits<double>::infinity());
  add_bound(inference, "a_max", std::numeric_limits<double>::infinity());
  add_result(inference, type, type);
}

}  // namespace

void declare_elementwise(Table& table) {
  table.add({.name = "negative",
             .mxnet_names = {"negative", "_np_negative"},
             .inputs = {"data"},
             .infer = keep_type_but_boolean,
             .formula = Formula::negative});
  table.add({.name = "abs",
             .mxnet_names = {"abs", "_npi_absolute"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::absolute});
  table.add({.name = "exp",
             .mxnet_names = {"exp", "_npi_exp"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::exponential});
  table.add({.name = "log",
             .mxnet_names = {"log", "_npi_log"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::logarithm});
  table.add({.name = "sqrt",
             .mxnet_names = {"sqrt", "_npi_sqrt"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::square_root});
  table.add({.name = "square",
             .mxnet_names = {"square", "_npi_square"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::square});
  table.add({.name = "tanh",
             .mxnet_names = {"tanh", "_npi_tanh"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::hyperbolic_tangent});
  table.add({.name = "sigmoid",
             .mxnet_names = {"sigmoid", "_npx_sigmoid"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::sigmoid});
  table.add({.name = "relu",
             .mxnet_names = {"relu", "_npx_relu"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::rectify});

  table.add({.name = "add",
             .mxnet_names = {"broadcast_add", "broadcast_plus", "elemwise_add", "_npi_add"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::add});
  table.add({.name = "subtract",
             .mxnet_names = {"broadcast_sub", "broadcast_minus", "elemwise_sub", "_npi_subtract"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::subtract});
  table.add({.name = "multiply",
             .mxnet_names = {"broadcast_mul", "elemwise_mul", "_npi_multiply"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::multiply});
  table.add({.name = "divide",
             .mxnet_names = {"broadcast_div", "elemwise_div", "_npi_true_divide"},
             .inputs = {"lhs", "rhs"},
             .infer = division,
             .formula = Formula::divide});
  table.add({.name = "modulo",
             .mxnet_names = {"broadcast_mod", "_npi_mod"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::modulo});
  table.add({.name = "power",
             .mxnet_names = {"broadcast_power", "_power", "_npi_power"},
             .inputs = {"lhs", "rhs"},
             .infer = power,
             .formula = Formula::power});
  table.add({.name = "maximum",
             .mxnet_names = {"broadcast_maximum", "_maximum", "_npi_maximum"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::maximum});
  table.add({.name = "minimum",
             .mxnet_names = {"broadcast_minimum", "_minimum", "_npi_minimum"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::minimum});

  table.add({.name = "equal",
             .mxnet_names = {"broadcast_equal", "_equal", "_npi_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::equal});
  table.add({.name = "not_equal",
             .mxnet_names = {"broadcast_not_equal", "_not_equal", "_npi_not_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::not_equal});
  table.add({.name = "less",
             .mxnet_names = {"broadcast_lesser", "_lesser", "_npi_less"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::less});
  table.add({.name = "less_equal",
             .mxnet_names = {"broadcast_lesser_equal", "_lesser_equal", "_npi_less_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::less_equal});
  table.add({.name = "greater",
             .mxnet_names = {"broadcast_greater", "_greater", "_npi_greater"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::greater});
  table.add({.name = "greater_equal",
             .mxnet_names = {"broadcast_greater_equal", "_greater_equal", "_npi_greater_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::greater_equal});

  table.add({.name = "where",
             .mxnet_names = {"where", "_npi_where"},
             .inputs = {"condition", "x", "y"},
             .infer = where,
             .formula = Formula::select});
  table.add({.name = "clip",
             .mxnet_names = {"clip", "_npi_clip"},
             .inputs = {"data"},
             .parameters = {{"a_min"}, {"a_max"}},
             .infer = clip,
             .formula = Formula::clip});
}

}  // namespace afterglow::ops
