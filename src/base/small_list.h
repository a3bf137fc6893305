// SPDX-License-Identifier: Apache-2.0
// A list with room for a few elements inside, because a call has one to three operands almost
// always.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace afterglow {

template <class T, std::size_t inside>
class SmallList {
 public:
  T& emplace_back() {
    if (count_ < inside) return first_[count_++];
    if (count_ == inside) {
      rest_.reserve(2 * inside);
      for (T& element : first_) rest_.push_back(std::move(element));
    }
    ++count_;
    return rest_.emplace_back();
  }
  void clear() {
    for (std::size_t i = 0; i < count_ && i < inside; ++i) {
      std::destroy_at(&first_[i]);
      std::construct_at(&first_[i]);
    }
    if (count_ > inside) rest_.clear();
    count_ = 0;
  }
  std::size_t size() const { return count_; }
  T* begin() { return count_ > inside ? rest_.data() : first_.data(); }
  T* end() { return begin() + count_; }
  const T* begin() const { return count_ > inside ? rest_.data() : first_.data(); }
  const T* end() const { return begin() + count_; }
  T& operator[](std::size_t index) { return begin()[index]; }
  const T& operator[](std::size_t index) const { return begin()[index]; }

 private:
  std::size_t count_ = 0;
  std::array<T, inside> first_;
  std::vector<T> rest_;
};

}  // namespace afterglow
