// SPDX-License-Identifier: Apache-2.0
// How likely samples are: densities of distributions, or probabilities of counts, with gradients
// for samples that vary continuously and for the parameters. Parameters have the shape of the first
// axes of the samples.
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

inline constexpr Function<"gammaln"> gammaln;

struct Density {
  bool is_log = false;
  static constexpr auto fields =
      std::tuple{field("is_log", &Density::is_log, "whether the logarithms are wanted")};
};

/// A parameter as samples need it. `own` of its last axes belong to one sample.
Value parameter(const Composition& c, std::size_t input, std::size_t own = 0) {
  const Shape samples = shape_of(c[0]), given = shape_of(c[input]);
  const std::size_t leading = given.size() - std::min(own, given.size());
  Shape shape(samples.size(), 1);
  const bool fits = given.size() >= own && given.size() <= samples.size() &&
                    std::equal(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(leading),
                               samples.begin()) &&
                    (!own || given.back() == samples.back());
  if (!fits)
    c.refuse(std::string(c.op().inputs[input]) + " has shape " + to_string(given) +
             "; it must be that of the first axes of the samples");
  std::copy_n(given.begin(), leading, shape.begin());
  if (own) shape.back() = given.back();
  return shaped(c[input], shape);
}

/// Samples that are counts have no gradient.
Value counted(const Composition& c) {
  const lazy::Op& op = the_op<"BlockGrad">();
  Value inputs[] = {c[0]};
  return call(op, inputs, {op.defaults, {}, nullptr}, false);
}

Value uniform_density(Composition& c) {
  return stretch(-log(parameter(c, 2) - parameter(c, 1)), shape_of(c[0]));
}

Value normal_density(Composition& c) {
  const Value scale = parameter(c, 2);
  return -0.5 * square((c[0] - parameter(c, 1)) / scale) - log(scale) -
         0.5 * std::log(2 * std::numbers::pi);
}

Value gamma_density(Composition& c) {
  const Value alpha = parameter(c, 1), beta = parameter(c, 2);
  return alpha * log(beta) + (alpha - 1) * log(c[0]) - beta * c[0] - gammaln(alpha);
}

Value exponential_density(Composition& c) {
  const Value rate = parameter(c, 1);
  return log(rate) - rate * c[0];
}

Value poisson_density(Composition& c) {
  const Value rate = parameter(c, 1), count = counted(c);
  return count * log(rate) - gammaln(count + 1) - rate;
}

/// Of counts before the `limit`-th event, which has such a chance.
Value binomial_density(const Value& count, const Value& limit, const Value& chance) {
  return gammaln(count + limit) - gammaln(count + 1) - gammaln(limit) + limit * log(chance) +
         count * log(1 - chance);
}

Value negative_binomial_density(Composition& c) {
  return binomial_density(counted(c), parameter(c, 1), parameter(c, 2));
}

Value generalized_density(Composition& c) {
  const Value mean = parameter(c, 1), alpha = parameter(c, 2);
  return binomial_density(counted(c), 1 / alpha, 1 / (mean * alpha + 1));
}

Value dirichlet_density(Composition& c) {
  const Value alpha = parameter(c, 1, 1);
  return sum((alpha - 1) * log(c[0]), {-1}, false) + gammaln(sum(alpha, {-1}, false)) -
         sum(gammaln(alpha), {-1}, false);
}

template <auto logarithm>
Value density(Composition& c, const Density& given) {
  const Value result = logarithm(c);
  return given.is_log ? result : exp(result);
}

}  // namespace

void declare_densities(Table& table) {
  const auto declare = [&]<auto logarithm>(std::string_view name, std::string_view inner,
                                           std::string_view doc,
                                           std::vector<std::string_view> inputs) {
    table.compose<Density>({.name = name,
                            .mxnet_names = {inner, name},
                            .doc = doc,
                            .inputs = std::move(inputs),
                            .compose = density<logarithm>});
  };
  declare.operator()<uniform_density>("random_pdf_uniform", "_random_pdf_uniform",
                                      R"(Return densities of evenly spread samples.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_uniform(nd.array([1]), nd.array([0]), nd.array([2])).asnumpy().round(3))
[0.5])",
                                      {"sample", "low", "high"});
  declare.operator()<normal_density>("random_pdf_normal", "_random_pdf_normal",
                                     R"(Return densities of normally distributed samples.

>>> mu, sigma = nd.array([0, 1]), nd.array([1, 1])
>>> print(nd.random_pdf_normal(nd.array([[0], [1]]), mu, sigma).asnumpy().round(3))
[[0.399]
 [0.399]])",
                                     {"sample", "mu", "sigma"});
  declare.operator()<gamma_density>("random_pdf_gamma", "_random_pdf_gamma",
                                    R"(Return densities of gamma samples; ``beta`` is the rate.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_gamma(x, x, x).asnumpy().round(3))
[0.368])",
                                    {"sample", "alpha", "beta"});
  declare.operator()<exponential_density>("random_pdf_exponential", "_random_pdf_exponential",
                                          R"(Return densities of exponential samples.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_exponential(x, x).asnumpy().round(3))
[0.368])",
                                          {"sample", "lam"});
  declare.operator()<poisson_density>("random_pdf_poisson", "_random_pdf_poisson",
                                      R"(Return probabilities of Poisson counts.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_poisson(x, x).asnumpy().round(3))
[0.368])",
                                      {"sample", "lam"});
  declare.operator()<negative_binomial_density>(
      "random_pdf_negative_binomial", "_random_pdf_negative_binomial",
      R"(Return probabilities of failures before the ``k``-th success, of probability ``p``.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_negative_binomial(x, x, 0.5 * x).asnumpy().round(3))
[0.25])",
      {"sample", "k", "p"});
  declare.operator()<generalized_density>(
      "random_pdf_generalized_negative_binomial", "_random_pdf_generalized_negative_binomial",
      R"(Return probabilities of counts of mean ``mu`` and dispersion ``alpha``.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_generalized_negative_binomial(x, x, x).asnumpy().round(3))
[0.25])",
      {"sample", "mu", "alpha"});
  declare.operator()<dirichlet_density>(
      "random_pdf_dirichlet", "_random_pdf_dirichlet",
      R"(Return densities of Dirichlet samples, which lie along the last axis.

>>> x = nd.ones((1,))
>>> print(nd.random_pdf_dirichlet(nd.array([0.25, 0.75]), nd.array([1, 2])).asnumpy().round(3))
[1.5])",
      {"sample", "alpha"});
}

}  // namespace afterglow::ops
