// SPDX-License-Identifier: Apache-2.0
// Scalar conversions between float32 and the bits of float16, without hardware help. Written
// without branches, so that loops over them vectorise. Always inlined: units compiled for different
// instruction sets include this file and must not share code.
#pragma once

#include <cstdint>

namespace afterglow {

#define AFTERGLOW_INLINE [[gnu::always_inline]] inline

/// Exact. A signalling nan becomes quiet, as in hardware.
AFTERGLOW_INLINE float half_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;
  // Moves the exponent from bias 15 to bias 127, also for subnormals.
  const float rebiased = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, rebiased);
  const std::uint32_t quiet = magnitude > 0x0f800000u ? 0x00400000u : 0u;
  const std::uint32_t bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u | quiet : finite;
  return __builtin_bit_cast(float, bits | (half & 0x8000u) << 16);
}

/// Rounds to nearest, ties to even; too large values become infinite.
AFTERGLOW_INLINE std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  // Adding 0.5 leaves float16's subnormal step as the last bit of the sum.
  const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u;
  const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  const std::uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  const std::uint32_t special = magnitude > 0x7f800000u ? nan : 0x7c00u;
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? special : result;
  return static_cast<std::uint16_t>(result | (bits >> 16 & 0x8000u));
}

/// Rounds a double to float so that a second rounding to float16 is as good as one: to odd.
AFTERGLOW_INLINE float double_to_float_for_half(double value) {
  const float rounded = static_cast<float>(value);
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, rounded);
  bits -= __builtin_fabs(static_cast<double>(rounded)) > __builtin_fabs(value) ? 1u : 0u;
  bits |= static_cast<double>(rounded) != value ? 1u : 0u;
  return __builtin_bit_cast(float, bits);
}

}  // namespace afterglow
