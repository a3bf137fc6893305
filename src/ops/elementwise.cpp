// SPDX-License-Identifier: Apache-2.0
// Elementwise ops. The formula itself is one line in kernels/formulas.h.
#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using kernels::Formula;
using lazy::Inference;
using lazy::Operand;

/// The common type of array inputs; mx.nd demands that they are equal.
DType common_type(const Inference& inference) {
  const Operand* first = nullptr;
  DType type = DType::float32;
  for (const Operand& input : inference.call.inputs) {
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

void add_result(Inference& inference, DType compute, DType result) {
  for (Operand& input : inference.call.inputs) lazy::settle_immediate(input, compute);
  inference.add_output(broadcast_inputs(inference), result);
  finish_elementwise(inference, compute_type(compute));
}

/// The type of the array stays, whatever the number beside it: `int_array + 1.5` adds 1. A boolean
/// array meets a number as int64.
void arithmetic(Inference& inference) {
  DType type = common_type(inference);
  if (type == DType::boolean) {
    const Formula formula = *inference.call.op->formula;
    const bool logical =
        formula == Formula::add || formula == Formula::multiply || formula == Formula::power;
    if (has_immediate(inference)) {
      type = DType::int64;
    } else if (inference.legacy || !logical) {
      inference.refuse("is not defined for booleans", ErrorKind::type);
    }
  }
  add_result(inference, type, type);
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
             .infer = arithmetic,
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
}

}  // namespace afterglow::ops
