// SPDX-License-Identifier: Apache-2.0
// Shapes that are given by codes.
#pragma once

#include "array/layout.h"

namespace afterglow::ops {

/// What numbers in a new shape mean that are no extents. In all of them -1 is found from the
/// others.
enum class ShapeCodes {
  numpy,     ///< nothing else
  legacy,    ///< of mx.nd: 0 keeps an extent, -2 takes the rest, -3 merges two, -4 splits one
  extended,  ///< of npx: -2 keeps an extent, -3 leaves out a 1, -4 takes the rest, -5 merges two,
             ///< -6 splits one
};

/// The new shape of an array, in full; with `reverse` both are read from the right.
Shape reshaped(const Shape& shape, const Shape& wanted, ShapeCodes codes, bool reverse);

}  // namespace afterglow::ops
