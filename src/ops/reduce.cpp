// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes; searches and running sums along one.
#include "kernels/reduce.h"

#include <algorithm>
#include <utility>

#include "kernels/arg_reduce.h"
#include "kernels/scan.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

using kernels::Reduction;

struct Axes {
  std::optional<Shape> axis;
  bool keepdims = false;
  bool exclude = false;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("axis", &Axes::axis, "the axes to reduce; all where none are given"),
                 field("keepdims", &Axes::keepdims, "whether reduced axes stay, with one element"),
                 field("exclude", &Axes::exclude, "whether all other axes are meant"),
                 field("dtype", &Axes::dtype, "of the result")};
};

template <Reduction reduction>
std::unique_ptr<lazy::Pass> kernel(const Call& call) {
  const Operand &input = call.inputs[0], &output = call.outputs[0];
  const kernels::StridedInput view = {input.data(), input.dtype, input.layout->rank(),
                                      input.shape().data(), input.layout->strides().data()};
  return kernel_pass<kernels::ReducePass>(reduction, view, call.reduced_axes, output.data(),
                                          output.dtype);
}

/// The set of reduced axes, one bit each. mx.nd takes an empty tuple for all axes, and can exclude.
std::uint32_t reduced_axes(const Inference& inference, const Axes& given, int rank) {
  const std::uint32_t all = rank == 32 ? ~0u : (1u << rank) - 1;
  if (!given.axis || (given.axis->empty() && inference.legacy)) return all;
  std::uint32_t reduced = 0;
  for (std::int64_t axis : *given.axis) {
    if (rank == 0 && !inference.legacy && (axis == 0 || axis == -1)) continue;  // as NumPy
    const std::uint32_t bit = 1u << checked_axis(inference, axis, rank);
    if (reduced & bit) inference.refuse("axis " + std::to_string(axis) + " is named twice");
    reduced |= bit;
  }
  return given.exclude ? all & ~reduced : reduced;
}

/// NumPy counts booleans in int64 and takes means of integers in float32; mx.nd keeps the type.
DType result_type(const Inference& inference, Reduction reduction) {
  const DType type = inference.call.inputs[0].dtype;
  if (inference.legacy) return type;
  if (reduction == Reduction::mean && !is_floating(type)) return DType::float32;
  const bool counts = reduction == Reduction::sum || reduction == Reduction::product;
  if (counts && type == DType::boolean) return DType::int64;
  return type;
}

template <Reduction reduction>
void infer(Inference& inference, const Axes& given) {
  const Operand& input = inference.call.inputs[0];
  const int rank = input.layout->rank();
  const std::uint32_t reduced = reduced_axes(inference, given, rank);
  Shape shape;
  bool empty = false;
  for (int axis = 0; axis < rank; ++axis) {
    if (!(reduced >> axis & 1)) {
      shape.push_back(input.shape()[axis]);
    } else {
      empty = empty || input.shape()[axis] == 0;
      if (given.keepdims) shape.push_back(1);
    }
  }
  if (empty && (reduction == Reduction::maximum || reduction == Reduction::minimum)) {
    inference.refuse("there is nothing to reduce over");
  }
  if (inference.legacy && shape.empty()) shape.push_back(1);
  inference.add_output(shape, given.dtype.value_or(result_type(inference, reduction)));
  inference.call.reduced_axes = reduced;
  inference.call.cost = 150 + 0.25 * static_cast<double>(input.size());
}

/// What all reductions have in common, and what one of them says.
template <Reduction reduction>
lazy::Op reducing(lazy::Op op) {
  op.inputs = {"data"};
  op.parameters = lazy::parameters_of<Axes>();
  if (!op.infer) op.infer = infer<reduction>;
  op.kernel = kernel<reduction>;
  op.reduction = reduction;
  return op;
}

struct Argmax {
  std::optional<std::int64_t> axis;
  bool keepdims = false;
  static constexpr auto fields =
      std::tuple{field("axis", &Argmax::axis, "along which to search; in all elements without it"),
                 field("keepdims", &Argmax::keepdims, "whether the axis stays, with one element")};
};

/// All elements in a row.
void flatten(const Inference& inference, Operand& input) {
  if (!input.layout->is_contiguous()) inference.refuse("needs an axis, or elements in a row");
  const std::int64_t count[] = {input.size()};
  input.given = std::exchange(input.layout, Layout::contiguous(count));
}

