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
struct Spare {
  std::size_t count;
  std::array<void*, 1024> memory;
};
constexpr int most_spare_rank = 4;
constinit std::array<Spare, most_spare_rank + 1> spare = {};

[[noreturn]] void refuse_rank(int rank) {
  throw Error(ErrorKind::value, "an array of " + std::to_string(rank) +
                                    " dimensions was asked for; the most is " +
                                    std::to_string(max_rank));
}

[[noreturn]] void refuse_negative(std::span<const std::int64_t> shape) {
  throw Error(ErrorKind::value, "shape " + to_string(shape) + " has a negative dimension");
}

[[noreturn]] void refuse_size(std::span<const std::int64_t> shape) {
  throw Error(ErrorKind::memory, "shape " + to_string(shape) + " is too large to address");
}

}  // namespace

Layout* Layout::allocate(int rank, std::int64_t size) {
  if (rank <= most_spare_rank) {
    Spare& mine = spare[static_cast<std::size_t>(rank)];
    if (mine.count) return new (mine.memory[--mine.count]) Layout(rank, size);
  }
  if (rank > max_rank) refuse_rank(rank);
  void* memory = ::operator new(sizeof(Layout) + 2 * rank * sizeof(std::int64_t));
  return new (memory) Layout(rank, size);
}

void Layout::destroy(Layout* layout) {
  if (layout->rank() <= most_spare_rank) {
    Spare& mine = spare[static_cast<std::size_t>(layout->rank())];
    if (mine.count < mine.memory.size()) {
      mine.memory[mine.count++] = layout;
      return;
    }
  }
  ::operator delete(layout);
}

Reference<Layout> Layout::contiguous(std::span<const std::int64_t> shape) {
  const int rank = static_cast<int>(shape.size());
  Layout* layout = allocate(rank, element_count(shape));
  std::int64_t *const extents = layout->numbers(), *const strides = extents + rank;
  std::int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    extents[axis] = shape[axis];
    strides[axis] = stride;
    if (layout->size_)
      stride *= shape[axis];  // an empty array may have extents whose product overflows
  }
  return Reference<Layout>(layout);
}

Reference<Layout> Layout::strided(std::span<const std::int64_t> shape,
                                  std::span<const std::int64_t> strides) {
  const int rank = static_cast<int>(shape.size());
  Layout* layout = allocate(rank, element_count(shape));
  copy_few(strides.begin(), strides.end(), copy_few(shape.begin(), shape.end(), layout->numbers()));
  layout->contiguous_ = afterglow::is_contiguous(shape, strides);
  return Reference<Layout>(layout);
}

bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::uint64_t expected = 1;  // may overflow where an extent in front of the large ones is 0
  bool has_gaps = false;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 0) return true;
    has_gaps |= shape[axis] != 1 && static_cast<std::uint64_t>(strides[axis]) != expected;
    expected *= static_cast<std::uint64_t>(shape[axis]);
  }
  return !has_gaps;
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
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
  std::int64_t count = 1;
  bool is_empty = false, is_too_large = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) refuse_negative(shape);
    is_empty |= extent == 0;
    is_too_large |= __builtin_mul_overflow(count, extent, &count) || count > most;
  }
  if (is_empty) return 0;
  if (is_too_large) refuse_size(shape);
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
