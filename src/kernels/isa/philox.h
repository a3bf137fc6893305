// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 (Salmon et al., 2011), sixteen generator blocks side by side. A group of sixteen
// blocks gives 64 words: word w of block b stands at 16 w + b.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/isa/functions.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

constexpr int lanes_per_group = static_cast<int>(philox_blocks_per_group);

struct alignas(64) PhiloxGroup {
  std::uint32_t words[4][lanes_per_group];
};

/// Words, each in the lower half of its lane; the upper halves may hold anything.
using Lanes [[gnu::vector_size(vector_size)]] = std::uint64_t;
using Words [[gnu::vector_size(vector_size / 2)]] = std::uint32_t;

/// 32 by 32 bits to 64: one instruction, which the compiler does not find by itself.
AFTERGLOW_INLINE void multiply_words(const Lanes& words, std::uint32_t factor, Lanes& products) {
#if defined(__AVX512F__)
  products = (Lanes)_mm512_maskz_mul_epu32(0xff, (__m512i)words, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
  products = (Lanes)_mm256_mul_epu32((__m256i)words, _mm256_set1_epi64x(factor));
#elif defined(__SSE2__)
  products = (Lanes)_mm_mul_epu32((__m128i)words, _mm_set1_epi64x(factor));
#else
  products = (words & 0xffffffffu) * factor;
#endif
}

AFTERGLOW_INLINE void generate(PhiloxPosition position, PhiloxGroup& group) {
  constexpr int width = vector_size / 8;
  for (int begin = 0; begin < lanes_per_group; begin += width) {
    Lanes w0, w1, w2{}, w3{};
    for (int i = 0; i < width; ++i) w0[i] = static_cast<std::uint64_t>(i);
    w0 += position.counter + static_cast<std::uint64_t>(begin);
    w1 = w0 >> 32;
    std::uint32_t key0 = static_cast<std::uint32_t>(position.key);
    std::uint32_t key1 = static_cast<std::uint32_t>(position.key >> 32);
    for (int round = 0; round < 10; ++round) {
      Lanes product0, product1;
      multiply_words(w0, 0xD2511F53u, product0);
      multiply_words(w2, 0xCD9E8D57u, product1);
      w0 = (product1 >> 32) ^ w1 ^ key0;
      w1 = product1;
      w2 = (product0 >> 32) ^ w3 ^ key1;
      w3 = product0;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const Lanes* words[] = {&w0, &w1, &w2, &w3};
    for (int word = 0; word < 4; ++word) {
      const Words narrow = __builtin_convertvector(*words[word], Words);
      __builtin_memcpy(&group.words[word][begin], &narrow, sizeof(narrow));
    }
  }
}

/// 53 random bits of two words.
AFTERGLOW_INLINE std::uint64_t bits_of_pair(std::uint32_t high, std::uint32_t low) {
  return (std::uint64_t(high) << 32 | low) >> 11;
}

void uniform(PhiloxPosition position, std::int64_t groups, float low, float range, float largest,
             float* output) {
  PhiloxGroup group;
  const std::uint32_t* words = group.words[0];
  for (std::int64_t g = 0; g < groups; ++g, output += floats_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int i = 0; i < floats_per_group; ++i) {
      const float unit = static_cast<float>(static_cast<std::int32_t>(words[i] >> 8)) * 0x1p-24f;
      const float value = multiply_add(unit, range, low);
      output[i] = value > largest ? largest : value;
    }
  }
}

void uniform(PhiloxPosition position, std::int64_t groups, double low, double range, double largest,
             double* output) {
  PhiloxGroup group;
  for (std::int64_t g = 0; g < groups; ++g, output += doubles_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int pair = 0; pair < 2; ++pair) {
      for (int i = 0; i < lanes_per_group; ++i) {
        const std::uint64_t bits =
            bits_of_pair(group.words[2 * pair][i], group.words[2 * pair + 1][i]);
        const double unit = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-53;
        const double value = multiply_add(unit, range, low);
        output[pair * lanes_per_group + i] = value > largest ? largest : value;
      }
    }
  }
}

/// The words as they come.
void random_words(PhiloxPosition position, std::int64_t groups, std::uint32_t* output) {
  PhiloxGroup group;
  for (std::int64_t g = 0; g < groups; ++g, output += floats_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    __builtin_memcpy(output, group.words, sizeof(group.words));
  }
}

