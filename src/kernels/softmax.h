// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation of the rows of a contiguous matrix, each in one visit.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// e to the power of the elements, divided by the sum of these in each row; or the logarithm of it.
/// For float32 and float64. The target may be the source.
void softmax_of_rows(const void* source, void* target, DType dtype, std::int64_t rows,
                     std::int64_t columns, bool as_logarithm);

/// The same, where a share is a range of rows.
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

/// The rows minus their means, by the square roots of their variances plus `epsilon`, times `scale`
/// plus `shift`, which have an entry per column; and those means and roots. For float32 and
/// float64.
class LayerNormPass {
 public:
  LayerNormPass(const void* source, const void* scale, const void* shift, DType dtype,
                std::int64_t rows, std::int64_t columns, double epsilon, void* target, void* means,
                void* deviations);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class T>
  void run_rows(std::int64_t begin, std::int64_t end) const;

  const void *source_, *scale_, *shift_;
  DType dtype_;
  std::int64_t rows_, columns_;
  double epsilon_;
  void *target_, *means_, *deviations_;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
