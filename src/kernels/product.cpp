// SPDX-License-Identifier: Apache-2.0
#include "kernels/product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/element_types.h"
#include "kernels/blas.h"
#include "kernels/packed.h"
#include "kernels/table.h"

namespace afterglow::kernels {

namespace {

// A share of this much takes 17 ms where a core does 115 GFLOP/s; smaller tiles pack panels again
// more often.
constexpr double share_operations = 2e9;
// Below this (about 0.1 ms) waking another thread does not pay.
constexpr double smallest_cut_operations = 8e6;
// What calling the library weighs: a stack of small matrices is slower than its operations say.
constexpr double call_operations = 10e3;
// What one operation of a matrix-vector product or of the plain loop weighs.
constexpr double vector_weight = 8, plain_weight = 40;
constexpr std::int64_t smallest_side = 64;
constexpr std::int64_t smallest_part = 4096;
constexpr std::int64_t largest_length = std::int64_t(1) << 30;
// Packing one row or column of a panel costs about as much as this many columns of arithmetic.
constexpr double packing = 64;
// Matrices of a stack that are no longer than this one way are cut into whole rows.
constexpr std::int64_t narrow = 256;
// Elements of the longer rows of such a tile, which stay in the farther caches.
constexpr std::int64_t tile_elements = std::int64_t(1) << 20;

std::int64_t tile_length(std::int64_t length, std::int64_t pieces) {
  const std::int64_t tile = std::max<std::int64_t>(1, divide_up(length, pieces));
  return std::min(pieces > 1 ? divide_up(tile, 16) * 16 : tile, largest_length);
}

ProductCut choose_cut(const ProductShape& shape, double weight, bool may_part, int threads) {
  const double operations = 2.0 * shape.m * shape.n * shape.k * weight;
  std::int64_t wanted = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(operations / share_operations)));
  if (operations >= smallest_cut_operations)
    wanted = divide_up(wanted, std::max(threads, 1)) * std::max(threads, 1);
  const std::int64_t most_rows = divide_up(shape.m, smallest_side);
  const std::int64_t most_columns = divide_up(shape.n, smallest_side);
  const std::int64_t most_tiles = std::max<std::int64_t>(1, most_rows * most_columns);

  ProductCut cut;
  if (wanted > most_tiles && may_part)
    cut.parts = std::clamp<std::int64_t>(shape.k / smallest_part, 1, divide_up(wanted, most_tiles));
  cut.part_length = std::min(divide_up(shape.k, cut.parts), largest_length);
  cut.parts =
      std::max<std::int64_t>(1, divide_up(shape.k, std::max<std::int64_t>(1, cut.part_length)));

  const std::int64_t tiles = std::min(wanted, most_tiles);
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t rows = 1; rows <= std::min(tiles, most_rows); ++rows) {
    const std::int64_t columns =
        std::min(divide_up(tiles, rows), std::max<std::int64_t>(1, most_columns));
    const double high = static_cast<double>(tile_length(shape.m, rows));
    const double across = static_cast<double>(tile_length(shape.n, columns));
    const double rounds = static_cast<double>(divide_up(rows * columns, std::max(threads, 1)));
    const double cost = rounds * (high * across + packing * (high + across));
    if (cost >= best) continue;
    best = cost;
    cut.row_tiles = rows;
    cut.column_tiles = columns;
  }
  cut.tile_rows = tile_length(shape.m, cut.row_tiles);
  cut.tile_columns = tile_length(shape.n, cut.column_tiles);
  // Rounding the tiles up may have left fewer of them.
  cut.row_tiles = std::max<std::int64_t>(1, divide_up(shape.m, cut.tile_rows));
  cut.column_tiles = std::max<std::int64_t>(1, divide_up(shape.n, cut.tile_columns));
  return cut;
}

/// Row strides as the library wants them; a single row may come with any.
std::int64_t checked_stride(std::int64_t stride, std::int64_t rows, std::int64_t columns) {
  return rows <= 1 ? std::max<std::int64_t>(columns, 1) : stride;
}
bool suits_library(std::int64_t stride, std::int64_t columns) {
  return stride >= std::max<std::int64_t>(columns, 1) && stride <= std::numeric_limits<int>::max();
}

