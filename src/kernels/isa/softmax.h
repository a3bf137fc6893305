// SPDX-License-Identifier: Apache-2.0
// Softmax of rows, which stay in the cache between the steps.
#pragma once

#include "kernels/isa/folds.h"
#include "kernels/isa/functions.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// target[i] = function(source[i]), a vector at a time up to the last element.
template <class T, class Function>
AFTERGLOW_INLINE void map_row(const T* source, T* target, std::int64_t count, Function&& function) {
  constexpr std::int64_t width = 64 / sizeof(T);
  std::int64_t i = 0;
#pragma GCC ivdep
  for (const std::int64_t end = count / width * width; i < end; ++i)
    target[i] = function(source[i]);
  if (i == count) return;
  typename Folding<Fold::sum, T>::Stored some;
  Folding<Fold::sum, T>::load_some(source + i, count - i, some);
  T values[width];
  __builtin_memcpy(values, &some, sizeof(values));
#pragma GCC ivdep
  for (std::int64_t j = 0; j < width; ++j) values[j] = function(values[j]);
  for (std::int64_t j = 0; i < count; ++i, ++j) target[i] = values[j];
}

template <Fold fold, class T>
AFTERGLOW_INLINE T folded_row(const T* row, std::int64_t count) {
  Partial partial = Folding<fold, T>::functions().neutral;
  Folding<fold, T>::rows(row, 1, count, count, &partial);
  return static_cast<T>(partial.real);
}

template <class T>
void softmax(const T* source, std::int64_t rows, std::int64_t columns, bool as_logarithm,
             T* target) {
  for (std::int64_t row = 0; row < rows; ++row, source += columns, target += columns) {
    const T greatest = folded_row<Fold::maximum>(source, columns);
    map_row(source, target, columns, [&](T value) { return exponential(value - greatest); });
    const T total = folded_row<Fold::sum>(target, columns);
    if (as_logarithm) {
      const T shift = logarithm(total);
      map_row(source, target, columns, [&](T value) { return value - greatest - shift; });
    } else {
      map_row(target, target, columns, [&](T value) { return value / total; });
    }
  }
}

}  // namespace
}  // namespace afterglow::kernels
