// SPDX-License-Identifier: Apache-2.0
// Convolutions with a filter for each channel, straight from the rows of the images. Private to
// src/kernels.
#pragma once

#include <memory>

#include "kernels/convolution.h"

namespace afterglow::kernels {

/// A pass over planes: channels of images with two axes of space.
class PlanePass {
 public:
  virtual ~PlanePass() = default;
  virtual int shares() const = 0;
  virtual void run(int share) = 0;
  /// To be called when all shares are done.
  virtual void finish() {}
};

/// Windows of 3 by 3, 5 by 5 or 7 by 7 with a stride of 1, also dilated, or of 2. For all others
/// these return nullptr.
std::unique_ptr<PlanePass> depthwise_convolution(const Windows& windows, DType dtype,
                                                 const void* images, const void* weights,
                                                 const void* bias, void* results,
                                                 const GatheringPass::Epilogue& epilogue);
/// With a stride of 2 only if half of the first window lies before the image.
std::unique_ptr<PlanePass> depthwise_transpose(const Windows& windows, DType dtype,
                                               const void* results, const void* weights,
                                               const void* bias, void* images);
std::unique_ptr<PlanePass> depthwise_gradient(const Windows& windows, DType dtype,
                                              const void* images, const void* results,
                                              void* weights);

}  // namespace afterglow::kernels
