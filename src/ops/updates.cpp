// SPDX-License-Identifier: Apache-2.0
#include "ops/updates.h"

#include <cmath>
#include <string>

#include "ops/completing.h"

namespace afterglow::ops {

Value plus(const Value& x, const Value& factor, const Value& y) {
  return is_number(factor, 0) ? x : x + factor * y;
}

Value bounded(const Value& x, double bound) {
  if (!(bound >= 0)) return x;
  const Argument arguments[] = {-bound, bound};
  return apply(the_op<"clip">(), arguments, x);
}

void follow(Value& mean, double decay, const Value& value) {
  assign(mean, decay * mean + (1 - decay) * value);
}

double share_reached(const Composition& c, double decay, double count) {
  if (!(count >= 1)) c.refuse("updates are counted from 1, but t is " + std::to_string(count));
  if (!(decay >= 0 && decay < 1))
    c.refuse("beta1 and beta2 must be from 0 to less than 1, but one is " + std::to_string(decay));
  return 1 - std::pow(decay, count);
}

void follow_moments(const Row& row, const Value& slope, const Betas& betas) {
  follow(row.state(0), betas.beta1, slope);
  follow(row.state(1), betas.beta2, square(slope));
}

void need_each(const Composition& c, std::string_view name, std::size_t given, std::int64_t count) {
  if (given != static_cast<std::size_t>(count))
    c.refuse(std::string(name) + " has " + std::to_string(given) + " numbers for " +
             std::to_string(count) + " weights");
}

lazy::Op update_op(std::string_view name, std::string_view doc,
                   std::vector<std::string_view> inputs, int states) {
  std::vector<lazy::GradientRule> rules(inputs.size(), no_gradient);
  return {.name = name,
          .mxnet_names = {name},
          .doc = doc,
          .inputs = std::move(inputs),
          .gradients = std::move(rules),
          .complete = complete_as_first,
          .in_graphs = {.auxiliary = states, .alike = true}};
}

}  // namespace afterglow::ops
