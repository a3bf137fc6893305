// SPDX-License-Identifier: Apache-2.0
#include "array/array.h"

#include <algorithm>

#include "base/error.h"

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
  const bool same = left.storage.get() == right.storage.get();
  // What is shared may be known by several storages, and has an address for good.
  const bool aliases = !same && left.storage->is_shared() && right.storage->is_shared();
  if ((!same && !aliases) || !left.size() || !right.size()) return false;
  const auto bytes = [&](const Array& array) {
    const auto [low, high] = array.layout->extent();
    const auto item = static_cast<std::int64_t>(size_of(array.dtype));
    const std::intptr_t start =
        aliases ? reinterpret_cast<std::intptr_t>(array.storage->data()) : 0;
    return std::pair{start + (array.offset + low) * item, start + (array.offset + high + 1) * item};
  };
  const auto [left_begin, left_end] = bytes(left);
  const auto [right_begin, right_end] = bytes(right);
  return left_begin < right_end && right_begin < left_end;
}

void check_inside(const Array& view, const Array& whole) {
  if (!view.size()) return;
  if (view.layout->is_contiguous() && whole.layout->is_contiguous() &&
      view.offset >= whole.offset && view.offset - whole.offset <= whole.size() - view.size())
    return;
  std::int64_t low = view.offset, high = view.offset;
  bool far = false;
  for (int axis = 0; axis < view.layout->rank(); ++axis) {
    std::int64_t reach = 0;
    far |= __builtin_mul_overflow(view.shape()[axis] - 1, view.layout->strides()[axis], &reach);
    std::int64_t& side = reach < 0 ? low : high;
    far |= __builtin_add_overflow(side, reach, &side);
  }
  const auto [first, last] = whole.layout->extent();
  if (far || !whole.size() || low < whole.offset + first || high > whole.offset + last) {
    throw Error(ErrorKind::index, "a view of shape " + to_string(view.shape()) +
                                      " reaches outside of its array of shape " +
                                      to_string(whole.shape()));
  }
}

void refuse_without_value(const Array& array) {
  throw Error(ErrorKind::mxnet, "an array " + describe(array) +
                                    " was to be read, but the call that makes its value never ran");
}

std::string describe(const Array& array) {
  return to_string(array.shape()) + " " + name_of(array.dtype);
}

}  // namespace afterglow
