// SPDX-License-Identifier: Apache-2.0
// Sums over the patches of images: convolution, its transpose, and the gradient of its weights.
// Channels come behind the batch, and all arrays are contiguous. No result depends on the number of
// threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Along depth, height and width; those that are missing come first and have extent 1.
using Space = std::array<std::int64_t, 3>;

/// result[n, f, p] = the sum over c, k of weight[f, c, k] * image[n, c, p * stride + k * dilate -
/// pad], where the filters f and the channels c are of the same group.
struct PatchShape {
  std::int64_t batch = 1, groups = 1;
  std::int64_t channels = 1, filters = 1;  ///< of a group
  Space image = {1, 1, 1}, result = {1, 1, 1};
  Space kernel = {1, 1, 1}, stride = {1, 1, 1}, dilate = {1, 1, 1}, pad = {0, 0, 0};
};

/// Where elements of a source are taken, for each tap of a filter, to be summed up in places of a
/// target.
struct Gathering {
  struct Tap {
    std::int64_t weight;  ///< its place among the weights of a channel
    Space offset;         ///< of what is taken for the first place of the grid
  };
  Space source, grid, step;           ///< extents; those of the results; from one place to the next
  Space target, start, spread;        ///< extents, and where the places of the grid are there
  std::vector<Tap> taps;
  std::int64_t rows, depth;           ///< channels of the target and of the source, of a group
  std::int64_t row_step, depth_step;  ///< between their weights
};

/// target[n, r, start + g * spread] = bias[r] + the sum over d and taps of weight * source[n, d, g *
/// step + offset], for one or several grids that make up the target.
class PatchPass {
 public:
  /// The convolution itself.
  static PatchPass convolution(const PatchShape& shape, DType dtype, const void* image,
                               const void* weight, const void* bias, void* result);
  /// Its transpose: the gradient of the image.
  static PatchPass transposed(const PatchShape& shape, DType dtype, const void* result,
                              const void* weight, const void* bias, void* image);

  int shares() const { return shares_; }
  void run(int share);

 private:
  PatchPass(const PatchShape& shape, DType dtype, const void* source, const void* weight,
            const void* bias, void* target, std::vector<Gathering> grids);
  template <class Real>
  void run_share(std::int64_t share) const;

  std::int64_t batch_, groups_;
  DType dtype_;
  const void* source_;
  const void* weight_;
  const void* bias_;
  void* target_;
  std::vector<Gathering> grids_;
  std::int64_t images_ = 1;      ///< that are worked on together
  std::int64_t row_blocks_ = 1;  ///< that the rows of a group are divided into
  int shares_ = 0;
};

/// The gradient of the weights: for each the sum over all images and places of the result's gradient
/// times what the weight met.
class WeightPass {
 public:
  WeightPass(const PatchShape& shape, DType dtype, const void* image, const void* result,
             void* weight);
  int shares() const { return shares_; }
  void run(int share);
  /// Adds what the shares found.
  void finish();

 private:
  template <class Real>
  void run_share(std::int64_t share);
  /// Instead, for a few filters.
  template <class Real>
  void run_dots(std::int64_t share);
  template <class Real>
  void add_parts();

  PatchShape shape_;
  DType dtype_;
  const void* image_;
  const void* result_;
  void* weight_;
  Gathering grid_;
  std::int64_t parts_ = 1;          ///< of the batch
  std::int64_t column_blocks_ = 1;  ///< of the weights of a filter
  std::int64_t block_columns_ = 1;
  int shares_ = 0;
  std::vector<unsigned char> sums_;  ///< of all parts but the first
};

}  // namespace afterglow::kernels
