// SPDX-License-Identifier: Apache-2.0
#include "kernels/pixel_winograd.h"

#include <algorithm>
#include <array>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/winograd.h"

namespace afterglow::kernels {
namespace {

/// What a tile sees, along an axis, and the numbers that it becomes.
constexpr std::int64_t seen = 6, values = seen * seen;
/// Tiles that meet the same weights one after the other.
constexpr std::int64_t most_tiles = 48;
/// Channels are whole vectors of every instruction set.
constexpr std::int64_t whole_vectors = 16;

const PanelFunctions<float>& panels() {
  return real_functions<float>().panels;
}

const WinogradFunctions& functions_of(const Windows& windows) {
  return windows.kernel[2] == 3 ? kernel_table().winograd : kernel_table().large_winograd;
}

/// Places that come of a tile, along an axis.
std::int64_t side_of(const Windows& windows) {
  return seen + 1 - windows.kernel[2];
}

/// From one of the values of tiles to the next; they do not all meet in one place of the cache.
std::int64_t value_step(std::int64_t tiles, std::int64_t lanes) {
  return tiles * lanes + 16;
}

/// As much as the spreading of weights asks of it.
Gathering grid_of(const Windows& windows) {
  const std::int64_t taps = places_in(windows.kernel);
  Gathering grid = {};
  for (std::int64_t tap = 0; tap < taps; ++tap)
    grid.taps.push_back({tap, {0, tap / windows.kernel[2], tap % windows.kernel[2]}});
  grid.rows = windows.filters;
  grid.depth = windows.channels;
  grid.row_step = windows.channels * taps;
  grid.depth_step = taps;
  return grid;
}

class Task {
 public:
  Task(const PixelConvolution& work, const PixelConvolutionPass::Epilogue& epilogue)
      : windows_(work.windows),
        images_(static_cast<const float*>(work.images)),
        weights_(static_cast<const float*>(work.packed)),
        result_{static_cast<const float*>(work.bias), static_cast<const float*>(work.addend),
                static_cast<float*>(work.results),    windows_.filters,
                static_cast<float>(work.low),         static_cast<float>(work.high)},
        epilogue_(epilogue),
        side_(side_of(windows_)),
        rows_(divide_up(windows_.result[1], side_)),
        columns_(divide_up(windows_.result[2], side_)) {}

  void run(Range tiles, Range panels) {
    const std::int64_t bands = divide_up(tiles.end - tiles.begin, most_tiles);
    const std::int64_t most = divide_up(tiles.end - tiles.begin, bands);
    const std::int64_t left = values * value_step(most, windows_.channels),
                       sums = values * value_step(most, kernels::panels().columns);
    Room<float> room({left, sums, windows_.channels});
    left_ = room.take(left);
    sums_ = room.take(sums);
    zeros_ = room.take(windows_.channels);
    std::fill_n(zeros_, windows_.channels, 0.0f);
    for (std::int64_t band = 0; band < bands; ++band) {
      const Range range =
          range_of(tiles.end - tiles.begin, static_cast<int>(bands), static_cast<int>(band));
      run_band({tiles.begin + range.begin, tiles.begin + range.end}, panels);
    }
  }

 private:
  struct Tile {
    std::int64_t image, y, x;  ///< of the first place
  };
  Tile tile_at(std::int64_t number) const {
    return {number / columns_ / rows_, number / columns_ % rows_ * side_,
            number % columns_ * side_};
  }

  void run_band(Range tiles, Range panels) {
    const std::int64_t lanes = kernels::panels().columns;
    spread(tiles);
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const std::int64_t column = panel * lanes;
      const int columns = static_cast<int>(std::min(lanes, windows_.filters - column));
      multiply(panel, columns, tiles.end - tiles.begin);
      gather(tiles, column, columns);
      if (epilogue_) tell(tiles, column, column + columns);
    }
  }

  void spread(Range tiles) const {
    const std::int64_t channels = windows_.channels;
    const std::int64_t step = value_step(tiles.end - tiles.begin, channels);
    const SquareFunction spread_image = functions_of(windows_).spread_image;
    float* target = left_;
    for (std::int64_t number = tiles.begin; number < tiles.end; ++number, target += channels) {
      const Tile tile = tile_at(number);
      std::array<const float*, values> from;
      std::array<float*, values> to;
      for (std::int64_t i = 0; i < seen; ++i) {
        const std::int64_t y = tile.y + i - windows_.pad[1];
        const bool is_row = 0 <= y && y < windows_.image[1];
        for (std::int64_t j = 0; j < seen; ++j) {
          const std::int64_t x = tile.x + j - windows_.pad[2];
          const bool is_inside = is_row && 0 <= x && x < windows_.image[2];
          from[static_cast<std::size_t>(i * seen + j)] =
              is_inside ? images_ + ((tile.image * windows_.image[1] + y) * windows_.image[2] + x) *
                                        channels
                        : zeros_;
          to[static_cast<std::size_t>(i * seen + j)] = target + (i * seen + j) * step;
        }
      }
      spread_image(from.data(), to.data(), channels);
    }
  }

