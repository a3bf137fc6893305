// SPDX-License-Identifier: Apache-2.0
// The element types. Numbers are MXNet's type flags, so files and Python codes need no translation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace afterglow {

enum class DType : std::uint8_t {
  float32 = 0,
  float64 = 1,
  float16 = 2,
  uint8 = 3,
  int32 = 4,
  int8 = 5,
  int64 = 6,
  boolean = 7,
};

inline constexpr int dtype_count = 8;

inline constexpr std::size_t dtype_sizes[dtype_count] = {4, 8, 2, 1, 4, 1, 8, 1};
inline constexpr const char* dtype_names[dtype_count] = {"float32", "float64", "float16", "uint8",
                                                         "int32",   "int8",    "int64",   "bool"};

constexpr std::size_t size_of(DType dtype) {
  return dtype_sizes[static_cast<int>(dtype)];
}
constexpr const char* name_of(DType dtype) {
  return dtype_names[static_cast<int>(dtype)];
}

constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16;
}

}  // namespace afterglow
