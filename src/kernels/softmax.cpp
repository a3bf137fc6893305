// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include <algorithm>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {
constexpr std::int64_t share_size = 64 * block_size;
}  // namespace

void softmax_of_rows(const void* source, void* target, DType dtype, std::int64_t rows,
                     std::int64_t columns, bool as_logarithm) {
  const auto run = [&]<class T>(T) {
    real_functions<T>().softmax(static_cast<const T*>(source), rows, columns, as_logarithm,
                                static_cast<T*>(target));
  };
  dtype == DType::float32 ? run(float{}) : run(double{});
}

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
  const std::int64_t offset = range.begin * columns_ * static_cast<std::int64_t>(size_of(dtype_));
  softmax_of_rows(static_cast<const char*>(source_) + offset, static_cast<char*>(target_) + offset,
                  dtype_, range.end - range.begin, columns_, as_logarithm_);
}

LayerNormPass::LayerNormPass(const void* source, const void* scale, const void* shift, DType dtype,
                             std::int64_t rows, std::int64_t columns, double epsilon, void* target,
                             void* means, void* deviations)
    : source_(source),
      scale_(scale),
      shift_(shift),
      dtype_(dtype),
      rows_(rows),
      columns_(columns),
      epsilon_(epsilon),
      target_(target),
      means_(means),
      deviations_(deviations),
      shares_(static_cast<int>(std::min(divide_up(rows * columns, share_size), rows))) {}

template <class T>
void LayerNormPass::run_rows(std::int64_t begin, std::int64_t end) const {
  real_functions<T>().layer_norm(
      static_cast<const T*>(source_) + begin * columns_, static_cast<const T*>(scale_),
      static_cast<const T*>(shift_), end - begin, columns_, static_cast<T>(epsilon_),
      static_cast<T*>(target_) + begin * columns_, static_cast<T*>(means_) + begin,
      static_cast<T*>(deviations_) + begin);
}

void LayerNormPass::run(int share) const {
  const Range range = range_of(rows_, shares_, share);
  if (dtype_ == DType::float32)
    run_rows<float>(range.begin, range.end);
  else
    run_rows<double>(range.begin, range.end);
}

}  // namespace afterglow::kernels
