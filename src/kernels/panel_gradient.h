// SPDX-License-Identifier: Apache-2.0
// Gradients of weights as products: those of results, as they lie, with images whose channels are
// side by side. So a tap finds vectors wherever it looks, and an image is turned once for all taps.
// Private to src/kernels.
#pragma once

#include <vector>

#include "kernels/convolution.h"

namespace afterglow::kernels {

/// Of some channels and filters of a group.
template <class Real>
struct PanelGradient {
  /// A slab of some images.
  struct Slab {
    const Gathering& grid;
    const Real *images, *results;  ///< the first channel; gradients from the first place on
    std::int64_t count;
  };
  std::vector<Slab> slabs;
  std::int64_t taps, channels, image_step;
  std::int64_t filters, result_step;
  Real* weights;
  std::int64_t filter_step;

  void run() const;
};

/// Pixels of an image that are turned for a grid.
std::int64_t pixels_seen(const Gathering& grid);

extern template struct PanelGradient<float>;
extern template struct PanelGradient<double>;

}  // namespace afterglow::kernels
