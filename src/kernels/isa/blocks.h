// SPDX-License-Identifier: Apache-2.0
// Loops over contiguous blocks: formulas and casts.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "kernels/formulas.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// Inputs that a rule takes of type T: 0 where it is not for that type.
template <Formula formula, class T>
constexpr int inputs_of_type = requires { rule<formula>(T()); }             ? 1
                               : requires { rule<formula>(T(), T()); }      ? 2
                               : requires { rule<formula>(T(), T(), T()); } ? 3
                                                                            : 0;
template <Formula formula>
constexpr int inputs_of = inputs_of_type<formula, double> ? inputs_of_type<formula, double>
                                                          : inputs_of_type<formula, std::int64_t>;

/// Angles that are not counted in quarter turns.
template <class T>
AFTERGLOW_INLINE bool is_beyond(T x) {
  return abs(x) > T(largest_angle);
}

/// Element by element where one of them needs it; the others get the same bits as ever.
template <Formula formula, class T>
bool applied_one_by_one(const T* values, T* out, std::int64_t count) {
  unsigned any = 0;  // a bool would not vectorise
  for (std::int64_t i = 0; i < count; ++i) any |= is_beyond(values[i]) ? 1u : 0u;
  if (!any) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = values[i];
    out[i] = is_beyond(x) ? static_cast<T>(rule_beyond<formula>(x)) : rule<formula>(x);
  }
  return true;
}

/// Whether a block has nothing but positive normal numbers. A few are not worth looking through.
AFTERGLOW_INLINE bool is_plain(const float* values, std::int64_t count) {
  constexpr std::uint32_t lowest = 0x00800000, infinity = 0x7f800000;
  if (count < 16) return false;
  std::uint32_t farthest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t above = bits_of(values[i]) - lowest;
    farthest = above > farthest ? above : farthest;
  }
  return farthest < infinity - lowest;
}

/// The same for powers, none of which may be far outside of the range of float32.
AFTERGLOW_INLINE bool is_plain(const float* bases, const float* exponents, std::int64_t count) {
  if (count < 16) return false;
  std::uint32_t least = ~0u, most = 0, farthest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t base = bits_of(bases[i]);
    const std::uint32_t size = bits_of(exponents[i]) & 0x7fffffffu;
    least = base < least ? base : least;
    most = base > most ? base : most;
    farthest = size > farthest ? size : farthest;
  }
  if (least < 0x00800000u || most >= 0x7f800000u || farthest >= 0x7f800000u) return false;
  // Whole numbers beyond the binary logarithms.
  const float below = 127.0f - static_cast<float>(least >> 23);
  const float above = static_cast<float>(most >> 23) - 126.0f;
  const float logarithm = below > above ? below : above;
  return logarithm * __builtin_bit_cast(float, farthest) <= float(largest_binary_power);
}

/// An input of a formula: a block of elements, or one element that stands for as many.
template <class T, bool single>
struct Input {
  explicit Input(const void* data) : values(static_cast<const T*>(data)) {}
  AFTERGLOW_INLINE T operator[](std::int64_t i) const { return values[i]; }
  const T* values;
};
template <class T>
struct Input<T, true> {
  explicit Input(const void* data) : value(*static_cast<const T*>(data)) {}
  AFTERGLOW_INLINE T operator[](std::int64_t) const { return value; }
  T value;
};

/// Two short loops: in a long one the processor sees too few elements at a time to work on them
/// while it waits.
template <Formula formula, class T, class... Inputs>
void apply_in_two_steps(T* out, std::int64_t count, const T* first, const Inputs*... others) {
  constexpr std::int64_t piece = 128;
  alignas(64) decltype(first_step<formula>(*first, *others...)) between[piece];
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    const std::int64_t length = count - begin < piece ? count - begin : piece;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < length; ++i)
      between[i] = first_step<formula>(first[begin + i], others[begin + i]...);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < length; ++i)
      out[begin + i] = second_step<formula>(between[i], first[begin + i]);
  }
}

