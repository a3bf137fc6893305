// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "kernels/table.h"

namespace afterglow::kernels {

namespace {

constexpr std::int64_t share_size = 64 * block_size;
static_assert(block_size % floats_per_group == 0 && block_size % doubles_per_group == 0);

std::int64_t values_per_group(DType dtype) {
  return dtype == DType::float64 ? doubles_per_group : floats_per_group;
}

/// The largest value of the type that is below `high`.
float largest_below(float high, DType dtype) {
  if (dtype == DType::float32) return std::nextafter(high, -std::numeric_limits<float>::infinity());
  // Halves are ordered like their bits, up from 0 and down from the sign.
  std::uint16_t bits = float_to_half(high);
  if (half_to_float(bits) >= high) {
    if ((bits & 0x7fff) == 0)
      bits = 0x8001;
    else
      bits = static_cast<std::uint16_t>(bits & 0x8000 ? bits + 1 : bits - 1);
  }
  return half_to_float(bits);
}

template <class Real>
void generate(const RandomFill& fill, PhiloxPosition position, std::int64_t groups, Real* output) {
  const RealFunctions<Real>& functions = real_functions<Real>();
  const Real first = static_cast<Real>(fill.first), second = static_cast<Real>(fill.second);
  if (fill.distribution == Distribution::normal)
    return functions.normal(position, groups, first, second, output);
  if (fill.distribution == Distribution::exponential)
    return functions.exponential(position, groups, first, output);
  Real largest = std::numeric_limits<Real>::infinity();
  if (first < second) {
    if constexpr (sizeof(Real) == 4)
      largest = largest_below(second, fill.dtype);
    else
      largest = std::nextafter(second, -largest);
  }
  functions.uniform(position, groups, first, second - first, largest, output);
}

/// Real is what is computed in; float16 is rounded from it block by block.
template <class Real>
void run(const RandomFill& fill, std::int64_t begin, std::int64_t end) {
  const std::int64_t group = values_per_group(fill.dtype);
  const std::size_t element = size_of(fill.dtype);
  alignas(64) Real block[block_size];
  for (std::int64_t position = begin; position < end;) {
    const PhiloxPosition stream{
        fill.key,
        fill.counter + static_cast<std::uint64_t>(position / group * philox_blocks_per_group)};
    char* target = static_cast<char*>(fill.output) + position * element;
    const std::int64_t whole_groups = (end - position) / group;
    if (fill.dtype != DType::float16 && whole_groups > 0) {
      generate(fill, stream, whole_groups, reinterpret_cast<Real*>(target));
      position += whole_groups * group;
      continue;
    }
    const std::int64_t count = std::min(block_size, end - position);
    generate(fill, stream, (count + group - 1) / group, block);
    if (fill.dtype == DType::float16)
      cast_function(DType::float32, DType::float16)(block, target, count);
    else
      std::memcpy(target, block, count * element);
    position += count;
  }
}

}  // namespace

std::uint64_t counters_used(const RandomFill& fill) {
  const std::int64_t group = values_per_group(fill.dtype);
  return static_cast<std::uint64_t>((fill.size + group - 1) / group * philox_blocks_per_group);
}

int share_count(const RandomFill& fill) {
  return static_cast<int>(std::max<std::int64_t>(1, (fill.size + share_size - 1) / share_size));
}

void run_share(const RandomFill& fill, int share) {
  const std::int64_t begin = share * share_size;
  const std::int64_t end = std::min(fill.size, begin + share_size);
  if (fill.dtype == DType::float64)
    run<double>(fill, begin, end);
  else
    run<float>(fill, begin, end);
}

}  // namespace afterglow::kernels
