// SPDX-License-Identifier: Apache-2.0
// The distributions that programs know, made of what has a kernel (random.cpp). Their parameters
// are numbers, or arrays that are stretched to the shape of the result; what has no kernel of its
// own is computed in float64 if the result is, else in float32.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

constexpr std::string_view shape_doc = "of the result";
constexpr std::string_view dtype_doc = "of the result; that of `out`, else float32";

/// What is drawn: shape, type and place of the result.
struct Target {
  Composition& c;
  Shape shape;
  DType dtype;
  Context context;
  /// Whether what is drawn is the result itself.
  bool is_last = true;

  /// The type in which compositions are computed.
  DType work() const { return dtype == DType::float64 ? DType::float64 : DType::float32; }
};

Argument number_of(DType dtype) {
  return static_cast<std::int64_t>(dtype);
}

// --- parts ---

Value typed(const Value& value, DType dtype) {
  return value.is_number() ? value : in_type(value, dtype);
}

/// A composition in the type that was asked for.
Value finished(const Target& target, const Value& result) {
  return in_type(result, target.dtype);
}

bool is_number(const Value& value, double number) {
  return value.is_number() && value.number() == number;
}

/// standard * scale + loc; all that is neutral is left out.
Value shifted(const Target& target, Value standard, const Value& scale, const Value& loc) {
  if (!is_number(scale, 1)) standard = standard * typed(scale, target.work());
  if (!is_number(loc, 0)) standard = standard + typed(loc, target.work());
  return finished(target, standard);
}

Value scaled(const Target& target, const Value& standard, const Value& scale) {
  return shifted(target, standard, scale, 0);
}

template <class... Numbers>
Value fill(const lazy::Op& op, const Target& target, DType dtype, autograd::Handle* out,
           Numbers... numbers) {
  const Argument arguments[] = {numbers..., target.shape, number_of(dtype)};
  autograd::CallBuilder builder(op, false);
  return builder.issue({arguments, target.context, out});
}

/// What is drawn in a type other than that of the result, or for a computation.
template <class... Numbers>
Value fill(const lazy::Op& op, const Target& target, DType dtype, Numbers... numbers) {
  return fill(op, target, dtype, static_cast<autograd::Handle*>(nullptr), numbers...);
}

/// The result, in place where the caller has one for it.
template <class... Numbers>
Value fill_result(const lazy::Op& op, const Target& target, Numbers... numbers) {
  autograd::Handle* const out = target.is_last ? target.c.take_out() : nullptr;
  return fill(op, target, target.dtype, out, numbers...);
}

Value standard_exponential(const Target& target) {
  return fill(op_named("fill_exponential"), target, target.work(), 1.0);
}

/// Of kernels that take a parameter for each element, or one for all.
Value sampled(const lazy::Op& op, const Target& target, DType dtype, const Value& parameter) {
  autograd::CallBuilder builder(op, false);
  if (parameter.is_number()) {
    builder.add(Value(parameter.number()));
    const Argument arguments[] = {target.shape, number_of(dtype)};
    return builder.issue({arguments, target.context, nullptr});
  }
  const Argument to_shape[] = {number_of(DType::float64), target.shape, {}};
  const Value each = apply(op_named("copy"), to_shape, parameter);
  builder.add(each);
  const Argument arguments[] = {{}, number_of(dtype)};
  return builder.issue({arguments, target.context, nullptr});
}

Value standard_gamma(const Target& target, DType dtype, const Value& shape) {
  return sampled(op_named("fill_gamma"), target, dtype, shape);
}

// --- distributions, whatever their arguments are called ---

Value uniform(const Target& target, const Value& low, const Value& high) {
  if (low.is_number() && high.is_number())
    return fill_result(the_op<"fill_uniform">(), target, low.number(), high.number());
  const Value from = typed(low, target.work()), to = typed(high, target.work());
  return shifted(target, fill(the_op<"fill_uniform">(), target, target.work(), 0.0, 1.0), to - from,
                 from);
}

Value normal(const Target& target, const Value& loc, const Value& scale) {
  if (loc.is_number() && scale.is_number())
    return fill_result(the_op<"fill_normal">(), target, loc.number(), scale.number());
  return shifted(target, fill(the_op<"fill_normal">(), target, target.work(), 0.0, 1.0), scale,
                 loc);
}

Value exponential(const Target& target, const Value& scale) {
  if (scale.is_number()) return fill_result(op_named("fill_exponential"), target, scale.number());
  return scaled(target, standard_exponential(target), scale);
}

Value gamma(const Target& target, const Value& shape, const Value& scale) {
  return scaled(target, standard_gamma(target, target.work(), shape), scale);
}

Value poisson(const Target& target, const Value& lam) {
  return sampled(op_named("fill_poisson"), target, target.dtype, lam);
}

/// Failures before the k-th success, where a trial succeeds with probability p.
Value negative_binomial(const Target& target, const Value& k, const Value& p) {
  const Value chance = typed(p, DType::float64);
  return poisson(target, standard_gamma(target, DType::float64, typed(k, DType::float64)) *
                             ((1 - chance) / chance));
}

