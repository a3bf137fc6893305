// SPDX-License-Identifier: Apache-2.0
// Large products: factors are packed into panels that pass by tiles of the result in registers. For
// float32 and float64. Private to src/kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/scratch.h"

namespace afterglow::kernels {

/// A factor as it lies in memory: its lines are rows of a first factor, columns of a second one.
/// One of the distances, from line to line and along a line, is 1.
template <class Real>
struct Factor {
  const Real* data;
  std::int64_t line_distance, step_distance;
};

/// c[rows, columns] = a * b over so many steps, or added to what is there. The bits of an element
/// depend on its row of a, its column of b and the number of steps only.
template <class Real>
struct PackedProduct {
  std::int64_t rows, columns, steps;
  Factor<Real> a, b;
  Real* c;
  std::int64_t c_stride;
  bool add;
  /// Called when rows and columns of c are complete: once for each element.
  std::function<void(std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                     std::int64_t column_end)>
      finished = {};

  void run() const;
};

/// Memory that is read or written after a product, and asked for during it.
struct NeededSoon {
  const void* data;
  std::int64_t bytes;
};

/// A second factor that is packed once for many products.
template <class Real>
class PackedFactor {
 public:
  PackedFactor(const Factor<Real>& factor, std::int64_t steps, std::int64_t columns);
  ~PackedFactor();
  PackedFactor(const PackedFactor&) = delete;
  PackedFactor& operator=(const PackedFactor&) = delete;
  /// As PackedProduct, with this factor. The rows of a, which are few, are read as they lie.
  void multiply(const Factor<Real>& a, std::int64_t rows, Real* c, std::int64_t c_stride, bool add,
                std::span<const NeededSoon> soon = {}) const;

 private:
  std::int64_t steps_, columns_, padded_columns_;
  Scratch memory_;
  Real* panels_;
};

extern template struct PackedProduct<float>;
extern template struct PackedProduct<double>;
extern template class PackedFactor<float>;
extern template class PackedFactor<double>;

}  // namespace afterglow::kernels
