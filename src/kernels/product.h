// SPDX-License-Identifier: Apache-2.0
// Matrix products on the maths library, cut into shares for our own threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// c[m, n] = op(a)[m, k] * op(b)[k, n], row-major, c contiguous.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t lda = 0, ldb = 0;  ///< row strides of a and b as stored, in elements
};

/// The cut depends on the shape and on `threads` (the configured limit) only. Each share takes at
/// most about 20 ms. float32 and float64 use the library; float16 is widened to float32 and rounded
/// once; integers and booleans have a plain blocked loop with wrap-around arithmetic (booleans: or
/// of ands).
class ProductPass {
 public:
  ProductPass(const ProductShape& shape, DType dtype, const void* a, const void* b, void* c,
              int threads);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

 private:
  int shares_ = 1;
};

}  // namespace afterglow::kernels
