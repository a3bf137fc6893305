// SPDX-License-Identifier: Apache-2.0
// From the numbers of element types to the types of C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"

namespace afterglow {

/// An element of float16, for which there is no other type.
struct HalfBits {
  std::uint16_t bits;
};

/// Calls `function` with a value of the type of the elements. Booleans are bytes.
template <class Function>
auto with_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::float32:
      return function(float{});
    case DType::float64:
      return function(double{});
    case DType::float16:
      return function(HalfBits{});
    case DType::int8:
      return function(std::int8_t{});
    case DType::int32:
      return function(std::int32_t{});
    case DType::int64:
      return function(std::int64_t{});
    default:
      return function(std::uint8_t{});
  }
}

/// Calls `function` with a value of the unsigned type of that many bytes.
template <class Function>
void with_word(std::size_t bytes, Function&& function) {
  switch (bytes) {
    case 1:
      return function(std::uint8_t{});
    case 2:
      return function(std::uint16_t{});
    case 4:
      return function(std::uint32_t{});
    default:
      return function(std::uint64_t{});
  }
}

}  // namespace afterglow
