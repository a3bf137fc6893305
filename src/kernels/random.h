// SPDX-License-Identifier: Apache-2.0
// Random numbers from a counter-based generator (Philox 4x32-10): the number at position i of a
// fill depends on key, counter and i only, never on threads or on other fills.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

enum class Distribution : std::uint8_t { uniform, normal, exponential };

struct RandomFill {
  Distribution distribution = Distribution::uniform;
  double first = 0;   ///< low, mean, or scale
  double second = 1;  ///< high (excluded), or standard deviation
  std::uint64_t key = 0;
  std::uint64_t counter = 0;     ///< in generator blocks of four 32-bit words
  void* output = nullptr;        ///< contiguous
  DType dtype = DType::float32;  ///< a floating type
  std::int64_t size = 0;
};

/// Generator blocks that a fill of this size and type uses up: the next fill starts so much later.
std::uint64_t counters_used(const RandomFill& fill);
int share_count(const RandomFill& fill);
void run_share(const RandomFill& fill, int share);

}  // namespace afterglow::kernels
