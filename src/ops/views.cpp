// SPDX-License-Identifier: Apache-2.0
#include "ops/views.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "autograd/call_builder.h"
#include "ops/gradients.h"

namespace afterglow::ops {
namespace {

using autograd::Handle;
using autograd::Origin;

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape strides_of(const Shape& shape) {
  const Reference<Layout> layout = Layout::contiguous(shape);
  return {layout->strides().begin(), layout->strides().end()};
}

/// The gradient of a strided view from that of its part: all the memory, seen so.
Value seen_through(const Gradient& call, const Value& gradient, const Part& part) {
  const Layout& layout = *call.saved(0).layout;
  const Shape shape(layout.shape().begin(), layout.shape().end());
  const Shape steps(layout.strides().begin(), layout.strides().end());
  std::int64_t first = 0, last = 0;
  Shape once = shape;  // of elements that are repeated in the view the first one stands for all
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t reach = steps[axis] * (shape[axis] - 1);
    first += std::min<std::int64_t>(0, reach);
    last += std::max<std::int64_t>(0, reach);
    if (steps[axis] == 0) once[axis] = 1;
  }
  const DType dtype = gradient.array.dtype;
  const Context context = gradient.array.context();
  Value memory = full(0, {last - first + 1}, dtype, context);
  const auto extents = gradient.array.shape();
  write(memory, gradient,
        {part.offset - first, Shape(extents.begin(), extents.end()), part.strides});
  const Value seen = copy(view(memory, {-first, once, steps}));
  if (once == shape) return seen;
  Value result = full(0, shape, dtype, context);
  write(result, seen, {0, once, strides_of(shape)});
  return result;
}

/// The gradient of what was there before a part was written: none in that part.
Value outside_part(Gradient& call) {
  Value result = copy(call.g);
  write(result, 0, call.parameters<Part>());
  return result;
}

Value inside_part(Gradient& call) {
  return fit(call, 1, copy(view(call.g, call.parameters<Part>())));
}

Handle seen(const Handle& whole, Array array, const Part& part) {
  Handle result{std::move(array), {}, {}, whole.legacy};
  if (!autograd::state().recording) return result;
  result.origin.output = Origin::constant;
  if (!whole.origin.leads_on()) return result;
  const std::array<lazy::Argument, 3> arguments = {part.offset, part.shape, part.strides};
  const autograd::Source sources[] = {{&whole.array, &whole.origin}};
  const Reference<autograd::Node> node =
      autograd::record(view_op(), arguments, whole.legacy, sources, {});
  node->site = autograd::front_end().site();
  result.origin = autograd::add_output(*node, result.array);
  result.held = whole.held;
  return result;
}

}  // namespace

const lazy::Op& view_op() {
  static const lazy::Op op = {.name = "view",
                              .inputs = {"data"},
                              .parameters = lazy::parameters_of<Part>(),
                              .gradients = {reading_nothing([](Gradient& call) {
                                return unviewed(call, call.parameters<Part>());
                              })}};
  return op;
}

const lazy::Op& write_op() {
  static const lazy::Op op = {
      .name = "write",
      .inputs = {"data", "value"},
      .parameters = lazy::parameters_of<Part>(),
      .gradients = {reading_nothing(outside_part), reading_nothing(inside_part)}};
  return op;
}

Part whole(const Layout& layout) {
  const auto shape = layout.shape(), strides = layout.strides();
  return {0, {shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
}

Part reordered(const Layout& layout, const Shape& order) {
  Part part;
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= layout.rank()) throw Error(ErrorKind::value, "there is no such axis");
    part.shape.push_back(layout.shape()[static_cast<std::size_t>(axis)]);
    part.strides.push_back(layout.strides()[static_cast<std::size_t>(axis)]);
  }
  return part;
}

Part reversed(const Layout& layout, const Shape& axes) {
  Part part = whole(layout);
  for (const std::int64_t axis : axes) {
    const auto position = static_cast<std::size_t>(axis);
    if (layout.size()) part.offset += (part.shape[position] - 1) * part.strides[position];
    part.strides[position] = -part.strides[position];
  }
  return part;
}