/// Mean mu and variance mu + alpha * mu**2.
Value generalized_negative_binomial(const Target& target, const Value& mu, const Value& alpha) {
  if (is_number(alpha, 0)) return poisson(target, mu);
  // So little dispersion cannot be told from none.
  const Value spread = alpha.is_number() ? alpha : maximum(typed(alpha, DType::float64), 1e-9);
  return poisson(target, standard_gamma(target, DType::float64, 1 / spread) *
                             (spread * typed(mu, DType::float64)));
}

/// The ratio of two exponential numbers.
Value ratio_of_exponentials(const Target& target) {
  const Value above = standard_exponential(target), below = standard_exponential(target);
  return above / below;
}

// --- parameters of np: checked ---

struct Bounds {
  double lowest = 0;
  bool strict = false;
  double highest = std::numeric_limits<double>::infinity();
};
constexpr Bounds positive = {.strict = true};

/// A parameter that must stay within bounds. A number is refused at once; the elements of an array
/// are looked at when it is computed.
Value within(const Composition& c, std::size_t input, const Bounds& bounds = {}) {
  const auto [lowest, strict, highest] = bounds;
  const Value& value = c[input];
  if (!value.is_number()) {
    const Argument arguments[] = {lowest, strict, highest};
    return apply(op_named("check_parameter"), arguments, copy(value, DType::float64));
  }
  const double number = value.number();
  if (number < lowest || number > highest || (strict && number == lowest))
    c.refuse(std::string(c.op().inputs[input]) + " is " + std::to_string(number) + "; it must be " +
             (strict ? "greater than " : "at least ") + std::to_string(lowest) +
             (std::isinf(highest) ? "" : " and at most " + std::to_string(highest)));
  return number;
}

/// The shape that arrays have together, as NumPy stretches them.
Shape together(const Composition& c, Shape shape, const Shape& other) {
  if (shape.size() < other.size()) return together(c, other, shape);
  const std::size_t more = shape.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& extent = shape[more + i];
    if (extent != other[i] && extent != 1 && other[i] != 1)
      c.refuse("the parameters cannot be broadcast together");
    if (extent == 1) extent = other[i];
  }
  return shape;
}

bool fits(const Shape& parameters, const Shape& size) {
  return parameters.size() <= size.size() &&
         std::equal(parameters.rbegin(), parameters.rend(), size.rbegin(),
                    [](auto extent, auto wanted) { return extent == 1 || extent == wanted; });
}

DType type_of(const Composition& c, std::optional<DType> given, DType otherwise) {
  return given.value_or(c.out() ? c.out()->array.dtype : otherwise);
}

DType floating_type(const Composition& c, std::optional<DType> given) {
  const DType dtype = type_of(c, given, DType::float32);
  if (!is_floating(dtype))
    c.refuse(std::string("gives float16, float32 or float64, not ") + name_of(dtype),
             ErrorKind::type);
  return dtype;
}

/// Of the shape that is asked for, else that of the parameters.
Target numpy_target(Composition& c, const std::optional<Shape>& size, DType dtype) {
  Shape shape;
  Context context = c.context();
  bool has_array = false;
  for (const Value& parameter : c.inputs()) {
    if (!parameter) continue;
    if (!has_array) context = parameter.array.context();
    has_array = true;
    shape = together(c, std::move(shape), shape_of(parameter));
  }
  if (!size) return {c, std::move(shape), dtype, context};
  if (!fits(shape, *size))
    c.refuse("parameters of shape " + to_string(shape) + " do not fit size " + to_string(*size));
  return {c, *size, dtype, context};
}

struct Sized {
  std::optional<Shape> size;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("size", &Sized::size, "the shape of the result; that of the parameters"),
                 field("dtype", &Sized::dtype, dtype_doc)};
};

struct Batched {
  std::optional<Shape> batch_shape;
  std::optional<DType> dtype;
  static constexpr auto fields = std::tuple{
      field("batch_shape", &Batched::batch_shape, "how often all parameters are drawn for"),
      field("dtype", &Batched::dtype, dtype_doc)};
};

Target target_of(Composition& c, const Sized& given) {
  return numpy_target(c, given.size, floating_type(c, given.dtype));
}

Target target_of(Composition& c, const Batched& given) {
  Target target = numpy_target(c, {}, floating_type(c, given.dtype));
  if (given.batch_shape) {
    Shape shape = *given.batch_shape;
    for (const std::int64_t extent : target.shape) shape.push_back(extent);
    target.shape = shape;
  }
  return target;
}

// --- np ---

template <class Given>
Value numpy_uniform(Composition& c, const Given& given) {
  return uniform(target_of(c, given), c[0], c[1]);
}

template <class Given>
Value numpy_normal(Composition& c, const Given& given) {
  return normal(target_of(c, given), c[0], within(c, 1));
}

Value numpy_lognormal(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  Target logarithms = target;
  logarithms.dtype = target.work();
  logarithms.is_last = false;
  return finished(target, exp(normal(logarithms, c[0], within(c, 1))));
}

Value numpy_exponential(Composition& c, const Sized& given) {
  return exponential(target_of(c, given), within(c, 0));
}

Value numpy_gamma(Composition& c, const Sized& given) {
  const Value shape = within(c, 0, positive), scale = within(c, 1, positive);
  return gamma(target_of(c, given), shape, scale);
}

Value numpy_beta(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value a = within(c, 0, positive), b = within(c, 1, positive);
  const Value first = standard_gamma(target, DType::float64, a);
  const Value second = standard_gamma(target, DType::float64, b);
  return finished(target, first / (first + second));
}

