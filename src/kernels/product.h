// SPDX-License-Identifier: Apache-2.0
// Matrix products, cut into shares for our own threads: by packed panels, or by the maths library.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// c[m, n] = op(a)[m, k] * op(b)[k, n], row-major, c contiguous.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t lda = 0, ldb = 0;  ///< row strides of a and b as stored, in elements
};

/// Where the factors of one product of a stack begin, in elements behind the first. The results
/// follow each other without gaps.
struct StackPlace {
  std::int64_t a = 0, b = 0;
};

/// The pieces of a product: tiles of c, and for very long k also parts of the sum.
struct ProductCut {
  std::int64_t tile_rows = 0, tile_columns = 0, part_length = 0;
  std::int64_t row_tiles = 1, column_tiles = 1, parts = 1;
};

/// Of a stack of `height` products that are cut between rows only: the rows of a tile; else 0.
std::int64_t rows_of_tile(const ProductShape& shape, DType dtype, std::int64_t height, int threads);

/// One product or a stack of them. The cut depends on the shape, on the height of the stack and on
/// `threads` (the configured limit) only. Each share takes at most about 20 ms. float32 and float64
/// go by panels or to the library; float16 is widened to float32 and rounded once; integers and
/// booleans have a plain blocked loop with wrap-around arithmetic (booleans: or of ands).
class ProductPass {
 public:
  /// Called when rows [row_begin, row_end) and columns [column_begin, column_end) of c, where the
  /// matrices of a stack lie one below the other, are complete: once for each element, from the
  /// thread that ran its last share, or from finish().
  using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                      std::int64_t column_begin, std::int64_t column_end)>;

  ProductPass(const ProductShape& shape, DType dtype, const void* a, const void* b, void* c,
              int threads, Epilogue epilogue = {},
              std::vector<StackPlace> stack = std::vector<StackPlace>(1));
  int shares() const { return shares_; }
  void run(int share);
  void finish();

  /// Where rows_of_tile() says so: the tile of a matrix of the stack that begins with that row,
  /// from its rows of the first factor (nullptr: where they were given) to `target`, without gaps.
  void run_tile(std::int64_t matrix, std::int64_t row, const void* a, void* target) const;

 private:
  struct Piece;
  void cut(int threads);
  void run_piece(std::int64_t matrix, std::int64_t number);
  void run_plain(const Piece& piece, std::int64_t matrix) const;
  /// `a`: its rows of the first factor, where they are not those that were given. True: `finished`
  /// was called for all of the piece.
  bool run_real(const Piece& piece, const void* a, void* target, std::int64_t target_stride,
                const Epilogue& finished) const;
  void run_widened(const Piece& piece, void* target, std::int64_t target_stride) const;

  ProductShape shape_;
  DType dtype_;
  const void* a_;
  const void* b_;
  void* c_;
  Epilogue epilogue_;
  std::vector<StackPlace> stack_;
  int shares_ = 1;
  ProductCut cut_;
  std::int64_t pieces_ = 1;     ///< of one matrix
  std::int64_t per_share_ = 1;  ///< matrices in one share, where they are in one piece
  bool library_ = false;        ///< the library can take these strides and types
  std::vector<unsigned char>
      parts_;  ///< a copy of c for each part of the sum, where there are several
};

}  // namespace afterglow::kernels
