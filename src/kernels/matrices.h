// SPDX-License-Identifier: Apache-2.0
// Inverses, equations and decompositions of single matrices, which lie by rows without gaps. Each
// throws Error(value) for a matrix that has no answer. T is float or double.
#pragma once

#include <cstdint>

namespace afterglow::kernels {

template <class T>
void invert(const T* a, std::int64_t n, T* result);

template <class T>
T determinant(const T* a, std::int64_t n);

/// The x with a x = b, where b has so many columns.
template <class T>
void solve(const T* a, std::int64_t n, const T* b, std::int64_t columns, T* x);

/// The lower triangle; only that of `a` counts.
template <class T>
void cholesky(const T* a, std::int64_t n, T* result);

/// The thin decomposition: left (rows, k), values (k), right (k, columns). Of the two directions of
/// a row of `right` it is the one whose greatest element is positive.
template <class T>
void singular(const T* a, std::int64_t rows, std::int64_t columns, T* left, T* values, T* right);

}  // namespace afterglow::kernels
