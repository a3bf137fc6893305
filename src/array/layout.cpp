// SPDX-License-Identifier: Apache-2.0
#include "array/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "base/error.h"

namespace afterglow {
namespace {

/// Memory of layouts of few dimensions that are gone, by rank. Guarded by the issuing right, like
/// every count; never destroyed, for arrays may be released while the process ends.
constexpr int most_spare_rank = 4;
constexpr std::size_t most_spare = 1024;
std::vector<void*>& spare(int rank) {
  static auto* const lists = [] {
    auto* made = new std::array<std::vector<void*>, most_spare_rank + 1>;
    for (auto& list : *made) list.reserve(most_spare);  // giving one back must not fail
    return made;
  }();
  return (*lists)[static_cast<std::size_t>(rank)];
}

}  // namespace

Layout* Layout::allocate(int rank, std::int64_t size) {
  if (rank > max_rank) {
    throw Error(ErrorKind::value, "an array of " + std::to_string(rank) +
                                      " dimensions was asked for; the most is " +
                                      std::to_string(max_rank));
  }
  if (rank <= most_spare_rank && !spare(rank).empty()) {
    void* memory = spare(rank).back();
    spare(rank).pop_back();
    return new (memory) Layout(rank, size);
  }
  void* memory = ::operator new(sizeof(Layout) + 2 * rank * sizeof(std::int64_t));
  return new (memory) Layout(rank, size);
}

void Layout::destroy(Layout* layout) {
  const int rank = layout->rank();
  if (rank <= most_spare_rank && spare(rank).size() < most_spare)
    return spare(rank).push_back(layout);
  ::operator delete(layout);
}

Reference<Layout> Layout::contiguous(std::span<const std::int64_t> shape) {
  const int rank = static_cast<int>(shape.size());
  Layout* layout = allocate(rank, element_count(shape));
  std::copy(shape.begin(), shape.end(), layout->numbers());
  std::int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    layout->numbers()[rank + axis] = stride;
    if (layout->size_)
      stride *= shape[axis];  // an empty array may have extents whose product overflows
  }
  return Reference<Layout>(layout);
}

Reference<Layout> Layout::strided(std::span<const std::int64_t> shape,
                                  std::span<const std::int64_t> strides) {
  const int rank = static_cast<int>(shape.size());
  Layout* layout = allocate(rank, element_count(shape));
  std::copy(shape.begin(), shape.end(), layout->numbers());
  std::copy(strides.begin(), strides.end(), layout->numbers() + rank);
  layout->contiguous_ = afterglow::is_contiguous(shape, strides);
  return Reference<Layout>(layout);
}

bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

std::pair<std::int64_t, std::int64_t> Layout::extent() const {
  std::int64_t low = 0, high = 0;
  for (int axis = 0; axis < rank_; ++axis) {
    const std::int64_t reach = (shape()[axis] - 1) * strides()[axis];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

bool same_shape(const Layout& left, const Layout& right) {
  if (&left == &right) return true;
  // A loop: shapes are shorter than a call of the library's comparison takes.
  bool same = left.rank() == right.rank();
  for (int axis = 0; same && axis < left.rank(); ++axis)
    same = left.shape()[axis] == right.shape()[axis];
  return same;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  for (std::int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorKind::value, "shape " + to_string(shape) + " has a negative dimension");
    }
  }
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count) ||
        count > std::numeric_limits<std::int64_t>::max() / 16) {
      throw Error(ErrorKind::memory, "shape " + to_string(shape) + " is too large to address");
    }
  }
  return count;
}

std::int64_t extent_sum(std::int64_t left, std::int64_t right) {
  std::int64_t sum;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  throw Error(ErrorKind::memory, "an extent of " + std::to_string(left) + " + " +
                                     std::to_string(right) + " is too large to address");
}

std::int64_t extent_product(std::int64_t left, std::int64_t right) {
  std::int64_t product;
  if (!__builtin_mul_overflow(left, right, &product)) return product;
  throw Error(ErrorKind::memory, "an extent of " + std::to_string(left) + " * " +
                                     std::to_string(right) + " is too large to address");
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace afterglow
