// SPDX-License-Identifier: Apache-2.0
// Order along an axis, places in it, and differences of neighbours.
#include "kernels/sort.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

constexpr std::string_view axis_doc =
    "along which there is an order; none for all elements in a row";
constexpr std::string_view is_ascend_doc = "whether the least comes first";
constexpr std::string_view keep_doc = "how many of the first are kept; 0 for all";

struct Sort {
  std::optional<std::int64_t> axis = -1;
  bool is_ascend = true;
  std::int64_t keep = 0;
  static constexpr auto fields = std::tuple{field("axis", &Sort::axis, axis_doc),
                                            field("is_ascend", &Sort::is_ascend, is_ascend_doc),
                                            field("keep", &Sort::keep, keep_doc)};
};

struct Argsort {
  std::optional<std::int64_t> axis = -1;
  bool is_ascend = true;
  std::int64_t keep = 0;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("axis", &Argsort::axis, axis_doc),
                 field("is_ascend", &Argsort::is_ascend, is_ascend_doc),
                 field("keep", &Argsort::keep, keep_doc),
                 field("dtype", &Argsort::dtype, "of the places; int64 for np and float32 for nd")};
};

enum class Side { left, right };

constexpr auto choices(Side) {
  return std::array{Choice{"left", Side::left}, Choice{"right", Side::right}};
}

struct Searchsorted {
  Side side = Side::left;
  static constexpr auto fields =
      std::tuple{field("side", &Searchsorted::side, "of equal elements that the place is on")};
};

struct Ordering {
  int axis;
  bool descending;
  int threads;
};

/// Adds the output, of the first `keep` elements along the axis; all of them where it is 0.
template <class Given>
void infer_sorted(Inference& inference, const Given& given, DType dtype) {
  Call& call = inference.call;
  Operand& input = call.inputs[0];
  if (input.is_immediate()) inference.refuse("needs an array, not a number", ErrorKind::type);
  if (!given.axis) {
    if (!input.layout->is_contiguous()) inference.refuse("needs a contiguous array");
    input.given = std::exchange(input.layout, Layout::contiguous(Shape{input.size()}));
  }
  const int axis = axis_of_lines(inference, given.axis.value_or(0));
  const std::int64_t length = input.shape()[axis];
  const std::int64_t keep = given.keep ? given.keep : length;
  if (keep < 0 || keep > length) {
    inference.refuse("keep is " + std::to_string(keep) + ", but the axis has " +
                     std::to_string(length));
  }
  // Places travel below keys of up to 32 bits in one word.
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const bool places = keep < length || std::is_same_v<Given, Argsort>;
  if (length > most && places && size_of(input.dtype) < 8) {
    inference.refuse("the axis has " + std::to_string(length) +
                     " elements; places are found among " + std::to_string(most) + " at most");
  }
  Shape shape(input.shape().begin(), input.shape().end());
  shape[axis] = keep;
  inference.add_output(shape, dtype);
  call.settled.set(Ordering{axis, !given.is_ascend, lazy::window().configured_threads()});
  // A search where few are kept.
  const double steps = keep * 8 < length ? 1 : 0.3 * std::log2(static_cast<double>(length) + 2);
  call.cost = 150 + steps * static_cast<double>(input.size());
}

kernels::SortResults results_of(const Call& call) {
  const auto ordering = call.settled.get<Ordering>();
  kernels::SortResults results;
  results.descending = ordering.descending;
  results.threads = ordering.threads;
  results.keep = call.outputs[0].shape()[static_cast<std::size_t>(ordering.axis)];
  return results;
}

std::unique_ptr<lazy::Pass> sort_pass(const Call& call, const kernels::SortResults& results) {
  return kernel_pass<kernels::SortPass>(lines_of(call, call.settled.get<Ordering>().axis), results);
}

void sort_infer(Inference& inference, const Sort& given) {
  infer_sorted(inference, given, inference.call.inputs[0].dtype);
}

std::unique_ptr<lazy::Pass> sort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.values = call.outputs[0].data();
  return sort_pass(call, results);
}

bool can_be_place(DType dtype) {
  return dtype != DType::int8 && dtype != DType::boolean;
}

void argsort_infer(Inference& inference, const Argsort& given) {
  const DType dtype = given.dtype.value_or(inference.legacy ? DType::float32 : DType::int64);
  if (!can_be_place(dtype)) {
    inference.refuse(std::string("indices cannot have the type ") + name_of(dtype),
                     ErrorKind::type);
  }
  infer_sorted(inference, given, dtype);
}

std::unique_ptr<lazy::Pass> argsort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.places = call.outputs[0].data();
  results.places_dtype = call.outputs[0].dtype;
  return sort_pass(call, results);
}

