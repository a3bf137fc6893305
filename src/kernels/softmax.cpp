// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include <algorithm>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {
constexpr std::int64_t share_size = 64 * block_size;
}  // namespace

SoftmaxPass::SoftmaxPass(const void* source, void* target, DType dtype, std::int64_t rows,
                         std::int64_t columns, bool as_logarithm)
    : source_(source),
      target_(target),
      dtype_(dtype),
      rows_(rows),
      columns_(columns),
      as_logarithm_(as_logarithm),
      shares_(static_cast<int>(std::min(divide_up(rows * columns, share_size), rows))) {}

void SoftmaxPass::run(int share) const {
  const Range range = range_of(rows_, shares_, share);
  const auto run_rows = [&](auto function, const auto* source, auto* target) {
    const std::int64_t offset = range.begin * columns_;
    function(source + offset, range.end - range.begin, columns_, as_logarithm_, target + offset);
  };
  if (dtype_ == DType::float32) {
    run_rows(kernel_table().softmax_float, static_cast<const float*>(source_),
             static_cast<float*>(target_));
  } else {
    run_rows(kernel_table().softmax_double, static_cast<const double*>(source_),
             static_cast<double*>(target_));
  }
}

}  // namespace afterglow::kernels
