// SPDX-License-Identifier: Apache-2.0
// Convolutions of images with one, two or three axes of space, their transposes, and the gradients
// of their weights. No result depends on the number of threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/dtype.h"
#include "kernels/scratch.h"

namespace afterglow::kernels {

/// Depth, height and width; an axis that an image does not have comes first and is 1.
using Space = std::array<std::int64_t, 3>;

constexpr std::int64_t places_in(const Space& space) {
  return space[0] * space[1] * space[2];
}

/// Windows that slide over images. The window of place p sees, at place k of the kernel, place
/// p * stride + k * dilate - pad of the image, which is zero where the image has no such place. All
/// arrays are contiguous: images [count, groups * channels, image], results [count, groups *
/// filters, result], weights [groups * filters, channels, kernel].
struct Windows {
  std::int64_t count = 0, groups = 1;
  std::int64_t channels = 0, filters = 0;  ///< of one group
  Space image, result, kernel, stride, dilate, pad;

  /// Multiplications and additions, and what moving the elements weighs.
  double operations() const;
};

/// Where elements of a source are taken, for each tap of a filter, to be summed up in places of a
/// target.
struct Gathering {
  struct Tap {
    std::int64_t weight;  ///< its place among the weights of a channel
    Space offset;         ///< of what is taken for the first place of the grid
  };
  Space source, grid, step;     ///< extents; those of the results; from one place to the next
  Space target, start, spread;  ///< extents, and where the places of the grid are there
  std::vector<Tap> taps;
  std::int64_t rows, depth;           ///< channels of the target and of the source, of a group
  std::int64_t row_step, depth_step;  ///< between their weights
  std::int64_t packed = 0;            ///< where its packed weights begin
};

class AbreastGrids;
class PlanePass;

/// target[n, r, start + g * spread] = bias[r] + the sum over d and taps of weight * source[n, d, g
/// * step + offset], for one or several grids that make up the target. For float32 and float64.
/// Windows of 3 by 3 or 5 by 5 without steps, and enough channels, of float32 go Winograd's way;
/// others of many small images take these abreast.
class GatheringPass {
 public:
  /// Called when columns [column_begin, column_end) of rows [row_begin, row_end) of the target are
  /// complete, where a row is a channel of an image. Not where places of a grid lie apart.
  using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                      std::int64_t column_begin, std::int64_t column_end)>;

  ~GatheringPass();
  int shares() const { return shares_; }
  void run(int share);

 protected:
  GatheringPass(const Windows& windows, DType dtype, const void* source, const void* weights,
                const void* bias, void* target, std::vector<Gathering> grids, Epilogue epilogue,
                bool is_transposed);

 private:
  enum class Way { filter, panels, abreast, winograd };

  template <class Real>
  void run_block(std::int64_t block);
  /// Rows of packed weights are divided into panels.
  int panel_rows() const;
  int vector_width() const;
  std::int64_t panels_of(const Gathering& grid) const;
  std::int64_t panel_size(const Gathering& grid) const;
  std::int64_t first_row(const Gathering& grid, std::int64_t panel) const;
  template <class Real>
  const Real* weights_of(const Gathering& grid, std::int64_t group) const;
  template <class Real>
  Real* packed_of(const Gathering& grid, std::int64_t group) const;
  template <class Real>
  void pack_panel(std::int64_t number);
  /// By whichever shares come first, together.
  template <class Real>
  void pack_weights();