void search_infer(Inference& inference, const Searchsorted& given) {
  Call& call = inference.call;
  const Operand &line = call.inputs[0], &values = call.inputs[1];
  if (line.is_immediate() || values.is_immediate()) {
    inference.refuse("needs arrays, not numbers", ErrorKind::type);
  }
  if (line.layout->rank() != 1) inference.refuse("a must have one dimension");
  if (line.dtype != values.dtype) inference.refuse("both must have the same type", ErrorKind::type);
  if (!line.layout->is_contiguous() || !values.layout->is_contiguous()) {
    inference.refuse("needs contiguous arrays");
  }
  inference.add_output(values.shape(), DType::int64);
  call.settled.set(given);
  const double steps = std::log2(static_cast<double>(line.size()) + 2);
  call.cost = 150 + steps * static_cast<double>(values.size());
}

std::unique_ptr<lazy::Pass> search_kernel(const Call& call) {
  const Operand &line = call.inputs[0], &values = call.inputs[1];
  return kernel_pass<kernels::SearchPass>(
      kernels::Lines{line.data(), line.dtype, 1, line.size(), 1}, values.data(), values.size(),
      call.settled.get<Searchsorted>().side == Side::right,
      reinterpret_cast<std::int64_t*>(call.outputs[0].data()));
}

// --- gradients ---

Value argsort(const Value& x, const Argsort& given) {
  return apply(the_op<"argsort">(), lazy::write_arguments(given), x);
}

/// The gradient of each element that was kept, and zeros for the others.
Value put_where_sorted(Gradient& c) {
  const auto given = c.parameters<Sort>();
  const Shape shape = given.axis ? c.shape(0) : Shape{element_count(c.shape(0))};
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t along = given.axis.value_or(0), axis = along < 0 ? along + rank : along;
  const std::int64_t depth = c.g.array.shape()[static_cast<std::size_t>(axis)];
  const Value ranks =
      argsort(argsort(shaped(c[0], shape), {axis, given.is_ascend, 0, {}}), {axis, true, 0, {}});
  autograd::CallBuilder builder(the_op<"gather">(), false);
  const std::vector<Value> lines = indices_along(shape, axis, minimum(ranks, depth - 1));
  builder.add(c.g);
  for (const Value& line : lines) builder.add(line);
  const Argument arguments[] = {std::int64_t{0}, std::string("clip")};
  const Value found = builder.issue({arguments, {}, nullptr});
  return shaped(where(ranks < depth, found, 0), c.shape(0));
}

// --- made of others ---

enum class Wanted { indices, value, both, mask };

constexpr auto choices(Wanted) {
  return in_order<Wanted>("indices", "value", "both", "mask");
}

struct Topk {
  std::optional<std::int64_t> axis = -1;
  std::int64_t k = 1;
  Wanted ret_typ = Wanted::indices;
  bool is_ascend = false;
  std::optional<DType> dtype = DType::float32;
  static constexpr auto fields =
      std::tuple{field("axis", &Topk::axis, axis_doc),
                 field("k", &Topk::k, "how many of the first are wanted; all if it is less than 1"),
                 field("ret_typ", &Topk::ret_typ, "what of them"),
                 field("is_ascend", &Topk::is_ascend, "whether the least comes first"),
                 field("dtype", &Topk::dtype, "of the indices")};
};

Value topk(Composition& c, const Topk& given) {
  const DType dtype = given.dtype.value_or(DType::float32);
  if (!can_be_place(dtype))
    c.refuse(std::string("indices cannot have the type ") + name_of(dtype), ErrorKind::type);
  const Value x = given.axis ? c[0] : shaped(c[0], {c[0].array.size()});
  const std::int64_t axis = normal_axis(c, given.axis.value_or(0), rank_of(x));
  const std::int64_t length = x.array.shape()[static_cast<std::size_t>(axis)];
  const std::int64_t count = given.k < 1 ? length : given.k;
  if (count > length)
    c.refuse("k is " + std::to_string(given.k) + ", but the axis has " + std::to_string(length));
  const auto places = [&] { return argsort(x, {axis, given.is_ascend, count, dtype}); };
  if (given.ret_typ == Wanted::indices) return places();
  if (given.ret_typ == Wanted::mask) {
    const Value ranks = argsort(argsort(x, {axis, given.is_ascend, 0, {}}), {axis, true, 0, {}});
    return shaped(copy(ranks < count, x.array.dtype), shape_of(c[0]));
  }
  const Value result =
      apply(the_op<"sort">(), lazy::write_arguments(Sort{axis, given.is_ascend, count}), x);
  if (given.ret_typ == Wanted::both) c.add_output(places());
  return result;
}

/// The type that has the elements of both, as NumPy chooses it.
DType common_type(DType left, DType right) {
  if (is_floating(left) == is_floating(right)) return promote(left, right);
  const DType integer = is_floating(left) ? right : left;
  return size_of(integer) < 4 ? promote(left, right) : DType::float64;
}

Value searchsorted(Composition& c, const Searchsorted& given) {
  Value line = c[0], values = c[1];
  if (line.is_number() || rank_of(line) != 1) c.refuse("a must have one dimension");
  if (c[2]) line = apply(the_op<"take">(), the_op<"take">().defaults, line, c[2]);
  if (values.is_number())
    values = full(values.number(), {}, values.is_integer() ? DType::int64 : DType::float64,
                  line.array.context());
  const DType dtype = common_type(line.array.dtype, values.array.dtype);
  return apply(the_op<"search">(), lazy::write_arguments(given), in_type(line, dtype),
               in_type(values, dtype));
}

