// SPDX-License-Identifier: Apache-2.0
#include "ops/common.h"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

#include "kernels/blas.h"
#include "lazy/immediate.h"
#include "lazy/window.h"

namespace afterglow::ops {

using lazy::Inference;
using lazy::Operand;

void need_maths_library(const Inference& inference) {
  static bool loaded = false;  // guarded by the issuing right
  if (loaded) return;
  try {
    kernels::load_blas(lazy::window().configured_threads());
  } catch (const Error& error) {
    inference.refuse(error.what(), error.kind());
  } catch (const std::exception& error) {
    inference.refuse(error.what(), ErrorKind::mxnet);
  }
  loaded = true;
}

DType promote(DType left, DType right) {
  if (left == right) return left;
  constexpr int ranks[dtype_count] = {5, 6, 4, 1, 2, 1, 3, 0};
  const int first = ranks[static_cast<int>(left)], second = ranks[static_cast<int>(right)];
  if (first == second) return DType::int32;  // uint8 and int8
  return first > second ? left : right;
}

namespace {

[[noreturn]] void refuse_number(const Inference& inference, const Operand& number, DType dtype) {
  std::ostringstream text;
  text.precision(17);
  if (number.dtype == DType::float64) {
    text << std::bit_cast<double>(number.immediate);
  } else {
    text << std::bit_cast<std::int64_t>(number.immediate);
  }
  const IntegerRange range = range_of(dtype);
  inference.refuse("the number " + text.str() + " does not fit type " + name_of(dtype) +
                       ", which has those from " + std::to_string(range.lowest) + " to " +
                       std::to_string(range.highest),
                   ErrorKind::overflow);
}

/// A single element needs no strides: the pass takes it as a scalar.
void stretch_input(Operand& input, std::span<const std::int64_t> shape, std::int64_t size) {
  if (input.size() == 1 && size != 1) return;
  input.given = std::exchange(input.layout, stretched(*input.layout, shape));
}

}  // namespace

void settle(const Inference& inference, Operand& operand, DType dtype) {
  if (!lazy::settle_immediate(operand, dtype)) refuse_number(inference, operand, dtype);
}

const Shape& need_shape(const Inference& inference, const std::optional<Shape>& shape) {
  if (!shape) inference.refuse("shape must be a tuple of integers", ErrorKind::type);
  return *shape;
}

Reference<Layout> stretched(const Layout& layout, std::span<const std::int64_t> shape) {
  const int rank = static_cast<int>(shape.size());
  const int missing = rank - layout.rank();
  if (missing < 0) return {};
  Shape strides(shape.size(), 0);
  for (int axis = 0; axis < layout.rank(); ++axis) {
    const std::int64_t extent = layout.shape()[axis];
    if (extent != shape[axis + missing] && extent != 1) return {};
    strides[axis + missing] = extent == 1 ? 0 : layout.strides()[axis];
  }
  return Layout::strided(shape, strides);
}

std::optional<Shape> common_shape(std::span<const std::int64_t> left,
                                  std::span<const std::int64_t> right) {
  if (left.size() < right.size()) std::swap(left, right);
  Shape shape(left.begin(), left.end());
  for (std::size_t i = 1; i <= right.size(); ++i) {
    std::int64_t& extent = *(shape.end() - static_cast<std::ptrdiff_t>(i));
    const std::int64_t other = right[right.size() - i];
    if (other == extent || other == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = other;
  }
  return shape;
}

Reference<Layout> broadcast_inputs(Inference& inference) {
  const Operand* first = nullptr;
  bool equal = true;
  int rank = 0;
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate()) continue;
    if (!first) first = &input;
    equal = equal && same_shape(*first->layout, *input.layout);
    rank = std::max(rank, input.layout->rank());
  }
  if (equal) {
    if (first->layout->is_contiguous()) return first->layout;
    return Layout::contiguous(first->shape());
  }
  Shape shape(rank, 1);
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate()) continue;
    const int missing = rank - input.layout->rank();
    for (int axis = 0; axis < input.layout->rank(); ++axis) {
      const std::int64_t extent = input.shape()[axis];
      std::int64_t& result = shape[axis + missing];
      if (extent == result || extent == 1) continue;
      if (result != 1) inference.refuse("shapes cannot be broadcast together");
      result = extent;
    }
  }
  Reference<Layout> result = Layout::contiguous(shape);
  for (Operand& input : inference.call.inputs) {
    if (!input.is_immediate() && !same_shape(*input.layout, *result)) {
      stretch_input(input, shape, result->size());
    }
  }
  return result;
}

Reference<Layout> broadcast_inputs_to(Inference& inference, std::span<const std::int64_t> shape) {
  Reference<Layout> result = Layout::contiguous(shape);
  for (Operand& input : inference.call.inputs) {
    if (input.is_immediate() || same_shape(*input.layout, *result)) continue;
    if (!stretched(*input.layout, shape)) {
      inference.refuse("shape " + to_string(input.shape()) + " cannot be broadcast to " +
                       to_string(shape));
    }
    stretch_input(input, shape, result->size());
  }
  return result;
}

int checked_axis(const Inference& inference, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    inference.refuse("axis " + std::to_string(axis) + " is out of bounds for an array of " +
                         std::to_string(rank) + " dimensions",
                     ErrorKind::axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

kernels::Lines lines_of(const lazy::Call& call, int axis) {
  const Operand& input = call.inputs[0];
  kernels::Lines lines{input.data(), input.dtype};
  for (int i = 0; i < input.layout->rank(); ++i) {
    (i < axis ? lines.outer : i == axis ? lines.length : lines.inner) *= input.shape()[i];
  }
  return lines;
}

int axis_of_lines(const Inference& inference, std::int64_t axis) {
  const Operand& input = inference.call.inputs[0];
  const int checked = checked_axis(inference, axis, input.layout->rank());
  if (!input.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  return checked;
}

void finish_elementwise(Inference& inference, DType compute) {
  finish_elementwise(inference, compute, *inference.op.formula);
}

void finish_elementwise(Inference& inference, DType compute, kernels::Formula formula) {
  lazy::Call& call = inference.call;
  call.compute = compute;
  call.formula = formula;
  call.function = kernels::block_function(formula, compute);
  if (!call.function) {
    inference.refuse(std::string("no kernel for ") + name_of(compute), ErrorKind::type);
  }
  // Nanoseconds: reading and writing memory, plus the work of one element.
  constexpr double per_element_by_work[] = {0.25, 0.8, 20};
  const double per_element = per_element_by_work[static_cast<int>(kernels::work_of(formula))];
  call.cost = 60 + per_element * static_cast<double>(call.outputs[0].size()) *
                       static_cast<double>(size_of(compute)) / 4;
}

}  // namespace afterglow::ops
