// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector, where the rows of the matrix are contiguous. Four rows are read side by
// side: what limits it is how fast the matrix comes from the caches.
#pragma once

#include <cstdint>

#include "kernels/isa/types.h"

namespace afterglow::kernels {
namespace {

template <class Real>
struct RowLanes {
  typedef Real Vector [[gnu::vector_size(64)]];
  static constexpr std::int64_t count = 64 / sizeof(Real);
};

template <class Real>
AFTERGLOW_INLINE typename RowLanes<Real>::Vector load_lanes(const Real* data) {
  typename RowLanes<Real>::Vector lanes;
  __builtin_memcpy(&lanes, data, sizeof lanes);
  return lanes;
}

template <int height, class Real>
AFTERGLOW_INLINE void dot_some_rows(const Real* matrix, std::int64_t stride, const Real* vector,
                                    std::int64_t length, bool add, Real* results) {
  constexpr std::int64_t lanes = RowLanes<Real>::count;
  typename RowLanes<Real>::Vector even[height] = {}, odd[height] = {};
  std::int64_t i = 0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    const auto first = load_lanes(vector + i), second = load_lanes(vector + i + lanes);
    for (int row = 0; row < height; ++row) {
      even[row] += load_lanes(matrix + row * stride + i) * first;
      odd[row] += load_lanes(matrix + row * stride + i + lanes) * second;
    }
  }
  for (; i + lanes <= length; i += lanes) {
    const auto first = load_lanes(vector + i);
    for (int row = 0; row < height; ++row)
      even[row] += load_lanes(matrix + row * stride + i) * first;
  }
  for (int row = 0; row < height; ++row) {
    const auto both = even[row] + odd[row];
    Real sum = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) sum += both[lane];
    for (std::int64_t k = i; k < length; ++k) sum += matrix[row * stride + k] * vector[k];
    results[row] = add ? results[row] + sum : sum;
  }
}

/// results[r] (+)= row r of the matrix times the vector.
template <class Real>
void dot_rows(const Real* matrix, std::int64_t stride, std::int64_t rows, const Real* vector,
              std::int64_t length, bool add, Real* results) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4)
    dot_some_rows<4>(matrix + row * stride, stride, vector, length, add, results + row);
  for (; row < rows; ++row)
    dot_some_rows<1>(matrix + row * stride, stride, vector, length, add, results + row);
}

}  // namespace
}  // namespace afterglow::kernels