/// mx.nd gives the indices in the type of the array, NumPy in int64.
void arg_infer(Inference& inference, const Argmax& given) {
  Operand& input = inference.call.inputs[0];
  const auto rank = static_cast<std::size_t>(input.layout->rank());
  const bool is_one = rank == 0 && !inference.legacy;  // which NumPy takes for a row
  if (!given.axis || is_one) flatten(inference, input);
  const int axis = axis_of_lines(inference, given.axis.value_or(0));
  if (input.shape()[axis] == 0) inference.refuse("there is nothing to search in");
  if (inference.legacy && input.dtype == DType::boolean) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  Shape shape(input.shape().begin(), input.shape().end());
  if (given.keepdims && !given.axis) {
    shape = Shape(rank, 1);
  } else if (given.keepdims) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  if (inference.legacy && shape.empty()) shape.push_back(1);
  inference.add_output(shape, inference.legacy ? input.dtype : DType::int64);
  inference.call.settled.set(axis);
  inference.call.cost = 150 + 0.5 * static_cast<double>(input.size());
}

template <Reduction order>
std::unique_ptr<lazy::Pass> arg_kernel(const Call& call) {
  return kernel_pass<kernels::ArgReducePass>(order, lines_of(call, call.settled.get<int>()),
                                             call.outputs[0].data(), call.outputs[0].dtype);
}

struct RunningSum {
  std::int64_t axis = 0;
  bool reverse = false;
  static constexpr auto fields =
      std::tuple{field("axis", &RunningSum::axis, "along which the sums run"),
                 field("reverse", &RunningSum::reverse, "whether they begin at the end")};
};

struct Cumsum {
  std::optional<std::int64_t> axis;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("axis", &Cumsum::axis, "along which the sums run; all elements without it"),
                 field("dtype", &Cumsum::dtype, "of the sums")};
};

/// Booleans are counted in int64.
Value cumsum(Composition& c, const Cumsum& given) {
  const DType own = c[0].array.dtype;
  const Value x = in_type(c[0], given.dtype.value_or(own == DType::boolean ? DType::int64 : own));
  const bool is_flat = !given.axis || rank_of(x) == 0;
  RunningSum parameters{.axis = 0};
  if (given.axis) parameters.axis = normal_axis(c, *given.axis, std::max(rank_of(x), 1));
  return apply(op_named("running_sum"), lazy::write_arguments(parameters),
               is_flat ? shaped(x, Shape{x.array.size()}) : x);
}

struct Scanned {
  int axis;
  bool reverse;
};

std::unique_ptr<lazy::Pass> scan_kernel(const Call& call) {
  const auto [axis, reverse] = call.settled.get<Scanned>();
  return kernel_pass<kernels::ScanPass>(lines_of(call, axis), reverse, call.outputs[0].data());
}

void scan_infer(Inference& inference, const RunningSum& given) {
  const Operand& input = inference.call.inputs[0];
  const int axis = axis_of_lines(inference, given.axis);
  if (input.dtype == DType::boolean) {
    inference.refuse("is not defined for booleans", ErrorKind::type);
  }
  inference.call.settled.set(Scanned{axis, given.reverse});
  inference.call.cost = 150 + 0.8 * static_cast<double>(input.size());
  inference.add_output(input.shape(), input.dtype);
}

// --- gradients ---

/// What a reduction left, with the reduced axes as ones, so that it broadcasts.
Value unreduced(const Gradient& c, const Value& value) {
  const auto given = c.parameters<Axes>();
  Shape shape = c.shape(0);
  const bool all = !given.axis || (c.is_legacy() && given.axis->empty());
  std::uint32_t reduced = all ? ~0u : 0;
  if (!all && !shape.empty()) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    for (const std::int64_t axis : *given.axis) reduced |= 1u << (axis < 0 ? axis + rank : axis);
    if (given.exclude) reduced = ~reduced;
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (reduced >> axis & 1u) shape[axis] = 1;
  }
  return shaped(value, shape);
}

/// A reduced gradient, stretched to the shape of the input.
Value spread(const Gradient& c, const Value& gradient) {
  return widened(fit_type(c, 0, unreduced(c, gradient)), c.shape(0));
}

