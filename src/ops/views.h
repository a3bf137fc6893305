// SPDX-License-Identifier: Apache-2.0
// Parts of arrays that share their memory, and writes to such parts. No call computes a view, but
// the tape knows views and writes like calls.
#pragma once

#include "autograd/gradient.h"
#include "autograd/handle.h"

namespace afterglow::ops {

/// A part of the memory of an array, in elements.
struct Part {
  std::int64_t offset = 0;
  Shape shape, strides;
  static constexpr auto fields =
      std::tuple{lazy::required("offset", &Part::offset, "of the first element"),
                 lazy::required("shape", &Part::shape, "of the part"),
                 lazy::required("strides", &Part::strides, "between elements, for each axis")};
};

/// The ops of the tape for them: "view" and "write".
const lazy::Op& view_op();
const lazy::Op& write_op();

/// All of an array.
Part whole(const Layout& layout);
inline Part whole(const Array& array) {
  return whole(*array.layout);
}
/// With the axes in another order, each named once.
Part reordered(const Layout& layout, const Shape& order);
/// Backwards along some axes, each named once.
Part reversed(const Layout& layout, const Shape& axes);
/// The array that a part is; refuses one that reaches outside.
Array part_of(const Array& array, const Part& part);

autograd::Handle view(const autograd::Handle& whole, const Part& part);
/// The same elements, without gaps, in another shape.
autograd::Handle shaped(const autograd::Handle& array, const Shape& shape);
/// With the axes in another order, each named once.
autograd::Handle reordered(const autograd::Handle& array, const Shape& order);
/// Backwards along some axes, each named once.
autograd::Handle reversed(const autograd::Handle& array, const Shape& axes);
/// What lies between two places of an axis; nothing where they are in the wrong order.
autograd::Handle between(const autograd::Handle& array, std::int64_t axis, std::int64_t begin,
                         std::int64_t end);
/// The same as a part.
Part part_between(const Array& array, std::int64_t axis, std::int64_t begin, std::int64_t end);
/// The gradient of an array from that of a part of it, which was the first input of a call: zeros
/// with the part in place.
autograd::Value unviewed(autograd::Gradient& call, const Part& part);
/// Of a part without gaps.
autograd::Handle contiguous_view(const autograd::Handle& whole, std::int64_t offset,
                                 const Shape& shape);
/// whole[part] = value.
void write(autograd::Handle& whole, const autograd::Value& value, const Part& part);
/// Tells the tape of such a write that a call of another kind performs.
void record_write(autograd::Handle& whole, const autograd::Value& value, const Part& part);

}  // namespace afterglow::ops
