// SPDX-License-Identifier: Apache-2.0
// Shape and strides of a view: immutable and shared, so that `y = x + 1` copies a pointer, no
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/reference.h"
#include "base/small_vector.h"

namespace afterglow {

using Shape = SmallVector<std::int64_t, 6>;
inline constexpr int max_rank = 32;

class Layout : public Counted {
 public:
  static Reference<Layout> contiguous(std::span<const std::int64_t> shape);
  static Reference<Layout> strided(std::span<const std::int64_t> shape,
                                   std::span<const std::int64_t> strides);
  static void destroy(Layout* layout);

  int rank() const { return rank_; }
  std::int64_t size() const { return size_; }
  /// Elements lie in C order without gaps.
  bool is_contiguous() const { return contiguous_; }
  std::span<const std::int64_t> shape() const {
    return {numbers(), static_cast<std::size_t>(rank_)};
  }
  /// In elements.
  std::span<const std::int64_t> strides() const {
    return {numbers() + rank_, static_cast<std::size_t>(rank_)};
  }
  /// Smallest and largest distance of an element from the first one, in elements.
  std::pair<std::int64_t, std::int64_t> extent() const;

 private:
  Layout(int rank, std::int64_t size) : rank_(rank), size_(size) {}
  static Layout* allocate(int rank, std::int64_t size);
  std::int64_t* numbers() { return reinterpret_cast<std::int64_t*>(this + 1); }
  const std::int64_t* numbers() const { return reinterpret_cast<const std::int64_t*>(this + 1); }

  int rank_;
  bool contiguous_ = true;
  std::int64_t size_;
};

bool same_shape(const Layout& left, const Layout& right);

/// Elements of such a view lie in C order without gaps.
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Number of elements; throws Error(value) when negative or beyond what memory can address.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// Extents of new arrays, where they add up or multiply; throw Error(memory) beyond 64 bits.
std::int64_t extent_sum(std::int64_t left, std::int64_t right);
std::int64_t extent_product(std::int64_t left, std::int64_t right);

/// "(2, 3)", as Python prints a tuple.
std::string to_string(std::span<const std::int64_t> shape);

}  // namespace afterglow
