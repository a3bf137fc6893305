// SPDX-License-Identifier: Apache-2.0
// Functions of each element that are made of others.
#include <cmath>
#include <limits>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct HardSigmoid {
  double alpha = 0.2;
  double beta = 0.5;
  static constexpr auto fields = std::tuple{field("alpha", &HardSigmoid::alpha, "the slope"),
                                            field("beta", &HardSigmoid::beta, "the result for 0")};
};

struct Cast {
  DType dtype = DType::float32;
  static constexpr auto fields = std::tuple{required("dtype", &Cast::dtype, "of the result")};
};

bool has_floats(const Value& x) {
  return is_floating(x.array.dtype);
}

Value hard_sigmoid(Composition& c, const HardSigmoid& given) {
  if (!has_floats(c[0])) c.refuse("is for floats only", ErrorKind::type);
  return clip(c[0] * given.alpha + given.beta, 0, 1);
}

/// Integers are scaled as floats, so that negative exponents divide them, and cut.
Value ldexp(Composition& c) {
  const auto is_whole = [](const Value& x) {
    return x.is_number() ? x.is_integer() : !has_floats(x);
  };
  const bool whole = is_whole(c[0]) && is_whole(c[1]);
  const auto exact = [&](const Value& x) {
    return whole && !x.is_number() ? copy(x, DType::float64) : x;
  };
  const Value scale = power(2.0, exact(c[1]));
  if (scale.is_number() && std::isinf(scale.number()))
    c.refuse("the exponent is too large for any number", ErrorKind::overflow);
  if (!whole) return c[0] * scale;
  const Value product = exact(c[0]) * scale;
  return product.is_number() ? product : copy(product, (c[0] * c[1]).array.dtype);
}

/// By Horner's scheme, the greatest power first.
Value polyval(Composition& c) {
  const Value &coefficients = c[0], &x = c[1];
  if (rank_of(coefficients) != 1)
    c.refuse("p must have one dimension, but has shape " + to_string(shape_of(coefficients)));
  Value result = full(0, shape_of(x), x.array.dtype, x.array.context());
  for (const Value& each : views_along(coefficients, 0)) result = result * x + each;
  return result;
}

Value amp_cast(Composition& c, const Cast& given) {
  return has_floats(c[0]) ? copy(c[0], given.dtype) : copy(c[0]);
}

Value add_n(Composition& c) {
  if (c.inputs().empty()) c.refuse("needs at least one array");
  Value total = c[0];
  for (const Value& one : c.inputs()) {
    if (!same_shape(*one.array.layout, *c[0].array.layout)) c.refuse("the shapes must be equal");
    if (one.array.dtype != c[0].array.dtype)
      c.refuse("inputs must have the same type; convert one with astype");
    if (&one != &c.inputs().front()) total = total + one;
  }
  return c.inputs().size() == 1 ? copy(total) : total;
}

// --- what elements are ---

/// Integers are finite numbers.
Value nowhere(const Value& x) {
  return not_equal(x, x);
}

Value is_infinite(Composition& c) {
  return has_floats(c[0]) ? equal(abs(c[0]), infinity) : nowhere(c[0]);
}

template <int sign>
Value is_infinity(Composition& c) {
  return has_floats(c[0]) ? equal(c[0], sign * infinity) : nowhere(c[0]);
}

Value is_finite(Composition& c) {
  return has_floats(c[0]) ? abs(c[0]) < infinity : equal(c[0], c[0]);
}

// --- choices ---

/// "Not zero" must be asked in the condition's own type: 1e-300 is true, but 0 in float32. A
/// boolean stays true in any type, and a type is never lost in the common one of it and others.
Value mask(const Composition& c) {
  const DType kind = c[0].array.dtype;
  const auto has_it = [&](const Value& x) { return x && x.array.dtype == kind; };
  return kind == DType::boolean || has_it(c[1]) || has_it(c[2]) ? c[0] : not_equal(c[0], 0);
}

