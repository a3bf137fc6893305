// SPDX-License-Identifier: Apache-2.0
// Elementwise ops. The formula itself is one line in kernels/formulas.def.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using kernels::Formula;
using lazy::field;
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
  for (Operand& input : inference.call.inputs) settle(inference, input, compute);
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
  const bool logical = formula == Formula::add || formula == Formula::multiply ||
                       formula == Formula::power || formula == Formula::maximum ||
                       formula == Formula::minimum;
  if (inference.legacy || !logical) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  return type;
}

void arithmetic(Inference& inference) {
  const DType type = arithmetic_type(inference);
  add_result(inference, type, type);
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

/// Truth values: booleans in NumPy, 0 and 1 of the input's type in mx.nd.
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

void keep_type(Inference& inference) {
  const DType type = number_type(inference);
  add_result(inference, type, type);
}

/// Functions that leave integers among integers, and truth values as they are.
template <bool of_integers>
void keep_truth(Inference& inference) {
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

/// Functions of reals that integers may have too: in MXNet, sin of 1 is 0 in an array of integers.
void real_function(Inference& inference) {
  const DType type = number_type(inference);
  add_result(inference, real_type(type), type);
}

/// The same where there is a kernel for float64 only.
void double_function(Inference& inference) {
  add_result(inference, DType::float64, number_type(inference));
}

void floats_only(Inference& inference) {
  const DType type = common_type(inference);
  if (!is_floating(type)) inference.refuse("is for floats only", ErrorKind::type);
  add_result(inference, type, type);
}

/// Multiplies by a number that the op stands for.
template <double (*factor)()>
void scaling(Inference& inference) {
  const DType type = number_type(inference);
  lazy::set_immediate(inference.call.inputs.emplace_back(), factor());
  add_result(inference, real_type(type), type);
}

double degrees_per_radian() {
  return 57.29577951308232;
}
double radians_per_degree() {
  return 0.017453292519943295;
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

/// Functions of two reals. A boolean array meets a number as int64.
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

/// Truth values of "not zero", which no type loses on its way to float64.
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
  add_result(inference, DType::int64, type);
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
void infer_where(Inference& inference) {
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

/// A bound for elements of type `integer`: without its fraction, and within the range of the type.
std::int64_t integer_bound(double bound, DType integer) {
  const IntegerRange range = range_of(integer);
  if (bound <= static_cast<double>(range.lowest)) return range.lowest;
  if (bound >= static_cast<double>(range.highest)) return range.highest;
  return static_cast<std::int64_t>(bound);
}

struct Clip {
  std::optional<lazy::Number> a_min, a_max;
  static constexpr auto fields =
      std::tuple{field("a_min", &Clip::a_min, "the least element of the result"),
                 field("a_max", &Clip::a_max, "the greatest one")};
};

/// Adds a bound as an input of the call. None and nan bound nothing: `unbounded`, an infinity,
/// stands for them.
void add_bound(Inference& inference, std::string_view name,
               const std::optional<lazy::Number>& given, double unbounded) {
  const DType type = inference.call.inputs[0].dtype;
  if (!given && inference.legacy) {
    inference.refuse(std::string(name) + " must be a number", ErrorKind::type);
  }
  const auto* number = given ? std::get_if<double>(&*given) : &unbounded;
  if (number) {
    const double bound = std::isnan(*number) ? unbounded : *number;
    Operand& input = inference.call.inputs.emplace_back();
    if (is_floating(type)) return lazy::set_immediate(input, bound);
    return lazy::set_immediate(input, integer_bound(bound, type));
  }
  auto bound = std::get<std::int64_t>(*given);
  if (!is_floating(type)) {
    bound = std::clamp(bound, range_of(type).lowest, range_of(type).highest);
  }
  lazy::set_immediate(inference.call.inputs.emplace_back(), bound);
}

/// The bounds take the type of the array: they become two more inputs of the call.
void infer_clip(Inference& inference, const Clip& given) {
  const DType type = common_type(inference);
  if (type == DType::boolean) inference.refuse("is not defined for booleans", ErrorKind::type);
  if (!given.a_min && !given.a_max) inference.refuse("a_min or a_max must be given");
  add_bound(inference, "a_min", given.a_min, -std::numeric_limits<double>::infinity());
  add_bound(inference, "a_max", given.a_max, std::numeric_limits<double>::infinity());
  add_result(inference, type, type);
}

constexpr double pi = std::numbers::pi;

/// The derivative of digamma, as a composition with derivatives of any order.
Value trigamma(const Value& x) {
  constexpr int steps = 7;
  // From x + 7 on the series of Stirling is exact to the last place.
  constexpr double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                  5.0 / 66, -691.0 / 2730, 7.0 / 6};
  const Value mirrored = x < 0.5;
  const Value place = where(mirrored, 1 - x, x);
  Value result = 0;
  for (int step = 0; step < steps; ++step) result = result + 1 / square(place + step);
  const Value inverse = 1 / (place + steps);
  const Value squared = inverse * inverse;
  Value series = 0.0;
  for (auto factor = std::rbegin(bernoulli); factor != std::rend(bernoulli); ++factor)
    series = (series + *factor) * squared;
  result = result + inverse * (1 + 0.5 * inverse + series);
  const Value sine = sin(pi * where(mirrored, x, 0.5));  // no 1 / 0 where it is not used
  return where(mirrored, pi * pi / (sine * sine) - result, result);
}

Value gelu_slope(const Value& x) {
  const Value density = exp(-0.5 * x * x) * (1 / std::sqrt(2 * pi));
  return 0.5 * (1 + erf(x * std::sqrt(0.5))) + x * density;
}

Value smooth_slope(Gradient& c) {
  const Value x = c[0], sharpness = c[1] * c[1];
  const Value near = abs(x) * sharpness < 1;
  return fit(c, 0, where(near, c.g * sharpness * x, c.g * sign(x)));
}

Value to_value(const lazy::Number& number) {
  if (const auto* real = std::get_if<double>(&number)) return *real;
  return std::get<std::int64_t>(number);
}

Value clipped(Gradient& c) {
  const auto given = c.parameters<Clip>();
  Value result = c.g;
  if (given.a_min) result = where(c[0] >= to_value(*given.a_min), result, 0);
  if (given.a_max) result = where(c[0] <= to_value(*given.a_max), result, 0);
  return result;
}

}  // namespace

void declare_elementwise(Table& table) {
  table.add({.name = "negative",
             .mxnet_names = {"negative", "_np_negative"},
             .inputs = {"data"},
             .infer = keep_type_but_boolean,
             .formula = Formula::negative,
             .gradients = {reading_nothing([](Gradient& c) { return -c.g; })}});
  table.add({.name = "abs",
             .mxnet_names = {"abs", "_npi_absolute"},
             .inputs = {"data"},
             .infer = keep_truth<false>,
             .formula = Formula::abs,
             .gradients = {reading({0}, [](Gradient& c) {
               return where(c[0] > 0, c.g, where(c[0] < 0, -c.g, 0));
             })}});
  table.add({.name = "exp",
             .mxnet_names = {"exp", "_npi_exp"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::exp,
             .gradients = {reading_output([](Gradient& c) { return c.g * c.output(); })}});
  table.add({.name = "log",
             .mxnet_names = {"log", "_npi_log"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::log,
             .gradients = {reading({0}, [](Gradient& c) { return c.g / c[0]; })}});
  table.add({.name = "sqrt",
             .mxnet_names = {"sqrt", "_npi_sqrt"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::sqrt,
             .gradients = {reading_output([](Gradient& c) { return c.g * 0.5 / c.output(); })}});
  table.add({.name = "square",
             .mxnet_names = {"square", "_npi_square"},
             .inputs = {"data"},
             .infer = keep_truth<false>,
             .formula = Formula::square,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * 2 * c[0]; })}});
  table.add({.name = "tanh",
             .mxnet_names = {"tanh", "_npi_tanh"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::tanh,
             .gradients = {
                 reading_output([](Gradient& c) { return c.g * (1 - c.output() * c.output()); })}});
  table.add({.name = "sigmoid",
             .mxnet_names = {"sigmoid", "_npx_sigmoid"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::sigmoid,
             .gradients = {
                 reading_output([](Gradient& c) { return c.g * c.output() * (1 - c.output()); })}});
  table.add({.name = "relu",
             .mxnet_names = {"relu", "_npx_relu"},
             .inputs = {"data"},
             .infer = keep_type,
             .formula = Formula::relu,
             .gradients = {// No result is negative.
                           reading_output([](Gradient& c) { return where(c.output(), c.g, 0); })}});

  table.add({.name = "sin",
             .mxnet_names = {"sin", "_npi_sin"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::sin,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * cos(c[0]); })}});
  table.add({.name = "cos",
             .mxnet_names = {"cos", "_npi_cos"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::cos,
             .gradients = {reading({0}, [](Gradient& c) { return -c.g * sin(c[0]); })}});
  table.add({.name = "tan",
             .mxnet_names = {"tan", "_npi_tan"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::tan,
             .gradients = {
                 reading_output([](Gradient& c) { return c.g * (1 + c.output() * c.output()); })}});
  table.add(
      {.name = "arcsin",
       .mxnet_names = {"arcsin", "_npi_arcsin"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::arcsin,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(1 - c[0] * c[0]); })}});
  table.add(
      {.name = "arccos",
       .mxnet_names = {"arccos", "_npi_arccos"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::arccos,
       .gradients = {reading({0}, [](Gradient& c) { return -c.g * rsqrt(1 - c[0] * c[0]); })}});
  table.add({.name = "arctan",
             .mxnet_names = {"arctan", "_npi_arctan"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::arctan,
             .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 + c[0] * c[0]); })}});
  table.add({.name = "sinh",
             .mxnet_names = {"sinh", "_npi_sinh"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::sinh,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * cosh(c[0]); })}});
  table.add({.name = "cosh",
             .mxnet_names = {"cosh", "_npi_cosh"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::cosh,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * sinh(c[0]); })}});
  table.add(
      {.name = "arcsinh",
       .mxnet_names = {"arcsinh", "_npi_arcsinh"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::arcsinh,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(c[0] * c[0] + 1); })}});
  table.add(
      {.name = "arccosh",
       .mxnet_names = {"arccosh", "_npi_arccosh"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::arccosh,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(c[0] * c[0] - 1); })}});
  table.add({.name = "arctanh",
             .mxnet_names = {"arctanh", "_npi_arctanh"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::arctanh,
             .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 - c[0] * c[0]); })}});
  table.add({.name = "expm1",
             .mxnet_names = {"expm1", "_npi_expm1"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::expm1,
             .gradients = {reading_output([](Gradient& c) { return c.g * (c.output() + 1); })}});
  table.add({.name = "log1p",
             .mxnet_names = {"log1p", "_npi_log1p"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::log1p,
             .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 + c[0]); })}});
  table.add(
      {.name = "log2",
       .mxnet_names = {"log2", "_npi_log2"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::log2,
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (c[0] * std::numbers::ln2); })}});
  table.add(
      {.name = "log10",
       .mxnet_names = {"log10", "_npi_log10"},
       .inputs = {"data"},
       .infer = real_function,
       .formula = Formula::log10,
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (c[0] * std::numbers::ln10); })}});
  table.add({.name = "cbrt",
             .mxnet_names = {"cbrt", "_npi_cbrt"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::cbrt,
             .gradients = {
                 reading_output([](Gradient& c) { return c.g / (3 * c.output() * c.output()); })}});
  table.add({.name = "sign",
             .mxnet_names = {"sign", "_npi_sign"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::sign,
             .gradients = {flat}});
  table.add({.name = "rsqrt",
             .mxnet_names = {"rsqrt"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::rsqrt,
             .gradients = {reading_output(
                 [](Gradient& c) { return -0.5 * c.g * c.output() * c.output() * c.output(); })}});
  table.add({.name = "erf",
             .mxnet_names = {"erf", "_npx_erf"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::erf,
             .gradients = {reading(
                 {0}, [](Gradient& c) { return c.g * (2 / std::sqrt(pi)) * exp(-c[0] * c[0]); })}});
  table.add({.name = "softsign",
             .mxnet_names = {"softsign"},
             .inputs = {"data"},
             .infer = real_function,
             .formula = Formula::softsign,
             .gradients = {reading({0}, [](Gradient& c) { return c.g / square(1 + abs(c[0])); })}});
  table.add({.name = "softrelu",
             .inputs = {"data"},
             .infer = floats_only,
             .formula = Formula::softrelu,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * sigmoid(c[0]); })}});
  table.add({.name = "gelu",
             .inputs = {"data"},
             .infer = floats_only,
             .formula = Formula::gelu,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * gelu_slope(c[0]); })}});

  table.add({.name = "floor",
             .mxnet_names = {"floor", "_npi_floor"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::floor,
             .gradients = {flat}});
  table.add({.name = "ceil",
             .mxnet_names = {"ceil", "_npi_ceil"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::ceil,
             .gradients = {flat}});
  table.add({.name = "trunc",
             .mxnet_names = {"trunc", "fix", "_npi_trunc", "_npi_fix"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::trunc,
             .gradients = {flat}});
  table.add({.name = "round",
             .mxnet_names = {"round"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::round,
             .gradients = {flat}});
  table.add({.name = "rint",
             .mxnet_names = {"rint", "_npi_rint"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::rint,
             .gradients = {flat}});
  table.add({.name = "round_half_to_even",
             .mxnet_names = {"_npi_around"},
             .inputs = {"data"},
             .infer = keep_truth<true>,
             .formula = Formula::round_half_to_even,
             .gradients = {flat}});
  table.add({.name = "degrees",
             .mxnet_names = {"degrees", "_npi_degrees"},
             .inputs = {"data"},
             .infer = scaling<degrees_per_radian>,
             .formula = Formula::multiply,
             .gradients = {reading_nothing([](Gradient& c) { return c.g * (180 / pi); })}});
  table.add({.name = "radians",
             .mxnet_names = {"radians", "_npi_radians"},
             .inputs = {"data"},
             .infer = scaling<radians_per_degree>,
             .formula = Formula::multiply,
             .gradients = {reading_nothing([](Gradient& c) { return c.g * (pi / 180); })}});
  table.add(
      {.name = "reciprocal",
       .mxnet_names = {"reciprocal", "_npi_reciprocal"},
       .inputs = {"data"},
       .infer = reciprocal,
       .formula = Formula::divide,
       .gradients = {reading_output([](Gradient& c) { return -c.g * c.output() * c.output(); })}});

  table.add({.name = "gamma",
             .mxnet_names = {"gamma", "_npx_gamma"},
             .inputs = {"data"},
             .infer = double_function,
             .formula = Formula::gamma,
             .gradients = {reading_output_and(
                 {0}, [](Gradient& c) { return c.g * c.output() * digamma(c[0]); })}});
  table.add({.name = "gammaln",
             .mxnet_names = {"gammaln", "_npx_gammaln"},
             .inputs = {"data"},
             .infer = double_function,
             .formula = Formula::gammaln,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * digamma(c[0]); })}});
  table.add({.name = "digamma",
             .mxnet_names = {"digamma"},
             .inputs = {"data"},
             .infer = double_function,
             .formula = Formula::digamma,
             .gradients = {reading({0}, [](Gradient& c) { return c.g * trigamma(c[0]); })}});
  table.add({.name = "erfinv",
             .mxnet_names = {"erfinv", "_npx_erfinv"},
             .inputs = {"data"},
             .infer = double_function,
             .formula = Formula::erfinv,
             .gradients = {reading_output([](Gradient& c) {
               return c.g * (std::sqrt(pi) / 2) * exp(c.output() * c.output());
             })}});

  table.add({.name = "add",
             .mxnet_names = {"broadcast_add", "broadcast_plus", "elemwise_add", "_npi_add"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::add,
             .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                           reading_nothing([](Gradient& c) { return fit(c, 1, c.g); })}});
  table.add({.name = "subtract",
             .mxnet_names = {"broadcast_sub", "broadcast_minus", "elemwise_sub", "_npi_subtract"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::subtract,
             .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                           reading_nothing([](Gradient& c) { return fit(c, 1, -c.g); })}});
  table.add({.name = "multiply",
             .mxnet_names = {"broadcast_mul", "elemwise_mul", "_npi_multiply"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::multiply,
             .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g * c[1]); }),
                           reading({0}, [](Gradient& c) { return fit(c, 1, c.g * c[0]); })}});
  table.add({.name = "divide",
             .mxnet_names = {"broadcast_div", "elemwise_div", "_npi_true_divide"},
             .inputs = {"lhs", "rhs"},
             .infer = division,
             .formula = Formula::divide,
             .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g / c[1]); }),
                           reading({0, 1}, [](Gradient& c) {
                             return fit(c, 1, -c.g * c[0] / (c[1] * c[1]));
                           })}});
  table.add({.name = "modulo",
             .mxnet_names = {"broadcast_mod", "_npi_mod"},
             .inputs = {"lhs", "rhs"},
             .infer = arithmetic,
             .formula = Formula::modulo,
             .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                           reading_output_and({0, 1}, [](Gradient& c) {
                             return fit(c, 1, -c.g * ((c[0] - c.output()) / c[1]));
                           })}});
  table.add({.name = "power",
             .mxnet_names = {"broadcast_power", "_power", "_npi_power"},
             .inputs = {"lhs", "rhs"},
             .infer = infer_power,
             .formula = Formula::power,
             .gradients = {
                 reading({0, 1},
                         [](Gradient& c) { return fit(c, 0, c.g * c[1] * power(c[0], c[1] - 1)); }),
                 reading_output_and(
                     {0}, [](Gradient& c) { return fit(c, 1, c.g * c.output() * log(c[0])); })}});
  table.add(
      {.name = "maximum",
       .mxnet_names = {"broadcast_maximum", "_maximum", "_npi_maximum"},
       .inputs = {"lhs", "rhs"},
       .infer = arithmetic,
       .formula = Formula::maximum,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] >= c[1], c.g, 0)); }),
           reading({0, 1}, [](Gradient& c) { return fit(c, 1, where(c[0] < c[1], c.g, 0)); })}});
  table.add(
      {.name = "minimum",
       .mxnet_names = {"broadcast_minimum", "_minimum", "_npi_minimum"},
       .inputs = {"lhs", "rhs"},
       .infer = arithmetic,
       .formula = Formula::minimum,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] <= c[1], c.g, 0)); }),
           reading({0, 1}, [](Gradient& c) { return fit(c, 1, where(c[0] > c[1], c.g, 0)); })}});

  table.add({.name = "equal",
             .mxnet_names = {"broadcast_equal", "_equal", "_npi_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::equal,
             .gradients = {no_gradient}});
  table.add({.name = "not_equal",
             .mxnet_names = {"broadcast_not_equal", "_not_equal", "_npi_not_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::not_equal,
             .gradients = {no_gradient}});
  table.add({.name = "less",
             .mxnet_names = {"broadcast_lesser", "_lesser", "_npi_less"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::less,
             .gradients = {no_gradient}});
  table.add({.name = "less_equal",
             .mxnet_names = {"broadcast_lesser_equal", "_lesser_equal", "_npi_less_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::less_equal,
             .gradients = {no_gradient}});
  table.add({.name = "greater",
             .mxnet_names = {"broadcast_greater", "_greater", "_npi_greater"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::greater,
             .gradients = {no_gradient}});
  table.add({.name = "greater_equal",
             .mxnet_names = {"broadcast_greater_equal", "_greater_equal", "_npi_greater_equal"},
             .inputs = {"lhs", "rhs"},
             .infer = comparison,
             .formula = Formula::greater_equal,
             .gradients = {no_gradient}});

  table.add({.name = "hypot",
             .mxnet_names = {"broadcast_hypot", "_hypot", "_npi_hypot"},
             .inputs = {"lhs", "rhs"},
             .infer = real_function_of_two,
             .formula = Formula::hypot,
             .gradients = {reading_output_and(
                               {0}, [](Gradient& c) { return fit(c, 0, c.g * c[0] / c.output()); }),
                           reading_output_and({1}, [](Gradient& c) {
                             return fit(c, 1, c.g * c[1] / c.output());
                           })}});
  table.add({.name = "arctan2",
             .mxnet_names = {"_npi_arctan2"},
             .inputs = {"x1", "x2"},
             .infer = real_function_of_two,
             .formula = Formula::arctan2,
             .gradients = {reading({0, 1},
                                   [](Gradient& c) {
                                     return fit(c, 0, c.g * c[1] / (c[0] * c[0] + c[1] * c[1]));
                                   }),
                           reading({0, 1}, [](Gradient& c) {
                             return fit(c, 1, -c.g * c[0] / (c[0] * c[0] + c[1] * c[1]));
                           })}});
  table.add(
      {.name = "copysign",
       .mxnet_names = {"_npi_copysign"},
       .inputs = {"x1", "x2"},
       .infer = real_function_of_two,
       .formula = Formula::copysign,
       .gradients = {
           reading_output_and(
               {0}, [](Gradient& c) { return fit(c, 0, where(c[0] * c.output() < 0, -c.g, c.g)); }),
           flat}});
  table.add({.name = "logical_and",
             .mxnet_names = {"broadcast_logical_and", "_logical_and"},
             .inputs = {"lhs", "rhs"},
             .infer = logic,
             .formula = Formula::logical_and,
             .gradients = {no_gradient}});
  table.add({.name = "logical_or",
             .mxnet_names = {"broadcast_logical_or", "_logical_or"},
             .inputs = {"lhs", "rhs"},
             .infer = logic,
             .formula = Formula::logical_or,
             .gradients = {no_gradient}});
  table.add({.name = "logical_xor",
             .mxnet_names = {"broadcast_logical_xor", "_logical_xor"},
             .inputs = {"lhs", "rhs"},
             .infer = logic,
             .formula = Formula::logical_xor,
             .gradients = {no_gradient}});
  table.add({.name = "bitwise_and",
             .mxnet_names = {"_npi_bitwise_and"},
             .inputs = {"x1", "x2"},
             .infer = bits,
             .formula = Formula::bitwise_and,
             .gradients = {no_gradient}});
  table.add({.name = "bitwise_or",
             .mxnet_names = {"_npi_bitwise_or"},
             .inputs = {"x1", "x2"},
             .infer = bits,
             .formula = Formula::bitwise_or,
             .gradients = {no_gradient}});
  table.add({.name = "bitwise_xor",
             .mxnet_names = {"_npi_bitwise_xor"},
             .inputs = {"x1", "x2"},
             .infer = bits,
             .formula = Formula::bitwise_xor,
             .gradients = {no_gradient}});
  table.add(
      {.name = "leaky_relu",
       .inputs = {"data", "slope"},
       .infer = floats_only,
       .formula = Formula::leaky_relu,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] > 0, c.g, c.g * c[1])); }),
           reading({0}, [](Gradient& c) { return fit(c, 1, where(c[0] > 0, 0, c.g * c[0])); })}});
  table.add({.name = "elu",
             .inputs = {"data", "slope"},
             .infer = floats_only,
             .formula = Formula::elu,
             .gradients = {reading({0, 1},
                                   [](Gradient& c) {
                                     return fit(c, 0, where(c[0] > 0, c.g, c.g * c[1] * exp(c[0])));
                                   }),
                           reading({0}, [](Gradient& c) {
                             return fit(c, 1, where(c[0] > 0, 0, c.g * expm1(c[0])));
                           })}});
  table.add({.name = "smooth_l1",
             .mxnet_names = {"smooth_l1", "_npx_smooth_l1"},
             .inputs = {"data", "scalar"},
             .infer = real_function_of_two,
             .formula = Formula::smooth_l1,
             .gradients = {reading({0, 1}, smooth_slope), no_gradient}});

  table.add(
      {.name = "where",
       .mxnet_names = {"where", "_npi_where"},
       .inputs = {"condition", "x", "y"},
       .infer = infer_where,
       .formula = Formula::where,
       .gradients = {no_gradient,
                     reading({0}, [](Gradient& c) { return fit(c, 1, where(c[0], c.g, 0)); }),
                     reading({0}, [](Gradient& c) { return fit(c, 2, where(c[0], 0, c.g)); })}});
  table.add<Clip>({.name = "clip",
                   .mxnet_names = {"clip", "_npi_clip"},
                   .inputs = {"data"},
                   .infer = infer_clip,
                   .formula = Formula::clip,
                   .gradients = {reading({0}, clipped)}});
}

}  // namespace afterglow::ops