Value numpy_chisquare(Composition& c, const Sized& given) {
  return gamma(target_of(c, given), within(c, 0, positive) / 2, 2);
}

Value numpy_f(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value dfnum = within(c, 0, positive), dfden = within(c, 1, positive);
  const Value above = standard_gamma(target, DType::float64, dfnum / 2);
  const Value below = standard_gamma(target, DType::float64, dfden / 2);
  return finished(target, above / below * (dfden / dfnum));
}

Value numpy_logistic(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value scale = within(c, 1);
  return shifted(target, log(ratio_of_exponentials(target)), scale, c[0]);
}

Value numpy_gumbel(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value scale = within(c, 1);
  return shifted(target, -log(standard_exponential(target)), scale, c[0]);
}

Value numpy_laplace(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value scale = within(c, 1);
  const Value left = standard_exponential(target), right = standard_exponential(target);
  return shifted(target, left - right, scale, c[0]);
}

Value numpy_rayleigh(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value scale = within(c, 0);
  return scaled(target, sqrt(standard_exponential(target) * 2), scale);
}

Value numpy_weibull(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value inverse = typed(1 / within(c, 0, positive), target.work());
  return finished(target, power(standard_exponential(target), inverse));
}

Value numpy_pareto(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value a = typed(within(c, 0, positive), target.work());
  return finished(target, exp(standard_exponential(target) / a) - 1);
}

Value numpy_power(Composition& c, const Sized& given) {
  const Target target = target_of(c, given);
  const Value a = typed(within(c, 0, positive), target.work());
  return finished(target, exp(-standard_exponential(target) / a));
}

Value numpy_poisson(Composition& c, const Sized& given) {
  return poisson(target_of(c, given), within(c, 0));
}

Value numpy_bernoulli(Composition& c, const Sized& given) {
  const auto is_given = [&](std::size_t input) { return c[input] || c[input].is_number(); };
  if (is_given(0) == is_given(1)) c.refuse("either prob or logit must be specified, but not both");
  const Target target = numpy_target(c, given.size, type_of(c, given.dtype, DType::float32));
  Value chance = is_given(0) ? within(c, 0, {.highest = 1}) : c[1];
  if (is_given(1))
    chance = chance.is_number() ? Value(1 / (1 + std::exp(-chance.number()))) : sigmoid(chance);
  const Value unit = fill(op_named("fill_uniform"), target, DType::float32, 0.0, 1.0);
  return finished(target, unit < typed(chance, DType::float32));
}

struct NumpyRandint {
  std::int64_t low;
  std::optional<std::int64_t> high;
  std::optional<Shape> size;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{required("low", &NumpyRandint::low, "the least number"),
                 field("high", &NumpyRandint::high, "what all are less than; alone, `low` is it"),
                 field("size", &NumpyRandint::size, "the shape of the result"),
                 field("dtype", &NumpyRandint::dtype, "int32 or int64; that of `out`, else int64")};
};

Value randint(const Target& target, std::int64_t low, std::int64_t high) {
  return fill_result(op_named("fill_integers"), target, low, high);
}

Value numpy_randint(Composition& c, const NumpyRandint& given) {
  const Target target = numpy_target(c, given.size, type_of(c, given.dtype, DType::int64));
  return given.high ? randint(target, given.low, *given.high) : randint(target, 0, given.low);
}

// --- nd: of numbers, for each element of arrays, and shaped as other data ---

/// Of parameters that are numbers; without a shape, that of `out`, else one number.
Target plain_target(Composition& c, const Shape& shape, DType dtype) {
  if (!shape.empty()) return {c, shape, dtype, c.context()};
  return {c, c.out() ? shape_of(*c.out()) : Shape{1}, dtype, c.context()};
}

void need_positive(const Composition& c, std::string_view name, double value) {
  if (!(value > 0))
    c.refuse(std::string(name) + " is " + std::to_string(value) + "; it must be positive");
}

void need_not_negative(const Composition& c, std::string_view name, double value) {
  if (!(value >= 0))
    c.refuse(std::string(name) + " is " + std::to_string(value) + "; it must not be negative");
}

// A law: its parameters, what is said of numbers that they cannot be, and how it is drawn. Elements
// of arrays are not looked at.

template <class Number>
struct Parameter {
  std::string_view name;
  Number value;
  std::string_view doc;
};

struct Uniform {
  static constexpr Parameter first = {"low", 0.0, "the least number"};
  static constexpr Parameter second = {"high", 1.0, "what all numbers are less than"};
  static void check(const Composition& c, double low, double high) {
    if (low > high)
      c.refuse("low is " + std::to_string(low) + ", high is " + std::to_string(high) +
               "; low must be less");
  }
  static constexpr auto draw = uniform;
};

struct Normal {
  static constexpr Parameter first = {"loc", 0.0, "the mean"};
  static constexpr Parameter second = {"scale", 1.0, "the standard deviation"};
  static void check(const Composition& c, double, double scale) {
    need_positive(c, "scale", scale);
  }
  static constexpr auto draw = normal;
};

struct ScaledExponential {
  static constexpr Parameter first = {"scale", 1.0, "the mean"};
  static void check(const Composition& c, double scale) { need_positive(c, "scale", scale); }
  static constexpr auto draw = exponential;
};

