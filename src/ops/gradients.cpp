// SPDX-License-Identifier: Apache-2.0
#include "ops/gradients.h"

#include <algorithm>

#include "ops/views.h"

namespace afterglow::ops {
namespace {

class OpAccumulation : public autograd::Accumulation {
 public:
  autograd::Handle sum(const autograd::Handle& left, const autograd::Handle& right) const override {
    return Value(left) + Value(right);
  }
  void write(autograd::Handle& target, const Value& value) const override { assign(target, value); }
  void add_to(autograd::Handle& target, const autograd::Handle& value) const override {
    autograd::CallBuilder builder(the_op<"add">(), target.legacy);
    builder.add(target);
    builder.add(value);
    builder.issue({the_op<"add">().defaults, {}, &target});
  }
};

}  // namespace

const lazy::GradientRule flat =
    reading_nothing([](Gradient& call) { return zeros(call, call.index); });

Value fit(const Gradient& call, std::size_t input, const Value& gradient) {
  const autograd::Saved& like = call.saved(input);
  const Array& array = gradient.array;
  const bool is_shaped = same_shape(*like.layout, *array.layout);
  if (is_shaped && like.dtype == array.dtype && like.context == array.context()) return gradient;
  Value result = gradient;
  if (!is_shaped) {
    const auto have = array.shape(), want = like.layout->shape();
    const std::size_t extra = have.size() - want.size();
    Shape axes;
    bool only_leading = true;
    for (std::size_t axis = 0; axis < have.size(); ++axis) {
      const bool is_extra = axis < extra;
      if (have[axis] == 1 || (!is_extra && want[axis - extra] != 1)) continue;
      axes.push_back(static_cast<std::int64_t>(axis));
      only_leading = only_leading && is_extra;
    }
    // Where exactly the axes in front go, they need not stay.
    if (!axes.empty()) result = sum(result, axes, !only_leading || axes.size() != extra);
    result = shaped(result, {want.begin(), want.end()});
  }
  if (result.array.dtype == like.dtype && result.array.context() == like.context) return result;
  return copy(result, like.dtype, like.context);
}

Value fit_type(const Gradient& call, std::size_t input, const Value& gradient) {
  const DType dtype = call.saved(input).dtype;
  return gradient.array.dtype == dtype ? gradient : copy(gradient, dtype);
}

Value zeros(const Gradient& call, std::size_t input) {
  const autograd::Saved& like = call.saved(input);
  return full(0, call.shape(input), like.dtype, like.context);
}

Value widened(const Value& gradient, const Shape& shape) {
  return shape_of(gradient) == shape ? gradient : stretch(gradient, shape);
}

Value shaped(const Value& value, const Shape& shape) {
  if (std::ranges::equal(value.array.shape(), shape)) return value;
  return shaped(static_cast<const autograd::Handle&>(value), shape);
}

std::vector<Value> indices_along(const Shape& shape, std::int64_t axis, const Value& index) {
  std::vector<Value> result;
  for (std::size_t other = 0; other < shape.size(); ++other) {
    if (static_cast<std::int64_t>(other) == axis) {
      result.push_back(index);
      continue;
    }
    Shape along(shape.size() - other, 1);
    along[0] = shape[other];
    result.push_back(shaped(count_up(shape[other], DType::int64, index.array.context()), along));
  }
  return result;
}

std::vector<Value> views_along(const Value& array, std::int64_t axis) {
  Part part = whole(array.array);
  const auto position = static_cast<std::size_t>(axis);
  const std::int64_t count = part.shape[position];
  const std::int64_t step = array.array.size() ? part.strides[position] : 0;
  part.shape.erase(part.shape.begin() + axis);
  part.strides.erase(part.strides.begin() + axis);
  std::vector<Value> result;
  result.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i, part.offset += step) result.push_back(view(array, part));
  return result;
}

const autograd::Accumulation& accumulation() {
  static const OpAccumulation instance;
  return instance;
}

}  // namespace afterglow::ops