Value through_mean(Gradient& c) {
  const std::int64_t results = std::max<std::int64_t>(1, element_count(c.output_shape()));
  const std::int64_t each = std::max<std::int64_t>(1, element_count(c.shape(0)) / results);
  // A mean that was asked for as an integer has an integer as gradient, whose share would be 0;
  // that of a type of fewer bits would be rounded to it.
  const DType given = c.g.array.dtype;
  const bool keeps = is_floating(given) && size_of(given) >= size_of(c.saved(0).dtype);
  const Value gradient = keeps ? c.g : fit_type(c, 0, c.g);
  return spread(c, each == 1 ? gradient : gradient * (1 / static_cast<double>(each)));
}

Value through_norm2(Gradient& c) {
  return unreduced(c, c.g) * (c[0] / unreduced(c, c.output()));
}

Value through_extreme(Gradient& c) {
  return where(equal(c[0], unreduced(c, c.output())), unreduced(c, c.g), 0);
}

Value through_running_sum(Gradient& c) {
  auto given = c.parameters<RunningSum>();
  given.reverse = !given.reverse;
  return apply(op_named("running_sum"), lazy::write_arguments(given), c.g);
}

}  // namespace

void declare_reduce(Table& table) {
  table.add(reducing<Reduction::sum>(
      {.name = "sum",
       .mxnet_names = {"sum", "sum_axis", "_np_sum"},
       .spellings =
           {"np.sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None, where=True)",
            "nd.sum|sum_axis(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"},
       .doc = R"(Return the sum over the axes, plus ``initial``; booleans are counted in int64.

``where`` says which elements count.

>>> np.sum(np.array([[1, 2], [3, 4]]), axis=0)
array([4., 6.])
>>> nd.sum(nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
array([4., 6.], dtype=float32))",
       .gradients = {reading_nothing([](Gradient& c) { return spread(c, c.g); })}}));
  table.add(reducing<Reduction::mean>(
      {.name = "mean",
       .mxnet_names = {"mean", "_npi_mean"},
       .spellings =
           {"np.mean(a, axis=None, dtype=None, out=None, keepdims=False, where=True)",
            "nd.mean(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"},
       .doc =
           R"(Return the mean over the axes; integers give float32. ``where`` says which elements count.

>>> np.mean(np.array([[1, 2], [3, 4]]), axis=1)
array([1.5, 3.5])
>>> nd.mean(nd.array([[1, 2], [3, 4]]), axis=1, keepdims=True).asnumpy()
array([[1.5],
       [3.5]], dtype=float32))",
       .gradients = {reading_nothing(through_mean)}}));
  table.add(reducing<Reduction::maximum>(
      {.name = "max",
       .mxnet_names = {"max", "max_axis", "_np_max"},
       .spellings =
           {"np.max|amax(a, axis=None, keepdims=False, out=None, initial=None, where=True)",
            "nd.max|max_axis(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"},
       .doc = R"(Return the greatest element along the axes; nan wins.

``initial`` is one more of them, and needed where ``where`` chooses among the others.

>>> np.max(np.array([[1, 2], [3, 4]]), axis=0)
array([3., 4.])
>>> nd.max(nd.array([[1, 2], [3, 4]])).asnumpy()
array([4.], dtype=float32))",
       .gradients = {reading_output_and({0}, through_extreme)}}));
  table.add(reducing<Reduction::minimum>(
      {.name = "min",
       .mxnet_names = {"min", "min_axis", "_np_min"},
       .spellings =
           {"np.min|amin(a, axis=None, keepdims=False, out=None, initial=None, where=True)",
            "nd.min|min_axis(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"},
       .doc = R"(Return the smallest element along the axes; nan wins.

``initial`` is one more of them, and needed where ``where`` chooses among the others.

>>> np.min(np.array([[1, 2], [3, 4]]), axis=1)
array([1., 3.])
>>> nd.min(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
array([1., 3.], dtype=float32))",
       .gradients = {reading_output_and({0}, through_extreme)}}));
  table.add(reducing<Reduction::norm1>(
      {.name = "norm1", .gradients = {reading({0}, [](Gradient& c) {
                          return where(c[0] > 0, unreduced(c, c.g),
                                       where(c[0] < 0, -unreduced(c, c.g), 0));
                        })}}));
  table.add(reducing<Reduction::norm2>({.name = "norm2",
                                        .mxnet_names = {"norm", "_npi_norm"},
                                        .gradients = {reading_output_and({0}, through_norm2)}}));
  table.add(reducing<Reduction::norm2>(
      {.name = "linalg_norm",
       .spellings = {"np.linalg.norm(x, ord=None, axis=None, keepdims=False)"},
       .doc = R"(Return the norm of vectors or matrices; by default the 2-norm of all elements.

Vectors have the norms inf, -inf, 0 and any other power; matrices "fro", "nuc", inf, -inf, 1,
-1, 2 and -2.

>>> np.linalg.norm(np.array([[3, 4], [6, 8]]), axis=1)
array([ 5., 10.]))",
       .infer =
           [](Inference& inference, const Axes& given) {
             if (given.axis && given.axis->size() > 2) inference.refuse("needs one axis or two");
             infer<Reduction::norm2>(inference, given);
           },
       .gradients = {reading_output_and({0}, through_norm2)}}));
  table.add(reducing<Reduction::product>(
      {.name = "prod",
       .mxnet_names = {"prod", "_np_prod"},
       .spellings =
           {"np.prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True)",
            "nd.prod(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"},
       .doc =
           R"(Return the product over the axes, times ``initial``, of the elements that ``where`` names.

>>> np.prod(np.array([[1, 2], [3, 4]]), axis=1)
array([ 2., 12.])
>>> nd.prod(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
array([ 2., 12.], dtype=float32))",
       .gradients = {reading_output_and({0}, [](Gradient& c) {
         return unreduced(c, c.g) * (unreduced(c, c.output()) / c[0]);
       })}}));
  table.add<Argmax>({.name = "argmax",
                     .mxnet_names = {"argmax", "_npi_argmax"},
                     .spellings = {"np.argmax(a, axis=None, out=None)"},
                     .doc = R"(Return where the greatest elements along an axis are, in int64.

The first of equal ones counts, and nan as greatest.

>>> np.argmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)
array([1, 0], dtype=int64)
>>> nd.argmax(nd.array([[1, 5, 2], [7, 0, 7]]), axis=1).asnumpy()
array([1., 0.], dtype=float32))",
                     .inputs = {"data"},
                     .infer = arg_infer,
                     .kernel = arg_kernel<Reduction::maximum>,
                     .gradients = {no_gradient},
                     .in_graphs = {.nd_type = DType::float32, .np_type = DType::int64}});
  table.add({.name = "argmax_channel",
             .mxnet_names = {"argmax_channel"},
             .doc = R"(Return where the greatest elements along axis 1 are.

>>> nd.argmax_channel(nd.array([[1, 5, 2], [7, 0, 7]])).asnumpy()
array([1., 0.], dtype=float32))",
             .inputs = {"data"},
             .infer = [](Inference& inference) { arg_infer(inference, {.axis = 1}); },
             .kernel = arg_kernel<Reduction::maximum>,
             .gradients = {no_gradient},
             .in_graphs = {.nd_type = DType::float32}});
  table.add<Argmax>({.name = "argmin",
                     .mxnet_names = {"argmin", "_npi_argmin"},
                     .spellings = {"np.argmin(a, axis=None, out=None)"},
                     .doc = R"(Return where the smallest elements along an axis are, in int64.

The first of equal ones counts, and nan as smallest.

>>> np.argmin(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)
array([0, 1], dtype=int64)
>>> nd.argmin(nd.array([[1, 5, 2], [7, 0, 7]]), axis=1).asnumpy()
array([0., 1.], dtype=float32))",
                     .inputs = {"data"},
                     .infer = arg_infer,
                     .kernel = arg_kernel<Reduction::minimum>,
                     .gradients = {no_gradient},
                     .in_graphs = {.nd_type = DType::float32, .np_type = DType::int64}});
  table.add<RunningSum>({.name = "running_sum",
                         .inputs = {"data"},
                         .infer = scan_infer,
                         .kernel = scan_kernel,
                         .gradients = {reading_nothing(through_running_sum)}});
  table.compose<Cumsum>(
      {.name = "cumsum",
       .mxnet_names = {"cumsum", "_np_cumsum"},
       .spellings = {"np.cumsum(a, axis=None, dtype=None, out=None)"},
       .doc = R"(Return the running sums along an axis; without one, of all elements in a row.

>>> np.cumsum(np.array([[1, 2], [3, 4]]), axis=0)
array([[1., 2.],
       [4., 6.]])
>>> nd.cumsum(nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
array([[1., 2.],
       [4., 6.]], dtype=float32))",
       .inputs = {"a"},
       .compose = cumsum});
}

}  // namespace afterglow::ops