struct Exponential {
  static constexpr Parameter first = {"lam", 1.0, "one by the mean"};
  static void check(const Composition& c, double lam) { need_positive(c, "lam", lam); }
  static Value draw(const Target& target, const Value& lam) { return exponential(target, 1 / lam); }
};

struct Gamma {
  static constexpr Parameter first = {"alpha", 1.0, "the shape"};
  static constexpr Parameter second = {"beta", 1.0, "the scale"};
  static void check(const Composition& c, double alpha, double beta) {
    need_positive(c, "alpha", alpha);
    need_positive(c, "beta", beta);
  }
  static constexpr auto draw = gamma;
};

struct Poisson {
  static constexpr Parameter first = {"lam", 1.0, "the mean"};
  static void check(const Composition& c, double lam) { need_not_negative(c, "lam", lam); }
  static constexpr auto draw = poisson;
};

struct NegativeBinomial {
  static constexpr Parameter first = {"k", std::int64_t{1}, "how many successes there are"};
  static constexpr Parameter second = {"p", 1.0, "the probability of a success"};
  static void check(const Composition& c, std::int64_t k, double p) {
    need_not_negative(c, "k", static_cast<double>(k));
    if (!(p > 0 && p <= 1))
      c.refuse("p is " + std::to_string(p) + "; it must be greater than 0, at most 1");
  }
  static constexpr auto draw = negative_binomial;
};

struct GeneralizedNegativeBinomial {
  static constexpr Parameter first = {"mu", 1.0, "the mean"};
  static constexpr Parameter second = {"alpha", 1.0, "the dispersion"};
  static void check(const Composition& c, double mu, double alpha) {
    need_not_negative(c, "mu", mu);
    need_not_negative(c, "alpha", alpha);
  }
  static constexpr auto draw = generalized_negative_binomial;
};

template <class Law>
concept Pair = requires { Law::second; };

template <class Law>
constexpr double second_value() {
  if constexpr (Pair<Law>) {
    return Law::second.value;
  } else {
    return 0;
  }
}

/// The fields of a struct that has the parameters of a law.
template <class Law, class Struct>
constexpr auto numbers_of() {
  const std::tuple first{field(Law::first.name, &Struct::first, Law::first.doc)};
  if constexpr (Pair<Law>) {
    return std::tuple_cat(first,
                          std::tuple{field(Law::second.name, &Struct::second, Law::second.doc)});
  } else {
    return first;
  }
}

template <class Law>
struct Plain {
  decltype(Law::first.value) first = Law::first.value;
  double second = second_value<Law>();
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields = std::tuple_cat(
      numbers_of<Law, Plain>(),
      std::tuple{field("shape", &Plain::shape, "of the result; that of `out`, else (1,)"),
                 field("dtype", &Plain::dtype, dtype_doc)});
};

template <class Law>
struct Like {
  decltype(Law::first.value) first = Law::first.value;
  double second = second_value<Law>();
  static constexpr auto fields = numbers_of<Law, Like>();
};

struct Each {
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("shape", &Each::shape, "of what is drawn for each element"),
                 field("dtype", &Each::dtype, dtype_doc)};
};

template <class Law, class Given>
Value of_numbers(const Target& target, const Given& given) {
  if constexpr (Pair<Law>) {
    Law::check(target.c, given.first, given.second);
    return Law::draw(target, given.first, given.second);
  } else {
    Law::check(target.c, given.first);
    return Law::draw(target, given.first);
  }
}

/// Of parameters that are numbers.
template <class Law>
Value plain(Composition& c, const Plain<Law>& given) {
  return of_numbers<Law>(plain_target(c, given.shape, floating_type(c, given.dtype)), given);
}

/// In the shape, type and place of other data.
template <class Law>
Value like(Composition& c, const Like<Law>& given) {
  const Array& data = c[0].array;
  return of_numbers<Law>({c, shape_of(c[0]), floating_type(c, data.dtype), data.context()}, given);
}

/// Some for each element of arrays, which are all of one shape.
template <class Law>
Value each(Composition& c, const Each& given) {
  const Shape parameters = shape_of(c[0]);
  Shape shape = parameters, stretched = parameters;
  for (const std::int64_t extent : given.shape) {
    shape.push_back(extent);
    stretched.push_back(1);
  }
  const Target target = {c, shape, floating_type(c, given.dtype), c[0].array.context()};
  const Value first = shaped(c[0], stretched);
  if constexpr (Pair<Law>) {
    if (shape_of(c[1]) != parameters)
      c.refuse("the parameters must have the same shape, but have " + to_string(parameters) +
               " and " + to_string(shape_of(c[1])));
    return Law::draw(target, first, shaped(c[1], stretched));
  } else {
    return Law::draw(target, first);
  }
}

struct Randint {
  std::int64_t low, high;
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{required("low", &Randint::low, "the least number"),
                 required("high", &Randint::high, "what all numbers are less than"),
                 field("shape", &Randint::shape, "of the result; that of `out`, else (1,)"),
                 field("dtype", &Randint::dtype, "int32 or int64; that of `out`, else int32")};
};

Value plain_randint(Composition& c, const Randint& given) {
  return randint(plain_target(c, given.shape, type_of(c, given.dtype, DType::int32)), given.low,
                 given.high);
}

// --- categories ---

