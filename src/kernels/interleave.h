// SPDX-License-Identifier: Apache-2.0
// Single elements of several arrays in turns: what joining along a last axis of length one means.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace afterglow::kernels {

/// result[i][s] = sources[s][i]. All are contiguous, of `count` elements and of one type.
class InterleavePass {
 public:
  static constexpr std::size_t most_sources = 4;

  InterleavePass(std::span<const void* const> sources, DType dtype, std::int64_t count,
                 void* result);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  std::array<const char*, most_sources> sources_;
  int used_;
  std::int64_t item_, count_;
  char* result_;
  int shares_;
};

}  // namespace afterglow::kernels
