// SPDX-License-Identifier: Apache-2.0
// Random numbers: the generator's published answers, ranges, moments, and independence of cuts.
#include <algorithm>
#include <cmath>

#include "check.h"
#include "kernels/random.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

RandomFill fill_of(Buffer& buffer, Distribution distribution, double first, double second,
                   std::uint64_t counter = 0, std::uint64_t key = 0x0123456789abcdef) {
  RandomFill fill;
  fill.distribution = distribution;
  fill.first = first;
  fill.second = second;
  fill.key = key;
  fill.counter = counter;
  fill.output = buffer.data();
  fill.dtype = buffer.dtype();
  fill.size = buffer.size();
  return fill;
}

void run(const RandomFill& fill) {
  for (int share = share_count(fill) - 1; share >= 0; --share) run_share(fill, share);
}

/// The reference generator, one block.
void philox(std::uint32_t counter[4], std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * counter[0], p1 = 0xCD9E8D57ull * counter[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(p0)};
    std::copy_n(next, 4, counter);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

}  // namespace

TEST("the generator gives the published answers") {
  // Random123's known answers for philox4x32-10; the first also by way of the kernels.
  std::uint32_t zeros[4] = {0, 0, 0, 0};
  philox(zeros, 0, 0);
  const std::uint32_t zero_answer[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  CHECK(std::equal(zeros, zeros + 4, zero_answer));
  std::uint32_t pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  philox(pi, 0xa4093822, 0x299f31d0);
  const std::uint32_t pi_answer[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  CHECK(std::equal(pi, pi + 4, pi_answer));

  const std::uint64_t counter = 0xfffffffaull, key = 0xfedcba9876543210ull;
  Buffer floats(DType::float32, 1000), doubles(DType::float64, 1000);
  run(fill_of(floats, Distribution::uniform, 0, 1, counter, key));
  run(fill_of(doubles, Distribution::uniform, 0, 1, counter, key));
  auto block = [&](std::uint64_t number, std::uint32_t words[4]) {
    const std::uint64_t place = counter + number;
    words[0] = static_cast<std::uint32_t>(place);
    words[1] = static_cast<std::uint32_t>(place >> 32);
    words[2] = words[3] = 0;
    philox(words, static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
  };
  for (int i = 0; i < 1000; ++i) {
    std::uint32_t words[4];
    block(i / 64 * 16 + i % 16, words);
    CHECK_EQUAL(floats[i], (words[i % 64 / 16] >> 8) * 0x1p-24L);
    block(i / 32 * 16 + i % 16, words);
    const int pair = i % 32 / 16;
    const std::uint64_t bits = std::uint64_t(words[2 * pair]) << 32 | words[2 * pair + 1];
    CHECK_EQUAL(doubles[i], (bits >> 11) * 0x1p-53L);
  }
}

TEST("a value depends on its position, not on the size or the cut") {
  for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
    for (Distribution distribution : {Distribution::uniform, Distribution::normal}) {
      Buffer whole(dtype, 200000);
      run(fill_of(whole, distribution, -1, 2));
      for (std::int64_t size : {1, 31, 63, 64, 65, 1023, 1025, 65536, 65600, 131073}) {
        Buffer part(dtype, size);
        run(fill_of(part, distribution, -1, 2));
        CHECK(std::memcmp(whole.data(), part.data(), size * size_of(dtype)) == 0);
        const RandomFill first = fill_of(part, distribution, -1, 2);
        CHECK(counters_used(first) * (dtype == DType::float64 ? 2 : 4) >= std::uint64_t(size));
      }
    }
  }
}

TEST("fills that follow one another do not repeat") {
  Buffer a(DType::float32, 100), b(DType::float32, 100);
  const RandomFill first = fill_of(a, Distribution::uniform, 0, 1);
  run(first);
  run(fill_of(b, Distribution::uniform, 0, 1, first.counter + counters_used(first)));
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j) CHECK(a[i] != b[j]);
}

TEST("uniform numbers stay below the upper end") {
  const double ends[][2] = {{0, 1}, {-1, 1}, {5, 6}, {1000, 1001}, {-3, 0}, {0, 1e-3}, {-2, -1}};
  for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
    for (const auto& [low, high] : ends) {
      Buffer values(dtype, 300000);
      run(fill_of(values, Distribution::uniform, low, high));
      const Buffer& numbers = values;
      long double sum = 0;
      for (std::int64_t i = 0; i < numbers.size(); ++i) {
        CHECK(numbers[i] >= low && numbers[i] < high);
        sum += numbers[i];
      }
      const double coarse = dtype == DType::float16 ? 3e-4 * std::fabs(low) : 0;
      CHECK(std::fabs(sum / numbers.size() - (low + high) / 2) < 0.003 * (high - low) + coarse);
    }
    Buffer same_ends(dtype, 70);
    run(fill_of(same_ends, Distribution::uniform, 2, 2));
    for (int i = 0; i < 70; ++i) CHECK(same_ends[i] == 2);
  }
}

TEST("normal numbers have the moments and tails of the bell") {
  for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
    constexpr std::int64_t count = 1 << 20;
    Buffer values(dtype, count);
    run(fill_of(values, Distribution::normal, 0, 1));
    long double moments[5] = {};
    std::int64_t beyond[6] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      const long double x = values[i];
      CHECK(std::isfinite(x));
      for (int m = 1; m < 5; ++m) moments[m] += std::pow(x, m) / count;
      for (int limit = 1; limit < 6; ++limit) beyond[limit] += std::fabs(x) > limit;
    }
    CHECK(std::fabs(moments[1]) < 0.005);
    CHECK(std::fabs(moments[2] - 1) < 0.008);
    CHECK(std::fabs(moments[3]) < 0.02);
    CHECK(std::fabs(moments[4] - 3) < 0.06);
    for (int limit = 1; limit < 5; ++limit) {
      const double expected = count * std::erfc(limit / std::sqrt(2.0));
      const double allowed =
          4 * std::sqrt(expected) + (dtype == DType::float16 ? expected * 0.01 : 0);
      CHECK(std::fabs(static_cast<double>(beyond[limit]) - expected) < allowed);
    }
  }
  Buffer moved(DType::float32, 100000);
  run(fill_of(moved, Distribution::normal, 10, 0.5));
  long double mean = 0, square = 0;
  for (int i = 0; i < 100000; ++i) {
    mean += moved[i] / 100000;
    square += (moved[i] - 10) * (moved[i] - 10) / 100000;
  }
  CHECK(std::fabs(mean - 10) < 0.01);
  CHECK(std::fabs(std::sqrt(square) - 0.5) < 0.01);
}

CHECK_MAIN
