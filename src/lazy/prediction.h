// SPDX-License-Identifier: Apache-2.0
// What a block computes without gradients, rewritten for speed before it becomes a recipe.
// Convolutions take weights that are packed ahead, with the scale of a normalisation that follows
// multiplied into them, and images whose channels come last, which they hand on as they are:
// elementwise calls and pooling do not mind. A sum and bounds that follow are theirs, too. The
// results are equal but for rounding, and whoever reads one sees it in the order that was captured.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "lazy/capture.h"

namespace afterglow::lazy {

/// A convolution that is taken apart: see Op::predict.
struct Prediction {
  const Call& call;
  Array images;  ///< the first input, with channels last
  /// The result is to be multiplied by, and added to, one number for each channel; without a
  /// storage where it is not. Both are known ahead.
  Array factor = {}, shift = {};
  /// Then this is to be added, with channels last, if it has a storage; and last, what is less or
  /// more than these becomes them.
  Array addend = {};
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  std::vector<OwnedCall>& calls;

  /// Adds a call and returns its result.
  Array add(const Op& op, std::span<const Array> inputs, std::span<const Argument> arguments = {});
};

/// Rewrites the calls of a capture that has no second part, where that pays.
void rewrite_for_prediction(Capture& capture, std::span<const Array> outputs);

/// A result that depends on its inputs alone.
bool is_function_of_inputs(const Call& call);

}  // namespace afterglow::lazy
