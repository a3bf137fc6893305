// SPDX-License-Identifier: Apache-2.0
// Sums over the channels of images. A channel is looked at as a whole, while it is in the nearer
// caches. For float32 and float64.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Contiguous elements [outer, count, inner], where a channel is all of one place in the middle.
struct Channels {
  std::int64_t outer = 0, count = 0, inner = 0;

  int shares() const;
};

/// The means of the channels, and behind these their variances.
class ChannelMomentsPass {
 public:
  ChannelMomentsPass(const Channels& channels, DType dtype, const void* data, void* moments);
  int shares() const { return channels_.shares(); }
  void run(int share) const;

 private:
  template <class Real>
  void run_channel(std::int64_t channel) const;

  Channels channels_;
  DType dtype_;
  const void* data_;
  void* moments_;
};

/// For each channel the sum of `values`, and behind these the sums of values * (data - mean).
class ChannelSumsPass {
 public:
  ChannelSumsPass(const Channels& channels, DType dtype, const void* values, const void* data,
                  const void* means, void* sums);
  int shares() const { return channels_.shares(); }
  void run(int share) const;

 private:
  template <class Real>
  void run_channel(std::int64_t channel) const;

  Channels channels_;
  DType dtype_;
  const void *values_, *data_, *means_;
  void* sums_;
};

}  // namespace afterglow::kernels
