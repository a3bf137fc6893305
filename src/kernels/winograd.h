// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution: 4 by 4 places of a result, with windows of 3 by 3, are 36 products for
// each channel instead of 144; 2 by 2 places, with windows of 5 by 5, instead of 100, and so are 5
// by 5 with windows of 2 by 2. Images, weights and results are spread out to tiles of 6 by 6
// numbers, which channels are summed up in, and gathered again; all of it with channels in vectors.
// Windows with dilation see images whose places take turns, those with depth sum up the tiles of
// planes, and places of a transposed window may lie apart. Private to src/kernels.
#pragma once

#include "kernels/grid_work.h"

namespace afterglow::kernels {

/// Places of a result, along each axis, that come of tiles which belong together.
Space winograd_unit(const Gathering& grid);

/// Whether sums over these taps can be had this way, and are sooner there than by so many
/// multiplications for an image.
bool winograd_pays(const Gathering& grid, std::int64_t images, double multiplications);

/// Whether weights, spread out, are far more than images: then shares are ranges of rows, each of
/// which spreads out its own weights, that stay near, and the images once more.
bool winograd_rows_apart(const Gathering& grid, std::int64_t images);

/// The weights of a group, spread out, in panels of rows.
class WinogradWeights {
 public:
  explicit WinogradWeights(const Gathering& grid);
  std::int64_t panels() const { return panels_; }
  std::int64_t panel_size() const;
  void spread(const float* weights, std::int64_t panel, float* target) const;

 private:
  const Gathering& grid_;
  std::int64_t panels_;
};

/// The work with weights that are spread out, those of its own rows, which begin with a whole
/// panel.
void run_winograd(const GridWork<float>& work);

/// Gradients of weights, summed up over bands of tiles.
class WinogradGradient {
 public:
  /// Blocks of weights that are worked on together have at most so many channels, and filters.
  static constexpr std::int64_t block_channels = 64;

  WinogradGradient(const Gathering& grid, std::int64_t images);
  std::int64_t bands() const { return bands_; }

  /// Some channels and filters of a group.
  struct Work {
    const float* images;
    std::int64_t image_step, channels;
    const float* results;
    std::int64_t result_step, filters;
    std::int64_t first_band, last_band;
    float* weights;
    std::int64_t filter_step;
  };
  void run(const Work& work) const;

 private:
  const Gathering& grid_;
  std::int64_t images_, bands_;
};

}  // namespace afterglow::kernels
