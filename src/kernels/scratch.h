// SPDX-License-Identifier: Apache-2.0
// Memory that a thread keeps from pass to pass.
#pragma once

#include <cstdint>
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

 private:
  struct Free {
    void operator()(char* data) const { ::operator delete(data, std::align_val_t(line)); }
  };
  std::unique_ptr<char, Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace afterglow::kernels
