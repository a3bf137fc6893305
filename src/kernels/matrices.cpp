// SPDX-License-Identifier: Apache-2.0
// LAPACK takes matrices by columns: what lies by rows is the transposed matrix to it, which serves
// as well wherever the answer is transposed too.
#include "kernels/matrices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "kernels/blas.h"

namespace afterglow::kernels {
namespace {

/// Memory for one matrix more. Small ones come often, so a thread keeps it.
template <class T>
T* scratch(std::int64_t count) {
  static thread_local std::vector<T> memory;
  if (memory.size() < static_cast<std::size_t>(count)) {
    memory.resize(static_cast<std::size_t>(count));
  }
  return memory.data();
}

int* pivots_for(std::int64_t n) {
  return scratch<int>(8 * n);
}

int to_int(std::int64_t extent) {
  if (extent > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::value, "a matrix of " + std::to_string(extent) + " rows is too large");
  }
  return static_cast<int>(extent);
}

[[noreturn]] void refuse_singular() {
  throw Error(ErrorKind::value, "Singular matrix");
}

template <class T>
void transpose(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      target[column * rows + row] = source[row * columns + column];
    }
  }
}

}  // namespace

template <class T>
void invert(const T* a, std::int64_t n, T* result) {
  if (!n) return;
  const int order = to_int(n);
  constexpr std::int64_t block = 64;
  const int work_size = to_int(n * block);
  int info = 0;
  std::copy_n(a, n * n, result);
  int* const pivots = pivots_for(n);
  const BlasTurn turn;
  lapack<T>().getrf(&order, &order, result, &order, pivots, &info);
  if (!info) {
    lapack<T>().getri(&order, result, &order, pivots, scratch<T>(work_size), &work_size, &info);
  }
  if (info) refuse_singular();
}

template <class T>
T determinant(const T* a, std::int64_t n) {
  if (!n) return 1;
  const int order = to_int(n);
  int info = 0;
  T* const factors = scratch<T>(n * n);
  std::copy_n(a, n * n, factors);
  int* const pivots = pivots_for(n);
  const BlasTurn turn;
  lapack<T>().getrf(&order, &order, factors, &order, pivots, &info);
  // Mantissa and exponent apart, so that no product on the way is too large or too small.
  double mantissa = 1;
  std::int64_t exponent = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    int shift = 0;
    mantissa = std::frexp(mantissa * factors[i * n + i], &shift);
    exponent += shift;
    if (pivots[i] != i + 1) mantissa = -mantissa;
  }
  const auto bound = std::int64_t{1} << 16;
  return static_cast<T>(
      std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -bound, bound))));
}

template <class T>
void solve(const T* a, std::int64_t n, const T* b, std::int64_t columns, T* x) {
  if (!n || !columns) return;
  const int order = to_int(n), count = to_int(columns);
  int info = 0;
  T* const factors = scratch<T>(n * n + n * columns);
  T* const unknowns = factors + n * n;
  transpose(a, n, n, factors);
  transpose(b, n, columns, unknowns);
  const BlasTurn turn;
  lapack<T>().gesv(&order, &count, factors, &order, pivots_for(n), unknowns, &order, &info);
  if (info) refuse_singular();
  transpose(unknowns, columns, n, x);
}

template <class T>
void cholesky(const T* a, std::int64_t n, T* result) {
  if (!n) return;
  const int order = to_int(n);
  int info = 0;
  std::copy_n(a, n * n, result);
  const BlasTurn turn;
  lapack<T>().potrf("U", &order, result, &order, &info, 1);
  if (info) throw Error(ErrorKind::value, "Matrix is not positive definite");
  for (std::int64_t row = 0; row < n; ++row) {
    std::fill_n(result + row * n + row + 1, n - row - 1, T(0));
  }
}

template <class T>
void singular(const T* a, std::int64_t rows, std::int64_t columns, T* left, T* values, T* right) {
  const std::int64_t count = std::min(rows, columns);
  if (!count) return;
  // The library's iteration may never end with them.
  if (!std::all_of(a, a + rows * columns, [](T element) { return std::isfinite(element); })) {
    throw Error(ErrorKind::value, "SVD did not converge: not all elements are finite");
  }
  const int m = to_int(columns), n = to_int(rows), least = to_int(count);
  int info = 0, work_size = -1;
  int* const integers = pivots_for(count);
  T wanted = 0;
  const BlasTurn turn;
  lapack<T>().gesdd("S", &m, &n, nullptr, &m, nullptr, nullptr, &m, nullptr, &least, &wanted,
                    &work_size, integers, &info, 1);
  work_size = static_cast<int>(wanted) + 1;
  T* const matrix = scratch<T>(rows * columns + work_size);
  std::copy_n(a, rows * columns, matrix);
  lapack<T>().gesdd("S", &m, &n, matrix, &m, values, right, &m, left, &least,
                    matrix + rows * columns, &work_size, integers, &info, 1);
  if (info) throw Error(ErrorKind::value, "SVD did not converge");
  for (std::int64_t i = 0; i < count; ++i) {
    T* const row = right + i * columns;
    const auto smaller = [](T x, T y) { return std::abs(x) < std::abs(y); };
    if (!(*std::max_element(row, row + columns, smaller) < 0)) continue;
    for (std::int64_t j = 0; j < columns; ++j) row[j] = -row[j];
    for (std::int64_t j = 0; j < rows; ++j) left[j * count + i] = -left[j * count + i];
  }
}

template void invert(const float*, std::int64_t, float*);
template void invert(const double*, std::int64_t, double*);
template float determinant(const float*, std::int64_t);
template double determinant(const double*, std::int64_t);
template void solve(const float*, std::int64_t, const float*, std::int64_t, float*);
template void solve(const double*, std::int64_t, const double*, std::int64_t, double*);
template void cholesky(const float*, std::int64_t, float*);
template void cholesky(const double*, std::int64_t, double*);
template void singular(const float*, std::int64_t, std::int64_t, float*, float*, float*);
template void singular(const double*, std::int64_t, std::int64_t, double*, double*, double*);

}  // namespace afterglow::kernels