  std::int64_t batch_, groups_;
  DType dtype_;
  const void *source_, *weights_, *bias_;
  void* target_;
  Way way_ = Way::panels;
  std::vector<Gathering> grids_;    ///< in slabs
  std::vector<std::size_t> kinds_;  ///< the first slab of each grid
  Epilogue epilogue_;
  std::int64_t grid_blocks_ = 1;   ///< that the grids are divided into
  std::int64_t image_blocks_ = 1;  ///< that the batch is divided into
  std::int64_t image_unit_ = 1;    ///< whose multiples they begin with
  std::int64_t row_blocks_ = 1;    ///< that the rows of a group are divided into
  std::int64_t blocks_ = 0;
  int shares_ = 0;  ///< each has some of the blocks
  std::int64_t packed_size_ = 0;
  Scratch packed_;           ///< weights, as products take them
  bool rows_apart_ = false;  ///< each share makes its own of them
  std::atomic<std::int64_t> next_panel_ = 0, panels_packed_ = 0;
  std::unique_ptr<AbreastGrids> abreast_;  ///< of images that go abreast
  std::unique_ptr<PlanePass> planes_;      ///< instead, with a filter for each channel
};

/// results = images * weights + bias; without a bias it is nullptr.
class ConvolutionPass : public GatheringPass {
 public:
  ConvolutionPass(const Windows& windows, DType dtype, const void* images, const void* weights,
                  const void* bias, void* results, Epilogue epilogue = {});
};

/// The transpose: images are the sums of the windows that see their places, plus the bias.
class TransposedConvolutionPass : public GatheringPass {
 public:
  TransposedConvolutionPass(const Windows& windows, DType dtype, const void* results,
                            const void* weights, const void* bias, void* images);
};

class Lanes;

/// The gradient of the weights: for each the sum over all images and places of the result's
/// gradient times what the weight met.
class WeightGradientPass {
 public:
  WeightGradientPass(const Windows& windows, DType dtype, const void* images, const void* results,
                     void* weights);
  ~WeightGradientPass();
  int shares() const { return shares_; }
  void run(int share);
  /// Adds what the shares found.
  void finish();

 private:
  enum class Way { lanes, panels, winograd };

  /// What a share computes: some weights of some filters of a group, summed over a part of all.
  struct Block {
    std::int64_t group, part, begin, columns;
    std::int64_t first_channel, channels;  ///< that these weights meet
    std::int64_t first_filter, last_filter;
  };
  void divide_channels(std::int64_t most);
  Block block_of(std::int64_t share) const;
  std::int64_t image_step() const {
    return windows_.groups * windows_.channels * places_in(windows_.image);
  }
  std::int64_t first_unit(std::int64_t part) const { return units_ * part / parts_; }
  struct Images {
    std::int64_t begin, end;
  };
  /// Whose slab a part has.
  Images images_of(const Block& block, std::size_t slab) const;
  template <class Real>
  const Real* image_of(const Block& block, std::int64_t number) const;
  template <class Real>
  const Real* gradients_of(const Gathering& slab, const Block& block, std::int64_t number,
                           std::int64_t filter) const;
  template <class Real>
  Real* target_of(const Block& block, std::int64_t filter);
  template <class Real>
  void run_block(std::int64_t share);
  template <class Real>
  void run_panels(const Block& block);
  /// Instead, for a few filters or weights.
  template <class Real>
  void run_lanes(const Block& block);
  template <class Real>
  void copy_gradients(const Gathering& slab, const Block& block, std::int64_t image,
                      const Lanes& lanes, std::int64_t stride, Real* target) const;
  /// Where that way is shorter.
  void run_winograd(const Block& block);
  template <class Real>
  void add_parts();

  Windows windows_;
  DType dtype_;
  const void *images_, *results_;
  void* weights_;
  Way way_ = Way::panels;
  std::vector<Gathering> slabs_;    ///< of the results
  std::int64_t units_ = 0;          ///< slabs of images, or bands of tiles
  std::int64_t parts_ = 1;          ///< that these are divided into
  std::int64_t filter_blocks_ = 1;  ///< of the filters of a group
  std::int64_t column_blocks_ = 1;  ///< of the weights of a filter
  std::int64_t block_columns_ = 1;
  std::int64_t blocks_ = 0;
  int shares_ = 0;                     ///< each has some of the blocks
  Scratch sums_;                       ///< of all parts but the first
  std::unique_ptr<PlanePass> planes_;  ///< instead, with a filter for each channel
};

}  // namespace afterglow::kernels
