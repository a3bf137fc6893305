// SPDX-License-Identifier: Apache-2.0
// The maths library for matrix products, loaded at run time and kept to one thread: it runs on
// our threads, never on its own.
#pragma once

#include <cstddef>

namespace afterglow::kernels {

/// The shared library to load. Counts only before the first load.
void set_blas_path(const char* path);
/// Loads it, for so many threads that compute at once. The library ends the process where it cannot
/// map its buffers, so that is looked at first: throws Error where memory does not suffice. To be
/// called before the first product, by a thread that may change the environment.
void load_blas(int threads);

/// For the time of a call of the library. Every thread inside of it takes a buffer; where addresses
/// are too scarce for all of them, calls go one at a time.
class BlasTurn {
 public:
  BlasTurn();
  ~BlasTurn();
  BlasTurn(const BlasTurn&) = delete;
  BlasTurn& operator=(const BlasTurn&) = delete;

 private:
  const bool alone_;
};

/// The functions used, of one type, with CBLAS's arguments.
template <class T>
struct Blas {
  void (*gemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha,
               const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
  void (*gemv)(int order, int transpose, int m, int n, T alpha, const T* a, int lda, const T* x,
               int x_step, T beta, T* y, int y_step);
  T (*dot)(int count, const T* x, int x_step, const T* y, int y_step);
};
template <class T>
const Blas<T>& blas();

/// The functions of LAPACK that are used, of one type, with its arguments: matrices by columns,
/// everything by address, and the lengths of texts at the end.
template <class T>
struct Lapack {
  void (*potrf)(const char* triangle, const int* n, T* a, const int* lda, int* info,
                std::size_t length);
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  void (*getri)(const int* n, T* a, const int* lda, const int* pivots, T* work,
                const int* work_size, int* info);
  void (*gesv)(const int* n, const int* columns, T* a, const int* lda, int* pivots, T* b,
               const int* ldb, int* info);
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* lda, T* values, T* u,
                const int* ldu, T* vt, const int* ldvt, T* work, const int* work_size,
                int* integers, int* info, std::size_t length);
};
template <class T>
const Lapack<T>& lapack();

inline constexpr int blas_row_major = 101;
inline constexpr int blas_plain = 111;
inline constexpr int blas_transposed = 112;

}  // namespace afterglow::kernels
