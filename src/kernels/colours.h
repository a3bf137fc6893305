// SPDX-License-Identifier: Apache-2.0
// Changes of the colours of images: pixels of one grey, or of red, green and blue, one behind the
// other. Numbers are computed in float32; what a byte, or another integer, cannot hold becomes the
// nearest one that it can, and fractions are cut off.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

enum class ColourChange : std::uint8_t { brightness, contrast, saturation, hue };
inline constexpr int colour_changes = 4;

/// Changes that are made one after another, each by a factor between two bounds.
struct ColourPlan {
  int count = 0;
  bool is_shuffled = false;  ///< the order is drawn, too
  ColourChange changes[colour_changes] = {};
  float lows[colour_changes] = {}, highs[colour_changes] = {};

  /// Numbers from 0 to 1 that are drawn for an image: factors, then what the order goes by.
  int draws() const { return is_shuffled ? 2 * count : count; }
};

struct ColourImages {
  std::int64_t images, pixels;
  int channels;  ///< 1 or 3
  DType dtype;
};

/// Pieces of images that shares are made of.
class ColourPieces {
 public:
  /// Whole images, or as many pixels as are worth a share.
  ColourPieces(const ColourImages& images, bool are_whole);
  int shares() const { return shares_; }
  /// Calls a function with the number of an image and a range of its pixels.
  template <class Function>
  void each(int share, Function&& function) const;

 private:
  std::int64_t pieces_, per_image_, pixels_;
  int shares_;
};

class ColourPass {
 public:
  ColourPass(const ColourPlan& plan, const ColourImages& images, const void* source,
             const float* draws, void* target);
  int shares() const { return pieces_.shares(); }
  void run(int share) const;

 private:
  ColourPlan plan_;
  ColourImages images_;
  ColourPieces pieces_;
  const void* source_;
  const float* draws_;
  void* target_;
};

/// Adds light in the directions in which the colours of photographs differ most, as AlexNet was
/// trained: three strengths for each image.
class LightPass {
 public:
  LightPass(const ColourImages& images, const void* source, const float* strengths, void* target);
  int shares() const { return pieces_.shares(); }
  void run(int share) const;

 private:
  ColourImages images_;
  ColourPieces pieces_;
  const void* source_;
  const float* strengths_;
  void* target_;
};

/// Numbers of a channel, less its mean and by its deviation.
struct Normalizing {
  static constexpr int most_channels = 4;
  std::int64_t planes, channels, length;
  double means[most_channels], deviations[most_channels];
};

/// Of elements with channels first. A share is a range of planes.
class NormalizePass {
 public:
  NormalizePass(const Normalizing& normalizing, DType dtype, const void* source, void* target);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  Normalizing normalizing_;
  DType dtype_;
  const void* source_;
  void* target_;
  int shares_;
};

}  // namespace afterglow::kernels