  void multiply(std::int64_t panel, int columns, std::int64_t tiles) const {
    const PanelFunctions<float>& functions = panels();
    const std::int64_t lanes = functions.columns, depth = windows_.channels;
    const std::int64_t left_step = value_step(tiles, depth), sum_step = value_step(tiles, lanes);
    const float* weights = weights_ + panel * values * depth * lanes;
    const std::int64_t groups = divide_up(tiles, functions.rows);
    for (std::int64_t value = 0; value < values; ++value, weights += depth * lanes) {
      for (std::int64_t group = 0; group < groups; ++group) {
        const std::int64_t begin = tiles * group / groups, end = tiles * (group + 1) / groups;
        functions.product({.depth = depth,
                           .a = left_ + value * left_step + begin * depth,
                           .b = weights,
                           .c = sums_ + value * sum_step + begin * lanes,
                           .c_stride = lanes,
                           .rows = static_cast<int>(end - begin),
                           .columns = columns,
                           .add = false,
                           .a_row = depth,
                           .a_step = 1});
      }
    }
  }

  void gather(Range tiles, std::int64_t column, int columns) const {
    const std::int64_t lanes = panels().columns, step = value_step(tiles.end - tiles.begin, lanes);
    const auto gather_pixels = functions_of(windows_).gather_pixels;
    PixelResult<float> result = result_;
    if (result.start) result.start += column;
    if (result.addend) result.addend += column;
    result.target += column;
    const float* source = sums_;
    for (std::int64_t number = tiles.begin; number < tiles.end; ++number, source += lanes) {
      const Tile tile = tile_at(number);
      std::array<const float*, values> from;
      std::array<std::int64_t, values> pixels;
      for (std::int64_t i = 0; i < values; ++i)
        from[static_cast<std::size_t>(i)] = source + i * step;
      for (std::int64_t i = 0; i < side_ * side_; ++i) {
        const std::int64_t y = tile.y + i / side_, x = tile.x + i % side_;
        pixels[static_cast<std::size_t>(i)] =
            y < windows_.result[1] && x < windows_.result[2]
                ? (tile.image * windows_.result[1] + y) * windows_.result[2] + x
                : -1;
      }
      gather_pixels(from.data(), pixels.data(), result, columns);
    }
  }

  /// The pixels of tiles side by side are complete, row by row.
  void tell(Range tiles, std::int64_t column_begin, std::int64_t column_end) const {
    for (std::int64_t number = tiles.begin; number < tiles.end;) {
      const Tile tile = tile_at(number);
      const std::int64_t count = std::min(tiles.end - number, columns_ - tile.x / side_);
      const std::int64_t end = std::min(tile.x + count * side_, windows_.result[2]);
      for (std::int64_t y = tile.y; y < std::min(tile.y + side_, windows_.result[1]); ++y) {
        const std::int64_t row = (tile.image * windows_.result[1] + y) * windows_.result[2];
        epilogue_(row + tile.x, row + end, column_begin, column_end);
      }
      number += count;
    }
  }

  const Windows& windows_;
  const float *const images_, *const weights_;
  const PixelResult<float> result_;
  const PixelConvolutionPass::Epilogue& epilogue_;
  const std::int64_t side_, rows_, columns_;  ///< rows and columns of tiles
  float *left_ = nullptr, *sums_ = nullptr, *zeros_ = nullptr;
};

}  // namespace

bool pixel_winograd_pays(const Windows& windows, DType dtype) {
  const Space& kernel = windows.kernel;
  constexpr Space one = {1, 1, 1};
  constexpr std::int64_t most_weights = 1 << 22;
  if (dtype != DType::float32 || windows.groups != 1 || windows.stride != one ||
      windows.dilate != one || kernel[0] != 1 || windows.image[0] != 1 || windows.pad[0] != 0 ||
      kernel[1] != kernel[2] || (kernel[2] != 3 && kernel[2] != 5) ||
      windows.channels % whole_vectors != 0 || windows.filters < whole_vectors ||
      spread_filters_size(windows) > most_weights || !windows.count)
    return false;
  // In multiplications: what spreading and gathering a number takes, and what it takes to bring a
  // weight from memory, is about as long as so many.
  constexpr double moving = 5, bringing = 10;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double weights = real(windows.channels * windows.filters);
  const double tiles = real(winograd_tiles(windows) * values);
  const double taps = real(places_in(kernel));
  const double places = real(windows.count * places_in(windows.result));
  return (tiles + bringing * values) * weights +
             moving * tiles * real(windows.channels + windows.filters) <
         0.8 * (places + bringing) * taps * weights;
}

std::int64_t spread_filters_size(const Windows& windows) {
  const std::int64_t columns = panels().columns;
  return divide_up(windows.filters, columns) * columns * windows.channels * values;
}

void spread_filters(const Windows& windows, const float* weights, const float* factors,
                    std::int64_t panel, float* spread) {
  const Gathering grid = grid_of(windows);
  const WinogradWeights spreading(grid);
  float* const target = spread + panel * spreading.panel_size();
  spreading.spread(weights, panel, target);
  if (!factors) return;
  const std::int64_t lanes = panels().columns, first = panel * lanes;
  const std::int64_t used = std::min(lanes, windows.filters - first);
  for (std::int64_t i = 0; i < values * windows.channels; ++i)
    for (std::int64_t lane = 0; lane < used; ++lane)
      target[i * lanes + lane] *= factors[first + lane];
}

std::int64_t winograd_tiles(const Windows& windows) {
  const std::int64_t side = side_of(windows);
  return windows.count * divide_up(windows.result[1], side) * divide_up(windows.result[2], side);
}

void run_pixel_winograd(const PixelConvolution& work, Range tiles, Range panels,
                        const PixelConvolutionPass::Epilogue& epilogue) {
  Task(work, epilogue).run(tiles, panels);
}

}  // namespace afterglow::kernels
