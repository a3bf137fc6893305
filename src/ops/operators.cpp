// SPDX-License-Identifier: Apache-2.0
#include "ops/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/table.h"

namespace afterglow::ops {
namespace {

Value unary(const lazy::Op& op, const Value& x) {
  return apply(op, op.defaults, x);
}

Value binary(const lazy::Op& op, const Value& left, const Value& right) {
  return apply(op, op.defaults, left, right);
}

bool are_numbers(const Value& left, const Value& right) {
  return left.is_number() && right.is_number();
}

/// Integers that are small enough stay integers, whatever is done to two of them.
bool are_small_integers(const Value& left, const Value& right) {
  constexpr double most = 1 << 30;
  return left.is_integer() && right.is_integer() && std::abs(left.number()) < most &&
         std::abs(right.number()) < most;
}

Argument number_of(DType dtype) {
  return static_cast<std::int64_t>(dtype);
}

Argument place_of(Context context) {
  return Shape{context.type, context.id};
}

}  // namespace

const lazy::Op& op_named(const char* name) {
  const lazy::Op* op = table().find(name);
  if (!op) throw Error(ErrorKind::mxnet, std::string("there is no op named ") + name);
  return *op;
}

Value operator+(const Value& left, const Value& right) {
  const lazy::Op& op = the_op<"add">();
  if (!are_numbers(left, right)) return binary(op, left, right);
  if (are_small_integers(left, right)) return left.integer() + right.integer();
  return left.number() + right.number();
}

Value operator-(const Value& left, const Value& right) {
  const lazy::Op& op = the_op<"subtract">();
  if (!are_numbers(left, right)) return binary(op, left, right);
  if (are_small_integers(left, right)) return left.integer() - right.integer();
  return left.number() - right.number();
}

Value operator*(const Value& left, const Value& right) {
  const lazy::Op& op = the_op<"multiply">();
  if (!are_numbers(left, right)) return binary(op, left, right);
  if (are_small_integers(left, right)) return left.integer() * right.integer();
  return left.number() * right.number();
}

Value operator/(const Value& left, const Value& right) {
  const lazy::Op& op = the_op<"divide">();
  if (are_numbers(left, right)) return left.number() / right.number();
  return binary(op, left, right);
}

Value operator-(const Value& x) {
  const lazy::Op& op = the_op<"negative">();
  return x.is_number() ? 0 - x : unary(op, x);
}

Value power(const Value& base, const Value& exponent) {
  const lazy::Op& op = the_op<"power">();
  if (are_numbers(base, exponent)) return std::pow(base.number(), exponent.number());
  return binary(op, base, exponent);
}

Value operator>(const Value& left, const Value& right) {
  return binary(the_op<"greater">(), left, right);
}

Value operator>=(const Value& left, const Value& right) {
  return binary(the_op<"greater_equal">(), left, right);
}

Value operator<(const Value& left, const Value& right) {
  return binary(the_op<"less">(), left, right);
}

Value operator<=(const Value& left, const Value& right) {
  return binary(the_op<"less_equal">(), left, right);
}

Value log(const Value& x) {
  const lazy::Op& op = the_op<"log">();
  if (!x.is_number()) return unary(op, x);
  return x.number() > 0 ? std::log(x.number()) : std::numeric_limits<double>::quiet_NaN();
}

Value clip(const Value& x, std::int64_t low, std::int64_t high) {
  const Argument arguments[] = {low, high};
  return apply(the_op<"clip">(), arguments, x);
}

Value dot(const Value& left, const Value& right, bool transpose_left, bool transpose_right) {
  const Argument arguments[] = {transpose_left, transpose_right, {}};
  return apply(the_op<"dot">(), arguments, left, right);
}

Value matmul(const Value& left, const Value& right, bool transpose_left, bool transpose_right) {
  const Argument arguments[] = {transpose_left, transpose_right};
  return apply(the_op<"matmul">(), arguments, left, right);
}

Value copy(const Value& x, std::optional<DType> dtype, std::optional<Context> context) {
  const Argument arguments[] = {
      dtype ? number_of(*dtype) : Argument(), {}, context ? place_of(*context) : Argument()};
  return apply(the_op<"copy">(), arguments, x);
}

Value contiguous(const Value& x) {
  return x.array.layout->is_contiguous() ? x : copy(x);
}

Value stretch(const Value& x, const Shape& shape) {
  const Argument arguments[] = {{}, shape, {}};
  return apply(the_op<"copy">(), arguments, x);
}

Value concat(std::span<const Value> arrays, std::int64_t axis) {
  const Argument arguments[] = {axis, {}};
  autograd::CallBuilder builder(the_op<"concat">(), false);
  for (const Value& array : arrays) builder.add(array);
  return builder.issue({arguments, {}, nullptr});
}

Value empty(const Shape& shape, DType dtype, Context context) {
  const Argument arguments[] = {shape, number_of(dtype)};
  autograd::CallBuilder builder(the_op<"empty">(), false);
  return builder.issue({arguments, context, nullptr});
}

Value full(const Value& number, const Shape& shape, DType dtype, Context context) {
  const lazy::Op& op = the_op<"copy">();
  const Argument arguments[] = {number_of(dtype), shape, {}};
  autograd::CallBuilder builder(op, false);
  builder.add(number);
  return builder.issue({arguments, context, nullptr});
}

Value count_up(std::int64_t count, DType dtype, Context context, std::int64_t first) {
  const lazy::Op& op = the_op<"arange">();
  const Argument arguments[] = {first,           first + count, std::int64_t{1},
                                std::int64_t{1}, false,         number_of(dtype)};
  autograd::CallBuilder builder(op, false);
  return builder.issue({arguments, context, nullptr});
}

Value gather(const Value& source, std::span<const Value> indices) {
  autograd::CallBuilder builder(the_op<"gather">(), false);
  builder.add(source);
  for (const Value& index : indices) builder.add(index);
  return builder.issue();
}

Value scatter(const Value& target, const Value& values, std::span<const Value> indices, bool add) {
  const Argument arguments[] = {std::int64_t{0}, {}, add};
  autograd::CallBuilder builder(the_op<"scatter">(), false);
  builder.add(target);
  builder.add(values);
  for (const Value& index : indices) builder.add(index);
  return builder.issue({arguments, {}, nullptr});
}

void assign(autograd::Handle& target, const Value& value) {
  const lazy::Op& op = the_op<"copy">();
  const Array& array = target.array;
  const Context context = array.context();
  // Where it goes follows from the target; only the tape wants to know.
  const bool is_recorded = autograd::state().recording;
  const Argument arguments[] = {number_of(array.dtype),
                                Shape(array.shape().begin(), array.shape().end()),
                                is_recorded ? place_of(context) : Argument()};
  autograd::CallBuilder builder(op, target.legacy);
  builder.add(value);
  builder.issue({arguments, context, &target});
}

}  // namespace afterglow::ops
