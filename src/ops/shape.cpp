// SPDX-License-Identifier: Apache-2.0
// Copies in all their forms, and arrays that are joined. (Views are no ops: bindings make them from
// a layout.)
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/interleave.h"
#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Copy {
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  std::optional<Context> context;
  static constexpr auto fields = std::tuple{
      field("dtype", &Copy::dtype, "of the result; that of an array, float32 of numbers"),
      field("shape", &Copy::shape, "to broadcast to; that of an array"),
      field("context", &Copy::context, "where the result lies")};
};

/// Copies to another type, shape (by broadcasting) or context; fills from a number.
void copy_infer(Inference& inference, const Copy& given) {
  Operand& input = inference.call.inputs[0];
  const DType dtype = given.dtype.value_or(input.is_immediate() ? DType::float32 : input.dtype);
  if (given.context) inference.context = *given.context;
  if (input.is_immediate()) {
    inference.add_output(need_shape(inference, given.shape), dtype);
    settle(inference, input, dtype);
  } else if (given.shape) {
    inference.add_output(broadcast_inputs_to(inference, *given.shape), dtype);
  } else {
    inference.add_output(broadcast_inputs(inference), dtype);
  }
  // Same type on both sides: the bytes travel as they are, also float16.
  const DType source = inference.call.inputs[0].dtype;
  finish_elementwise(inference, compute_type(source));
}

struct Concat {
  std::optional<std::int64_t> axis = 1;
  std::optional<std::int64_t> num_args;
  static constexpr auto fields = std::tuple{
      field("axis", &Concat::axis, "along which; all elements in a row where there is none"),
      field("num_args", &Concat::num_args,
            "how many arrays there are: is taken and has no effect")};
};

/// Each input is copied beside the others along one axis.
class ConcatPass : public lazy::Pass {
 public:
  explicit ConcatPass(const Call& call) {
    const Operand& output = call.outputs[0];
    const int axis = call.settled.get<int>();
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

/// Inputs of one element along the axis and behind it, of one type and without gaps.
bool can_interleave(const Call& call) {
  const auto axis = static_cast<std::size_t>(call.settled.get<int>());
  const std::size_t used = call.inputs.size();
  if (used < 2 || used > kernels::InterleavePass::most_sources) return false;
  return std::ranges::all_of(call.inputs, [&](const Operand& input) {
    const auto rest = input.shape().subspan(axis);
    return input.dtype == call.outputs[0].dtype && input.layout->is_contiguous() &&
           std::ranges::all_of(rest, [](std::int64_t extent) { return extent == 1; });
  });
}

std::unique_ptr<lazy::Pass> concat_kernel(const Call& call) {
  if (!can_interleave(call)) return std::make_unique<ConcatPass>(call);
  std::vector<const void*> sources;
  for (const Operand& input : call.inputs) sources.push_back(input.data());
  const Operand& output = call.outputs[0];
  return kernel_pass<kernels::InterleavePass>(sources, output.dtype, call.inputs[0].size(),
                                              output.data());
}

void need_arrays(const Inference& inference) {
  if (!inference.call.inputs.size()) inference.refuse("needs at least one array");
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate()) inference.refuse("joins arrays, not numbers", ErrorKind::type);
  }
}

/// The inputs, which differ in extent along one axis at most, one behind the other.
void join_along(Inference& inference, int axis) {
  Call& call = inference.call;
  Shape shape(call.inputs[0].shape().begin(), call.inputs[0].shape().end());
  DType dtype = call.inputs[0].dtype;
  shape[axis] = 0;
  for (const Operand& input : call.inputs) {
    dtype = promote(dtype, input.dtype);
    shape[axis] = extent_sum(shape[axis], input.shape()[axis]);
  }
  inference.add_output(shape, dtype);
  call.settled.set(axis);
  call.cost = 100 + 0.3 * static_cast<double>(call.outputs[0].size());
}

void concat_infer(Inference& inference, const Concat& given) {
  Call& call = inference.call;
  need_arrays(inference);
  if (!given.axis) {
    for (Operand& input : call.inputs) {
      if (input.layout->rank() == 1) continue;
      if (!input.layout->is_contiguous()) inference.refuse("needs arrays without gaps");
      const std::int64_t all[] = {input.size()};
      input.layout = Layout::contiguous(all);
    }
  }
  const Operand& first = call.inputs[0];
  const int axis = checked_axis(inference, given.axis.value_or(0), first.layout->rank());
  for (const Operand& input : call.inputs) {
    bool fits = input.layout->rank() == first.layout->rank();
    for (int other = 0; fits && other < input.layout->rank(); ++other) {
      fits = other == axis || input.shape()[other] == first.shape()[other];
    }
    if (!fits) inference.refuse("all dimensions but axis " + std::to_string(axis) + " must agree");
    if (inference.legacy && input.dtype != first.dtype)
      inference.refuse("inputs must have the same type");
  }
  join_along(inference, axis);
}

