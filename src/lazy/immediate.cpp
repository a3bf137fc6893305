// SPDX-License-Identifier: Apache-2.0
#include "lazy/immediate.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.h"

namespace afterglow::lazy {
namespace {

template <class T>
void store(Operand& operand, T value) {
  static_assert(sizeof(T) <= sizeof(operand.immediate));
  std::memcpy(operand.immediate.data(), &value, sizeof value);
}

/// Stores an integer if the type has it.
template <class T>
bool store_within(Operand& operand, std::int64_t value) {
  if (value != static_cast<T>(value)) return false;
  store(operand, static_cast<T>(value));
  return true;
}

bool settle_integer(Operand& operand, DType dtype) {
  std::int64_t integer;
  if (operand.dtype == DType::float64) {
    const double whole = std::trunc(std::bit_cast<double>(operand.immediate));
    if (!(whole >= -0x1p63 && whole < 0x1p63)) return false;
    integer = static_cast<std::int64_t>(whole);
  } else {
    integer = std::bit_cast<std::int64_t>(operand.immediate);
  }
  switch (dtype) {
    case DType::uint8:
      return store_within<std::uint8_t>(operand, integer);
    case DType::int8:
      return store_within<std::int8_t>(operand, integer);
    case DType::int32:
      return store_within<std::int32_t>(operand, integer);
    default:
      return store_within<std::int64_t>(operand, integer);
  }
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

bool settle_immediate(Operand& operand, DType dtype) {
  if (!operand.is_immediate() || operand.dtype == dtype) return true;
  const double number = operand.dtype == DType::float64
                            ? std::bit_cast<double>(operand.immediate)
                            : static_cast<double>(std::bit_cast<std::int64_t>(operand.immediate));
  switch (dtype) {
    case DType::float32:
      store(operand, static_cast<float>(number));
      break;
    case DType::float64:
      store(operand, number);
      break;
    case DType::float16:
      store(operand, float_to_half(static_cast<float>(number)));
      break;
    case DType::boolean:
      store(operand, static_cast<std::uint8_t>(number != 0));
      break;
    default:
      if (!settle_integer(operand, dtype)) return false;
  }
  operand.dtype = dtype;
  return true;
}

}  // namespace afterglow::lazy
