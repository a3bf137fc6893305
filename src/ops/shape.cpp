// SPDX-License-Identifier: Apache-2.0
// Copies in all their forms, and concatenation. (Views are no ops: bindings make them from a
// layout.)
#include <algorithm>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;
using lazy::Operand;

Context context_argument(const Inference& inference, std::string_view name) {
  if (inference.is_none(name)) return inference.context;
  const Shape& numbers = inference.shape(name);
  return {static_cast<Context::Type>(numbers.at(0)), static_cast<std::int16_t>(numbers.at(1))};
}

/// Copies to another type, shape (by broadcasting) or context; fills from a number.
void copy_infer(Inference& inference) {
  Operand& input = inference.call.inputs[0];
  const DType dtype =
      dtype_argument(inference, "dtype", input.is_immediate() ? DType::float32 : input.dtype);
  inference.context = context_argument(inference, "context");
  if (input.is_immediate()) {
    inference.add_output(inference.shape("shape"), dtype);
    lazy::settle_immediate(input, dtype);
  } else if (inference.is_none("shape")) {
    inference.add_output(broadcast_inputs(inference), dtype);
  } else {
    inference.add_output(broadcast_inputs_to(inference, inference.shape("shape")), dtype);
  }
  // Same type on both sides: the bytes travel as they are, also float16.
  const DType source = inference.call.inputs[0].dtype;
  finish_elementwise(inference, compute_type(source));
}

/// Each input is copied beside the others along one axis.
class ConcatPass : public lazy::Pass {
 public:
  explicit ConcatPass(const Call& call) {
    const Operand& output = call.outputs[0];
    const auto axis = static_cast<int>(call.attributes[0].integer);
    std::int64_t position = 0;
    for (const Operand& input : call.inputs) {
      kernels::ElementwisePass pass;
      pass.compute = pass.produced = compute_type(output.dtype);
      pass.function = kernels::block_function(kernels::Formula::copy, pass.compute);
      pass.inputs_used = 1;
      pass.rank = input.layout->rank();
      pass.shape = input.shape().data();
      pass.size = input.size();
      pass.inputs[0] = {input.data(), input.dtype, input.layout->strides().data(), false};
      const std::int64_t start = position * output.layout->strides()[axis];
      pass.output = {output.data() + start * static_cast<std::int64_t>(size_of(output.dtype)),
                     output.dtype, output.layout->strides().data(), false};
      position += input.shape()[axis];
      if (!pass.size) continue;
      passes_.push_back(pass);
      shares_ += kernels::share_count(pass);
    }
  }
  int shares() const override { return shares_; }
  void run(int share) override {
    for (const kernels::ElementwisePass& pass : passes_) {
      const int count = kernels::share_count(pass);
      if (share < count) return kernels::run_share(pass, share);
      share -= count;
    }
  }

 private:
  std::vector<kernels::ElementwisePass> passes_;
  int shares_ = 0;
};

void concat_infer(Inference& inference) {
  Call& call = inference.call;
  if (!call.inputs.size()) inference.refuse("needs at least one array");
  for (const Operand& input : call.inputs) {
    if (input.is_immediate()) inference.refuse("joins arrays, not numbers", ErrorKind::type);
  }
  const Operand& first = call.inputs[0];
  const int axis = checked_axis(inference, inference.integer("axis"), first.layout->rank());
  Shape shape(first.shape().begin(), first.shape().end());
  DType dtype = first.dtype;
  shape[axis] = 0;
  for (const Operand& input : call.inputs) {
    bool fits = input.layout->rank() == first.layout->rank();
    for (int other = 0; fits && other < input.layout->rank(); ++other) {
      fits = other == axis || input.shape()[other] == first.shape()[other];
    }
    if (!fits) inference.refuse("all dimensions but axis " + std::to_string(axis) + " must agree");
    if (inference.legacy && input.dtype != dtype)
      inference.refuse("inputs must have the same type");
    dtype = promote(dtype, input.dtype);
    shape[axis] += input.shape()[axis];
  }
  inference.add_output(shape, dtype);
  call.attributes[0].integer = axis;
  call.cost = 100 + 0.3 * static_cast<double>(call.outputs[0].size());
}

}  // namespace

void declare_shape(Table& table) {
  table.add({.name = "copy",
             .mxnet_names = {"_copy", "_copyto", "identity", "Cast", "cast", "_full", "_zeros",
                             "_ones", "broadcast_to"},
             .inputs = {"data"},
             .parameters = {{"dtype"}, {"shape"}, {"context"}},
             .infer = copy_infer,
             .formula = kernels::Formula::copy});
  table.add({.name = "concat",
             .mxnet_names = {"Concat", "concat", "_npi_concatenate"},
             .inputs = {"data"},
             .variadic = true,
             .parameters = {{"axis", std::int64_t{1}}},
             .infer = concat_infer,
             .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
               return std::make_unique<ConcatPass>(call);
             }});
}

}  // namespace afterglow::ops
