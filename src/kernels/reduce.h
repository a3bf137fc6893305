// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes. The cut and the order of additions depend on shapes only, so the
// bits do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

enum class Reduction : std::uint8_t { sum, mean, maximum, minimum, norm1, norm2 };

struct StridedInput {
  const void* data = nullptr;
  DType dtype = DType::float32;
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;  ///< in elements
};

/// One reduction, cut into shares: run(share) for each, on any threads, then finish() once.
class ReducePass {
 public:
  /// Bit i of `reduced_axes` set: axis i is reduced. The output is C-contiguous over the kept axes,
  /// of type `output_dtype`. float16 and float32 add up in float32 lanes per block and in float64
  /// across blocks; integers in int64; booleans as 0 and 1. maximum and minimum propagate nan. An
  /// empty sum is 0, an empty mean nan; the caller refuses empty maximum and minimum.
  ReducePass(Reduction reduction, const StridedInput& input, std::uint32_t reduced_axes,
             void* output, DType output_dtype);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

 private:
  int shares_ = 1;
  // further members are src/kernels/reduce.cpp's business
};

}  // namespace afterglow::kernels
