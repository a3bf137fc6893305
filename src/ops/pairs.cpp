// SPDX-License-Identifier: Apache-2.0
// Functions of the elements of two arrays, or of an array and a number.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/elementwise_infer.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using kernels::Formula;

/// The condition is converted to the type of the result. Where that could make 0 of something else,
/// a mask is given instead.
void infer_where(Inference& inference) {
  const auto& inputs = inference.call.inputs;
  if (inputs[0].is_immediate()) inference.refuse("condition must be an array", ErrorKind::type);
  const bool numbers = inputs[1].is_immediate() && inputs[2].is_immediate();
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

Value smooth_slope(Gradient& c) {
  const Value x = c[0], sharpness = c[1] * c[1];
  const Value near = abs(x) * sharpness < 1;
  return fit(c, 0, where(near, c.g * sharpness * x, c.g * sign(x)));
}

Value clipped(Gradient& c) {
  const auto arguments = lazy::write_arguments(c.parameters<Clip>());
  return where(apply(the_op<"is_within">(), arguments, c[0]), c.g, 0);
}

/// mx.nd has names of their own for functions that stretch nothing.
template <void (*infer)(Inference&)>
void of_one_shape(Inference& inference) {
  const auto& inputs = inference.call.inputs;
  if (!same_shape(*inputs[0].layout, *inputs[1].layout))
    inference.refuse("the shapes must be equal; broadcast_" +
                     std::string(inference.op.name.substr(sizeof("elemwise_") - 1)) +
                     " stretches them");
  infer(inference);
}

/// An operand in the type of the result: functions of integers would be cut to integers.
Value as_result(const Gradient& c, const Value& operand) {
  const DType dtype = c.output().array.dtype;
  return operand.is_number() || operand.array.dtype == dtype ? operand : copy(operand, dtype);
}

}  // namespace

