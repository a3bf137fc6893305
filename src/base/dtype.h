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

/// The lowest and the highest number of an integer type.
struct IntegerRange {
  std::int64_t lowest, highest;
  constexpr bool holds(std::int64_t number) const { return number >= lowest && number <= highest; }
};

constexpr IntegerRange range_of(DType integer) {
  switch (integer) {
    case DType::uint8:
      return {0, UINT8_MAX};
    case DType::int8:
      return {INT8_MIN, INT8_MAX};
    case DType::int32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16;
}

}  // namespace afterglow
