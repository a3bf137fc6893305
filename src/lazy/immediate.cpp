// SPDX-License-Identifier: Apache-2.0
#include "lazy/immediate.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"

namespace afterglow::lazy {
namespace {

template <class T>
void store(Operand& operand, T value) {
  static_assert(sizeof(T) <= sizeof(operand.immediate));
  std::memcpy(operand.immediate.data(), &value, sizeof value);
}

/// Out of range and nan give the lowest integer, as x86 converts them.
std::int64_t to_integer(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    return std::numeric_limits<std::int64_t>::min();
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

void set_immediate(Operand& operand, std::int64_t value) {
  operand.dtype = DType::int64;
  store(operand, value);
}

void set_immediate(Operand& operand, double value) {
  operand.dtype = DType::float64;
  store(operand, value);
}

void settle_immediate(Operand& operand, DType dtype) {
  if (!operand.is_immediate() || operand.dtype == dtype) return;
  double number;
  std::int64_t integer;
  if (operand.dtype == DType::float64) {
    std::memcpy(&number, operand.immediate.data(), sizeof number);
    integer = to_integer(number);
  } else {
    std::memcpy(&integer, operand.immediate.data(), sizeof integer);
    number = static_cast<double>(integer);
  }
  operand.dtype = dtype;
  switch (dtype) {
    case DType::float32:
      return store(operand, static_cast<float>(number));
    case DType::float64:
      return store(operand, number);
    case DType::float16:
      return store(operand, float_to_half(static_cast<float>(number)));
    case DType::uint8:
      return store(operand, static_cast<std::uint8_t>(integer));
    case DType::int8:
      return store(operand, static_cast<std::int8_t>(integer));
    case DType::int32:
      return store(operand, static_cast<std::int32_t>(integer));
    case DType::int64:
      return store(operand, integer);
    case DType::boolean:
      return store(operand, static_cast<std::uint8_t>(number != 0));
  }
}

}  // namespace afterglow::lazy
