// SPDX-License-Identifier: Apache-2.0
// The channels of images, normalised: what BatchNorm is made of.
#pragma once

#include "ops/operators.h"

namespace afterglow::ops {

/// Whether the ops below take the channels of an array, which lie along an axis.
bool has_channels(const Array& array, std::int64_t axis);
/// Means and variances of all channels, as two rows.
Value channel_moments(const Value& x, std::int64_t axis);
/// (x - mean) * factor + shift, with a number of each for every channel.
Value scale_channels(const Value& x, const Value& mean, const Value& factor, const Value& shift,
                     std::int64_t axis);

/// x * factor + shift, each element of them.
Value multiply_add(const Value& x, const Value& factor, const Value& shift);

}  // namespace afterglow::ops
