// SPDX-License-Identifier: Apache-2.0
#include "kernels/sequence.h"

#include <algorithm>
#include <cstring>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {
constexpr std::int64_t share_bytes = std::int64_t{1} << 18;
}  // namespace

ReversePass::ReversePass(const void* source, void* target, std::int64_t steps,
                         std::int64_t sequences, std::int64_t bytes, const void* lengths,
                         DType lengths_dtype)
    : source_(static_cast<const char*>(source)),
      target_(static_cast<char*>(target)),
      steps_(steps),
      bytes_(bytes),
      lengths_(static_cast<std::size_t>(sequences)) {
  const std::int64_t total = steps * sequences * bytes;
  if (total == 0) return;
  cast_function(lengths_dtype, DType::int64)(lengths, lengths_.data(), sequences);
  for (std::int64_t& length : lengths_) length = std::clamp<std::int64_t>(length, 0, steps);
  shares_ = static_cast<int>(std::min(divide_up(total, share_bytes), steps));
}

void ReversePass::run(int share) const {
  const Range range = range_of(steps_, shares_, share);
  const std::int64_t step_bytes = static_cast<std::int64_t>(lengths_.size()) * bytes_;
  for (std::int64_t step = range.begin; step < range.end; ++step) {
    std::int64_t offset = 0;
    for (const std::int64_t length : lengths_) {
      const std::int64_t from = step < length ? length - 1 - step : step;
      std::memcpy(target_ + step * step_bytes + offset, source_ + from * step_bytes + offset,
                  static_cast<std::size_t>(bytes_));
      offset += bytes_;
    }
  }
}

}  // namespace afterglow::kernels