struct Multinomial {
  Shape shape;
  bool get_prob = false;
  DType dtype = DType::int32;
  static constexpr auto fields =
      std::tuple{field("shape", &Multinomial::shape, "of what is drawn for each row"),
                 field("get_prob", &Multinomial::get_prob,
                       "whether the logarithms of the probabilities of what was drawn come too"),
                 field("dtype", &Multinomial::dtype, "of the result")};
};

/// The probabilities, as they were given, of the categories that were drawn.
Value chosen(const Value& data, const Value& drawn) {
  const std::int64_t categories = data.array.shape().back();
  const std::int64_t rows = data.array.size() / std::max<std::int64_t>(1, categories);
  const std::int64_t samples = drawn.array.size() / std::max<std::int64_t>(1, rows);
  const Value line = shaped(count_up(rows, DType::int64, data.array.context()), {rows, 1});
  const lazy::Op& op = op_named("gather");
  const Argument arguments[] = {op.defaults[0], std::string("clip")};
  const Value found =
      apply(op, arguments, shaped(data, {rows, categories}), line, shaped(drawn, {rows, samples}));
  return shaped(found, shape_of(drawn));
}

void multinomial_node(NodeForm& node, const Multinomial& given) {
  node.outputs = lazy::numbered_outputs(given.get_prob ? 2 : 1);
}

Value multinomial(Composition& c, const Multinomial& given) {
  if (given.dtype == DType::int8 || given.dtype == DType::boolean)
    c.refuse(std::string("cannot give ") + name_of(given.dtype), ErrorKind::type);
  const Argument arguments[] = {given.shape, number_of(given.dtype)};
  Value drawn = apply(op_named("fill_categories"), arguments, c[0]);
  if (shape_of(drawn).empty()) drawn = shaped(drawn, {1});
  if (given.get_prob) c.add_output(log(chosen(c[0], drawn)));
  return drawn;
}

/// What the declarations of each kind have in common.
struct Declared {
  Table& table;

  template <class Law>
  void plain(lazy::Op op) {
    op.compose = ops::plain<Law>;
    op.in_graphs.is_random = true;
    table.compose<Plain<Law>>(std::move(op));
  }

  template <class Law>
  void each(lazy::Op op) {
    op.compose = ops::each<Law>;
    table.compose<Each>(std::move(op));
  }

  template <class Law>
  void like(lazy::Op op) {
    op.inputs = {"data"};
    op.compose = ops::like<Law>;
    table.compose<Like<Law>>(std::move(op));
  }

  template <class Given = Sized>
  void numpy(lazy::Op op) {
    op.takes_numbers = true;
    op.in_graphs.is_random = true;
    table.compose<Given>(std::move(op));
  }
};

void declare_plain(Declared declare) {
  declare.plain<Uniform>({
      .name = "random_uniform",
      .mxnet_names = {"_random_uniform", "random_uniform", "uniform"},
      .spellings = {"nd.random_uniform|uniform(low=0.0, high=1.0, shape=(), ctx=None, dtype=None, "
                    "out=None, name=None)"},
      .doc = R"(Return numbers spread evenly from low up to, not including, high.

>>> nd.random_uniform(shape=(2, 3)).shape
(2, 3))",
  });
  declare.plain<Normal>({
      .name = "random_normal",
      .mxnet_names = {"_random_normal", "random_normal", "normal"},
      .spellings = {"nd.random_normal|normal(loc=0.0, scale=1.0, shape=(), ctx=None, dtype=None, "
                    "out=None, name=None)"},
      .doc = R"(Return normally distributed numbers: mean ``loc``, standard deviation ``scale``.

>>> nd.random_normal(shape=(2, 3)).shape
(2, 3))",
  });
  // MXNet's ops take the rate, whose inverse need not be the scale that nd.random.exponential
  // takes.
  declare.table.compose<Plain<ScaledExponential>>({
      .name = "random_scaled_exponential",
      .compose = plain<ScaledExponential>,
  });
  declare.plain<Exponential>({
      .name = "random_exponential",
      .mxnet_names = {"_random_exponential", "random_exponential"},
      .spellings = {"nd.random_exponential(lam=1.0, shape=(), ctx=None, dtype=None, out=None, "
                    "name=None)"},
      .doc = R"(Return exponentially distributed numbers of mean ``1 / lam``.

>>> nd.random_exponential(shape=(2, 3)).shape
(2, 3))",
  });
  declare.plain<Gamma>({
      .name = "random_gamma",
      .mxnet_names = {"_random_gamma", "random_gamma"},
      .spellings = {"nd.random_gamma(alpha=1.0, beta=1.0, shape=(), ctx=None, dtype=None, "
                    "out=None, name=None)"},
      .doc = R"(Return gamma distributed numbers of shape ``alpha`` and scale ``beta``.

>>> nd.random_gamma(shape=(2, 3)).shape
(2, 3))",
  });
  declare.plain<Poisson>({
      .name = "random_poisson",
      .mxnet_names = {"_random_poisson", "random_poisson"},
      .spellings = {"nd.random_poisson(lam=1.0, shape=(), ctx=None, dtype=None, out=None, "
                    "name=None)"},
      .doc = R"(Return Poisson distributed whole numbers of mean ``lam``.

>>> nd.random_poisson(shape=(2, 3)).shape
(2, 3))",
  });
  declare.plain<NegativeBinomial>({
      .name = "random_negative_binomial",
      .mxnet_names = {"_random_negative_binomial", "random_negative_binomial"},
      .spellings = {"nd.random_negative_binomial(k=1, p=1.0, shape=(), ctx=None, dtype=None, "
                    "out=None, name=None)"},
      .doc = R"(Return how often a trial of success ``p`` fails before it succeeds ``k`` times.

>>> nd.random_negative_binomial(shape=(2, 3)).shape
(2, 3))",
  });
  declare.plain<GeneralizedNegativeBinomial>({
      .name = "random_generalized_negative_binomial",
      .mxnet_names = {"_random_generalized_negative_binomial",
                      "random_generalized_negative_binomial"},
      .spellings = {"nd.random_generalized_negative_binomial(mu=1.0, alpha=1.0, shape=(), "
                    "ctx=None, dtype=None, out=None, name=None)"},
      .doc = R"(Return whole numbers of mean ``mu`` and variance ``mu + alpha * mu**2``.

>>> nd.random_generalized_negative_binomial(shape=(2, 3)).shape
(2, 3))",
  });
  declare.table.compose<Randint>({
      .name = "random_randint",
      .mxnet_names = {"_random_randint", "random_randint", "_npi_random_randint"},
      .spellings = {"nd.random_randint(low, high, shape=(), ctx=None, dtype=None, out=None, "
                    "name=None)"},
      .doc = R"(Return integers from low up to, not including, high.

>>> nd.random_randint(0, 10, shape=(2, 3)).shape
(2, 3))",
      .compose = plain_randint,
      .in_graphs = {.is_random = true},
  });
}

