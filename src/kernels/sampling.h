// SPDX-License-Identifier: Apache-2.0
// Images taken at places between their elements, and patches of two images compared.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Images of another size, interpolated; or the way back, which adds up.
struct Resizing {
  std::int64_t images, height, width, result_height, result_width;
  bool aligns_corners;  ///< corners stay corners
  bool is_gradient;
};

/// For float16, float32 and float64, as all here. A share is a range of images.
class ResizePass {
 public:
  ResizePass(const Resizing& resizing, DType dtype, const void* source, void* target);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class Element, class Real>
  void run_as(std::int64_t begin, std::int64_t end) const;

  Resizing resizing_;
  DType dtype_;
  const void* source_;
  void* target_;
  int shares_ = 0;
};

/// Images of several channels, and a grid of places in each: [image][x, y][row][column], where -1
/// and 1 are the first and the last element. Nothing is there outside.
struct Grid {
  std::int64_t images, channels, height, width, rows, columns;
};

enum class SamplerWork : std::uint8_t {
  sample,         ///< target = data at the places of the grid
  data_gradient,  ///< target = values, of results, given to the elements that they are made of
  grid_gradient   ///< target = how values times results change with the grid
};

/// A share is a range of channels of images, or of rows of grids.
class SamplerPass {
 public:
  SamplerPass(SamplerWork work, const Grid& grid, DType dtype, const void* data, const void* places,
              const void* values, void* target);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class Element, class Real>
  void run_as(std::int64_t begin, std::int64_t end) const;

  SamplerWork work_;
  Grid grid_;
  DType dtype_;
  const void *data_, *places_, *values_;
  void* target_;
  std::int64_t units_ = 0;
  int shares_ = 0;
};

/// Patches of one image with those of another around them.
struct Patches {
  std::int64_t images, channels, height, width, rows, columns;
  std::int64_t kernel, displacement, stride, step, pad;
  bool multiplies;  ///< products rather than differences
};

/// The means of products or distances; or with values in their shape the gradient of one image.
/// A share is a range of rows of results, or of channels of images.
class PatchesPass {
 public:
  enum class Work : std::uint8_t { compare, first_gradient, second_gradient };
  PatchesPass(Work work, const Patches& patches, DType dtype, const void* first, const void* second,
              const void* values, void* target);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class Element, class Real>
  void run_as(std::int64_t begin, std::int64_t end) const;

  Work work_;
  Patches patches_;
  DType dtype_;
  const void *first_, *second_, *values_;
  void* target_;
  std::int64_t units_ = 0;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