Value unviewed(Gradient& call, const Part& part) {
  const Shape shape = call.shape(0);
  const bool is_contiguous = call.saved(0).layout->is_contiguous();
  if (is_contiguous && part.offset == 0 && product(part.shape) == product(shape) &&
      part.strides == strides_of(part.shape))
    return shaped(call.g, shape);
  Value gradient = call.g;
  Shape repeated;
  for (std::size_t axis = 0; axis < part.strides.size(); ++axis) {
    if (part.strides[axis] == 0 && gradient.array.shape()[axis] > 1)
      repeated.push_back(static_cast<std::int64_t>(axis));
  }
  if (!repeated.empty()) gradient = sum(gradient, repeated, true);
  if (!is_contiguous) return seen_through(call, gradient, part);
  Value result = empty(shape, gradient.array.dtype, gradient.array.context());
  if (gradient.array.size() != product(shape)) assign(result, 0);
  const auto extents = gradient.array.shape();
  write(result, gradient, {part.offset, Shape(extents.begin(), extents.end()), part.strides});
  return result;
}

Array part_of(const Array& array, const Part& part) {
  if (part.shape.size() != part.strides.size())
    throw Error(ErrorKind::value, "a view needs one stride per dimension");
  Array result = array;
  result.offset += part.offset;
  result.layout = Layout::strided(part.shape, part.strides);
  check_inside(result, array);
  return result;
}

Handle view(const Handle& whole, const Part& part) {
  return seen(whole, part_of(whole.array, part), part);
}

Handle reordered(const Handle& array, const Shape& order) {
  return view(array, reordered(*array.array.layout, order));
}

Handle reversed(const Handle& array, const Shape& axes) {
  return view(array, reversed(*array.array.layout, axes));
}

Part part_between(const Array& array, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  if (axis < 0 || axis >= array.layout->rank())
    throw Error(ErrorKind::value, "there is no such axis");
  Part part = whole(array);
  const auto position = static_cast<std::size_t>(axis);
  part.shape[position] = std::max<std::int64_t>(0, end - begin);
  if (end > begin && array.size()) part.offset = begin * part.strides[position];
  return part;
}

Handle between(const Handle& array, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  return view(array, part_between(array.array, axis, begin, end));
}

Handle contiguous_view(const Handle& whole, std::int64_t offset, const Shape& shape) {
  Array result = whole.array;
  result.offset += offset;
  result.layout = Layout::contiguous(shape);
  check_inside(result, whole.array);
  if (!autograd::state().recording) return {std::move(result), {}, {}, whole.legacy};
  const auto strides = result.layout->strides();
  return seen(whole, std::move(result), {offset, shape, {strides.begin(), strides.end()}});
}

Handle shaped(const Handle& array, const Shape& shape) {
  const Layout& layout = *array.array.layout;
  const std::int64_t count = element_count(shape);
  if (count != layout.size()) {
    throw Error(ErrorKind::value, "[reshape] an array of shape " + to_string(layout.shape()) +
                                      " has " + std::to_string(layout.size()) +
                                      " elements; the shape " + to_string(shape) + " needs " +
                                      std::to_string(count));
  }
  if (!layout.is_contiguous()) {
    throw Error(ErrorKind::value, "[reshape] the elements of this view of shape " +
                                      to_string(layout.shape()) +
                                      " have gaps between them; copy it first");
  }
  return contiguous_view(array, 0, shape);
}

void write(Handle& whole, const Value& value, const Part& part) {
  Handle target{part_of(whole.array, part), {}, {}, whole.legacy};
  {
    const autograd::Unrecorded pause;
    assign(target, value);
  }
  if (autograd::state().recording) record_write(whole, value, part);
}

void record_write(Handle& whole, const Value& value, const Part& part) {
  if (whole.origin && whole.origin.node->is_variable()) autograd::refuse_variable("write");
  const std::array<lazy::Argument, 3> arguments = {part.offset, part.shape, part.strides};
  const Handle before = whole;
  const autograd::Source sources[] = {
      {&before.array, &before.origin},
      value.is_number() ? autograd::Source{} : autograd::Source{&value.array, &value.origin}};
  lazy::Operand operands[2];
  if (value.is_number()) lazy::set_immediate(operands[1], value.number());
  const Reference<autograd::Node> node =
      autograd::record(write_op(), arguments, whole.legacy, sources, operands);
  if (!node) {
    whole.origin = {{}, Origin::constant};
    whole.held = {};
    return;
  }
  node->site = autograd::front_end().site();
  ++whole.array.storage->origins;
  whole.origin = autograd::add_output(*node, whole.array);
  whole.held.share(value.held);
}

}  // namespace afterglow::ops
