// SPDX-License-Identifier: Apache-2.0
// Convolutions of images whose channels come last, with weights that were packed ahead: what
// hybridized networks predict with. Images are read where they lie, and a share is a range of
// pixels or of filters. No result depends on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

#include "base/dtype.h"
#include "kernels/convolution.h"

namespace afterglow::kernels {

/// Every channel has one filter of its own.
constexpr bool is_depthwise(const Windows& windows) {
  return windows.channels == 1 && windows.filters == 1;
}

/// What the weights of a convolution become before it runs.
enum class Packing : std::uint8_t {
  panels,   ///< beside each other, as vectors
  winograd  ///< spread out, for fewer multiplications: see kernels/winograd.h
};
Packing packing_for(const Windows& windows, DType dtype);

/// How many elements the packed weights have. What images there are does not matter.
std::int64_t packed_filters_size(const Windows& windows, DType dtype, Packing packing);

/// Packs weights [groups * filters, channels, kernel], those of a filter times its factor, if there
/// are factors. For float32 and float64.
class PackFiltersPass {
 public:
  PackFiltersPass(const Windows& windows, DType dtype, Packing packing, const void* weights,
                  const void* factors, void* packed);
  int shares() const;
  void run(int share) const;

 private:
  template <class Real>
  void pack(std::int64_t panel) const;

  Windows windows_;
  DType dtype_;
  Packing packing_;
  const void *weights_, *factors_;
  void* packed_;
};

/// results = images * weights + bias + addend, but no less than `low` and no more than `high`,
/// where images are [count, image, groups * channels] and results and addend [count, result, groups
/// * filters]; bias and addend may be nullptr. Weights are packed by packing_for() the windows.
struct PixelConvolution {
  Windows windows;
  DType dtype;
  const void *images, *packed, *bias, *addend;
  void* results;
  double low, high;
};

class PixelConvolutionPass {
 public:
  /// Called when columns [column_begin, column_end) of rows [row_begin, row_end) are complete,
  /// where a row is a pixel.
  using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                      std::int64_t column_begin, std::int64_t column_end)>;

  explicit PixelConvolutionPass(const PixelConvolution& work, Epilogue epilogue = {});
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class Real>
  void run_share(int share) const;

  /// What shares are ranges of.
  enum class Units { pixels, rows, tiles };

  PixelConvolution work_;
  Epilogue epilogue_;
  Units kind_ = Units::pixels;
  std::int64_t units_ = 0;
  int unit_shares_ = 1, filter_shares_ = 1;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
