// SPDX-License-Identifier: Apache-2.0
// Products with matrices whose zeros are not stored.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Compressed rows: those of row i are the elements from starts[i] to starts[i + 1].
struct CompressedRows {
  const void* values = nullptr;
  const std::int64_t* columns = nullptr;
  const std::int64_t* starts = nullptr;
  std::int64_t rows = 0;
  std::int64_t elements = 0;
};

/// result = matrix * lines, or transpose(matrix) * lines. Lines and result lie row by row, `width`
/// elements each. Elements are added up in the order of the matrix, however it is cut.
class CompressedProductPass {
 public:
  /// `extent`: rows of `lines`, or, transposed, of `result`. Columns must be below it.
  CompressedProductPass(const CompressedRows& matrix, const void* lines, void* result, DType dtype,
                        std::int64_t width, std::int64_t extent, bool transposed);
  int shares() const { return shares_; }
  /// Throws Error(index) for a column, or a start, that is not there.
  void run(int share) const;

 private:
  template <class T>
  void run_as(int share) const;
  template <class T>
  void rows(std::int64_t begin, std::int64_t end) const;
  template <class T>
  void columns(std::int64_t begin, std::int64_t end) const;
  void check(std::int64_t row) const;

  const CompressedRows matrix_;
  const void* const lines_;
  void* const result_;
  const DType dtype_;
  const std::int64_t width_, extent_;
  const bool transposed_;
  int shares_ = 1;
};

}  // namespace afterglow::kernels
