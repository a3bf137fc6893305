// SPDX-License-Identifier: Apache-2.0
// What the kernel tests share: typed buffers that are read and written as long double.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/dtype.h"
#include "base/half.h"

namespace kernels_test {

using afterglow::DType;
using afterglow::size_of;

inline constexpr DType all_dtypes[] = {DType::float32, DType::float64, DType::float16,
                                       DType::uint8,   DType::int32,   DType::int8,
                                       DType::int64,   DType::boolean};

inline std::mt19937_64& generator() {
  static std::mt19937_64 engine(42);
  return engine;
}
inline std::int64_t random_integer(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(generator());
}
inline double random_real(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(generator());
}

inline long double load(const void* data, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::float32:
      return static_cast<const float*>(data)[i];
    case DType::float64:
      return static_cast<const double*>(data)[i];
    case DType::float16:
      return afterglow::half_to_float(static_cast<const std::uint16_t*>(data)[i]);
    case DType::uint8:
      return static_cast<const std::uint8_t*>(data)[i];
    case DType::int32:
      return static_cast<const std::int32_t*>(data)[i];
    case DType::int8:
      return static_cast<const std::int8_t*>(data)[i];
    case DType::int64:
      return static_cast<const std::int64_t*>(data)[i];
    case DType::boolean:
      return static_cast<const std::uint8_t*>(data)[i];
  }
  return 0;
}

/// The value must be one of the type's own, but for rounding of reals.
inline void store(void* data, DType dtype, std::int64_t i, long double value) {
  switch (dtype) {
    case DType::float32:
      static_cast<float*>(data)[i] = static_cast<float>(value);
      break;
    case DType::float64:
      static_cast<double*>(data)[i] = static_cast<double>(value);
      break;
    case DType::float16:
      static_cast<std::uint16_t*>(data)[i] =
          afterglow::float_to_half(afterglow::double_to_float_for_half(static_cast<double>(value)));
      break;
    case DType::uint8:
      static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(value);
      break;
    case DType::int32:
      static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value);
      break;
    case DType::int8:
      static_cast<std::int8_t*>(data)[i] = static_cast<std::int8_t>(value);
      break;
    case DType::int64:
      static_cast<std::int64_t*>(data)[i] = static_cast<std::int64_t>(value);
      break;
    case DType::boolean:
      static_cast<std::uint8_t*>(data)[i] = value != 0;
      break;
  }
}

/// Contiguous elements of one type, kept at a deliberately unaligned place.
class Buffer {
 public:
  Buffer(DType dtype, std::int64_t size)
      : dtype_(dtype), size_(size), bytes_((size + 1) * size_of(dtype)) {}
  void* data() { return bytes_.data() + size_of(dtype_); }
  const void* data() const { return bytes_.data() + size_of(dtype_); }
  DType dtype() const { return dtype_; }
  std::int64_t size() const { return size_; }
  long double operator[](std::int64_t i) const { return load(data(), dtype_, i); }
  void set(std::int64_t i, long double value) { store(data(), dtype_, i, value); }
  template <class T>
  T* as() {
    return static_cast<T*>(data());
  }
  bool same_bits(const Buffer& other) const {
    return size_ == other.size_ && std::memcmp(data(), other.data(), size_ * size_of(dtype_)) == 0;
  }

 private:
  DType dtype_;
  std::int64_t size_;
  std::vector<unsigned char> bytes_;
};

/// Small numbers that every type can hold.
inline void fill_small(Buffer& buffer) {
  for (std::int64_t i = 0; i < buffer.size(); ++i) {
    const bool natural = buffer.dtype() == DType::uint8 || buffer.dtype() == DType::boolean;
    long double value = static_cast<long double>(random_integer(natural ? 0 : -9, 9));
    if (afterglow::is_floating(buffer.dtype())) value += random_integer(-128, 128) / 256.0L;
    buffer.set(i, value);
  }
}

inline bool same(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// The distance of a float32 result from the truth, in units of its last place.
inline double ulps(float result, double truth) {
  if (std::isnan(result) || std::isnan(truth))
    return std::isnan(result) && std::isnan(truth) ? 0 : 1e9;
  const float rounded = static_cast<float>(truth);
  if (result == rounded) return 0.5;
  if (std::isinf(result) || std::isinf(rounded)) return 1e9;
  const double magnitude = std::max(std::fabs(truth), 0x1p-126);
  return std::fabs(result - truth) / std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

}  // namespace kernels_test
