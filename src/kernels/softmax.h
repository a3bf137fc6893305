// SPDX-License-Identifier: Apache-2.0
// Softmax of the rows of a contiguous matrix, each in one visit.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// e to the power of the elements, divided by the sum of these in each row; or the logarithm of it.
/// For float32 and float64. A share is a range of rows.
class SoftmaxPass {
 public:
  SoftmaxPass(const void* source, void* target, DType dtype, std::int64_t rows,
              std::int64_t columns, bool as_logarithm);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  const void* source_;
  void* target_;
  DType dtype_;
  std::int64_t rows_, columns_;
  bool as_logarithm_;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