void declare_each(Declared declare) {
  declare.each<Uniform>({
      .name = "sample_uniform",
      .mxnet_names = {"_sample_uniform", "sample_uniform"},
      .doc = R"(Return evenly spread numbers for each pair of bounds.

>>> nd.sample_uniform(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"low", "high"},
  });
  declare.each<Normal>({
      .name = "sample_normal",
      .mxnet_names = {"_sample_normal", "sample_normal"},
      .doc = R"(Return normally distributed numbers for each mean and standard deviation.

>>> nd.sample_normal(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"mu", "sigma"},
  });
  declare.each<ScaledExponential>({
      .name = "sample_scaled_exponential",
      .inputs = {"scale"},
  });
  declare.each<Exponential>({
      .name = "sample_exponential",
      .mxnet_names = {"_sample_exponential", "sample_exponential"},
      .doc = R"(Return exponentially distributed numbers of mean ``1 / lam`` for each element.

>>> nd.sample_exponential(nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"lam"},
  });
  declare.each<Gamma>({
      .name = "sample_gamma",
      .mxnet_names = {"_sample_gamma", "sample_gamma"},
      .doc = R"(Return gamma distributed numbers for each shape and scale.

>>> nd.sample_gamma(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"alpha", "beta"},
  });
  declare.each<Poisson>({
      .name = "sample_poisson",
      .mxnet_names = {"_sample_poisson", "sample_poisson"},
      .doc = R"(Return Poisson distributed whole numbers for each mean.

>>> nd.sample_poisson(nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"lam"},
  });
  declare.each<NegativeBinomial>({
      .name = "sample_negative_binomial",
      .mxnet_names = {"_sample_negative_binomial", "sample_negative_binomial"},
      .doc = R"(Return how often trials of success ``p`` fail before they succeed ``k`` times.

>>> nd.sample_negative_binomial(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
(2, 3))",
      .inputs = {"k", "p"},
  });
  declare.each<GeneralizedNegativeBinomial>({
      .name = "sample_generalized_negative_binomial",
      .mxnet_names = {"_sample_generalized_negative_binomial",
                      "sample_generalized_negative_binomial"},
      .doc =
          R"(Return whole numbers of mean ``mu`` and variance ``mu + alpha * mu**2`` for each pair.

>>> one = nd.ones(2)
>>> nd.sample_generalized_negative_binomial(one, one, shape=(3,)).shape
(2, 3))",
      .inputs = {"mu", "alpha"},
  });
  declare.table.compose<Multinomial>({
      .name = "sample_multinomial",
      .mxnet_names = {"_sample_multinomial", "sample_multinomial"},
      .doc = R"(Return numbers of categories, drawn by the probabilities along the last axis.

>>> nd.sample_multinomial(nd.array([[0, 1], [1, 0]]))
<BLANKLINE>
[1 0]
<NDArray 2 @cpu(0)>)",
      .inputs = {"data"},
      .compose = multinomial,
      .node = multinomial_node,
  });
}

