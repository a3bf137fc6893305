// SPDX-License-Identifier: Apache-2.0
// What becomes of the elements of windows that slide over images: the greatest of them, sums and
// means.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// How windows lie along an axis of `extent` places: the first one begins `pad` places before it.
struct WindowAxis {
  std::int64_t extent, results, kernel, stride, pad;
};

/// Windows over images, in memory [image][depth][row][column][lane]: lanes are channels where
/// these come last, else there is one and every channel is an image.
struct PoolingWindows {
  WindowAxis depth, rows, columns;
  std::int64_t images, lanes;
  bool is_mean;      ///< of sums: by the number of places
  bool counts_pad;   ///< whether places outside of the data count for it
  bool is_adaptive;  ///< windows divide the extent into `results` parts
};

/// The winner of a window is the first of its places, in order, that has its maximum. There is none
/// if nothing in it is as great as the lowest number.
enum class WindowWork : std::uint8_t {
  maximum,           ///< target = greatest of data
  maximum_found,     ///< the same, and the winners
  maximum_gradient,  ///< target = values (of results) at the places of the winners, else 0
  maximum_taken,     ///< target = what values (of places) have there, or 0
  sum,
  sum_gradient
};

/// Of the winners of windows with so many places: uint8 or int32.
DType winner_type(std::int64_t places);

/// For float16, float32 and float64. A share is a range of images, or of lanes of them, or where
/// there are several lanes of rows of results.
class PoolingPass {
 public:
  struct Arrays {
    const void* data;    ///< one per place
    const void* values;  ///< what gradients are made of, or what is taken
    void* winners;       ///< one per result
    void* target;
  };
  PoolingPass(WindowWork work, const PoolingWindows& windows, DType dtype, const Arrays& arrays);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  /// Some rows of results, and some lanes of them, of an image; or all of several.
  struct Unit {
    std::int64_t image, images, row_begin, row_end, first, lanes;
  };
  template <class Real>
  void run_unit(const Unit& unit) const;
  void run_halves(const Unit& unit) const;
  void* winners_of(const Unit& unit) const;
  std::int64_t room() const;

  WindowWork work_;
  PoolingWindows windows_;
  DType dtype_;
  Arrays arrays_;
  bool has_byte_winners_, by_bands_;
  std::int64_t places_, results_;  ///< of an image
  std::int64_t lane_block_;        ///< lanes of a unit
  std::int64_t row_blocks_ = 1;    ///< of an image
  std::int64_t units_ = 0;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
