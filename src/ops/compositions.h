// SPDX-License-Identifier: Apache-2.0
// What compositions have in common.
#pragma once

#include <string>

#include "autograd/composition.h"
#include "ops/operators.h"

namespace afterglow::ops {

using autograd::Composition;

/// Whether the kernels of rows take an array along its last axis. A longer row is cut into parts
/// for several threads, which they do not do.
inline bool has_rows(const Array& array) {
  constexpr std::int64_t longest_row = 16384;
  return array.layout->rank() && array.size() && array.shape().back() <= longest_row &&
         (array.dtype == DType::float32 || array.dtype == DType::float64) &&
         array.layout->is_contiguous();
}

inline int rank_of(const Value& value) {
  return value.array.layout->rank();
}

inline Value in_type(const Value& x, DType dtype) {
  return x.array.dtype == dtype ? x : copy(x, dtype);
}

/// Counted from the front. `c` is a composition, or a view that is to be copied.
template <class Refusing>
std::int64_t normal_axis(const Refusing& c, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    c.refuse("axis " + std::to_string(axis) + " is out of bounds for an array of " +
                 std::to_string(rank) + " dimensions",
             ErrorKind::axis);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace afterglow::ops
