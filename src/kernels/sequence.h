// SPDX-License-Identifier: Apache-2.0
// Sequences of different lengths, side by side: [step][sequence][...].
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Turns each sequence around: step t goes to length - 1 - t, and what lies behind the length stays
/// at its place. Arrays are contiguous; a share is a range of steps.
class ReversePass {
 public:
  ReversePass(const void* source, void* target, std::int64_t steps, std::int64_t sequences,
              std::int64_t bytes, const void* lengths, DType lengths_dtype);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  const char* source_;
  char* target_;
  std::int64_t steps_;
  std::int64_t bytes_;  ///< of one step of one sequence
  int shares_ = 0;
  std::vector<std::int64_t> lengths_;  ///< within 0..steps
};

}  // namespace afterglow::kernels
