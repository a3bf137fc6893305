// SPDX-License-Identifier: Apache-2.0
#include "array/array.h"

#include <algorithm>

namespace afterglow {

Array Array::create(Reference<Layout> layout, DType dtype, Context context) {
  const std::int64_t bytes = layout->size() * static_cast<std::int64_t>(size_of(dtype));
  return {Storage::create(bytes, context), std::move(layout), 0, dtype};
}

bool Array::covers_storage() const {
  return offset == 0 && layout->is_contiguous() &&
         size() * static_cast<std::int64_t>(size_of(dtype)) == storage->bytes();
}

bool same_view(const Array& left, const Array& right) {
  return left.storage.get() == right.storage.get() && left.offset == right.offset &&
         left.dtype == right.dtype &&
         (left.layout.get() == right.layout.get() ||
          (same_shape(*left.layout, *right.layout) &&
           std::ranges::equal(left.layout->strides(), right.layout->strides())));
}

bool may_overlap(const Array& left, const Array& right) {
  if (left.storage.get() != right.storage.get() || !left.size() || !right.size()) return false;
  const auto bytes = [](const Array& array) {
    const auto [low, high] = array.layout->extent();
    const auto item = static_cast<std::int64_t>(size_of(array.dtype));
    return std::pair{(array.offset + low) * item, (array.offset + high + 1) * item};
  };
  const auto [left_begin, left_end] = bytes(left);
  const auto [right_begin, right_end] = bytes(right);
  return left_begin < right_end && right_begin < left_end;
}

std::string describe(const Array& array) {
  return to_string(array.shape()) + " " + name_of(array.dtype);
}

}  // namespace afterglow
