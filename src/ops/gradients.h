// SPDX-License-Identifier: Apache-2.0
// What gradient rules have in common.
#pragma once

#include <initializer_list>
#include <vector>

#include "autograd/gradient.h"
#include "autograd/walk.h"
#include "ops/operators.h"

namespace afterglow::ops {

using autograd::Gradient;

using RuleFunction = Value (*)(Gradient&);

// A rule, by what it reads: nothing else is kept for it.

constexpr lazy::GradientRule reading_nothing(RuleFunction function) {
  return {function, 0, 0};
}
constexpr lazy::GradientRule reading(std::initializer_list<int> inputs, RuleFunction function) {
  return {function, lazy::reads(inputs), 0};
}
constexpr lazy::GradientRule reading(std::initializer_list<int> inputs,
                                     std::initializer_list<int> outputs, RuleFunction function) {
  return {function, lazy::reads(inputs), lazy::reads(outputs)};
}
/// All outputs.
constexpr lazy::GradientRule reading_output(RuleFunction function) {
  return {function, 0, ~0u};
}
constexpr lazy::GradientRule reading_output_and(std::initializer_list<int> inputs,
                                                RuleFunction function) {
  return {function, lazy::reads(inputs), ~0u};
}
/// The inputs from number `first` on, however many there are.
constexpr lazy::GradientRule reading_from(int first, RuleFunction function) {
  return {function, ~0u << first, 0};
}
/// Zero by nature: what depends on nothing else is not recorded.
inline constexpr lazy::GradientRule no_gradient = {};
/// Zeros: the function is flat.
extern const lazy::GradientRule flat;

/// A gradient in the shape, type and place of an input that was stretched or cast.
Value fit(const Gradient& call, std::size_t input, const Value& gradient);
/// The same for the type alone.
Value fit_type(const Gradient& call, std::size_t input, const Value& gradient);
/// Zeros in the shape, type and place of an input.
Value zeros(const Gradient& call, std::size_t input);

/// Stretched to a shape; itself where it has that.
Value widened(const Value& gradient, const Shape& shape);

/// The same elements in another shape.
Value shaped(const Value& value, const Shape& shape);

/// Index arrays of all axes of a shape: the one given, and along each other axis its own places.
std::vector<Value> indices_along(const Shape& shape, std::int64_t axis, const Value& index);

/// The views of an array at each place of an axis.
std::vector<Value> views_along(const Value& array, std::int64_t axis);

/// How gradients are added up.
const autograd::Accumulation& accumulation();

}  // namespace afterglow::ops