/// The shape with strides that the library can take where it takes any; and whether it does.
std::pair<ProductShape, bool> for_library(ProductShape shape, DType dtype) {
  const std::int64_t a_rows = shape.transpose_a ? shape.k : shape.m;
  const std::int64_t a_columns = shape.transpose_a ? shape.m : shape.k;
  const std::int64_t b_rows = shape.transpose_b ? shape.n : shape.k;
  const std::int64_t b_columns = shape.transpose_b ? shape.k : shape.n;
  shape.lda = checked_stride(shape.lda, a_rows, a_columns);
  shape.ldb = checked_stride(shape.ldb, b_rows, b_columns);
  const bool suits = is_floating(dtype) && suits_library(shape.lda, a_columns) &&
                     suits_library(shape.ldb, b_columns) &&
                     shape.n <= std::numeric_limits<int>::max();
  return {shape, suits || dtype == DType::float16};
}

struct Steps {
  std::int64_t row, column;
};
Steps steps(bool transpose, std::int64_t stride) {
  return transpose ? Steps{1, stride} : Steps{stride, 1};
}

/// Any type and any strides; integers wrap around, booleans are "or" of "and".
template <class T, class Sum>
void plain_product(const ProductShape& shape, const void* a_data, const void* b_data, void* c_data,
                   std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                   std::int64_t column_end) {
  constexpr std::int64_t width = 512;
  const T* a = static_cast<const T*>(a_data);
  const T* b = static_cast<const T*>(b_data);
  T* c = static_cast<T*>(c_data);
  const Steps a_steps = steps(shape.transpose_a, shape.lda);
  const Steps b_steps = steps(shape.transpose_b, shape.ldb);
  Sum sums[width];
  for (std::int64_t left = column_begin; left < column_end; left += width) {
    const std::int64_t columns = std::min(width, column_end - left);
    for (std::int64_t i = row_begin; i < row_end; ++i) {
      std::fill_n(sums, columns, Sum(0));
      for (std::int64_t k = 0; k < shape.k; ++k) {
        const Sum factor = static_cast<Sum>(a[i * a_steps.row + k * a_steps.column]);
        const T* row = b + k * b_steps.row + left * b_steps.column;
        for (std::int64_t j = 0; j < columns; ++j) {
          if constexpr (std::is_same_v<T, bool>)
            sums[j] |= factor & static_cast<Sum>(row[j * b_steps.column]);
          else
            sums[j] += factor * static_cast<Sum>(row[j * b_steps.column]);
        }
      }
      for (std::int64_t j = 0; j < columns; ++j)
        c[i * shape.n + left + j] = static_cast<T>(sums[j]);
    }
  }
}

using PlainProduct = void (*)(const ProductShape&, const void*, const void*, void*, std::int64_t,
                              std::int64_t, std::int64_t, std::int64_t);
PlainProduct plain_function(DType dtype) {
  if (dtype == DType::boolean) return plain_product<bool, std::uint32_t>;
  return with_type(dtype, []<class T>(T) -> PlainProduct {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    if constexpr (std::is_same_v<T, HalfBits>)
      return nullptr;  // always widened
    else
      return plain_product<T, std::conditional_t<std::is_floating_point_v<T>, T, Word>>;
  });
}

/// A small result for which packing the factors does not pay: that of a long sum, or one whose rows
/// are not whole vectors, which the library's kernels for small matrices want.
bool suits_tiles(const ProductShape& shape) {
  constexpr std::int64_t long_sum = 768;
  const std::int64_t side = kernel_table().tiled_side;
  if (shape.transpose_b || shape.m <= 1 || shape.m > side || shape.n <= 1 || shape.n > side)
    return false;
  return shape.k >= long_sum || (shape.n > 16 && shape.n < 32);
}

template <class Real>
void tiled_product(const ProductShape& shape, const Real* a, const Real* b, Real* c,
                   std::int64_t ldc, bool add) {
  const Steps a_steps = steps(shape.transpose_a, shape.lda);
  const TiledProduct<Real> product = {shape.m, shape.n,   shape.k, a,   a_steps.row, a_steps.column,
                                      b,       shape.ldb, c,       ldc, add};
  real_functions<Real>().tiled_product(product);
}

/// Our own panels do better than the library, which for what is small packs nothing.
bool suits_panels(const ProductShape& shape) {
  constexpr std::int64_t shortest = 16;
  constexpr double fewest_operations = 4e6;
  return kernel_table().has_fast_panels && std::min({shape.m, shape.n, shape.k}) >= shortest &&
         2.0 * shape.m * shape.n * shape.k >= fewest_operations;
}