/// Bit i of `singles` set: input i is one element.
// ivdep: an output is either the very same memory as an input, or apart from it.
template <Formula formula, class T, unsigned singles = 0>
void apply(const void* const* inputs, void* output, std::int64_t count) {
  const Input<T, (singles & 1u) != 0> a(inputs[0]);
  if constexpr (inputs_of<formula> == 1) {
    auto* out = static_cast<decltype(rule<formula>(T()))*>(output);
    if constexpr (requires { rule_beyond<formula>(1.0); }) {
      if (applied_one_by_one<formula>(a.values, out, count)) return;
    }
    if constexpr (requires { first_step<formula>(T()); })
      return apply_in_two_steps<formula>(out, count, a.values);
    if constexpr (requires { rule_of_normal<formula>(T()); }) {
      if (is_plain(a.values, count)) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < count; ++i) out[i] = rule_of_normal<formula>(a[i]);
        return;
      }
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = rule<formula>(a[i]);
  } else if constexpr (inputs_of<formula> == 3) {
    const Input<T, (singles & 2u) != 0> b(inputs[1]);
    const Input<T, (singles & 4u) != 0> c(inputs[2]);
    T* out = static_cast<T*>(output);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = rule<formula>(a[i], b[i], c[i]);
  } else {
    const Input<T, (singles & 2u) != 0> b(inputs[1]);
    auto* out = static_cast<decltype(rule<formula>(T(), T()))*>(output);
    if constexpr (requires { first_step<formula>(T(), T()); }) {
      if (is_plain(a.values, b.values, count))
        return apply_in_two_steps<formula>(out, count, a.values, b.values);
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = rule<formula>(a[i], b[i]);
  }
}

void widen_half(const std::uint16_t* source, float* target, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(
        target + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i))));
#endif
#pragma GCC ivdep
  for (; i < count; ++i) target[i] = half_to_float(source[i]);
}

void narrow_to_half(const float* source, std::uint16_t* target, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#pragma GCC ivdep
  for (; i < count; ++i) target[i] = float_to_half(source[i]);
}

template <class From, class To>
void cast(const void* source, void* target, std::int64_t count) {
  if constexpr (std::is_same_v<From, To>) {
    __builtin_memcpy(target, source, static_cast<std::size_t>(count) * sizeof(To));
  } else if constexpr (is_half<From> && std::is_same_v<To, float>) {
    widen_half(static_cast<const std::uint16_t*>(source), static_cast<float*>(target), count);
  } else if constexpr (std::is_same_v<From, float> && is_half<To>) {
    narrow_to_half(static_cast<const float*>(source), static_cast<std::uint16_t*>(target), count);
  } else if constexpr (is_half<From> || is_half<To>) {
    // By way of float32, a piece at a time.
    constexpr std::int64_t piece = 256;
    float values[piece];
    for (std::int64_t begin = 0; begin < count; begin += piece) {
      const std::int64_t length = count - begin < piece ? count - begin : piece;
      if constexpr (is_half<From>) {
        widen_half(static_cast<const std::uint16_t*>(source) + begin, values, length);
        To* to = static_cast<To*>(target) + begin;
        for (std::int64_t i = 0; i < length; ++i) to[i] = as<To>(values[i]);
      } else {
        using Stored = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
        const Stored* from = static_cast<const Stored*>(source) + begin;
        for (std::int64_t i = 0; i < length; ++i) {
          if constexpr (std::is_same_v<From, double>)
            values[i] = double_to_float_for_half(from[i]);
          else
            values[i] = as<float>(from[i]);
        }
        narrow_to_half(values, static_cast<std::uint16_t*>(target) + begin, length);
      }
    }
  } else {
    // Booleans are read as the bytes 0 and 1, which vectorises.
    using Stored = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
    const Stored* from = static_cast<const Stored*>(source);
    To* to = static_cast<To*>(target);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = as<To>(from[i]);
  }
}

}  // namespace
}  // namespace afterglow::kernels
