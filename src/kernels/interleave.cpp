// SPDX-License-Identifier: Apache-2.0
#include "kernels/interleave.h"

#include <algorithm>
#include <bit>

#include "kernels/prefetch.h"
#include "kernels/stores.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_length = 1 << 15;  // of each source
constexpr std::int64_t some = 512;              // that many at a time stay in the nearest cache

}  // namespace

InterleavePass::InterleavePass(std::span<const void* const> sources, DType dtype,
                               std::int64_t count, void* result)
    : used_(static_cast<int>(sources.size())),
      item_(static_cast<std::int64_t>(size_of(dtype))),
      count_(count),
      result_(static_cast<char*>(result)),
      shares_(static_cast<int>(std::max<std::int64_t>(1, divide_up(count, share_length)))) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    sources_[i] = static_cast<const char*>(sources[i]);
}

void InterleavePass::run(int share) const {
  const InterleaveFunction interleave =
      kernel_table().interleave[std::countr_zero(static_cast<std::uint64_t>(item_))];
  const Range range = range_of(count_, shares_, share);
  const std::int64_t row = used_ * item_;
  const bool far = count_ * used_ >= far_size;
  const ShareStores stores(is_far_result(count_ * used_) ? (range.end - range.begin) * row : 0);
  alignas(64) char block[some * most_sources * 8];
  for (std::int64_t begin = range.begin; begin < range.end; begin += some) {
    const std::int64_t count = std::min(some, range.end - begin);
    const std::int64_t next = far ? std::min(some, range.end - begin - count) : 0;
    const void* from[most_sources];
    for (int i = 0; i < used_; ++i) {
      from[i] = sources_[static_cast<std::size_t>(i)] + begin * item_;
      prefetch(sources_[static_cast<std::size_t>(i)] + (begin + count) * item_, next * item_,
               false);
    }
    char* const target = result_ + begin * row;
    if (stores.around_caches()) {
      interleave(from, used_, block, count);
      kernel_table().stream(block, target, count * row);
    } else {
      prefetch(target + count * row, next * row, true);
      interleave(from, used_, target, count);
    }
  }
}

}  // namespace afterglow::kernels
