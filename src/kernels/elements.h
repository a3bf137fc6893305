// SPDX-License-Identifier: Apache-2.0
// Elements one by one, in kernels that are no loops over vectors. Private to src/kernels.
#pragma once

#include <cstdint>
#include <utility>

#include "base/dtype.h"
#include "base/half.h"

namespace afterglow::kernels {

/// The bits of a float16.
struct HalfElement {
  std::uint16_t bits;
};

inline float load(const HalfElement& element) {
  return half_to_float(element.bits);
}
inline float load(const float& element) {
  return element;
}
inline double load(const double& element) {
  return element;
}
inline void store(HalfElement& element, float value) {
  element.bits = float_to_half(value);
}
inline void store(float& element, float value) {
  element = value;
}
inline void store(double& element, double value) {
  element = value;
}

/// Calls a function with an element of the type that elements of `dtype` have, and a number of that
/// in which they are computed.
template <class Function>
void with_real(DType dtype, Function&& function) {
  if (dtype == DType::float16)
    std::forward<Function>(function)(HalfElement{}, 0.0f);
  else if (dtype == DType::float32)
    std::forward<Function>(function)(0.0f, 0.0f);
  else
    std::forward<Function>(function)(0.0, 0.0);
}

}  // namespace afterglow::kernels
