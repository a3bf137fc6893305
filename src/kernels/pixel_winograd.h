// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution (kernels/winograd.h) of images whose channels come last: pixels are the
// vectors that tiles are spread out from and gathered to. Private to src/kernels.
#pragma once

#include <cstdint>

#include "kernels/pixels.h"
#include "kernels/views.h"

namespace afterglow::kernels {

/// Whether the convolution can be had this way, and is sooner there.
bool pixel_winograd_pays(const Windows& windows, DType dtype);

/// How many elements the weights have when they are spread out.
std::int64_t spread_filters_size(const Windows& windows);

/// Spreads out the weights of one panel of filters, times their factors, if there are factors.
void spread_filters(const Windows& windows, const float* weights, const float* factors,
                    std::int64_t panel, float* spread);

/// Tiles of all images, one after the other.
std::int64_t winograd_tiles(const Windows& windows);

/// Some tiles, and some panels of filters.
void run_pixel_winograd(const PixelConvolution& work, Range tiles, Range panels,
                        const PixelConvolutionPass::Epilogue& epilogue);

}  // namespace afterglow::kernels
