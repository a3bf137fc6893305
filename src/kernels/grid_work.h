// SPDX-License-Identifier: Apache-2.0
// What a share of a convolution does, whichever way it goes. Private to src/kernels.
#pragma once

#include "kernels/convolution.h"

namespace afterglow::kernels {

/// Where a place of the grid is in a channel of the target.
inline std::int64_t target_place(const Gathering& grid, std::int64_t z, std::int64_t y,
                                 std::int64_t x) {
  return ((grid.start[0] + z * grid.spread[0]) * grid.target[1] + grid.start[1] +
          y * grid.spread[1]) *
             grid.target[2] +
         grid.start[2] + x * grid.spread[2];
}

/// One grid of some images, of one group and some of its rows.
template <class Real>
struct GridWork {
  const Gathering& grid;
  const Real* source;
  std::int64_t source_step;
  const Real* weights;
  const Real* bias;
  Real* target;
  std::int64_t target_step, images, row_begin, row_end;
  std::int64_t first_panel;              ///< of packed weights, with which the rows begin
  std::int64_t first_channel, channels;  ///< of the target: of the group, and of all groups
  const GatheringPass::Epilogue& epilogue;

  /// To be called when columns of rows are in the target for good.
  void complete(std::int64_t image, std::int64_t first_row, std::int64_t last_row,
                std::int64_t first_column, std::int64_t last_column) const {
    const std::int64_t first = image * channels + first_channel;
    const std::int64_t start = target_place(grid, 0, 0, 0);
    if (epilogue)
      epilogue(first + first_row, first + last_row, start + first_column, start + last_column);
  }
};

}  // namespace afterglow::kernels
