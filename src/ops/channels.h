// SPDX-License-Identifier: Apache-2.0
// The channels of images, normalised: what BatchNorm is made of.
#pragma once

#include "ops/operators.h"

namespace afterglow::ops {

/// Whether the op below takes the channels of an array, which lie along an axis.
bool has_channels(const Array& array, std::int64_t axis);

struct NormalisedChannels {
  Value result;
  Value mean, variance;  ///< one number for each channel
};
/// (x - mean) * gamma / deviation + shift with the moments of each channel; the deviation is the
/// root of the variance plus epsilon. A fixed gamma counts as 1.
NormalisedChannels normalise_channels(const Value& x, const Value& gamma, const Value& shift,
                                      std::int64_t axis, double epsilon, bool fix_gamma);

/// x * factor + shift, each element of them.
Value multiply_add(const Value& x, const Value& factor, const Value& shift);

}  // namespace afterglow::ops
