// SPDX-License-Identifier: Apache-2.0
// A vector of plain values with room for a few inside: shapes are short, and a call that needs
// several of them must not ask for memory each time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace afterglow {

/// Copies a few values one by one and returns the end of the copies. The compiler would make a call
/// of the library's out of the loop, which takes longer for so few; the empty instruction keeps it.
template <class Iterator, class T>
T* copy_few(Iterator first, Iterator last, T* to) {
  for (; first != last; ++first) {
    *to++ = *first;
    asm volatile("");
  }
  return to;
}

template <class T, std::size_t inside>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() {}
  explicit SmallVector(std::size_t count, T value = T()) { resize(count, value); }
  template <std::forward_iterator Iterator>
  SmallVector(Iterator first, Iterator last) {
    assign(first, last);
  }
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  T* data() { return outside_ ? outside_.get() : inside_; }
  const T* data() const { return outside_ ? outside_.get() : inside_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  auto rbegin() { return std::reverse_iterator(end()); }
  auto rend() { return std::reverse_iterator(begin()); }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  T& operator[](std::size_t index) { return data()[index]; }
  const T& operator[](std::size_t index) const { return data()[index]; }
  const T& at(std::size_t index) const {
    if (index >= size_) throw std::out_of_range("there is no such element");
    return data()[index];
  }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void reserve(std::size_t room) {
    if (room <= room_) return;
    auto larger = std::make_unique_for_overwrite<T[]>(room);
    std::copy(begin(), end(), larger.get());
    outside_ = std::move(larger);
    room_ = room;
  }
  void clear() { size_ = 0; }
  void resize(std::size_t count, T value = T()) {
    reserve(count);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = count;
  }
  template <std::forward_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    size_ = 0;
    reserve(static_cast<std::size_t>(std::distance(first, last)));
    size_ = static_cast<std::size_t>(copy_few(first, last, data()) - data());
  }
  void push_back(T value) {
    if (size_ == room_) reserve(2 * room_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }

  T* insert(const T* place, T value) { return insert(place, 1, value); }
  T* insert(const T* place, std::size_t count, T value) {
    T* const gap = open(place, count);
    std::fill_n(gap, count, value);
    return gap;
  }
  /// From elsewhere, not from this vector.
  template <std::forward_iterator Iterator>
  T* insert(const T* place, Iterator first, Iterator last) {
    T* const gap = open(place, static_cast<std::size_t>(std::distance(first, last)));
    std::copy(first, last, gap);
    return gap;
  }
  T* insert(const T* place, std::initializer_list<T> values) {
    return insert(place, values.begin(), values.end());
  }
  T* erase(const T* place) { return erase(place, place + 1); }
  T* erase(const T* first, const T* last) {
    T* const hole = begin() + (first - begin());
    std::copy(last, static_cast<const T*>(end()), hole);
    size_ -= static_cast<std::size_t>(last - first);
    return hole;
  }

  bool operator==(const SmallVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  auto operator<=>(const SmallVector& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  void take(SmallVector& other) {
    outside_ = std::move(other.outside_);
    room_ = other.room_;
    size_ = other.size_;
    if (!outside_) copy_few(other.inside_, other.inside_ + size_, inside_);
    other.size_ = 0;
    other.room_ = inside;
  }

  T* open(const T* place, std::size_t count) {
    const std::ptrdiff_t before = place - begin();
    reserve(size_ + count);
    std::copy_backward(begin() + before, end(), end() + count);
    size_ += count;
    return begin() + before;
  }

  std::size_t size_ = 0;
  std::size_t room_ = inside;
  std::unique_ptr<T[]> outside_;
  T inside_[inside];
};

}  // namespace afterglow
