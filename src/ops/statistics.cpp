// SPDX-License-Identifier: Apache-2.0
// Variances, and truth of whole axes: reductions that are made of others.
#include <algorithm>

#include "ops/compositions.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

/// The axes of a reduction, counted from the front. An array without dimensions may be reduced over
/// axis 0 or -1.
Shape reduced_axes(const Composition& c, const std::optional<Shape>& axes) {
  const int rank = rank_of(c[0]);
  Shape result;
  if (!axes) {
    for (std::int64_t axis = 0; axis < rank; ++axis) result.push_back(axis);
    return result;
  }
  for (const std::int64_t axis : *axes) {
    const std::int64_t known = normal_axis(c, axis, std::max(rank, 1));
    if (rank) result.push_back(known);
  }
  return result;
}

/// How many elements become one.
std::int64_t count_along(const Value& x, const Shape& axes) {
  std::int64_t count = 1;
  for (const std::int64_t axis : axes)
    count = extent_product(count, x.array.shape()[static_cast<std::size_t>(axis)]);
  return count;
}

struct Variance {
  std::optional<Shape> axis;
  std::optional<DType> dtype;
  double ddof = 0;
  bool keepdims = false;
  static constexpr auto fields = std::tuple{
      field("axis", &Variance::axis, "the axes to reduce; all where none are given"),
      field("dtype", &Variance::dtype, "of the result"),
      field("ddof", &Variance::ddof, "is taken off the number that the squares are divided by"),
      field("keepdims", &Variance::keepdims, "whether reduced axes stay, with one element")};
};

/// Wide enough to go on with.
Value variance(const Composition& c, const Variance& given, DType dtype) {
  const Value x = in_type(c[0], dtype == DType::float64 ? DType::float64 : DType::float32);
  const Shape axes = reduced_axes(c, given.axis);
  const Value squares = square(x - mean(x, axes, true));
  if (given.ddof == 0) return mean(squares, axes, given.keepdims);
  const double freedom = static_cast<double>(count_along(x, axes)) - given.ddof;
  return sum(squares, axes, given.keepdims) / std::max(freedom, 0.0);
}

DType result_type(const Composition& c, const Variance& given) {
  const DType own = c[0].array.dtype;
  return given.dtype.value_or(is_floating(own) ? own : DType::float32);
}

Value var(Composition& c, const Variance& given) {
  const DType dtype = result_type(c, given);
  return in_type(variance(c, given, dtype), dtype);
}

Value standard_deviation(Composition& c, const Variance& given) {
  const DType dtype = result_type(c, given);
  return in_type(sqrt(variance(c, given, dtype)), dtype);
}

struct Truth {
  std::optional<Shape> axis;
  bool keepdims = false;
  static constexpr auto fields = std::tuple{
      field("axis", &Truth::axis, "the axes to reduce; all where none are given"),
      field("keepdims", &Truth::keepdims, "whether reduced axes stay, with one element")};
};

/// Which elements are not 0.
Value truth_of(const Value& x) {
  return x.array.dtype == DType::boolean ? x : not_equal(x, 0);
}

/// Over no elements the answer is `nothing`.
template <auto reduction, bool nothing>
Value decide(Composition& c, const Truth& given) {
  const Value& x = c[0];
  const Shape axes = reduced_axes(c, given.axis);
  if (count_along(x, axes)) return reduction(truth_of(x), axes, given.keepdims);
  Shape shape;
  for (std::int64_t axis = 0; axis < rank_of(x); ++axis) {
    const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
    if (!is_reduced) shape.push_back(x.array.shape()[static_cast<std::size_t>(axis)]);
    if (is_reduced && given.keepdims) shape.push_back(1);
  }
  return full(nothing, shape, DType::boolean, x.array.context());
}

/// Of truth values that is the reduction itself.
template <Name reduction>
const lazy::Op* deciding(std::span<const Array* const> data) {
  const bool is_truth = data[0]->dtype == DType::boolean && data[0]->size();
  return is_truth ? &the_op<reduction>() : nullptr;
}

/// MXNet's nodes have a second output, which programs cannot use: the mean.
void name_result(lazy::NodeForm& node, const char* name) {
  node.outputs = {name, "mean"};
  node.usable = 1;
}

}  // namespace

void declare_statistics(Table& table) {
  table.compose<Variance>(
      {.name = "var",
       .mxnet_names = {"_npi_var"},
       .spellings = {"np.var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)"},
       .doc = R"(Return the mean square distance from the mean; integers give float32.

``ddof`` is taken off the number of elements that the sum of squares is divided by.

>>> np.var(np.array([[1, 2], [3, 6]]), axis=0)
array([1., 4.]))",
       .inputs = {"a"},
       .compose = var,
       .node = [](lazy::NodeForm& node, const Variance&) { name_result(node, "var"); }});
  table.compose<Variance>(
      {.name = "std",
       .mxnet_names = {"_npi_std"},
       .spellings = {"np.std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)"},
       .doc = R"(Return the square root of the variance; arguments as for :func:`var`.

>>> np.std(np.array([[1, 2], [3, 6]]), axis=0)
array([1., 2.]))",
       .inputs = {"a"},
       .compose = standard_deviation,
       .node = [](lazy::NodeForm& node, const Variance&) { name_result(node, "std"); }});
  table.compose<Truth>({.name = "any",
                        .mxnet_names = {"_np_any"},
                        .spellings = {"np.any(a, axis=None, keepdims=False, out=None, where=True)"},
                        .doc = R"(Return whether an element along the axes is not 0.

>>> np.any(np.array([[1, 0], [3, 0]]), axis=0)
array([ True, False]))",
                        .inputs = {"a"},
                        .compose = decide<max, false>,
                        .instead = deciding<"max">});
  table.compose<Truth>({.name = "all",
                        .mxnet_names = {"_np_all"},
                        .spellings = {"np.all(a, axis=None, keepdims=False, out=None, where=True)"},
                        .doc = R"(Return whether no element along the axes is 0.

>>> np.all(np.array([[1, 0], [3, 4]]), axis=0)
array([ True, False]))",
                        .inputs = {"a"},
                        .compose = decide<min, true>,
                        .instead = deciding<"min">});
}

}  // namespace afterglow::ops