template <class Real>
void packed_product(const ProductShape& shape, const Real* a, const Real* b, Real* c,
                    std::int64_t ldc, bool add, const ProductPass::Epilogue& finished) {
  const Steps a_steps = steps(shape.transpose_a, shape.lda);
  const Steps b_steps = steps(shape.transpose_b, shape.ldb);
  const PackedProduct<Real> product = {shape.m,
                                       shape.n,
                                       shape.k,
                                       {a, a_steps.row, a_steps.column},
                                       {b, b_steps.column, b_steps.row},
                                       c,
                                       ldc,
                                       add,
                                       finished};
  product.run();
}

/// c (+)= op(a) op(b) by the library; every length fits an int.
template <class Real>
void library_product(const ProductShape& shape, const Real* a, const Real* b, Real* c,
                     std::int64_t ldc, bool add) {
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n);
  const int k = static_cast<int>(shape.k);
  const int lda = static_cast<int>(shape.lda), ldb = static_cast<int>(shape.ldb);
  const int transpose_a = shape.transpose_a ? blas_transposed : blas_plain;
  const int transpose_b = shape.transpose_b ? blas_transposed : blas_plain;
  const Real beta = add ? 1 : 0;
  const BlasTurn turn;
  const auto [gemm, gemv, dot] = blas<Real>();
  if (m == 1 && n == 1) {
    *c = dot(k, a, shape.transpose_a ? lda : 1, b, shape.transpose_b ? 1 : ldb) + (add ? *c : 0);
  } else if (n == 1 && !shape.transpose_b && ldb == 1 && ldc == 1) {
    gemv(blas_row_major, transpose_a, shape.transpose_a ? k : m, shape.transpose_a ? m : k, 1, a,
         lda, b, 1, beta, c, 1);
  } else if (m == 1 && !shape.transpose_a) {
    // The row times b is transposed b times the row.
    gemv(blas_row_major, shape.transpose_b ? blas_plain : blas_transposed,
         shape.transpose_b ? n : k, shape.transpose_b ? k : n, 1, b, ldb, a, 1, beta, c, 1);
  } else {
    gemm(blas_row_major, transpose_a, transpose_b, m, n, k, 1, a, lda, b, ldb, beta, c,
         static_cast<int>(ldc));
  }
}

/// c (+)= op(a) op(b). True: `finished` was called for all of it.
template <class Real>
bool real_product(const ProductShape& shape, const Real* a, const Real* b, Real* c,
                  std::int64_t ldc, bool add, const ProductPass::Epilogue& finished) {
  if (suits_tiles(shape)) {
    tiled_product(shape, a, b, c, ldc, add);
  } else if (suits_panels(shape)) {
    packed_product(shape, a, b, c, ldc, add, finished);
    return true;
  } else {
    library_product(shape, a, b, c, ldc, add);
  }
  return false;
}

DType widened(DType dtype) {
  return dtype == DType::float16 ? DType::float32 : dtype;
}

}  // namespace

// The same for both products of attention, whose longer rows are the scores: so what lies between
// them can be done tile by tile.
std::int64_t rows_of_tile(const ProductShape& shape, DType dtype, std::int64_t height,
                          int threads) {
  const bool real = dtype == DType::float32 || dtype == DType::float64;
  const std::int64_t longer = std::max(shape.n, shape.k);
  if (height <= 1 || !real || !shape.m || !shape.n || !shape.k ||
      std::min(shape.n, shape.k) > narrow || !for_library(shape, dtype).second)
    return 0;
  std::int64_t pieces = divide_up(shape.m * longer, tile_elements);
  if (shape.m * longer * narrow >= smallest_cut_operations)
    pieces = std::max(pieces, divide_up(std::max(threads, 1), height));
  return tile_length(shape.m, std::min(pieces, divide_up(shape.m, smallest_side)));
}

struct ProductPass::Piece {
  std::int64_t row, column, start;  ///< where it begins in m, n and k
  ProductShape shape;               ///< its own lengths, the strides of the whole
  StackPlace place;                 ///< of its matrix

  std::int64_t a_offset() const {
    const Steps s = steps(shape.transpose_a, shape.lda);
    return place.a + row * s.row + start * s.column;
  }
  std::int64_t b_offset() const {
    const Steps s = steps(shape.transpose_b, shape.ldb);
    return place.b + start * s.row + column * s.column;
  }
};

