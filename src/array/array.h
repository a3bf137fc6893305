// SPDX-License-Identifier: Apache-2.0
// An array handle: a view of a storage. Copying one shares the memory.
#pragma once

#include <span>
#include <string>

#include "array/layout.h"
#include "array/storage.h"
#include "base/dtype.h"

namespace afterglow {

struct Array {
  Reference<Storage> storage;
  Reference<Layout> layout;
  std::int64_t offset = 0;  ///< of the first element, in elements
  DType dtype = DType::float32;
  /// The handle it was reached through, where somebody wants to know: see lazy/capture.h. Views and
  /// operands have it from what they are made of, new arrays none.
  std::uint32_t source = 0;

  /// A new array whose memory is taken when it is first written.
  static Array create(Reference<Layout> layout, DType dtype, Context context);

  std::int64_t size() const { return layout->size(); }
  std::span<const std::int64_t> shape() const { return layout->shape(); }
  Context context() const { return storage->context(); }
  std::byte* data() const {
    return storage->data() + offset * static_cast<std::int64_t>(size_of(dtype));
  }
  /// Writing this view writes every byte of its storage.
  bool covers_storage() const;
};

/// The very same elements in the same order.
bool same_view(const Array& left, const Array& right);
/// False only when the two certainly have no byte in common.
bool may_overlap(const Array& left, const Array& right);

/// Refuses a view that would reach outside of the array it is a view of: a mistake here must never
/// touch elements of others, be they in the same memory or not.
void check_inside(const Array& view, const Array& whole);

/// Throws if no call has ever written what is to be read: better than reading from nowhere. An
/// array without a storage has nothing to be read.
[[noreturn]] void refuse_without_value(const Array& array);
inline void check_value(const Array& array) {
  if (array.storage && !array.storage->has_value()) refuse_without_value(array);
}

/// "(2, 3) float32"
std::string describe(const Array& array);

}  // namespace afterglow
