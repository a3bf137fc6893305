// SPDX-License-Identifier: Apache-2.0
// Small images go abreast: a vector has the same place of several of them. So vectors are full
// whatever the size of the images, steps cost nothing, and taps that are outside of them are left
// out. Private to src/kernels.
#pragma once

#include <span>
#include <vector>

#include "kernels/grid_work.h"

namespace afterglow::kernels {

/// Multiplications for an image, without those of taps that are outside of it.
double multiplications_inside(std::span<const Gathering> grids);

/// Grids that make up a target, all of which a share has.
class AbreastGrids {
 public:
  /// Whether the batch fills vectors of `width` images, which are not too large.
  static bool fit(std::span<const Gathering> grids, std::int64_t images, std::int64_t width);

  /// The grids are kept by reference.
  explicit AbreastGrids(std::span<const Gathering> grids);

  /// Images of a share. The weights of each grid are packed in panels: for each tap all channels.
  template <class Real>
  void run(const GridWork<Real>& work, std::span<const Real* const> weights) const;

 private:
  /// Taps that follow each other and are all inside, for a place.
  struct Run {
    std::int64_t pixel, place;  ///< of the source and of the target
    std::int64_t tap, count;
    bool is_first;  ///< of its place
  };
  void find_runs(const Gathering& grid, std::vector<Run>& runs) const;

  std::span<const Gathering> grids_;
  std::vector<std::vector<Run>> runs_;  ///< of each grid
};

}  // namespace afterglow::kernels