void declare_pairs(Table& table) {
  const auto add = [&](lazy::Op op) {
    if (op.inputs.empty()) op.inputs = {"lhs", "rhs"};
    table.add(std::move(op));
  };
  const auto add_truth = [&](lazy::Op op) {
    op.gradients = {no_gradient};
    op.in_graphs.np_type = DType::boolean;
    add(std::move(op));
  };
  add({.name = "add",
       .mxnet_names = {"broadcast_add", "broadcast_plus", "_npi_add", "_plus_scalar",
                       "_npi_add_scalar"},
       .spellings = {"np.add(x1, x2, out=None, **kwargs)", "nd.add(lhs, rhs)"},
       .doc = R"(Return the sums, broadcast.

>>> np.add(np.array([1, 5]), 2)
array([3., 7.])
>>> print(nd.add(nd.array([1, 5]), 2).asnumpy())
[3. 7.]
>>> print(nd.broadcast_add(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[4. 8.]
 [5. 9.]])",
       .infer = arithmetic,
       .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                     reading_nothing([](Gradient& c) { return fit(c, 1, c.g); })}});
  add({.name = "elemwise_add",
       .mxnet_names = {"elemwise_add", "_grad_add"},
       .doc = R"(Return the sums of two arrays of one shape.

>>> print(nd.elemwise_add(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
[4. 9.])",
       .infer = of_one_shape<arithmetic>,
       .formula = Formula::add,
       .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                     reading_nothing([](Gradient& c) { return fit(c, 1, c.g); })},
       .in_graphs = {.alike = true}});
  add({.name = "subtract",
       .mxnet_names = {"broadcast_sub", "broadcast_minus", "_npi_subtract", "_minus_scalar",
                       "_rminus_scalar", "_npi_subtract_scalar", "_npi_rsubtract_scalar"},
       .spellings = {"np.subtract(x1, x2, out=None, **kwargs)", "nd.subtract(lhs, rhs)"},
       .doc = R"(Return the differences, broadcast.

>>> np.subtract(np.array([1, 5]), 2)
array([-1.,  3.])
>>> print(nd.subtract(nd.array([1, 5]), 2).asnumpy())
[-1.  3.]
>>> print(nd.broadcast_sub(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[-2.  2.]
 [-3.  1.]])",
       .infer = arithmetic,
       .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                     reading_nothing([](Gradient& c) { return fit(c, 1, -c.g); })}});
  add({.name = "elemwise_sub",
       .mxnet_names = {"elemwise_sub"},
       .doc = R"(Return the differences of two arrays of one shape.

>>> print(nd.elemwise_sub(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
[-2.  1.])",
       .infer = of_one_shape<arithmetic>,
       .formula = Formula::subtract,
       .gradients = {reading_nothing([](Gradient& c) { return fit(c, 0, c.g); }),
                     reading_nothing([](Gradient& c) { return fit(c, 1, -c.g); })},
       .in_graphs = {.alike = true}});
  add({.name = "multiply",
       .mxnet_names = {"broadcast_mul", "_npi_multiply", "_mul_scalar", "_npi_multiply_scalar"},
       .spellings = {"np.multiply(x1, x2, out=None, **kwargs)", "nd.multiply(lhs, rhs)"},
       .doc = R"(Return the products, broadcast.

>>> np.multiply(np.array([1, 5]), 2)
array([ 2., 10.])
>>> print(nd.multiply(nd.array([1, 5]), 2).asnumpy())
[ 2. 10.]
>>> print(nd.broadcast_mul(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[ 3. 15.]
 [ 4. 20.]])",
       .infer = arithmetic,
       .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g * c[1]); }),
                     reading({0}, [](Gradient& c) { return fit(c, 1, c.g * c[0]); })}});
  add({.name = "elemwise_mul",
       .mxnet_names = {"elemwise_mul"},
       .doc = R"(Return the products of two arrays of one shape.

>>> print(nd.elemwise_mul(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
[ 3. 20.])",
       .infer = of_one_shape<arithmetic>,
       .formula = Formula::multiply,
       .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g * c[1]); }),
                     reading({0}, [](Gradient& c) { return fit(c, 1, c.g * c[0]); })},
       .in_graphs = {.alike = true}});
  add({.name = "divide",
       .mxnet_names = {"broadcast_div", "_npi_true_divide", "_div_scalar", "_rdiv_scalar",
                       "_npi_true_divide_scalar", "_npi_rtrue_divide_scalar"},
       .spellings = {"np.divide|true_divide(x1, x2, out=None, **kwargs)",
                     "nd.divide|true_divide(lhs, rhs)"},
       .doc = R"(Return the quotients, broadcast; integers give float32.

>>> np.divide(np.array([1, 5]), 2)
array([0.5, 2.5])
>>> print(nd.divide(nd.array([1, 5]), 2).asnumpy())
[0.5 2.5]
>>> print(nd.broadcast_div(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[0.33333334 1.6666666 ]
 [0.25       1.25      ]])",
       .infer = division,
       .gradients = {
           reading({1}, [](Gradient& c) { return fit(c, 0, c.g / c[1]); }),
           reading({0, 1}, [](Gradient& c) { return fit(c, 1, -c.g * c[0] / (c[1] * c[1])); })}});
  add({.name = "elemwise_div",
       .mxnet_names = {"elemwise_div"},
       .doc = R"(Return the quotients of two arrays of one shape.

>>> print(nd.elemwise_div(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
[0.33333334 1.25      ])",
       .infer = of_one_shape<division>,
       .formula = Formula::divide,
       .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g / c[1]); }),
                     reading({0, 1},
                             [](Gradient& c) { return fit(c, 1, -c.g * c[0] / (c[1] * c[1])); })},
       .in_graphs = {.alike = true}});
  add({.name = "modulo",
       .mxnet_names = {"broadcast_mod", "_npi_mod", "_mod", "_mod_scalar", "_rmod_scalar",
                       "_npi_mod_scalar", "_npi_rmod_scalar"},
       .spellings = {"np.mod|remainder(x1, x2, out=None, **kwargs)", "nd.modulo(lhs, rhs)"},
       .doc = R"(Return the remainders with the sign of the divisor, broadcast.

>>> np.mod(np.array([1, 5]), 2)
array([1., 1.])
>>> print(nd.modulo(nd.array([1, 5]), 2).asnumpy())
[1. 1.]
>>> print(nd.broadcast_mod(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[1. 2.]
 [1. 1.]])",
       .infer = arithmetic,
       .gradients = {// Remainders of integers have no slope, as in MXNet.
                     reading_nothing([](Gradient& c) {
                       return is_floating(c.saved(0).dtype) ? fit(c, 0, c.g) : zeros(c, 0);
                     }),
                     reading_output_and({0, 1}, [](Gradient& c) {
                       if (!is_floating(c.saved(1).dtype)) return zeros(c, 1);
                       return fit(c, 1, -c.g * ((c[0] - c.output()) / c[1]));
                     })}});
  add({.name = "power",
       .mxnet_names = {"broadcast_power", "_power", "_npi_power", "_power_scalar", "_rpower_scalar",
                       "_npi_power_scalar", "_npi_rpower_scalar"},
       .spellings = {"np.power(x1, x2, out=None, **kwargs)", "nd.power(base, exp)"},
       .doc = R"(Return powers, broadcast.

>>> np.power(np.array([1, 5]), 2)
array([ 1., 25.])
>>> print(nd.power(nd.array([1, 5]), 2).asnumpy())
[ 1. 25.]
>>> print(nd.broadcast_power(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[  1. 125.]
 [  1. 625.]])",
       .infer = infer_power,
       .gradients = {
           reading({0, 1},
                   [](Gradient& c) { return fit(c, 0, c.g * c[1] * power(c[0], c[1] - 1)); }),
           reading_output_and({0}, [](Gradient& c) {
             return fit(c, 1, c.g * c.output() * log(as_result(c, c[0])));
           })}});
  add({.name = "maximum",
       .mxnet_names = {"broadcast_maximum", "_maximum", "_npi_maximum", "_maximum_scalar",
                       "_npi_maximum_scalar"},
       .spellings = {"np.maximum(x1, x2, out=None, **kwargs)", "nd.maximum(lhs, rhs)"},
       .doc = R"(Return the greater of each pair, broadcast; nan wins.

>>> np.maximum(np.array([1, 5]), 2)
array([2., 5.])
>>> print(nd.maximum(nd.array([1, 5]), 2).asnumpy())
[2. 5.]
>>> print(nd.broadcast_maximum(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[3. 5.]
 [4. 5.]])",
       .infer = arithmetic,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] >= c[1], c.g, 0)); }),
           reading({0, 1}, [](Gradient& c) { return fit(c, 1, where(c[0] < c[1], c.g, 0)); })}});
  add({.name = "minimum",
       .mxnet_names = {"broadcast_minimum", "_minimum", "_npi_minimum", "_minimum_scalar",
                       "_npi_minimum_scalar"},
       .spellings = {"np.minimum(x1, x2, out=None, **kwargs)", "nd.minimum(lhs, rhs)"},
       .doc = R"(Return the smaller of each pair, broadcast; nan wins.

>>> np.minimum(np.array([1, 5]), 2)
array([1., 2.])
>>> print(nd.minimum(nd.array([1, 5]), 2).asnumpy())
[1. 2.]
>>> print(nd.broadcast_minimum(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[1. 3.]
 [1. 4.]])",
       .infer = arithmetic,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] <= c[1], c.g, 0)); }),
           reading({0, 1}, [](Gradient& c) { return fit(c, 1, where(c[0] > c[1], c.g, 0)); })}});

  add_truth({.name = "equal",
             .mxnet_names = {"broadcast_equal", "_equal", "_npi_equal", "_equal_scalar",
                             "_npi_equal_scalar"},
             .spellings = {"np.equal(x1, x2, out=None, **kwargs)", "nd.equal(lhs, rhs)"},
             .doc = R"(Return where the operands are equal.

>>> np.equal(np.array([1, 5]), 2)
array([False, False])
>>> print(nd.equal(nd.array([1, 5]), 2).asnumpy())
[0. 0.]
>>> print(nd.broadcast_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[0. 0.]
 [0. 0.]])",
             .infer = comparison});
  add_truth({.name = "not_equal",
             .mxnet_names = {"broadcast_not_equal", "_not_equal", "_npi_not_equal",
                             "_not_equal_scalar", "_npi_not_equal_scalar"},
             .spellings = {"np.not_equal(x1, x2, out=None, **kwargs)", "nd.not_equal(lhs, rhs)"},
             .doc = R"(Return where the operands differ.

>>> np.not_equal(np.array([1, 5]), 2)
array([ True,  True])
>>> print(nd.not_equal(nd.array([1, 5]), 2).asnumpy())
[1. 1.]
>>> print(nd.broadcast_not_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[1. 1.]
 [1. 1.]])",
             .infer = comparison});
  add_truth({.name = "less",
             .mxnet_names = {"broadcast_lesser", "_lesser", "_npi_less", "_lesser_scalar",
                             "_npi_less_scalar"},
             .spellings = {"np.less(x1, x2, out=None, **kwargs)", "nd.lesser(lhs, rhs)"},
             .doc = R"(Return where the first operand is smaller.

>>> np.less(np.array([1, 5]), 2)
array([ True, False])
>>> print(nd.lesser(nd.array([1, 5]), 2).asnumpy())
[1. 0.]
>>> print(nd.broadcast_lesser(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[1. 0.]
 [1. 0.]])",
             .infer = comparison});
  add_truth(
      {.name = "less_equal",
       .mxnet_names = {"broadcast_lesser_equal", "_lesser_equal", "_npi_less_equal",
                       "_lesser_equal_scalar", "_npi_less_equal_scalar"},
       .spellings = {"np.less_equal(x1, x2, out=None, **kwargs)", "nd.lesser_equal(lhs, rhs)"},
       .doc = R"(Return where the first operand is not greater.

>>> np.less_equal(np.array([1, 5]), 2)
array([ True, False])
>>> print(nd.lesser_equal(nd.array([1, 5]), 2).asnumpy())
[1. 0.]
>>> print(nd.broadcast_lesser_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[1. 0.]
 [1. 0.]])",
       .infer = comparison});
  add_truth({.name = "greater",
             .mxnet_names = {"broadcast_greater", "_greater", "_npi_greater", "_greater_scalar",
                             "_npi_greater_scalar"},
             .spellings = {"np.greater(x1, x2, out=None, **kwargs)", "nd.greater(lhs, rhs)"},
             .doc = R"(Return where the first operand is greater.

>>> np.greater(np.array([1, 5]), 2)
array([False,  True])
>>> print(nd.greater(nd.array([1, 5]), 2).asnumpy())
[0. 1.]
>>> print(nd.broadcast_greater(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[0. 1.]
 [0. 1.]])",
             .infer = comparison});
  add_truth(
      {.name = "greater_equal",
       .mxnet_names = {"broadcast_greater_equal", "_greater_equal", "_npi_greater_equal",
                       "_greater_equal_scalar", "_npi_greater_equal_scalar"},
       .spellings = {"np.greater_equal(x1, x2, out=None, **kwargs)", "nd.greater_equal(lhs, rhs)"},
       .doc = R"(Return where the first operand is not smaller.

>>> np.greater_equal(np.array([1, 5]), 2)
array([False,  True])
>>> print(nd.greater_equal(nd.array([1, 5]), 2).asnumpy())
[0. 1.]
>>> print(nd.broadcast_greater_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[0. 1.]
 [0. 1.]])",
       .infer = comparison});

  add({.name = "hypot",
       .mxnet_names = {"broadcast_hypot", "_hypot", "_npi_hypot", "_hypot_scalar",
                       "_npi_hypot_scalar"},
       .spellings = {"np.hypot(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return sqrt(x1**2 + x2**2), broadcast.

>>> np.hypot(np.array([3, 5]), np.array([4, 12]))
array([ 5., 13.])
>>> print(nd.broadcast_hypot(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
[[3.1622777 5.8309517]
 [4.1231055 6.4031243]])",
       .infer = real_function_of_two,
       .gradients = {
           reading_output_and({0}, [](Gradient& c) { return fit(c, 0, c.g * c[0] / c.output()); }),
           reading_output_and({1},
                              [](Gradient& c) { return fit(c, 1, c.g * c[1] / c.output()); })}});
  add({.name = "arctan2",
       .mxnet_names = {"_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar"},
       .spellings = {"np.arctan2(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return the angles of the points (x2, x1), from -pi to pi, broadcast.

>>> np.arctan2(np.array([1, 1]), np.array([1, -1]))
array([0.7853982, 2.3561945]))",
       .inputs = {"x1", "x2"},
       .infer = real_function_of_two,
       .gradients = {
           reading({0, 1},
                   [](Gradient& c) { return fit(c, 0, c.g * c[1] / (c[0] * c[0] + c[1] * c[1])); }),
           reading({0, 1}, [](Gradient& c) {
             return fit(c, 1, -c.g * c[0] / (c[0] * c[0] + c[1] * c[1]));
           })}});
  add({.name = "copysign",
       .mxnet_names = {"_npi_copysign", "_npi_copysign_scalar", "_npi_rcopysign_scalar"},
       .spellings = {"np.copysign(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return the sizes of x1 with the signs of x2, broadcast.

>>> np.copysign(np.array([1, -2]), np.array([-3, 4]))
array([-1.,  2.]))",
       .inputs = {"x1", "x2"},
       .infer = real_function_of_two,
       .gradients = {
           reading_output_and(
               {0}, [](Gradient& c) { return fit(c, 0, where(c[0] * c.output() < 0, -c.g, c.g)); }),
           flat}});
  add_truth(
      {.name = "logical_and",
       .mxnet_names = {"broadcast_logical_and", "_logical_and", "_npi_logical_and",
                       "_logical_and_scalar", "_npi_logical_and_scalar"},
       .spellings = {"np.logical_and(x1, x2, out=None, **kwargs)", "nd.logical_and(lhs, rhs)"},
       .doc = R"(Return where both operands are not 0.

>>> np.logical_and(np.array([0, 2]), np.array([3, 4]))
array([False,  True])
>>> print(nd.logical_and(nd.array([0, 2]), nd.array([3, 4])).asnumpy())
[0. 1.]
>>> print(nd.broadcast_logical_and(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
[0. 1.])",
       .infer = logic});
  add_truth({.name = "logical_or",
             .mxnet_names = {"broadcast_logical_or", "_logical_or", "_npi_logical_or",
                             "_logical_or_scalar", "_npi_logical_or_scalar"},
             .spellings = {"np.logical_or(x1, x2, out=None, **kwargs)", "nd.logical_or(lhs, rhs)"},
             .doc = R"(Return where one of the operands is not 0.

>>> np.logical_or(np.array([0, 2]), 0)
array([False,  True])
>>> print(nd.logical_or(nd.array([0, 2]), 0).asnumpy())
[0. 1.]
>>> print(nd.broadcast_logical_or(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
[1. 1.])",
             .infer = logic});
  add_truth(
      {.name = "logical_xor",
       .mxnet_names = {"broadcast_logical_xor", "_logical_xor", "_npi_logical_xor",
                       "_logical_xor_scalar", "_npi_logical_xor_scalar"},
       .spellings = {"np.logical_xor(x1, x2, out=None, **kwargs)", "nd.logical_xor(lhs, rhs)"},
       .doc = R"(Return where just one of the operands is not 0.

>>> np.logical_xor(np.array([0, 2]), 1)
array([ True, False])
>>> print(nd.logical_xor(nd.array([0, 2]), 1).asnumpy())
[1. 0.]
>>> print(nd.broadcast_logical_xor(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
[1. 0.])",
       .infer = logic});
  add({.name = "bitwise_and",
       .mxnet_names = {"_npi_bitwise_and", "_npi_bitwise_and_scalar"},
       .spellings = {"np.bitwise_and(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return the bits that both operands have, broadcast.

>>> np.bitwise_and(np.array([5, 3], dtype="int32"), 6)
array([4, 2], dtype=int32))",
       .inputs = {"x1", "x2"},
       .infer = bits,
       .gradients = {no_gradient}});
  add({.name = "bitwise_or",
       .mxnet_names = {"_npi_bitwise_or", "_npi_bitwise_or_scalar"},
       .spellings = {"np.bitwise_or(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return the bits that one of the operands has, broadcast.

>>> np.bitwise_or(np.array([5, 3], dtype="int32"), 6)
array([7, 7], dtype=int32))",
       .inputs = {"x1", "x2"},
       .infer = bits,
       .gradients = {no_gradient}});
  add({.name = "bitwise_xor",
       .mxnet_names = {"_npi_bitwise_xor", "_npi_bitwise_xor_scalar"},
       .spellings = {"np.bitwise_xor(x1, x2, out=None, **kwargs)"},
       .doc = R"(Return the bits that just one of the operands has, broadcast.

>>> np.bitwise_xor(np.array([5, 3], dtype="int32"), 6)
array([3, 5], dtype=int32))",
       .inputs = {"x1", "x2"},
       .infer = bits,
       .gradients = {no_gradient}});
  add({.name = "leaky_relu",
       .inputs = {"data", "slope"},
       .infer = floats_only,
       .gradients = {
           reading({0, 1}, [](Gradient& c) { return fit(c, 0, where(c[0] > 0, c.g, c.g * c[1])); }),
           reading({0}, [](Gradient& c) { return fit(c, 1, where(c[0] > 0, 0, c.g * c[0])); })}});
  add({.name = "elu",
       .inputs = {"data", "slope"},
       .infer = floats_only,
       .gradients = {reading({0, 1},
                             [](Gradient& c) {
                               return fit(c, 0, where(c[0] > 0, c.g, c.g * c[1] * exp(c[0])));
                             }),
                     reading({0}, [](Gradient& c) {
                       return fit(c, 1, where(c[0] > 0, 0, c.g * expm1(c[0])));
                     })}});
  add({.name = "smooth_l1",
       .mxnet_names = {"smooth_l1", "_npx_smooth_l1"},
       .spellings = {"nd.smooth_l1(data, scalar=1.0, out=None, name=None)",
                     "npx.smooth_l1(data, scalar=1.0, out=None, name=None)"},
       .doc =
           R"(Return the squares of small elements, continued straight; ``scalar`` says what is small.

With s its square: ``s / 2 * x**2`` where ``abs(x) < 1 / s``, else ``abs(x) - 1 / (2 * s)``.

>>> print(nd.smooth_l1(nd.array([-2, 0.5, 1])).asnumpy())
[1.5   0.125 0.5  ]
>>> npx.smooth_l1(np.array([-2, 0.5, 1]))
array([1.5  , 0.125, 0.5  ]))",
       .inputs = {"data", "scalar"},
       .infer = real_function_of_two,
       .gradients = {reading({0, 1}, smooth_slope), no_gradient},
       .in_graphs = {.alike = true}});

  add({.name = "select",
       .inputs = {"condition", "x", "y"},
       .infer = infer_where,
       .gradients = {no_gradient,
                     reading({0}, [](Gradient& c) { return fit(c, 1, where(c[0], c.g, 0)); }),
                     reading({0}, [](Gradient& c) { return fit(c, 2, where(c[0], 0, c.g)); })}});
  table.add<Clip>(
      {.name = "clip",
       .mxnet_names = {"clip", "_npi_clip"},
       .spellings = {"np.clip(a, a_min, a_max, out=None)",
                     "nd.clip(data, a_min, a_max, out=None, name=None)"},
       .doc =
           R"(Return the elements, but ``a_min`` for smaller and ``a_max`` for greater ones; nan stays.

One of the bounds may be ``None``.

>>> np.clip(np.array([-1, 0.5, 3]), 0, 1)
array([0. , 0.5, 1. ])
>>> print(nd.clip(nd.array([-1, 0.5, 3]), 0, 1).asnumpy())
[0.  0.5 1. ])",
       .inputs = {"data"},
       .infer = infer_clip,
       .gradients = {reading({0}, clipped)}});
  table.add<Clip>(
      {.name = "is_within", .inputs = {"data"}, .infer = infer_clip, .gradients = {no_gradient}});
}

}  // namespace afterglow::ops