void declare_like(Declared declare) {
  declare.like<Uniform>({
      .name = "random_uniform_like",
      .mxnet_names = {"_random_uniform_like"},
      .spellings = {"nd.random.uniform_like(data, low=0.0, high=1.0, out=None, name=None)"},
      .doc =
          R"(Return numbers spread evenly from low up to, not including, high, shaped as ``data``.

>>> nd.random.uniform_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<Normal>({
      .name = "random_normal_like",
      .mxnet_names = {"_random_normal_like"},
      .spellings = {"nd.random.normal_like(data, loc=0.0, scale=1.0, out=None, name=None)"},
      .doc = R"(Return numbers normally distributed, shaped as ``data``.

>>> nd.random.normal_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<Exponential>({
      .name = "random_exponential_like",
      .mxnet_names = {"_random_exponential_like"},
      .spellings = {"nd.random.exponential_like(data, lam=1.0, out=None, name=None)"},
      .doc = R"(Return numbers exponentially distributed with mean ``1 / lam``, shaped as ``data``.

>>> nd.random.exponential_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<Gamma>({
      .name = "random_gamma_like",
      .mxnet_names = {"_random_gamma_like"},
      .spellings = {"nd.random.gamma_like(data, alpha=1.0, beta=1.0, out=None, name=None)"},
      .doc = R"(Return numbers gamma distributed, shaped as ``data``.

>>> nd.random.gamma_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<Poisson>({
      .name = "random_poisson_like",
      .mxnet_names = {"_random_poisson_like"},
      .spellings = {"nd.random.poisson_like(data, lam=1.0, out=None, name=None)"},
      .doc = R"(Return numbers Poisson distributed, shaped as ``data``.

>>> nd.random.poisson_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<NegativeBinomial>({
      .name = "random_negative_binomial_like",
      .mxnet_names = {"_random_negative_binomial_like"},
      .spellings = {"nd.random.negative_binomial_like(data, k=1, p=1.0, out=None, name=None)"},
      .doc = R"(Return numbers of failures before ``k`` successes, shaped as ``data``.

>>> nd.random.negative_binomial_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
  declare.like<GeneralizedNegativeBinomial>({
      .name = "random_generalized_negative_binomial_like",
      .mxnet_names = {"_random_generalized_negative_binomial_like"},
      .spellings = {"nd.random.generalized_negative_binomial_like(data, mu=1.0, alpha=1.0, "
                    "out=None, name=None)"},
      .doc =
          R"(Return numbers of mean ``mu`` and variance ``mu + alpha * mu**2``, shaped as ``data``.

>>> nd.random.generalized_negative_binomial_like(nd.zeros((2, 3))).shape
(2, 3))",
  });
}

void declare_numpy(Declared declare) {
  declare.numpy({
      .name = "np_random_uniform",
      .mxnet_names = {"_npi_uniform"},
      .spellings = {"np.random.uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return numbers spread evenly from low up to, not including, high.

>>> np.random.uniform(0, 1, size=(2, 3)).shape
(2, 3))",
      .inputs = {"low", "high"},
      .compose = numpy_uniform<Sized>,
  });
  declare.numpy({
      .name = "np_random_normal",
      .mxnet_names = {"_npi_normal"},
      .spellings = {"np.random.normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return normally distributed numbers: mean ``loc``, standard deviation ``scale``.

>>> np.random.normal(np.zeros(3), 1, size=(2, 3)).shape
(2, 3))",
      .inputs = {"loc", "scale"},
      .compose = numpy_normal<Sized>,
      .node = number_outputs<2>,
  });
  declare.numpy({
      .name = "np_random_lognormal",
      .spellings = {"np.random.lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return numbers whose logarithms are normally distributed.

>>> bool(np.random.lognormal(0, 1, 5).min() > 0)
True)",
      .inputs = {"mean", "sigma"},
      .compose = numpy_lognormal,
  });
  declare.numpy({
      .name = "np_random_exponential",
      .mxnet_names = {"_npi_exponential"},
      .spellings = {"np.random.exponential(scale=1.0, size=None, ctx=None, out=None)"},
      .doc = R"(Return exponentially distributed numbers of mean ``scale``.

>>> np.random.exponential(2.0, size=3).shape
(3,))",
      .inputs = {"scale"},
      .compose = numpy_exponential,
  });
  declare.numpy({
      .name = "np_random_gamma",
      .mxnet_names = {"_npi_gamma"},
      .spellings = {"np.random.gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return gamma distributed numbers of mean ``shape * scale``.

>>> np.random.gamma(np.array([1, 2]), 3, size=(4, 2)).shape
(4, 2))",
      .inputs = {"shape", "scale"},
      .compose = numpy_gamma,
  });
  declare.numpy({
      .name = "np_random_beta",
      .spellings = {"np.random.beta(a, b, size=None, dtype=None, ctx=None)"},
      .doc = R"(Return beta distributed numbers of mean ``a / (a + b)``.

>>> bool(np.random.beta(2, 3, size=5).max() < 1)
True)",
      .inputs = {"a", "b"},
      .compose = numpy_beta,
  });
  declare.numpy({
      .name = "np_random_chisquare",
      .spellings = {"np.random.chisquare(df, size=None, dtype=None, ctx=None)"},
      .doc = R"(Return sums of ``df`` squares of standard normal numbers.

>>> np.random.chisquare(3, size=(2, 2)).shape
(2, 2))",
      .inputs = {"df"},
      .compose = numpy_chisquare,
  });
  declare.numpy({
      .name = "np_random_f",
      .spellings = {"np.random.f(dfnum, dfden, size=None, ctx=None)"},
      .doc = R"(Return ratios of mean squares of ``dfnum`` and of ``dfden`` standard normal numbers.

>>> np.random.f(3, 5, size=(2, 2)).shape
(2, 2))",
      .inputs = {"dfnum", "dfden"},
      .compose = numpy_f,
  });
  declare.numpy({
      .name = "np_random_logistic",
      .mxnet_names = {"_npi_logistic"},
      .spellings = {"np.random.logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None)"},
      .doc = R"(Return numbers of the logistic distribution.

>>> np.random.logistic(0, 1, size=3).shape
(3,))",
      .inputs = {"loc", "scale"},
      .compose = numpy_logistic,
  });
  declare.numpy({
      .name = "np_random_gumbel",
      .mxnet_names = {"_npi_gumbel"},
      .spellings = {"np.random.gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None)"},
      .doc =
          R"(Return numbers of the Gumbel distribution, the limit of the greatest of many numbers.

>>> np.random.gumbel(0, 1, size=3).shape
(3,))",
      .inputs = {"loc", "scale"},
      .compose = numpy_gumbel,
  });
  declare.numpy({
      .name = "np_random_laplace",
      .spellings = {"np.random.laplace(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return numbers of the Laplace distribution, also called double exponential.

>>> np.random.laplace(0, 1, size=3).shape
(3,))",
      .inputs = {"loc", "scale"},
      .compose = numpy_laplace,
  });
  declare.numpy({
      .name = "np_random_rayleigh",
      .mxnet_names = {"_npi_rayleigh"},
      .spellings = {"np.random.rayleigh(scale=1.0, size=None, ctx=None, out=None)"},
      .doc =
          R"(Return numbers of the Rayleigh distribution: lengths of vectors of two normal numbers.

>>> bool(np.random.rayleigh(1, size=5).min() >= 0)
True)",
      .inputs = {"scale"},
      .compose = numpy_rayleigh,
  });
  declare.numpy({
      .name = "np_random_weibull",
      .mxnet_names = {"_npi_weibull"},
      .spellings = {"np.random.weibull(a, size=None, ctx=None, out=None)"},
      .doc = R"(Return numbers of the Weibull distribution of scale 1.

>>> bool(np.random.weibull(2, size=5).min() >= 0)
True)",
      .inputs = {"a"},
      .compose = numpy_weibull,
  });
  declare.numpy({
      .name = "np_random_pareto",
      .mxnet_names = {"_npi_pareto"},
      .spellings = {"np.random.pareto(a, size=None, ctx=None, out=None)"},
      .doc = R"(Return numbers of the Pareto distribution that starts at 0 (Lomax).

>>> bool(np.random.pareto(3, size=5).min() >= 0)
True)",
      .inputs = {"a"},
      .compose = numpy_pareto,
  });
  declare.numpy({
      .name = "np_random_power",
      .mxnet_names = {"_npi_powerd"},
      .spellings = {"np.random.power(a, size=None)"},
      .doc = R"(Return numbers from 0 to 1 of density ``a * x**(a - 1)``.

>>> bool(np.random.power(3, size=5).max() <= 1)
True)",
      .inputs = {"a"},
      .compose = numpy_power,
  });
  declare.numpy({
      .name = "np_random_poisson",
      .spellings = {"np.random.poisson(lam=1.0, size=None, ctx=None, out=None)"},
      .doc = R"(Return Poisson distributed whole numbers of mean ``lam``.

>>> np.random.poisson(0, size=3)
array([0., 0., 0.]))",
      .inputs = {"lam"},
      .compose = numpy_poisson,
  });
  declare.table.compose<NumpyRandint>({
      .name = "np_random_randint",
      .spellings = {"np.random.randint(low, high=None, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc =
          R"(Return integers from low up to, not including, high; with one number, from 0 up to it.

>>> np.random.randint(5, 6, size=(3,))
array([5, 5, 5], dtype=int64))",
      .compose = numpy_randint,
      .in_graphs = {.is_random = true},
  });
  declare.numpy({
      .name = "npx_random_bernoulli",
      .mxnet_names = {"_npi_bernoulli"},
      .spellings = {"npx.random.bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, "
                    "out=None)"},
      .doc = R"(Return ones with a probability, or its logit, and else zeros.

>>> npx.random.bernoulli(1.0, size=(3,))
array([1., 1., 1.]))",
      .inputs = {"prob", "logit"},
      .optional_inputs = 2,
      .compose = numpy_bernoulli,
  });
  declare.numpy<Batched>({
      .name = "npx_random_uniform_n",
      .mxnet_names = {"_npi_uniform_n"},
      .spellings = {"npx.random.uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, "
                    "ctx=None)"},
      .doc = R"(Return a batch of evenly spread numbers for each pair of parameters.

>>> npx.random.uniform_n(np.zeros(2), 1, batch_shape=(3, 4)).shape
(3, 4, 2))",
      .inputs = {"low", "high"},
      .compose = numpy_uniform<Batched>,
  });
  declare.numpy<Batched>({
      .name = "npx_random_normal_n",
      .mxnet_names = {"_npi_normal_n"},
      .spellings = {"npx.random.normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, "
                    "ctx=None)"},
      .doc = R"(Return a batch of normally distributed numbers for each pair of parameters.

>>> npx.random.normal_n(np.zeros(2), 1, batch_shape=(3, 4)).shape
(3, 4, 2))",
      .inputs = {"loc", "scale"},
      .compose = numpy_normal<Batched>,
  });
}

}  // namespace

void declare_distributions(Table& table) {
  declare_plain({table});
  declare_each({table});
  declare_like({table});
  declare_numpy({table});
}

}  // namespace afterglow::ops