const lazy::Op* search_for(std::span<const Array* const> inputs) {
  const bool is_plain = inputs[0]->layout->rank() == 1 && inputs[0]->dtype == inputs[1]->dtype;
  return is_plain ? &the_op<"search">() : nullptr;
}

struct Diff {
  std::int64_t n = 1, axis = -1;
  static constexpr auto fields =
      std::tuple{field("n", &Diff::n, "how often differences are taken"),
                 field("axis", &Diff::axis, "along which elements are neighbours")};
};

Value diff(Composition& c, const Diff& given) {
  if (given.n < 0) c.refuse("n is " + std::to_string(given.n) + "; it must not be negative");
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(c[0]));
  if (given.n == 0) return copy(c[0]);
  Value result = c[0];
  std::int64_t length = shape_of(result)[static_cast<std::size_t>(axis)];
  // Then nothing is left.
  const std::int64_t times = std::min(given.n, length + 1);
  for (std::int64_t i = 0; i < times; ++i, --length)
    result = Value(between(result, axis, 1, length)) - Value(between(result, axis, 0, length - 1));
  return result;
}

}  // namespace

void declare_sorting(Table& table) {
  table.add<Sort>(
      {.name = "sort",
       .mxnet_names = {"sort", "_npi_sort"},
       .spellings = {"np.sort(a, axis=-1, kind=None, order=None)",
                     "nd.sort(data, axis=-1, is_ascend=True, out=None, name=None)"},
       .doc = R"(Return the elements in order along an axis; without one, all of them in a row.

>>> nd.sort(nd.array([[3, 1, 2]]), is_ascend=False).asnumpy()
array([[3., 2., 1.]], dtype=float32)
>>> np.sort(np.array([[3, 1, 2]]))
array([[1., 2., 3.]]))",
       .inputs = {"data"},
       .infer = sort_infer,
       .kernel = sort_kernel,
       .gradients = {reading({0}, put_where_sorted)},
       .node = number_outputs<2>});
  table.add<Argsort>(
      {.name = "argsort",
       .mxnet_names = {"argsort", "_npi_argsort"},
       .spellings =
           {"np.argsort(a, axis=-1, kind=None, order=None)",
            "nd.argsort(data, axis=-1, is_ascend=True, dtype='float32', out=None, name=None)"},
       .doc = R"(Return the indices that put the elements in order; equal ones keep theirs.

>>> nd.argsort(nd.array([[3, 1, 2]])).asnumpy()
array([[1., 2., 0.]], dtype=float32)
>>> np.argsort(np.array([[3, 1, 2]]))
array([[1, 2, 0]], dtype=int64))",
       .inputs = {"data"},
       .infer = argsort_infer,
       .kernel = argsort_kernel,
       .gradients = {no_gradient},
       .in_graphs = {.nd_type = DType::float32, .np_type = DType::int64}});
  table.compose<Topk>(
      {.name = "topk",
       .mxnet_names = {"topk", "_npx_topk"},
       .doc =
           R"(Return the ``k`` greatest elements along an axis, or with ``is_ascend`` the smallest.

``ret_typ`` says what of them: "indices", "value", "both" as a list, or "mask", which is 1 at
their places and 0 elsewhere. All elements are put in order if ``k`` is less than 1.

>>> nd.topk(nd.array([[3, 1, 2]]), k=2, ret_typ="value").asnumpy()
array([[3., 2.]], dtype=float32))",
       .inputs = {"data"},
       .compose = topk,
       .node = [](lazy::NodeForm& node, const Topk& given) {
         node.outputs = lazy::numbered_outputs(given.ret_typ == Wanted::both ? 2 : 1);
       }});
  table.add<Searchsorted>({.name = "search",
                           .inputs = {"a", "v"},
                           .infer = search_infer,
                           .kernel = search_kernel,
                           .gradients = {no_gradient}});
  table.compose<Searchsorted>(
      {.name = "searchsorted",
       .spellings = {"np.searchsorted(a, v, side='left', sorter=None)"},
       .doc =
           R"(Return where in the sorted ``a`` the elements of ``v`` belong: before or behind equal ones.

>>> np.searchsorted(np.array([1, 2, 3]), np.array([2, 9]), side="right")
array([2, 3], dtype=int64))",
       .inputs = {"a", "v", "sorter"},
       .optional_inputs = 1,
       .compose = searchsorted,
       .instead = search_for});
  table.compose<Diff>(
      {.name = "diff",
       .mxnet_names = {"_npi_diff"},
       .spellings = {"np.diff(a, n=1, axis=-1, prepend=None, append=None)"},
       .doc = R"(Return the differences of neighbours along an axis, taken ``n`` times.

>>> np.diff(np.array([[1, 4, 9]]))
array([[3., 5.]]))",
       .inputs = {"a"},
       .compose = diff});
}

}  // namespace afterglow::ops
