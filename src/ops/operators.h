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

/// An op of arrays and numbers alone.
template <Name name>
struct Function {
  Value operator()(const Value& x) const { return of(x); }
  Value operator()(const Value& x, const Value& y) const { return of(x, y); }
  Value operator()(const Value& x, const Value& y, const Value& z) const { return of(x, y, z); }

 private:
  static Value of(const auto&... inputs) {
    const lazy::Op& op = the_op<name>();
    return apply(op, op.defaults, inputs...);
  }
};

/// A reduction.
template <Name name>
struct OverAxes {
  Value operator()(const Value& x, const Shape& axes, bool keepdims) const {
    const lazy::Argument arguments[] = {axes, keepdims, false, {}};
    return apply(the_op<name>(), arguments, x);
  }
};

// --- elementwise; of two numbers they are computed at once ---

Value operator+(const Value& left, const Value& right);
Value operator-(const Value& left, const Value& right);
Value operator*(const Value& left, const Value& right);
Value operator/(const Value& left, const Value& right);
Value operator-(const Value& x);
Value power(const Value& base, const Value& exponent);
inline constexpr Function<"modulo"> modulo;
/// Truth values.
Value operator>(const Value& left, const Value& right);
Value operator>=(const Value& left, const Value& right);
Value operator<(const Value& left, const Value& right);
Value operator<=(const Value& left, const Value& right);
inline constexpr Function<"equal"> equal;
inline constexpr Function<"not_equal"> not_equal;
inline constexpr Function<"select"> where;

inline constexpr Function<"abs"> abs;
inline constexpr Function<"sign"> sign;
inline constexpr Function<"square"> square;
inline constexpr Function<"exp"> exp;
inline constexpr Function<"expm1"> expm1;
/// Of a number too; nan where it has none.
Value log(const Value& x);
inline constexpr Function<"sin"> sin;
inline constexpr Function<"cos"> cos;
inline constexpr Function<"sinh"> sinh;
inline constexpr Function<"cosh"> cosh;
inline constexpr Function<"rsqrt"> rsqrt;
inline constexpr Function<"sigmoid"> sigmoid;
inline constexpr Function<"sqrt"> sqrt;
inline constexpr Function<"tanh"> tanh;
inline constexpr Function<"relu"> relu;
inline constexpr Function<"softrelu"> softrelu;
inline constexpr Function<"erf"> erf;
inline constexpr Function<"digamma"> digamma;
inline constexpr Function<"maximum"> maximum;
inline constexpr Function<"minimum"> minimum;
Value clip(const Value& x, std::int64_t low, std::int64_t high);

// --- others ---

inline constexpr OverAxes<"sum"> sum;
inline constexpr OverAxes<"mean"> mean;
inline constexpr OverAxes<"max"> max;
inline constexpr OverAxes<"min"> min;
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

/// The sum of what so many devices bring, each to the call with this key: float32 or float64. It is
/// there when all have brought theirs, and each device may be ahead of the others.
Value sum_over_devices(const Value& x, const std::string& key, std::int64_t devices);

/// target[...] = value, cast and stretched.
void assign(autograd::Handle& target, const Value& value);

}  // namespace afterglow::ops
