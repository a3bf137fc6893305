// SPDX-License-Identifier: Apache-2.0
// Ops as functions of C++, for gradient rules and compositions. All with NumPy's answers: what
// mx.nd answers otherwise is settled by the op that was declared, not by what it is made of.
#pragma once

#include <algorithm>
#include <optional>

#include "autograd/call_builder.h"
#include "autograd/handle.h"

namespace afterglow::ops {

using autograd::Value;

const lazy::Op& op_named(const char* name);

/// A name that a template can have.
struct Name {
  char text[24] = {};
  template <std::size_t size>
  consteval Name(const char (&literal)[size]) {
    std::copy_n(literal, size, text);
  }
};

/// The same, looked up once.
template <Name name>
const lazy::Op& the_op() {
  static const lazy::Op& op = op_named(name.text);
  return op;
}

inline Shape shape_of(const Value& value) {
  return {value.array.shape().begin(), value.array.shape().end()};
}

/// A call of an op.
template <class... Inputs>
Value apply(const lazy::Op& op, std::span<const lazy::Argument> arguments,
            const Inputs&... inputs) {
  autograd::CallBuilder builder(op, false);
  (builder.add(static_cast<const Value&>(inputs)), ...);
  return builder.issue({arguments, {}, nullptr});
}

// --- elementwise; of two numbers they are computed at once ---

Value operator+(const Value& left, const Value& right);
Value operator-(const Value& left, const Value& right);
Value operator*(const Value& left, const Value& right);
Value operator/(const Value& left, const Value& right);
Value operator-(const Value& x);
Value power(const Value& base, const Value& exponent);
Value modulo(const Value& left, const Value& right);
/// Truth values.
Value operator>(const Value& left, const Value& right);
Value operator>=(const Value& left, const Value& right);
Value operator<(const Value& left, const Value& right);
Value operator<=(const Value& left, const Value& right);
Value equal(const Value& left, const Value& right);
Value not_equal(const Value& left, const Value& right);
Value where(const Value& condition, const Value& left, const Value& right);

Value abs(const Value& x);
Value sign(const Value& x);
Value square(const Value& x);
Value exp(const Value& x);
Value expm1(const Value& x);
/// Of a number too; nan where it has none.
Value log(const Value& x);
Value sin(const Value& x);
Value cos(const Value& x);
Value sinh(const Value& x);
Value cosh(const Value& x);
Value rsqrt(const Value& x);
Value sigmoid(const Value& x);
Value sqrt(const Value& x);
Value tanh(const Value& x);
Value relu(const Value& x);
Value softrelu(const Value& x);
Value erf(const Value& x);
Value digamma(const Value& x);
Value maximum(const Value& left, const Value& right);
Value minimum(const Value& left, const Value& right);
Value clip(const Value& x, std::int64_t low, std::int64_t high);

// --- others ---

Value sum(const Value& x, const Shape& axes, bool keepdims);
Value mean(const Value& x, const Shape& axes, bool keepdims);
Value max(const Value& x, const Shape& axes, bool keepdims);
Value min(const Value& x, const Shape& axes, bool keepdims);
Value dot(const Value& left, const Value& right, bool transpose_left, bool transpose_right);
/// Of stacks of matrices, which are broadcast.
Value matmul(const Value& left, const Value& right, bool transpose_left = false,
             bool transpose_right = false);
/// A copy, in another type or place where they are given.
Value copy(const Value& x, std::optional<DType> dtype = {}, std::optional<Context> context = {});
/// Itself, or a copy where its elements have gaps between them.
Value contiguous(const Value& x);
/// A copy that is stretched to a shape.
Value stretch(const Value& x, const Shape& shape);
/// The arrays one behind the other along an axis.
Value concat(std::span<const Value> arrays, std::int64_t axis);
/// A new array whose elements are to be written.
Value empty(const Shape& shape, DType dtype, Context context);
/// A new array with one number everywhere.
Value full(const Value& number, const Shape& shape, DType dtype, Context context);
/// first, first + 1, ...: so many.
Value count_up(std::int64_t count, DType dtype, Context context, std::int64_t first = 0);
/// The elements, or parts, that index arrays name, one for each of the first axes.
Value gather(const Value& source, std::span<const Value> indices);
/// Writes values there, or adds them.
Value scatter(const Value& target, const Value& values, std::span<const Value> indices, bool add);

/// target[...] = value, cast and stretched.
void assign(autograd::Handle& target, const Value& value);

}  // namespace afterglow::ops
