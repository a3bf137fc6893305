// SPDX-License-Identifier: Apache-2.0
// Small ops that MXNet keeps in `contrib`, made of others.
#include <cmath>
#include <string>
#include <tuple>

#include "ops/completing.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

struct Quadratic {
  double a = 0, b = 0, c = 0;
  static constexpr auto fields = std::tuple{field("a", &Quadratic::a, "times the square"),
                                            field("b", &Quadratic::b, "times the element"),
                                            field("c", &Quadratic::c, "is added")};
};

Value quadratic(Composition& c, const Quadratic& given) {
  return (given.a * c[0] + given.b) * c[0] + given.c;
}

struct AllClose {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = true;
  static constexpr auto fields =
      std::tuple{field("rtol", &AllClose::rtol, "how far elements may be apart, relative to ``b``"),
                 field("atol", &AllClose::atol, "how far they may be apart anyway"),
                 field("equal_nan", &AllClose::equal_nan, "whether nan is close to nan")};
};

Value all_close(Composition& c, const AllClose& given) {
  const Value &a = c[0], &b = c[1];
  if (shape_of(a) != shape_of(b)) c.refuse("needs arrays of one shape");
  // What is not a number is close to nothing, and a difference of equal infinities is none.
  Value close = maximum(equal(a, b), abs(a - b) <= abs(b) * given.rtol + given.atol);
  if (given.equal_nan) close = maximum(close, not_equal(a, a) * not_equal(b, b));
  Shape axes;
  for (int axis = 0; axis < rank_of(a); ++axis) axes.push_back(axis);
  return shaped(min(in_type(close, DType::uint8), axes, false), {1});
}

struct CountSketch {
  std::int64_t out_dim = 0, processing_batch_size = 32;
  static constexpr auto fields =
      std::tuple{required("out_dim", &CountSketch::out_dim, "length of a row of the result"),
                 field("processing_batch_size", &CountSketch::processing_batch_size,
                       "is taken and has no effect")};
};

Value count_sketch(Composition& c, const CountSketch& given) {
  const Shape shape = shape_of(c[0]);
  if (shape.size() != 2 || given.out_dim < 1) c.refuse("needs a matrix and a positive out_dim");
  const std::int64_t rows = shape[0], columns = shape[1];
  for (std::size_t input : {1, 2}) {
    if (c[input].array.size() != columns)
      c.refuse("h and s need a number for each of " + std::to_string(columns) + " columns");
  }
  const Context context = c[0].array.context();
  const Value places[] = {shaped(count_up(rows, DType::int64, context), {rows, 1}),
                          shaped(in_type(c[1], DType::int64), {1, columns})};
  return scatter(full(0.0, {rows, given.out_dim}, c[0].array.dtype, context),
                 c[0] * shaped(c[2], {1, columns}), places, true);
}

}  // namespace

void declare_contributed(Table& table) {
  table.compose<Quadratic>({.name = "quadratic",
                            .mxnet_names = {"_contrib_quadratic"},
                            .doc = R"(Return ``a * x**2 + b * x + c`` of each element x.

>>> nd.contrib.quadratic(nd.array([1, 2]), a=1, b=2, c=3).asnumpy().tolist()
[6.0, 11.0])",
                            .inputs = {"data"},
                            .compose = quadratic,
                            .complete = complete_as_first,
                            .in_graphs = {.alike = true}});
  table.compose<AllClose>({.name = "all_close",
                           .mxnet_names = {"_contrib_allclose"},
                           .doc = R"(Return 1 if all elements of two arrays are close, else 0.

>>> x = nd.array([1, 2])
>>> nd.contrib.allclose(x, x + 1e-9).asnumpy().tolist()
[1])",
                           .inputs = {"a", "b"},
                           .gradients = {no_gradient, no_gradient},
                           .compose = all_close});
  table.compose<CountSketch>(
      {.name = "count_sketch",
       .mxnet_names = {"_contrib_count_sketch"},
       .doc = R"(Return rows whose columns are added up, by signs, at other places.

Column i, times ``s[i]``, goes to column ``h[i]``.

>>> x, h, s = nd.array([[1, 2, 3]]), nd.array([0, 2, 0]), nd.array([1, 1, -1])
>>> nd.contrib.count_sketch(x, h, s, out_dim=4).asnumpy().tolist()
[[-2.0, 0.0, 2.0, 0.0]])",
       .inputs = {"data", "h", "s"},
       .compose = count_sketch});
}

}  // namespace afterglow::ops
