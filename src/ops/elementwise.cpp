// SPDX-License-Identifier: Apache-2.0
// Functions of each element by itself. The formula is one line in kernels/formulas.def.
#include <cmath>
#include <iterator>
#include <numbers>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/elementwise_infer.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using kernels::Formula;

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

}  // namespace

void declare_elementwise(Table& table) {
  const auto add = [&](lazy::Op op) {
    op.inputs = {"data"};
    if (!op.infer) op.infer = real_function;
    table.add(std::move(op));
  };
  add({.name = "negative",
       .mxnet_names = {"negative", "_np_negative"},
       .spellings = {"np.negative(x, out=None, **kwargs)"},
       .doc = R"(Return the values with their signs turned.

>>> np.negative(np.array([-1, 2]))
array([ 1., -2.])
>>> print(nd.negative(nd.array([-1, 2])).asnumpy())
[ 1. -2.])",
       .infer = keep_type_but_boolean,
       .gradients = {reading_nothing([](Gradient& c) { return -c.g; })}});
  add({.name = "abs",
       .mxnet_names = {"abs", "_npi_absolute"},
       .spellings = {"np.abs|absolute|fabs(x, out=None, **kwargs)"},
       .doc = R"(Return the absolute values.

>>> np.abs(np.array([-1, 2]))
array([1., 2.])
>>> print(nd.abs(nd.array([-1, 2])).asnumpy())
[1. 2.])",
       .infer = keep_truth,
       .gradients = {reading(
           {0}, [](Gradient& c) { return where(c[0] > 0, c.g, where(c[0] < 0, -c.g, 0)); })}});
  add({.name = "exp",
       .mxnet_names = {"exp", "_npi_exp"},
       .spellings = {"np.exp(x, out=None, **kwargs)"},
       .doc = R"(Return e to the power of each element.

>>> np.exp(np.array([0, 1]))
array([1.       , 2.7182817])
>>> print(nd.exp(nd.array([0, 1])).asnumpy())
[1.        2.7182817])",
       .infer = keep_type,
       .gradients = {reading_output([](Gradient& c) { return c.g * c.output(); })}});
  add({.name = "log",
       .mxnet_names = {"log", "_npi_log"},
       .spellings = {"np.log(x, out=None, **kwargs)"},
       .doc = R"(Return the natural logarithms.

>>> np.log(np.array([1, 2]))
array([0.       , 0.6931472])
>>> print(nd.log(nd.array([1, 2])).asnumpy())
[0.        0.6931472])",
       .infer = keep_type,
       .gradients = {reading({0}, [](Gradient& c) { return c.g / c[0]; })}});
  add({.name = "sqrt",
       .mxnet_names = {"sqrt", "_npi_sqrt"},
       .spellings = {"np.sqrt(x, out=None, **kwargs)"},
       .doc = R"(Return the square roots.

>>> np.sqrt(np.array([4, 9]))
array([2., 3.])
>>> print(nd.sqrt(nd.array([4, 9])).asnumpy())
[2. 3.])",
       .infer = keep_type,
       .gradients = {reading_output([](Gradient& c) { return c.g * 0.5 / c.output(); })}});
  add({.name = "square",
       .mxnet_names = {"square", "_npi_square"},
       .spellings = {"np.square(x, out=None, **kwargs)"},
       .doc = R"(Return the elements multiplied by themselves.

>>> np.square(np.array([2, 3]))
array([4., 9.])
>>> print(nd.square(nd.array([2, 3])).asnumpy())
[4. 9.])",
       .infer = keep_truth,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * 2 * c[0]; })}});
  add({.name = "tanh",
       .mxnet_names = {"tanh", "_npi_tanh"},
       .spellings = {"np.tanh(x, out=None, **kwargs)"},
       .doc = R"(Return the hyperbolic tangents.

>>> np.tanh(np.array([0, 1]))
array([0.       , 0.7615942])
>>> print(nd.tanh(nd.array([0, 1])).asnumpy())
[0.        0.7615942])",
       .infer = keep_type,
       .gradients = {
           reading_output([](Gradient& c) { return c.g * (1 - c.output() * c.output()); })}});
  add({.name = "sigmoid",
       .mxnet_names = {"sigmoid", "_npx_sigmoid"},
       .doc = R"(Return 1 / (1 + exp(-x)).

>>> print(nd.sigmoid(nd.array([0, 2])).asnumpy())
[0.5      0.880797]
>>> npx.sigmoid(np.array([0, 2]))
array([0.5     , 0.880797]))",
       .infer = keep_type,
       .gradients = {
           reading_output([](Gradient& c) { return c.g * c.output() * (1 - c.output()); })}});
  add({.name = "relu",
       .mxnet_names = {"relu", "_npx_relu"},
       .doc = R"(Return the elements with negative ones replaced by 0.

>>> print(nd.relu(nd.array([-1, 2])).asnumpy())
[0. 2.]
>>> npx.relu(np.array([-1, 2]))
array([0., 2.]))",
       .infer = keep_type,
       .gradients = {// No result is negative.
                     reading_output([](Gradient& c) { return where(c.output(), c.g, 0); })}});

  add({.name = "sin",
       .mxnet_names = {"sin", "_npi_sin"},
       .spellings = {"np.sin(x, out=None, **kwargs)"},
       .doc = R"(Return the sines.

>>> np.sin(np.array([0, 1, 2]))
array([0.        , 0.84147096, 0.9092974 ])
>>> print(nd.sin(nd.array([0, 1, 2])).asnumpy())
[0.         0.84147096 0.9092974 ])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * cos(c[0]); })}});
  add({.name = "cos",
       .mxnet_names = {"cos", "_npi_cos"},
       .spellings = {"np.cos(x, out=None, **kwargs)"},
       .doc = R"(Return the cosines.

>>> np.cos(np.array([0, 1, 2]))
array([ 1.       ,  0.5403023, -0.4161468])
>>> print(nd.cos(nd.array([0, 1, 2])).asnumpy())
[ 1.         0.5403023 -0.4161468])",
       .gradients = {reading({0}, [](Gradient& c) { return -c.g * sin(c[0]); })}});
  add({.name = "tan",
       .mxnet_names = {"tan", "_npi_tan"},
       .spellings = {"np.tan(x, out=None, **kwargs)"},
       .doc = R"(Return the tangents.

>>> np.tan(np.array([0, 1, 2]))
array([ 0.       ,  1.5574077, -2.1850398])
>>> print(nd.tan(nd.array([0, 1, 2])).asnumpy())
[ 0.         1.5574077 -2.1850398])",
       .gradients = {
           reading_output([](Gradient& c) { return c.g * (1 + c.output() * c.output()); })}});
  add({.name = "arcsin",
       .mxnet_names = {"arcsin", "_npi_arcsin"},
       .spellings = {"np.arcsin(x, out=None, **kwargs)"},
       .doc = R"(Return the angles with these sines, from -pi/2 to pi/2.

>>> np.arcsin(np.array([0, 0.5, 1]))
array([0.       , 0.5235988, 1.5707964])
>>> print(nd.arcsin(nd.array([0, 0.5, 1])).asnumpy())
[0.        0.5235988 1.5707964])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(1 - c[0] * c[0]); })}});
  add({.name = "arccos",
       .mxnet_names = {"arccos", "_npi_arccos"},
       .spellings = {"np.arccos(x, out=None, **kwargs)"},
       .doc = R"(Return the angles with these cosines, from 0 to pi.

>>> np.arccos(np.array([0, 0.5, 1]))
array([1.5707964, 1.0471976, 0.       ])
>>> print(nd.arccos(nd.array([0, 0.5, 1])).asnumpy())
[1.5707964 1.0471976 0.       ])",
       .gradients = {reading({0}, [](Gradient& c) { return -c.g * rsqrt(1 - c[0] * c[0]); })}});
  add({.name = "arctan",
       .mxnet_names = {"arctan", "_npi_arctan"},
       .spellings = {"np.arctan(x, out=None, **kwargs)"},
       .doc = R"(Return the angles with these tangents, from -pi/2 to pi/2.

>>> np.arctan(np.array([0, 0.5, 1]))
array([0.       , 0.4636476, 0.7853982])
>>> print(nd.arctan(nd.array([0, 0.5, 1])).asnumpy())
[0.        0.4636476 0.7853982])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 + c[0] * c[0]); })}});
  add({.name = "sinh",
       .mxnet_names = {"sinh", "_npi_sinh"},
       .spellings = {"np.sinh(x, out=None, **kwargs)"},
       .doc = R"(Return the hyperbolic sines.

>>> np.sinh(np.array([0, 1, 2]))
array([0.       , 1.1752012, 3.6268604])
>>> print(nd.sinh(nd.array([0, 1, 2])).asnumpy())
[0.        1.1752012 3.6268604])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * cosh(c[0]); })}});
  add({.name = "cosh",
       .mxnet_names = {"cosh", "_npi_cosh"},
       .spellings = {"np.cosh(x, out=None, **kwargs)"},
       .doc = R"(Return the hyperbolic cosines.

>>> np.cosh(np.array([0, 1, 2]))
array([1.       , 1.5430807, 3.7621956])
>>> print(nd.cosh(nd.array([0, 1, 2])).asnumpy())
[1.        1.5430807 3.7621956])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * sinh(c[0]); })}});
  add({.name = "arcsinh",
       .mxnet_names = {"arcsinh", "_npi_arcsinh"},
       .spellings = {"np.arcsinh(x, out=None, **kwargs)"},
       .doc = R"(Return the inverses of the hyperbolic sine.

>>> np.arcsinh(np.array([0, 1, 2]))
array([0.       , 0.8813736, 1.4436355])
>>> print(nd.arcsinh(nd.array([0, 1, 2])).asnumpy())
[0.        0.8813736 1.4436355])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(c[0] * c[0] + 1); })}});
  add({.name = "arccosh",
       .mxnet_names = {"arccosh", "_npi_arccosh"},
       .spellings = {"np.arccosh(x, out=None, **kwargs)"},
       .doc = R"(Return the inverses of the hyperbolic cosine.

>>> np.arccosh(np.array([1, 2, 3]))
array([0.       , 1.316958 , 1.7627472])
>>> print(nd.arccosh(nd.array([1, 2, 3])).asnumpy())
[0.        1.316958  1.7627472])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g * rsqrt(c[0] * c[0] - 1); })}});
  add({.name = "arctanh",
       .mxnet_names = {"arctanh", "_npi_arctanh"},
       .spellings = {"np.arctanh(x, out=None, **kwargs)"},
       .doc = R"(Return the inverses of the hyperbolic tangent.

>>> np.arctanh(np.array([0, 0.5, 1]))
array([0.        , 0.54930615,        inf])
>>> print(nd.arctanh(nd.array([0, 0.5, 1])).asnumpy())
[0.         0.54930615        inf])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 - c[0] * c[0]); })}});
  add({.name = "expm1",
       .mxnet_names = {"expm1", "_npi_expm1"},
       .spellings = {"np.expm1(x, out=None, **kwargs)"},
       .doc = R"(Return exp(x) - 1, precise near 0.

>>> np.expm1(np.array([0, 1e-8]))
array([0.e+00, 1.e-08])
>>> print(nd.expm1(nd.array([0, 1e-8])).asnumpy())
[0.e+00 1.e-08])",
       .gradients = {reading_output([](Gradient& c) { return c.g * (c.output() + 1); })}});
  add({.name = "log1p",
       .mxnet_names = {"log1p", "_npi_log1p"},
       .spellings = {"np.log1p(x, out=None, **kwargs)"},
       .doc = R"(Return log(1 + x), precise near 0.

>>> np.log1p(np.array([0, 1e-8, 1]))
array([0.000000e+00, 1.000000e-08, 6.931472e-01])
>>> print(nd.log1p(nd.array([0, 1e-8, 1])).asnumpy())
[0.000000e+00 1.000000e-08 6.931472e-01])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (1 + c[0]); })}});
  add({.name = "log2",
       .mxnet_names = {"log2", "_npi_log2"},
       .spellings = {"np.log2(x, out=None, **kwargs)"},
       .doc = R"(Return the logarithms to base 2.

>>> np.log2(np.array([1, 8, 10]))
array([0.      , 3.      , 3.321928])
>>> print(nd.log2(nd.array([1, 8, 10])).asnumpy())
[0.       3.       3.321928])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (c[0] * std::numbers::ln2); })}});
  add({.name = "log10",
       .mxnet_names = {"log10", "_npi_log10"},
       .spellings = {"np.log10(x, out=None, **kwargs)"},
       .doc = R"(Return the logarithms to base 10.

>>> np.log10(np.array([1, 8, 1000]))
array([0.     , 0.90309, 3.     ])
>>> print(nd.log10(nd.array([1, 8, 1000])).asnumpy())
[0.      0.90309 3.     ])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / (c[0] * std::numbers::ln10); })}});
  add({.name = "cbrt",
       .mxnet_names = {"cbrt", "_npi_cbrt"},
       .spellings = {"np.cbrt(x, out=None, **kwargs)"},
       .doc = R"(Return the cube roots.

>>> np.cbrt(np.array([-8, 1, 27]))
array([-2.,  1.,  3.])
>>> print(nd.cbrt(nd.array([-8, 1, 27])).asnumpy())
[-2.  1.  3.])",
       .gradients = {
           reading_output([](Gradient& c) { return c.g / (3 * c.output() * c.output()); })}});
  add({.name = "sign",
       .mxnet_names = {"sign", "_npi_sign"},
       .spellings = {"np.sign(x, out=None, **kwargs)"},
       .doc = R"(Return -1, 0 or 1 by the sign of each element.

>>> np.sign(np.array([-2, 0, 3]))
array([-1.,  0.,  1.])
>>> print(nd.sign(nd.array([-2, 0, 3])).asnumpy())
[-1.  0.  1.])",
       .gradients = {flat}});
  add({.name = "rsqrt",
       .mxnet_names = {"rsqrt"},
       .doc = R"(Return 1 / sqrt(x).

>>> print(nd.rsqrt(nd.array([1, 4, 16])).asnumpy())
[1.   0.5  0.25])",
       .gradients = {reading_output(
           [](Gradient& c) { return -0.5 * c.g * c.output() * c.output() * c.output(); })}});
  add({.name = "erf",
       .mxnet_names = {"erf", "_npx_erf"},
       .doc = R"(Return the error function.

>>> print(nd.erf(nd.array([-1, 0, 0.5])).asnumpy())
[-0.8427008  0.         0.5204999]
>>> npx.erf(np.array([-1, 0, 0.5]))
array([-0.8427008,  0.       ,  0.5204999]))",
       .gradients = {reading(
           {0}, [](Gradient& c) { return c.g * (2 / std::sqrt(pi)) * exp(-c[0] * c[0]); })}});
  add({.name = "softsign",
       .mxnet_names = {"softsign"},
       .doc = R"(Return x / (1 + abs(x)).

>>> print(nd.softsign(nd.array([-1, 0, 3])).asnumpy())
[-0.5   0.    0.75])",
       .gradients = {reading({0}, [](Gradient& c) { return c.g / square(1 + abs(c[0])); })}});
  add({.name = "softrelu", .infer = floats_only, .gradients = {reading({0}, [](Gradient& c) {
                                                   return c.g * sigmoid(c[0]);
                                                 })}});
  add({.name = "gelu", .infer = floats_only, .gradients = {reading({0}, [](Gradient& c) {
                                               return c.g * gelu_slope(c[0]);
                                             })}});

  add({.name = "floor",
       .mxnet_names = {"floor", "_npi_floor"},
       .spellings = {"np.floor(x, out=None, **kwargs)"},
       .doc = R"(Return the greatest integers that are not greater.

>>> np.floor(np.array([-1.5, 0.5, 2]))
array([-2.,  0.,  2.])
>>> print(nd.floor(nd.array([-1.5, 0.5, 2])).asnumpy())
[-2.  0.  2.])",
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "ceil",
       .mxnet_names = {"ceil", "_npi_ceil"},
       .spellings = {"np.ceil(x, out=None, **kwargs)"},
       .doc = R"(Return the smallest integers that are not smaller.

>>> np.ceil(np.array([-1.5, 0.5, 2]))
array([-1.,  1.,  2.])
>>> print(nd.ceil(nd.array([-1.5, 0.5, 2])).asnumpy())
[-1.  1.  2.])",
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "trunc",
       .mxnet_names = {"trunc", "fix", "_npi_trunc", "_npi_fix"},
       .spellings = {"np.trunc|fix(x, out=None, **kwargs)"},
       .doc = R"(Return the elements without their fractions.

