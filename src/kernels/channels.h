// SPDX-License-Identifier: Apache-2.0
// The channels of images brought to mean 0 and deviation 1, scaled and shifted, and the way back.
// Some channels are looked at as a whole, while they are in the nearer caches. For float32 and
// float64.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Contiguous elements [outer, count, inner], where a channel is all of one place in the middle.
struct Channels {
  std::int64_t outer = 0, count = 0, inner = 0;

  std::int64_t size() const { return outer * count * inner; }
  std::int64_t places() const { return outer * inner; }
};

/// Work on channels that first adds up and then goes over all elements again. It is cut into tiles,
/// by the sizes alone: blocks of channels, each with all of its rows, or with some of them where
/// there are too few blocks. Then no tile goes on before all have been added up.
class ChannelPass {
 public:
  int shares() const { return shares_; }

 protected:
  /// Rows are numbered along the outer dimension.
  struct Tile {
    std::int64_t number, channel, channels, row, rows;
  };

  ChannelPass(const Channels& channels, DType dtype);

  /// Runs a share with three functions: `add_up(tile)`; `join(first, last)`, for channels of which
  /// all has been added up; `go_over(tile)`.
  template <class AddUp, class Join, class GoOver>
  void run_share(int share, AddUp add_up, Join join, GoOver go_over);

  /// Two rows of sums for the channels of a tile.
  double* sums_of(const Tile& tile);
  /// Calls `step(tile, sum, other)` with the sums of a channel in each tile that it is in.
  template <class Step>
  void for_each_sum(std::int64_t channel, Step step);
  /// The first element of a tile.
  std::int64_t place_of(const Tile& tile) const {
    return (tile.row * channels_.count + tile.channel) * channels_.inner;
  }

  const Channels channels_;
  const DType dtype_;

 private:
  Tile tile(std::int64_t number) const;

  std::int64_t block_;       ///< channels of a tile
  std::int64_t blocks_ = 0;  ///< of channels
  std::int64_t parts_ = 1;   ///< of rows
  int shares_ = 0;
  std::vector<double> sums_;
  std::atomic<std::int64_t> next_ = 0, added_up_ = 0;
  std::atomic<bool> joined_ = false;
};

/// result = (data - mean) * gamma / deviation + shift, where the deviation is the root of the
/// variance plus epsilon.
class NormalisePass : public ChannelPass {
 public:
  /// Called for parts of the result that have just been written: rows along the outer dimension,
  /// and columns of each of them.
  using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                      std::int64_t column_begin, std::int64_t column_end)>;
  struct Arrays {
    const void* data;
    const void* gamma;  ///< nullptr: ones
    const void* shift;
    void* result;
    void* moments;  ///< the means of the channels, and behind these their variances
  };
  NormalisePass(const Channels& channels, DType dtype, double epsilon, const Arrays& arrays,
                Epilogue epilogue = {});
  void run(int share);

 private:
  template <class Real>
  void run_as(int share);
  template <class Real>
  void add_up(const Tile& tile);
  template <class Real>
  void join(std::int64_t channel);
  template <class Real>
  void scale(const Tile& tile) const;

  const double epsilon_;
  const Arrays arrays_;
  const Epilogue epilogue_;
};

/// The gradients of the above.
class NormaliseGradientPass : public ChannelPass {
 public:
  struct Arrays {
    const void* values;  ///< the gradient of the result
    const void* data;
    const void* gamma;  ///< nullptr: ones
    const void* moments;
    void* gradient;  ///< of the data
    void* sums;      ///< the gradients of the shift, and behind these those of gamma
  };
  NormaliseGradientPass(const Channels& channels, DType dtype, double epsilon,
                        const Arrays& arrays);
  void run(int share);

 private:
  template <class Real>
  void run_as(int share);
  template <class Real>
  void add_up(const Tile& tile);
  template <class Real>
  void join(std::int64_t channel);
  template <class Real>
  void spread(const Tile& tile) const;

  const double epsilon_;
  const Arrays arrays_;
};

}  // namespace afterglow::kernels