/// A number in (0, 1], fine near 0, where the far tails come from.
AFTERGLOW_INLINE float positive_unit(std::uint32_t word) {
  return multiply_add(static_cast<float>(word), 0x1p-32f, 0x1p-33f);
}

void exponential(PhiloxPosition position, std::int64_t groups, float scale, float* output) {
  PhiloxGroup group;
  const std::uint32_t* words = group.words[0];
  for (std::int64_t g = 0; g < groups; ++g, output += floats_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int i = 0; i < floats_per_group; ++i) {
      // Below 1, so that the logarithm of the result is finite.
      const float unit = positive_unit(words[i]);
      output[i] = -scale * log(unit > 0x1.fffffep-1f ? 0x1.fffffep-1f : unit);
    }
  }
}

void exponential(PhiloxPosition position, std::int64_t groups, double scale, double* output) {
  PhiloxGroup group;
  for (std::int64_t g = 0; g < groups; ++g, output += doubles_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int pair = 0; pair < 2; ++pair) {
      for (int i = 0; i < lanes_per_group; ++i) {
        const std::uint64_t bits =
            bits_of_pair(group.words[2 * pair][i], group.words[2 * pair + 1][i]);
        const double unit = (static_cast<double>(bits >> 1) + 0.5) * 0x1p-52;
        output[pair * lanes_per_group + i] = -scale * log(unit);
      }
    }
  }
}

/// Sine and cosine of 2 pi turn / 2^32; the quarter turn is taken off exactly, in integers.
AFTERGLOW_INLINE void sine_and_cosine(std::uint32_t turn, float& sine, float& cosine) {
  const std::uint32_t quarter = (turn + 0x20000000u) >> 30;
  const auto rest = static_cast<std::int32_t>(turn - (quarter << 30));
  const float x = static_cast<float>(rest) * 1.46291807926715968e-9f;
  const float z = x * x;
  const float s =
      multiply_add(polynomial(z, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f) * z, x, x);
  const float c = multiply_add(
      z * z, polynomial(z, 4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f),
      multiply_add(z, -0.5f, 1.0f));
  const bool swapped = quarter & 1u;
  const float sine_size = swapped ? c : s, cosine_size = swapped ? s : c;
  sine = quarter & 2u ? -sine_size : sine_size;
  cosine = (quarter + 1u) & 2u ? -cosine_size : cosine_size;
}

/// Box and Muller: two words make two numbers, which take the places of the words.
void normal(PhiloxPosition position, std::int64_t groups, float mean, float deviation,
            float* output) {
  PhiloxGroup group;
  for (std::int64_t g = 0; g < groups; ++g, output += floats_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int pair = 0; pair < 2; ++pair) {
      const std::uint32_t* sizes = group.words[2 * pair];
      const std::uint32_t* turns = group.words[2 * pair + 1];
      float* first = output + 2 * pair * lanes_per_group;
      float* second = first + lanes_per_group;
      for (int i = 0; i < lanes_per_group; ++i) {
        const float radius = deviation * __builtin_sqrtf(-2.0f * log(positive_unit(sizes[i])));
        float sine, cosine;
        sine_and_cosine(turns[i], sine, cosine);
        first[i] = multiply_add(radius, cosine, mean);
        second[i] = multiply_add(radius, sine, mean);
      }
    }
  }
}

void normal(PhiloxPosition position, std::int64_t groups, double mean, double deviation,
            double* output) {
  PhiloxGroup group;
  for (std::int64_t g = 0; g < groups; ++g, output += doubles_per_group) {
    generate(position, group);
    position.counter += philox_blocks_per_group;
    for (int i = 0; i < lanes_per_group; ++i) {
      const std::uint64_t size = bits_of_pair(group.words[0][i], group.words[1][i]);
      const std::uint64_t turn = bits_of_pair(group.words[2][i], group.words[3][i]);
      const double unit = static_cast<double>(size + 1) * 0x1p-53;
      const double angle = static_cast<double>(turn) * (6.283185307179586477 * 0x1p-53);
      const double radius = deviation * __builtin_sqrt(-2.0 * log(unit));
      output[i] = multiply_add(radius, __builtin_cos(angle), mean);
      output[lanes_per_group + i] = multiply_add(radius, __builtin_sin(angle), mean);
    }
  }
}

}  // namespace
}  // namespace afterglow::kernels
