// SPDX-License-Identifier: Apache-2.0
// Memory that a thread keeps from pass to pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>

namespace afterglow::kernels {

/// Whoever needs some has one of these per thread.
class Scratch {
 public:
  static constexpr std::size_t line = 64;

  /// What was there before is lost if it is too small.
  char* of_size(std::int64_t size) {
    if (size > size_) {
      data_.reset(static_cast<char*>(
          ::operator new(static_cast<std::size_t>(size), std::align_val_t(line))));
      size_ = size;
    }
    return data_.get();
  }
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* data) const { ::operator delete(data, std::align_val_t(line)); }
  };
  std::unique_ptr<char, Free> data_;
  std::int64_t size_ = 0;
};

/// Memory of a thread, handed out piece by piece.
template <class Real>
class Room {
 public:
  /// Behind each piece there is room for whole groups of vectors.
  static constexpr std::int64_t slack = 64;

  explicit Room(std::initializer_list<std::int64_t> pieces) {
    std::int64_t count = 0;
    for (const std::int64_t piece : pieces) count += rounded(piece);
    static thread_local Scratch scratch;
    const std::int64_t size = count * std::int64_t{sizeof(Real)};
    next_ = reinterpret_cast<Real*>(scratch.of_size(size));
#if defined(__SANITIZE_ADDRESS__)
    // Not a number, so that what is read before it is written shows in results.
    std::memset(scratch.data(), 0xff, static_cast<std::size_t>(size));
#endif
  }
  Real* take(std::int64_t piece) {
    Real* const taken = next_;
    next_ += rounded(piece);
    // It is read, though what comes of it is not used.
    std::fill_n(taken + piece, rounded(piece) - piece, Real(0));
    return taken;
  }

 private:
  static std::int64_t rounded(std::int64_t piece) {
    return (piece + 2 * slack - 1) / slack * slack;
  }

  Real* next_;
};

}  // namespace afterglow::kernels
