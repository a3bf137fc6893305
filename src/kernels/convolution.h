// SPDX-License-Identifier: Apache-2.0
// Convolutions of images with one, two or three axes of space, their transposes, and the gradients
// of their weights.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Depth, height and width; an axis that an image does not have comes first and is 1.
using Space = std::array<std::int64_t, 3>;

constexpr std::int64_t places_in(const Space& space) {
  return space[0] * space[1] * space[2];
}

/// Windows that slide over images. The window of place p sees, at place k of the kernel, place
/// p * stride + k * dilate - pad of the image, which is zero where the image has no such place. All
/// arrays are contiguous: images [count, groups * channels, image], results [count, groups *
/// filters, result], weights [groups * filters, channels, kernel].
struct Windows {
  std::int64_t count = 0, groups = 1;
  std::int64_t channels = 0, filters = 0;  ///< of one group
  Space image, result, kernel, stride, dilate, pad;

  std::int64_t taps() const { return channels * places_in(kernel); }
  /// A window is a place of the image: nothing has to be put together.
  bool is_pointwise() const;
  /// Each filter sees one channel.
  bool is_depthwise() const;
  /// Multiplications and additions, and what moving the elements weighs.
  double operations() const;
};

/// A part of the places of an image, or all places of several.
struct Block {
  std::int64_t image, images, begin, end;

  std::int64_t columns() const { return images * (end - begin); }
};

/// The windows of all images in blocks, as many at once as the nearer caches hold.
class Blocks {
 public:
  Blocks() = default;
  Blocks(std::int64_t images, std::int64_t places, std::int64_t wanted);
  std::int64_t count() const { return count_; }
  Block operator[](std::int64_t number) const;

 private:
  std::int64_t images_ = 0, places_ = 0;
  std::int64_t together_ = 1, per_image_ = 1, length_ = 0, count_ = 0;
};

/// The cut of all passes below depends on the shapes only, so their bits do not depend on threads.
/// They are for float32 and float64.
class ConvolutionPass {
 public:
  /// Called when columns [column_begin, column_end) of rows [row_begin, row_end) of the results are
  /// complete, where a row is a channel of an image.
  using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                      std::int64_t column_begin, std::int64_t column_end)>;

  /// results = images * weights + bias; without a bias it is nullptr.
  ConvolutionPass(const Windows& windows, DType dtype, const void* images, const void* weights,
                  const void* bias, void* results, Epilogue epilogue = {});
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  template <class T>
  void run_items(std::int64_t begin, std::int64_t end) const;
  template <class T>
  void run_block(std::int64_t group, std::int64_t first, std::int64_t last,
                 const Block& block) const;
  template <class T>
  void run_planes(std::int64_t begin, std::int64_t end) const;

  Windows windows_;
  DType dtype_;
  const void *images_, *weights_, *bias_;
  void* results_;
  Epilogue epilogue_;
  Blocks blocks_;
  std::int64_t parts_ = 1;  ///< of the filters of a group
  std::int64_t items_ = 0;
  int shares_ = 1;
};

/// The transpose: images are the sums of the windows that see their places, plus the bias.
class TransposedConvolutionPass {
 public:
  TransposedConvolutionPass(const Windows& windows, DType dtype, const void* results,
                            const void* weights, const void* bias, void* images);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  /// Channels of a group, and of a single image the places between two of its longest outer axis.
  struct Piece {
    std::int64_t group, first, last;
    Block block;
    Space begin, end;
  };
  Piece piece_of(std::int64_t item) const;
  template <class T>
  void run_piece(const Piece& piece) const;
  template <class T>
  void run_block(const Piece& piece, const Block& block) const;
  template <class T>
  void run_planes(std::int64_t begin, std::int64_t end) const;

  Windows windows_;
  DType dtype_;
  const void *results_, *weights_, *bias_;
  void* images_;
  Blocks blocks_;           ///< of whole images
  std::int64_t columns_;    ///< that are computed at once
  std::int64_t parts_ = 1;  ///< of the channels of a group
  std::int64_t slabs_ = 1;  ///< of an image, along `axis_`
  std::size_t axis_ = 0;
  std::int64_t items_ = 0;
  int shares_ = 1;
};

/// The gradient of the weights: the sum over all windows of what they see times `results`. It is
/// summed up over fixed parts of the windows, and over those in their order.
class WeightGradientPass {
 public:
  WeightGradientPass(const Windows& windows, DType dtype, const void* images, const void* results,
                     void* weights);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

 private:
  template <class T>
  void run_item(std::int64_t item);
  template <class T>
  void run_planes(std::int64_t begin, std::int64_t end) const;
  template <class T>
  void add_up();

  Windows windows_;
  DType dtype_;
  const void *images_, *results_;
  void* weights_;
  Blocks blocks_;
  std::int64_t parts_ = 1;  ///< of the channels of a group
  std::int64_t sums_ = 1;   ///< parts of the windows
  std::int64_t items_ = 0;
  int shares_ = 1;
  std::vector<unsigned char> partial_;  ///< weights for each part but the first
};

}  // namespace afterglow::kernels
