// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace afterglow::kernels {
namespace {

/// So many products are worth a share.
constexpr std::int64_t products_of_share = 1 << 16;
constexpr std::int64_t most_shares = 64;

}  // namespace

CompressedProductPass::CompressedProductPass(const CompressedRows& matrix, const void* lines,
                                             void* result, DType dtype, std::int64_t width,
                                             std::int64_t extent, bool transposed)
    : matrix_(matrix),
      lines_(lines),
      result_(result),
      dtype_(dtype),
      width_(width),
      extent_(extent),
      transposed_(transposed) {
  // Transposed, an element of the result gets something from everywhere: shares are of columns.
  const std::int64_t parts = transposed ? width / 16 : matrix.rows;
  const std::int64_t wanted = matrix.elements * width / products_of_share;
  shares_ = static_cast<int>(std::max<std::int64_t>(1, std::min({wanted, parts, most_shares})));
}

void CompressedProductPass::check(std::int64_t row) const {
  const std::int64_t begin = matrix_.starts[row], end = matrix_.starts[row + 1];
  if (begin < 0 || end < begin || end > matrix_.elements)
    throw Error(ErrorKind::index, "indptr has " + std::to_string(begin) + " and " +
                                      std::to_string(end) + " for row " + std::to_string(row) +
                                      " of " + std::to_string(matrix_.elements) + " elements");
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t column = matrix_.columns[i];
    if (column < 0 || column >= extent_)
      throw Error(ErrorKind::index, "index " + std::to_string(column) + " is outside of " +
                                        std::to_string(extent_) + " columns");
  }
}

template <class T>
void CompressedProductPass::rows(std::int64_t begin, std::int64_t end) const {
  const T* const values = static_cast<const T*>(matrix_.values);
  for (std::int64_t row = begin; row < end; ++row) {
    check(row);
    T* const target = static_cast<T*>(result_) + row * width_;
    std::fill_n(target, width_, T{});
    for (std::int64_t i = matrix_.starts[row]; i < matrix_.starts[row + 1]; ++i) {
      const T value = values[i];
      const T* const line = static_cast<const T*>(lines_) + matrix_.columns[i] * width_;
      for (std::int64_t j = 0; j < width_; ++j) target[j] += value * line[j];
    }
  }
}

template <class T>
void CompressedProductPass::columns(std::int64_t begin, std::int64_t end) const {
  const T* const values = static_cast<const T*>(matrix_.values);
  T* const result = static_cast<T*>(result_);
  for (std::int64_t row = 0; row < extent_; ++row)
    std::fill_n(result + row * width_ + begin, end - begin, T{});
  for (std::int64_t row = 0; row < matrix_.rows; ++row) {
    check(row);
    const T* const line = static_cast<const T*>(lines_) + row * width_;
    for (std::int64_t i = matrix_.starts[row]; i < matrix_.starts[row + 1]; ++i) {
      const T value = values[i];
      T* const target = result + matrix_.columns[i] * width_;
      for (std::int64_t j = begin; j < end; ++j) target[j] += value * line[j];
    }
  }
}

template <class T>
void CompressedProductPass::run_as(int share) const {
  const std::int64_t whole = transposed_ ? width_ : matrix_.rows;
  const std::int64_t begin = whole * share / shares_, end = whole * (share + 1) / shares_;
  if (transposed_)
    columns<T>(begin, end);
  else
    rows<T>(begin, end);
}

void CompressedProductPass::run(int share) const {
  switch (dtype_) {
    case DType::float32:
      return run_as<float>(share);
    case DType::float64:
      return run_as<double>(share);
    case DType::int32:
      return run_as<std::int32_t>(share);
    case DType::int64:
      return run_as<std::int64_t>(share);
    default:
      throw Error(ErrorKind::type, "no product for this type");
  }
}

}  // namespace afterglow::kernels