ProductPass::ProductPass(const ProductShape& shape, DType dtype, const void* a, const void* b,
                         void* c, int threads, Epilogue epilogue, std::vector<StackPlace> stack)
    : shape_(shape),
      dtype_(dtype),
      a_(a),
      b_(b),
      c_(c),
      epilogue_(std::move(epilogue)),
      stack_(std::move(stack)) {
  std::tie(shape_, library_) = for_library(shape, dtype);
  cut(std::max(threads, 1));
  if (cut_.parts > 1)
    parts_.resize(static_cast<std::size_t>(cut_.parts * shape.m * shape.n) *
                  size_of(widened(dtype)));
}

/// A single matrix is cut into tiles. Of a stack, whole matrices are shared out where they are
/// enough for all threads, and only large ones are cut.
void ProductPass::cut(int threads) {
  const bool vector = shape_.m == 1 || shape_.n == 1;
  const double weight = !library_ ? plain_weight : vector ? vector_weight : 1;
  const auto height = static_cast<std::int64_t>(stack_.size());
  const std::int64_t threads_each = divide_up(threads, std::max<std::int64_t>(1, height));
  if (const std::int64_t rows = rows_of_tile(shape_, dtype_, height, threads)) {
    cut_ = {rows, shape_.n, shape_.k};
    cut_.row_tiles = divide_up(shape_.m, rows);
  } else {
    cut_ = choose_cut(shape_, weight, library_ && height == 1, static_cast<int>(threads_each));
  }
  pieces_ = cut_.row_tiles * cut_.column_tiles * cut_.parts;
  if (pieces_ == 1 && height > 1) {
    const double operations = 2.0 * shape_.m * shape_.n * shape_.k * weight + call_operations;
    const double most = std::max(1.0, share_operations / operations);
    per_share_ = std::min(height, static_cast<std::int64_t>(most));
    if (operations * static_cast<double>(height) >= smallest_cut_operations)
      per_share_ = std::min(per_share_, divide_up(height, threads));
  }
  shares_ = static_cast<int>(divide_up(height * pieces_, per_share_));
}

void ProductPass::run(int share) {
  if (shape_.m == 0 || shape_.n == 0) return;
  if (pieces_ > 1) return run_piece(share / pieces_, share % pieces_);
  const std::int64_t end =
      std::min<std::int64_t>((share + 1) * per_share_, static_cast<std::int64_t>(stack_.size()));
  for (std::int64_t matrix = share * per_share_; matrix < end; ++matrix) run_piece(matrix, 0);
}

void ProductPass::run_piece(std::int64_t matrix, std::int64_t number) {
  const std::int64_t column_tile = number % cut_.column_tiles;
  const std::int64_t row_tile = number / cut_.column_tiles % cut_.row_tiles;
  const std::int64_t part = number / cut_.column_tiles / cut_.row_tiles;
  Piece piece{row_tile * cut_.tile_rows, column_tile * cut_.tile_columns, part * cut_.part_length,
              shape_, stack_[static_cast<std::size_t>(matrix)]};
  piece.shape.m = std::min(cut_.tile_rows, shape_.m - piece.row);
  piece.shape.n = std::min(cut_.tile_columns, shape_.n - piece.column);
  piece.shape.k = std::min(cut_.part_length, shape_.k - piece.start);

  const std::int64_t first_row = matrix * shape_.m + piece.row;
  const std::int64_t place = first_row * shape_.n + piece.column;
  Epilogue finished;
  if (epilogue_ && cut_.parts == 1)
    finished = [&](std::int64_t row, std::int64_t row_end, std::int64_t column,
                   std::int64_t column_end) {
      epilogue_(first_row + row, first_row + row_end, piece.column + column,
                piece.column + column_end);
    };
  bool is_finished = false;
  if (shape_.k == 0) {
    for (std::int64_t i = 0; i < piece.shape.m; ++i)
      std::memset(static_cast<char*>(c_) + (place + i * shape_.n) * size_of(dtype_), 0,
                  piece.shape.n * size_of(dtype_));
  } else if (!library_) {
    run_plain(piece, matrix);
  } else {
    const bool direct = cut_.parts == 1;
    const std::size_t element = size_of(direct ? dtype_ : widened(dtype_));
    char* base =
        direct ? static_cast<char*>(c_)
               : reinterpret_cast<char*>(parts_.data()) + part * shape_.m * shape_.n * element;
    if (dtype_ == DType::float16)
      run_widened(piece, base + place * element, shape_.n);
    else
      is_finished = run_real(piece, nullptr, base + place * element, shape_.n, finished);
  }
  if (finished && !is_finished) finished(0, piece.shape.m, 0, piece.shape.n);
}