>>> np.trunc(np.array([-1.5, 0.5, 2]))
array([-1.,  0.,  2.])
>>> print(nd.trunc(nd.array([-1.5, 0.5, 2])).asnumpy())
[-1.  0.  2.])",
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "round",
       .mxnet_names = {"round"},
       .doc = R"(Return the nearest integers; ties go away from 0.

>>> print(nd.round(nd.array([-2.5, 0.5, 1.4])).asnumpy())
[-3.  1.  1.])",
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "rint",
       .mxnet_names = {"rint", "_npi_rint"},
       .spellings = {"np.rint(x, out=None, **kwargs)"},
       .doc = R"(Return the nearest integers; ties go to the lower one, as in MXNet.

>>> np.rint(np.array([-2.5, 0.5, 1.6]))
array([-3.,  0.,  2.])
>>> print(nd.rint(nd.array([-2.5, 0.5, 1.6])).asnumpy())
[-3.  0.  2.])",
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "round_half_to_even",
       .mxnet_names = {"_npi_around"},
       .infer = keep_integers,
       .gradients = {flat}});
  add({.name = "degrees",
       .mxnet_names = {"degrees", "_npi_degrees"},
       .spellings = {"np.degrees|rad2deg(x, out=None, **kwargs)"},
       .doc = R"(Return angles of radians in degrees.

>>> np.degrees(np.array([0, 1, 2]))
array([  0.     ,  57.29578, 114.59156])
>>> print(nd.degrees(nd.array([0, 1, 2])).asnumpy())
[  0.       57.29578 114.59156])",
       .infer = [](Inference& inference) { scaling(inference, 180 / pi); },
       .formula = Formula::multiply,
       .gradients = {reading_nothing([](Gradient& c) { return c.g * (180 / pi); })}});
  add({.name = "radians",
       .mxnet_names = {"radians", "_npi_radians"},
       .spellings = {"np.radians|deg2rad(x, out=None, **kwargs)"},
       .doc = R"(Return angles of degrees in radians.

>>> np.radians(np.array([0, 90, 180]))
array([0.       , 1.5707964, 3.1415927])
>>> print(nd.radians(nd.array([0, 90, 180])).asnumpy())
[0.        1.5707964 3.1415927])",
       .infer = [](Inference& inference) { scaling(inference, pi / 180); },
       .formula = Formula::multiply,
       .gradients = {reading_nothing([](Gradient& c) { return c.g * (pi / 180); })}});
  add({.name = "reciprocal",
       .mxnet_names = {"reciprocal", "_npi_reciprocal"},
       .spellings = {"np.reciprocal(x, out=None, **kwargs)"},
       .doc = R"(Return 1 / x.

>>> np.reciprocal(np.array([1, 2, 4]))
array([1.  , 0.5 , 0.25])
>>> print(nd.reciprocal(nd.array([1, 2, 4])).asnumpy())
[1.   0.5  0.25])",
       .infer = reciprocal,
       .formula = Formula::divide,
       .gradients = {reading_output([](Gradient& c) { return -c.g * c.output() * c.output(); })}});

  add({.name = "gamma",
       .mxnet_names = {"gamma", "_npx_gamma"},
       .doc = R"(Return the gamma function: (n - 1)! for an integer n.

>>> print(nd.gamma(nd.array([1, 0.5, 5])).asnumpy())
[ 1.         1.7724539 24.       ]
>>> npx.gamma(np.array([1, 0.5, 5]))
array([ 1.       ,  1.7724539, 24.       ]))",
       .infer = double_function,
       .gradients = {
           reading_output_and({0}, [](Gradient& c) { return c.g * c.output() * digamma(c[0]); })}});
  add({.name = "gammaln",
       .mxnet_names = {"gammaln", "_npx_gammaln"},
       .doc = R"(Return the logarithms of the size of the gamma function.

>>> print(nd.gammaln(nd.array([1, 0.5, 5])).asnumpy())
[0.        0.5723649 3.1780539]
>>> npx.gammaln(np.array([1, 0.5, 5]))
array([0.       , 0.5723649, 3.1780539]))",
       .infer = double_function,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * digamma(c[0]); })}});
  add({.name = "digamma",
       .mxnet_names = {"digamma"},
       .spellings = {"npx.digamma(data, out=None, name=None)"},
       .doc = R"(Return the derivative of ``gammaln``.

>>> npx.digamma(np.array([1, 0.5, 5]))
array([-0.5772157, -1.96351  ,  1.5061177]))",
       .infer = double_function,
       .gradients = {reading({0}, [](Gradient& c) { return c.g * trigamma(c[0]); })}});
  add({.name = "erfinv",
       .mxnet_names = {"erfinv", "_npx_erfinv"},
       .doc = R"(Return the inverse of the error function.

>>> print(nd.erfinv(nd.array([-0.5, 0, 0.5])).asnumpy())
[-0.47693628  0.          0.47693628]
>>> npx.erfinv(np.array([-0.5, 0, 0.5]))
array([-0.47693628,  0.        ,  0.47693628]))",
       .infer = double_function,
       .gradients = {reading_output(
           [](Gradient& c) { return c.g * (std::sqrt(pi) / 2) * exp(c.output() * c.output()); })}});

  add({.name = "logical_not",
       .mxnet_names = {"logical_not", "_npi_logical_not"},
       .spellings = {"np.logical_not(x, out=None, **kwargs)"},
       .doc = R"(Return where the element is 0; in ``nd`` as 1 and 0.

>>> np.logical_not(np.array([0, 2]))
array([ True, False])
>>> print(nd.logical_not(nd.array([0, 2])).asnumpy())
[1. 0.])",
       .infer = is_zero,
       .formula = Formula::equal,
       .gradients = {no_gradient}});
  add({.name = "invert",
       .mxnet_names = {"_npi_bitwise_not"},
       .spellings = {"np.invert|bitwise_not(x, out=None, **kwargs)"},
       .doc = R"(Return the bits that the operand does not have.

>>> np.invert(np.array([0, 5], dtype="int32"))
array([-1, -6], dtype=int32))",
       .infer = inverted_bits,
       .formula = Formula::bitwise_xor,
       .gradients = {no_gradient}});
}

}  // namespace afterglow::ops