Value where_nonzero(Composition& c) {
  if (!c[0]) c.refuse("condition must be an array", ErrorKind::type);
  return where(mask(c), c[1], c[2]);
}

const lazy::Op* select_for(std::span<const Array* const> inputs) {
  return inputs[0]->dtype == DType::boolean ? &the_op<"select">() : nullptr;
}

Value where_rows(Composition& c) {
  const Layout &x = *c[1].array.layout, &condition = *c[0].array.layout;
  const bool has_one_shape = same_shape(x, *c[2].array.layout);
  const bool is_whole = has_one_shape && same_shape(condition, x);
  if (!has_one_shape || (!is_whole && (condition.rank() != 1 || x.rank() == 0 ||
                                       condition.shape()[0] != x.shape()[0])))
    c.refuse("x and y must have one shape, and the condition the same or one value per row");
  if (c[1].array.dtype != c[2].array.dtype)
    c.refuse("inputs must have the same type; convert one with astype");
  if (is_whole) return where(mask(c), c[1], c[2]);
  Shape rows(static_cast<std::size_t>(x.rank()), 1);
  rows[0] = condition.shape()[0];
  return where(shaped(mask(c), rows), c[1], c[2]);
}

}  // namespace

void declare_elementwise_made(Table& table) {
  table.add({.name = "rcbrt",
             .mxnet_names = {"rcbrt"},
             .doc = R"(Return 1 / cbrt(x).

>>> print(nd.rcbrt(nd.array([1, 8, 27])).asnumpy())
[1.         0.5        0.33333334])",
             .inputs = {"data"},
             .compose = [](Composition& c) {
               return apply(the_op<"reciprocal">(), {}, apply(the_op<"cbrt">(), {}, c[0]));
             }});
  table.compose<HardSigmoid>(
      {.name = "hard_sigmoid",
       .mxnet_names = {"hard_sigmoid"},
       .doc = R"(Return ``alpha * x + beta``, but no less than 0 and no more than 1.

>>> print(nd.hard_sigmoid(nd.array([-3, 0, 1])).asnumpy())
[0.  0.5 0.7])",
       .inputs = {"data"},
       .compose = hard_sigmoid});
  table.compose<Cast>(
      {.name = "cast",
       .mxnet_names = {"Cast", "cast", "_npx_cast"},
       .spellings = {"nd.cast|Cast(data, dtype, out=None, name=None)",
                     "npx.cast(data, dtype, out=None, name=None)"},
       .doc = R"(Return the values in another type.

>>> print(nd.cast(nd.array([0.9, 2.5]), "int32").asnumpy())
[0 2]
>>> npx.cast(np.array([0.9, 2.5]), "int32")
array([0, 2], dtype=int32))",
       .inputs = {"data"},
       .compose = [](Composition& c, const Cast& given) { return copy(c[0], given.dtype); },
       .in_graphs = {.alike = true}});
  table.compose<Cast>({.name = "amp_cast",
                       .mxnet_names = {"amp_cast"},
                       .spellings = {"nd.amp_cast(data, dtype, out=None, name=None)"},
                       .doc = R"(Return floats in another type; integers keep theirs.

>>> nd.amp_cast(nd.array([1, 2]), "float16").dtype
<class 'numpy.float16'>)",
                       .inputs = {"data"},
                       .compose = amp_cast,
                       .in_graphs = {.alike = true}});
  table.add({.name = "positive",
             .spellings = {"np.positive(x, out=None, **kwargs)"},
             .doc = R"(Return a copy.

>>> np.positive(np.array([-1, 2]))
array([-1.,  2.]))",
             .inputs = {"x"},
             .compose = [](Composition& c) { return copy(c[0]); }});
  table.add({.name = "ldexp",
             .mxnet_names = {"_npi_ldexp"},
             .spellings = {"np.ldexp(x1, x2, out=None, **kwargs)"},
             .doc = R"(Return x1 * 2**x2, broadcast; the exponents need not be integers.

>>> np.ldexp(np.array([1, 3]), np.array([2, -1]))
array([4. , 1.5]))",
             .inputs = {"x1", "x2"},
             .takes_numbers = true,
             .compose = ldexp});
  table.add({.name = "add_n",
             .mxnet_names = {"add_n", "ElementWiseSum"},
             .doc = R"(Return the sums of any number of arrays of one shape.

>>> print(nd.add_n(nd.array([1, 2]), nd.array([3, 4]), nd.array([5, 6])).asnumpy())
[ 9. 12.])",
             .inputs = {"args"},
             .variadic = true,
             .compose = add_n,
             .in_graphs = {.alike = true}});

  table.add({.name = "isnan",
             .mxnet_names = {"_npi_isnan"},
             .spellings = {"np.isnan(x, out=None, **kwargs)"},
             .doc = R"(Return where the element is not a number.

>>> np.isnan(np.array([1, np.nan, np.inf]))
array([False,  True, False]))",
             .inputs = {"x"},
             .compose = [](Composition& c) { return not_equal(c[0], c[0]); }});
  table.add({.name = "isinf",
             .mxnet_names = {"_npi_isinf"},
             .spellings = {"np.isinf(x, out=None, **kwargs)"},
             .doc = R"(Return where the element is infinite.

>>> np.isinf(np.array([1, np.nan, -np.inf]))
array([False, False,  True]))",
             .inputs = {"x"},
             .compose = is_infinite});
  table.add({.name = "isposinf",
             .mxnet_names = {"_npi_isposinf"},
             .spellings = {"np.isposinf(x, out=None, **kwargs)"},
             .doc = R"(Return where the element is infinite and positive.

>>> np.isposinf(np.array([-np.inf, np.inf]))
array([False,  True]))",
             .inputs = {"x"},
             .compose = is_infinity<1>});
  table.add({.name = "isneginf",
             .mxnet_names = {"_npi_isneginf"},
             .spellings = {"np.isneginf(x, out=None, **kwargs)"},
             .doc = R"(Return where the element is infinite and negative.

>>> np.isneginf(np.array([-np.inf, np.inf]))
array([ True, False]))",
             .inputs = {"x"},
             .compose = is_infinity<-1>});
  table.add({.name = "isfinite",
             .mxnet_names = {"_npi_isfinite"},
             .spellings = {"np.isfinite(x, out=None, **kwargs)"},
             .doc = R"(Return where the element is neither infinite nor nan.

>>> np.isfinite(np.array([1, np.nan, np.inf]))
array([ True, False, False]))",
             .inputs = {"x"},
             .compose = is_finite});

  table.add({.name = "polyval",
             .mxnet_names = {"_npi_polyval"},
             .inputs = {"p", "x"},
             .compose = polyval});

  table.add(
      {.name = "where",
       .mxnet_names = {"_npi_where"},
       .spellings = {"np.where(condition, x=None, y=None)"},
       .doc =
           R"(Return the elements of ``x`` where the condition is not 0, else those of ``y``, broadcast.

A condition that is a number returns ``x`` or ``y`` as they are; one that is alone is asked for
its :func:`nonzero`.

>>> np.where(np.array([1, 0]), np.array([1, 2]), 5)
array([1., 5.]))",
       .inputs = {"condition", "x", "y"},
       .takes_numbers = true,
       .compose = where_nonzero,
       .instead = select_for});
  table.add(
      {.name = "where_rows",
       .mxnet_names = {"where"},
       .doc = R"(Return the elements of ``x`` where the condition is not 0, else those of ``y``.

A condition with one dimension chooses between the rows of ``x`` and ``y``.

>>> print(nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([3, 4])).asnumpy())
[1. 4.])",
       .inputs = {"condition", "x", "y"},
       .compose = where_rows});
}

}  // namespace afterglow::ops
