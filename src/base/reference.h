// SPDX-License-Identifier: Apache-2.0
// Counted references without atomic read-modify-write.
//
// Invariant: counts change only on a thread that holds the issuing right (in Python: the GIL).
// Worker threads never own or release a reference; they may look at a count, hence the relaxed
// atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace afterglow {

class Counted {
 public:
  void retain() { count_.store(count() + 1, std::memory_order_relaxed); }
  /// True when this was the last reference.
  bool drop() {
    const std::int32_t left = count() - 1;
    // Released: whoever sees the new count also sees what was done before, see Storage::Slots.
    count_.store(left, std::memory_order_release);
    return left == 0;
  }
  std::int32_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int32_t> count_{0};
};

/// Owns one reference to a T, which derives from Counted and has a static `void destroy(T*)`.
template <class T>
class Reference {
 public:
  Reference() = default;
  explicit Reference(T* target) : target_(target) {
    if (target_) target_->retain();
  }
  Reference(const Reference& other) : Reference(other.target_) {}
  Reference(Reference&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~Reference() { reset(); }

  void reset() {
    if (T* old = std::exchange(target_, nullptr)) {
      if (old->drop()) T::destroy(old);
    }
  }
  T* get() const { return target_; }
  T* operator->() const { return target_; }
  T& operator*() const { return *target_; }
  explicit operator bool() const { return target_ != nullptr; }

 private:
  T* target_ = nullptr;
};

}  // namespace afterglow
