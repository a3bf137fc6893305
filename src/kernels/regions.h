// SPDX-License-Identifier: Apache-2.0
// Regions of interest: parts of images, brought to one size.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// What a part of a region becomes: its greatest element, the mean of samples between elements, the
/// same of a region that is turned, or the mean of its elements.
enum class RegionForm : std::uint8_t { greatest, sampled, turned, averaged };

struct Regions {
  std::int64_t images, channels, height, width;       ///< of the data
  std::int64_t regions, out_channels, rows, columns;  ///< of the result
  double scale;  ///< of the data to the image that the regions speak of
  RegionForm form;
  std::int64_t group_rows, group_columns;  ///< groups of parts that have channels of their own
  // Of samples only:
  std::int64_t samples;  ///< along each axis of a part; none: as many as the part has elements
  bool shifts;           ///< centres of elements lie at halves
};

/// How many numbers a region has.
constexpr std::int64_t numbers_of(RegionForm form) {
  return form == RegionForm::turned ? 6 : 5;
}

/// A row of regions is (image, left, top, right, bottom), or (image, x and y of the centre, width,
/// height, degrees) where it is turned, in the type of the data. For float16,
/// float32 and float64. A share is a range of regions, or of channels for the gradient.
class RegionsPass {
 public:
  /// The gradient reads `values` in the shape of the result and writes in that of the data.
  RegionsPass(const Regions& shape, DType dtype, const void* data, const void* regions,
              const void* values, void* target);
  int shares() const { return shares_; }
  /// Refuses a region of an image that there is not.
  void run(int share) const;

 private:
  template <class Element, class Real>
  void run_as(std::int64_t begin, std::int64_t end) const;

  Regions shape_;
  DType dtype_;
  const void *data_, *regions_, *values_;
  void* target_;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