struct Stack {
  std::int64_t axis = 0;
  std::optional<std::int64_t> num_args;
  static constexpr auto fields = std::tuple{
      field("axis", &Stack::axis, "of the result, a new one"),
      field("num_args", &Stack::num_args, "how many arrays there are: is taken and has no effect")};
};

/// Each with an axis more, of one element.
void stack_infer(Inference& inference, const Stack& given) {
  need_arrays(inference);
  const Reference<Layout> first = inference.call.inputs[0].layout;
  const int axis = checked_axis(inference, given.axis, first->rank() + 1);
  for (Operand& input : inference.call.inputs) {
    if (!same_shape(*input.layout, *first)) inference.refuse("the shapes must be equal");
    Part part = whole(input);
    part.shape.insert(part.shape.begin() + axis, 1);
    part.strides.insert(part.strides.begin() + axis, 0);
    input.given = std::exchange(input.layout, Layout::strided(part.shape, part.strides));
  }
  join_along(inference, axis);
}

/// The part of the gradient that one of the inputs is.
Value part_of_concat(Gradient& c) {
  Part part = whole(c.g.array);
  const auto given = c.parameters<Concat>().axis;
  const std::int64_t number = given.value_or(0);
  const auto axis = static_cast<std::size_t>(
      number < 0 ? number + static_cast<std::int64_t>(part.shape.size()) : number);
  const auto extent = [&](std::size_t input) {
    return given ? c.shape(input)[axis] : element_count(c.shape(input));
  };
  std::int64_t start = 0;
  for (std::size_t before = 0; before < c.index; ++before) start += extent(before);
  part.offset = start * part.strides[axis];
  part.shape[axis] = extent(c.index);
  const Value own = copy(view(c.g, part));
  return fit(c, c.index, given ? own : Value(shaped(own, c.shape(c.index))));
}

Value part_of_stack(Gradient& c) {
  Part part = whole(c.g.array);
  const std::int64_t given = c.parameters<Stack>().axis;
  const std::int64_t axis = given < 0 ? given + std::ssize(part.shape) : given;
  part.offset = static_cast<std::int64_t>(c.index) * part.strides[static_cast<std::size_t>(axis)];
  part.shape.erase(part.shape.begin() + axis);
  part.strides.erase(part.strides.begin() + axis);
  return fit(c, c.index, copy(view(c.g, part)));
}

}  // namespace

void declare_shape(Table& table) {
  table.add<Copy>({.name = "copy",
                   .mxnet_names = {"_copy", "_copyto", "identity", "Cast", "cast", "_full"},
                   .inputs = {"data"},
                   .infer = copy_infer,
                   .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); })}});
  table.add<Concat>(
      {.name = "concat",
       .mxnet_names = {"Concat", "concat", "_npi_concatenate"},
       .spellings = {"np.concatenate(seq, axis=0, out=None)",
                     "nd.concat|Concat(*data, dim:axis=1, num_args=None, out=None, name=None)"},
       .doc =
           R"(Return the arrays one behind the other along an axis; all elements in a row for ``None``.

>>> np.concatenate([np.zeros((2, 3)), np.ones((1, 3))]).shape
(3, 3)

>>> nd.concat(nd.zeros((2, 3)), nd.ones((2, 1)), dim=1).shape
(2, 4))",

       .inputs = {"data"},
       .variadic = true,
       .infer = concat_infer,
       .kernel = concat_kernel,
       .gradients = {reading_nothing(part_of_concat)}});
  table.add<Stack>({.name = "stack",
                    .mxnet_names = {"stack", "_npi_stack"},
                    .spellings = {"np.stack(arrays, axis=0, out=None)",
                                  "nd.stack(*data, axis=0, num_args=None, out=None, name=None)"},
                    .doc = R"(Return the arrays one behind the other along a new axis.

>>> from afterglow import np
>>> np.stack([np.zeros((3,)), np.ones((3,))], axis=1).shape
(3, 2)

>>> from afterglow import nd
>>> nd.stack(nd.zeros((3,)), nd.ones((3,)), axis=1).shape
(3, 2))",

                    .inputs = {"data"},
                    .variadic = true,
                    .infer = stack_infer,
                    .kernel = concat_kernel,
                    .gradients = {reading_nothing(part_of_stack)}});
}

}  // namespace afterglow::ops