void ProductPass::run_tile(std::int64_t matrix, std::int64_t row, const void* a,
                           void* target) const {
  Piece piece{row, 0, 0, shape_, stack_[static_cast<std::size_t>(matrix)]};
  piece.shape.m = std::min(cut_.tile_rows, shape_.m - row);
  run_real(piece, a, target, shape_.n, {});
}

void ProductPass::run_plain(const Piece& piece, std::int64_t matrix) const {
  const auto item = static_cast<std::int64_t>(size_of(dtype_));
  plain_function(dtype_)(shape_, static_cast<const char*>(a_) + piece.place.a * item,
                         static_cast<const char*>(b_) + piece.place.b * item,
                         static_cast<char*>(c_) + matrix * shape_.m * shape_.n * item, piece.row,
                         piece.row + piece.shape.m, piece.column, piece.column + piece.shape.n);
}

bool ProductPass::run_real(const Piece& piece, const void* a, void* target,
                           std::int64_t target_stride, const Epilogue& finished) const {
  const auto run = [&]<class Real>(Real* c) {
    return real_product(
        piece.shape,
        a ? static_cast<const Real*>(a) : static_cast<const Real*>(a_) + piece.a_offset(),
        static_cast<const Real*>(b_) + piece.b_offset(), c, target_stride, false, finished);
  };
  return dtype_ == DType::float32 ? run(static_cast<float*>(target))
                                  : run(static_cast<double*>(target));
}

/// float16 by way of float32, a panel at a time; `target` is float16, or float32 for a part.
void ProductPass::run_widened(const Piece& piece, void* target, std::int64_t target_stride) const {
  constexpr std::int64_t panel = 2048;
  const CastFunction widen = cast_function(DType::float16, DType::float32);
  const CastFunction narrow = cast_function(DType::float32, DType::float16);
  const auto load = [&](const void* data, std::int64_t offset, std::int64_t rows,
                        std::int64_t columns, std::int64_t stride, std::vector<float>& values) {
    values.resize(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows; ++i)
      widen(static_cast<const std::uint16_t*>(data) + offset + i * stride,
            values.data() + i * columns, columns);
  };
  std::vector<float> a, b, sums(static_cast<std::size_t>(piece.shape.m * piece.shape.n));
  for (std::int64_t begin = 0; begin < piece.shape.k; begin += panel) {
    Piece step = piece;
    step.start += begin;
    ProductShape& shape = step.shape;
    shape.k = std::min(panel, piece.shape.k - begin);
    load(a_, step.a_offset(), shape.transpose_a ? shape.k : shape.m,
         shape.transpose_a ? shape.m : shape.k, shape.lda, a);
    load(b_, step.b_offset(), shape.transpose_b ? shape.n : shape.k,
         shape.transpose_b ? shape.k : shape.n, shape.ldb, b);
    shape.lda = shape.transpose_a ? shape.m : shape.k;
    shape.ldb = shape.transpose_b ? shape.k : shape.n;
    real_product(shape, a.data(), b.data(), sums.data(), shape.n, begin > 0, {});
  }
  const std::int64_t columns = piece.shape.n;
  for (std::int64_t i = 0; i < piece.shape.m; ++i) {
    const float* row = sums.data() + i * columns;
    if (cut_.parts > 1)
      std::copy_n(row, columns, static_cast<float*>(target) + i * target_stride);
    else
      narrow(row, static_cast<std::uint16_t*>(target) + i * target_stride, columns);
  }
}

void ProductPass::finish() {
  if (cut_.parts == 1) return;
  const DType dtype = widened(dtype_);
  const std::int64_t size = shape_.m * shape_.n;
  const BlockFunction add = block_function(Formula::add, dtype);
  unsigned char* sum = parts_.data();
  for (std::int64_t part = 1; part < cut_.parts; ++part) {
    const void* inputs[] = {sum, sum + part * size * size_of(dtype)};
    add(inputs, sum, size);
  }
  cast_function(dtype, dtype_)(sum, c_, size);
  if (epilogue_ && size > 0) epilogue_(0, shape_.m, 0, shape_.n);
}

}  // namespace afterglow::kernels
