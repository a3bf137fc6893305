// SPDX-License-Identifier: Apache-2.0
// Images of another size, channels last, with the pixels that OpenCV finds: programs compare with
// what they were trained on. Bytes have weights of eleven bits, as there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// In the order of OpenCV's numbers.
enum class Interpolation : std::uint8_t { nearest, linear, cubic, area, lanczos };

struct Rescaling {
  std::int64_t images, height, width, channels, result_height, result_width;
  Interpolation interpolation;
};

/// The places along one axis that each place of the result is made of, with their weights.
struct Taps {
  std::vector<std::int64_t> begins;  ///< in the others, one more than places of the result
  std::vector<std::int64_t> places;  ///< in order, none outside
  std::vector<float> weights;

  std::int64_t most() const;  ///< that any result has
};

/// For uint8, float32 and float64; for all types where the nearest pixel is taken. Images and
/// results have at least one pixel. A share is a range of rows of results.
class RescalePass {
 public:
  RescalePass(const Rescaling& rescaling, DType dtype, const void* source, void* target);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class Word>
  void take_nearest(std::int64_t begin, std::int64_t end) const;
  template <class Rule>
  void run_as(const Rule& rule, std::int64_t begin, std::int64_t end) const;

  Rescaling rescaling_;
  DType dtype_;
  const void* source_;
  void* target_;
  bool averages_ = false;       ///< over areas of pixels
  bool counts_pixels_ = false;  ///< those areas are of so many whole ones
  Taps rows_, columns_;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
