// SPDX-License-Identifier: Apache-2.0
#include "kernels/winograd.h"

#include <algorithm>
#include <array>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// What a tile sees, along an axis, and the numbers that it becomes.
constexpr std::int64_t seen = 6, values = seen * seen;
/// The value that each place of a result gets once: that at 1 and 1.
constexpr std::int64_t plain_value = seen + 1;
/// Tiles that are worked on together at most: they meet the same weights, in the nearer caches.
constexpr std::int64_t most_tiles = 48;
/// Channels whose weights are spread out together.
constexpr std::int64_t chunk_channels = 32;

const PanelFunctions<float>& panels() {
  return real_functions<float>().panels;
}

std::int64_t whole_vectors(std::int64_t lanes) {
  return divide_up(lanes, panels().width) * panels().width;
}

/// Along an axis: of a window, and of the places that a tile gives.
struct Form {
  std::int64_t taps, side;
  const WinogradFunctions& functions;
};

Form form_of(const Gathering& grid) {
  if (grid.taps.size() == 9) return {3, 4, kernel_table().winograd};
  return {5, 2, kernel_table().large_winograd};
}

/// From one of the values of tiles to the next; they do not all meet in one place of the cache.
std::int64_t value_step(std::int64_t tiles, std::int64_t lanes) {
  return tiles * lanes + 16;
}

Space least_offset(const Gathering& grid) {
  Space least = grid.taps[0].offset;
  for (const Gathering::Tap& tap : grid.taps)
    for (std::size_t axis = 0; axis < 3; ++axis)
      least[axis] = std::min(least[axis], tap.offset[axis]);
  return least;
}

/// Places [top, bottom) x [left, right) of a plane.
struct Area {
  std::int64_t top, bottom, left, right;

  std::int64_t width() const { return right - left; }
  std::int64_t size() const { return (bottom - top) * width(); }
  bool has(std::int64_t y, std::int64_t x) const {
    return top <= y && y < bottom && left <= x && x < right;
  }
  std::int64_t place(std::int64_t y, std::int64_t x) const {
    return (y - top) * width() + x - left;
  }
};

/// Copies an area of planes of some extents, from or to channels side by side.
void move_area(const Area& area, const Space& extents, float* planes, std::int64_t channels,
               float* vectors, std::int64_t lanes, bool to_planes) {
  const MoveFunction move = move_function(DType::float32);
  const bool is_whole = area.width() == extents[2];
  const std::int64_t rows = is_whole ? 1 : area.bottom - area.top, count = area.size() / rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Matrix apart = {planes + (area.top + row) * extents[2] + area.left, 1,
                          places_in(extents)};
    const Matrix together = {vectors + row * count * lanes, lanes, 1};
    to_planes ? move(together, apart, count, channels) : move(apart, together, count, channels);
  }
}

/// Of so many the part that is taken at once, `most` at most: parts are about equally large.
std::int64_t divide_evenly(std::int64_t count, std::int64_t most) {
  return divide_up(count, divide_up(count, std::max<std::int64_t>(1, most)));
}

/// Tiles of several images, in bands that are worked on one after the other.
class Bands {
 public:
  Bands(const Gathering& grid, std::int64_t images)
      : images_(images),
        rows_(divide_up(grid.grid[1], form_of(grid).side)),
        columns_(divide_up(grid.grid[2], form_of(grid).side)),
        images_together_(divide_evenly(images, most_tiles / (rows_ * columns_))),
        row_bands_(divide_up(rows_, std::clamp<std::int64_t>(most_tiles / columns_, 1, rows_))),
        column_bands_(divide_up(columns_, most_tiles)) {}

  std::int64_t count() const {
    return divide_up(images_, images_together_) * row_bands_ * column_bands_;
  }
  /// Of one image in a band at most.
  Area largest() const {
    return {0, divide_up(rows_, row_bands_), 0, divide_up(columns_, column_bands_)};
  }
  std::int64_t images_together() const { return images_together_; }

  struct Band {
    std::int64_t first, last;  ///< images
    Area tiles;                ///< of each

    std::int64_t count() const { return (last - first) * tiles.size(); }
  };
  Band operator[](std::int64_t number) const {
    const std::int64_t x = number % column_bands_, y = number / column_bands_ % row_bands_;
    const std::int64_t first = number / column_bands_ / row_bands_ * images_together_;
    return {first,
            std::min(images_, first + images_together_),
            {rows_ * y / row_bands_, rows_ * (y + 1) / row_bands_, columns_ * x / column_bands_,
             columns_ * (x + 1) / column_bands_}};
  }

 private:
  std::int64_t images_, rows_, columns_, images_together_, row_bands_, column_bands_;
};

/// Channels of images, and the squares of `extent` places, `side` apart, that tiles see of them.
class Spreading {
 public:
  Spreading(const float* planes, std::int64_t image_step, const Space& extents,
            std::int64_t channels, std::int64_t side, std::int64_t extent, std::int64_t top,
            std::int64_t left, SquareFunction spread)
      : planes_(const_cast<float*>(planes)),  // read only
        image_step_(image_step),
        extents_(extents),
        channels_(channels),
        side_(side),
        extent_(extent),
        top_(top),
        left_(left),
        spread_(spread) {}

  std::int64_t lanes() const { return whole_vectors(channels_); }
  /// What is needed for the channels of a band, side by side.
  std::int64_t room(const Area& tiles) const {
    const std::int64_t more = extent_ - side_;
    return ((tiles.bottom - tiles.top) * side_ + more) * (tiles.width() * side_ + more) * lanes();
  }

  void run(const Bands::Band& band, const float* zeros, float* vectors, float* target) const {
    const Area& tiles = band.tiles;
    const Area area = {clamped(tiles.top * side_ + top_, 1),
                       clamped((tiles.bottom - 1) * side_ + extent_ + top_, 1),
                       clamped(tiles.left * side_ + left_, 2),
                       clamped((tiles.right - 1) * side_ + extent_ + left_, 2)};
    const std::int64_t step = value_step(band.count(), lanes());
    for (std::int64_t image = band.first; image < band.last; ++image) {
      if (area.size())
        move_area(area, extents_, planes_ + image * image_step_, channels_, vectors, lanes(),
                  false);
      for (std::int64_t y = tiles.top; y < tiles.bottom; ++y) {
        for (std::int64_t x = tiles.left; x < tiles.right; ++x, target += lanes()) {
          std::array<const float*, values> from;
          std::array<float*, values> to;
          for (std::int64_t i = 0; i < extent_ * extent_; ++i) {
            const std::int64_t place_y = y * side_ + i / extent_ + top_,
                               place_x = x * side_ + i % extent_ + left_;
            from[static_cast<std::size_t>(i)] =
                area.has(place_y, place_x) ? vectors + area.place(place_y, place_x) * lanes()
                                           : zeros;
          }
          for (std::int64_t i = 0; i < values; ++i)
            to[static_cast<std::size_t>(i)] = target + i * step;
          spread_(from.data(), to.data(), channels_);
        }
      }
    }
  }

 private:
  std::int64_t clamped(std::int64_t place, std::size_t axis) const {
    return std::clamp<std::int64_t>(place, 0, extents_[axis]);
  }

  float* planes_;
  std::int64_t image_step_;
  Space extents_;
  std::int64_t channels_, side_, extent_, top_, left_;
  SquareFunction spread_;
};

Spreading spreading_of_images(const Gathering& grid, const float* planes, std::int64_t image_step,
                              std::int64_t channels) {
  const Space least = least_offset(grid);
  const Form form = form_of(grid);
  return {planes,   image_step, grid.source,
          channels, form.side,  seen,
          least[1], least[2],   form.functions.spread_image};
}

class Task {
 public:
  explicit Task(const GridWork<float>& work)
      : work_(work),
        grid_(work.grid),
        form_(form_of(grid_)),
        bands_(grid_, work.images),
        images_(spreading_of_images(grid_, work.source, work.source_step, grid_.depth)) {}

  void run() {
    const Area tiles = bands_.largest();
    const std::int64_t count = bands_.images_together() * tiles.size(), lanes = panels().columns;
    const std::int64_t source = images_.room(tiles),
                       target = count * form_.side * form_.side * lanes;
    const std::int64_t left = values * value_step(count, images_.lanes()),
                       sums = values * value_step(count, lanes);
    Room<float> room({source, left, sums, target, images_.lanes(), lanes});
    source_ = room.take(source);
    left_ = room.take(left);
    sums_ = room.take(sums);
    target_ = room.take(target);
    zeros_ = room.take(images_.lanes());
    nowhere_ = room.take(lanes);
    std::fill_n(zeros_, images_.lanes(), 0.0f);
    for (std::int64_t band = 0; band < bands_.count(); ++band) run_band(bands_[band]);
  }

 private:
  void run_band(const Bands::Band& band) {
    images_.run(band, zeros_, source_, left_);
    const Area& tiles = band.tiles;
    const std::int64_t side = form_.side;
    const Area places = {tiles.top * side, std::min(tiles.bottom * side, grid_.grid[1]),
                         tiles.left * side, std::min(tiles.right * side, grid_.grid[2])};
    const std::int64_t lanes = panels().columns;
    for (std::int64_t row = work_.row_begin; row < work_.row_end; row += lanes) {
      const std::int64_t rows = std::min(lanes, work_.row_end - row);
      multiply(row, rows, band.count());
      gather_results(band, places, rows);
      store(band, places, row, rows);
    }
  }

  void multiply(std::int64_t row, std::int64_t rows, std::int64_t tiles) {
    const PanelFunctions<float>& functions = panels();
    const std::int64_t lanes = functions.columns, depth = grid_.depth;
    const std::int64_t left_step = value_step(tiles, images_.lanes()),
                       sum_step = value_step(tiles, lanes);
    const float* weights = work_.weights + (row - work_.row_begin) / lanes * values * depth * lanes;
    if (work_.bias)
      for (std::int64_t tile = 0; tile < tiles; ++tile)
        std::copy_n(work_.bias + row, rows, sums_ + plain_value * sum_step + tile * lanes);
    const std::int64_t groups = divide_up(tiles, functions.rows);
    for (std::int64_t value = 0; value < values; ++value, weights += depth * lanes) {
      for (std::int64_t group = 0; group < groups; ++group) {
        const std::int64_t begin = tiles * group / groups, end = tiles * (group + 1) / groups;
        functions.product({.depth = depth,
                           .a = left_ + value * left_step + begin * images_.lanes(),
                           .b = weights,
                           .c = sums_ + value * sum_step + begin * lanes,
                           .c_stride = lanes,
                           .rows = static_cast<int>(end - begin),
                           .columns = static_cast<int>(rows),
                           .add = work_.bias && value == plain_value,
                           .a_row = images_.lanes(),
                           .a_step = 1});
      }
    }
  }

  void gather_results(const Bands::Band& band, const Area& places, std::int64_t rows) {
    const std::int64_t lanes = panels().columns, step = value_step(band.count(), lanes);
    const std::int64_t side = form_.side;
    const float* source = sums_;
    for (std::int64_t image = band.first; image < band.last; ++image) {
      float* const target = target_ + (image - band.first) * places.size() * lanes;
      for (std::int64_t y = band.tiles.top; y < band.tiles.bottom; ++y) {
        for (std::int64_t x = band.tiles.left; x < band.tiles.right; ++x, source += lanes) {
          std::array<const float*, values> from;
          std::array<float*, values> to;
          for (std::int64_t i = 0; i < values; ++i)
            from[static_cast<std::size_t>(i)] = source + i * step;
          for (std::int64_t i = 0; i < side * side; ++i) {
            const std::int64_t place_y = y * side + i / side, place_x = x * side + i % side;
            to[static_cast<std::size_t>(i)] = places.has(place_y, place_x)
                                                  ? target + places.place(place_y, place_x) * lanes
                                                  : nowhere_;
          }
          form_.functions.gather_result(from.data(), to.data(), rows);
        }
      }
    }
  }

  void store(const Bands::Band& band, const Area& places, std::int64_t row,
             std::int64_t rows) const {
    const std::int64_t lanes = panels().columns, width = grid_.grid[2];
    for (std::int64_t image = band.first; image < band.last; ++image) {
      float* const planes = work_.target + image * work_.target_step +
                            row * places_in(grid_.target) + target_place(grid_, 0, 0, 0);
      move_area(places, grid_.target, planes, rows,
                target_ + (image - band.first) * places.size() * lanes, lanes, true);
      if (places.width() == width) {
        work_.complete(image, row, row + rows, places.top * width, places.bottom * width);
      } else {
        for (std::int64_t y = places.top; y < places.bottom; ++y)
          work_.complete(image, row, row + rows, y * width + places.left, y * width + places.right);
      }
    }
  }

  const GridWork<float>& work_;
  const Gathering& grid_;
  const Form form_;
  const Bands bands_;
  const Spreading images_;
  float *source_ = nullptr, *left_ = nullptr, *sums_ = nullptr, *target_ = nullptr;
  float *zeros_ = nullptr, *nowhere_ = nullptr;  ///< around images and results
};

}  // namespace

std::int64_t winograd_side(const Gathering& grid) {
  return form_of(grid).side;
}

bool winograd_pays(const Gathering& grid, std::int64_t images) {
  constexpr Space one = {1, 1, 1};
  constexpr std::int64_t fewest_channels = 16, most_weights = 1 << 24;
  if (grid.step != one || grid.spread != one || (grid.taps.size() != 9 && grid.taps.size() != 25) ||
      grid.source[0] != 1 || grid.target[0] != 1 || grid.grid[2] != grid.target[2] ||
      grid.depth < fewest_channels || grid.rows < fewest_channels ||
      grid.depth * grid.rows * values > most_weights)
    return false;
  const Form form = form_of(grid);
  const Space least = least_offset(grid);
  for (const Gathering::Tap& tap : grid.taps)
    if (tap.offset[0] != 0 || tap.offset[1] - least[1] >= form.taps ||
        tap.offset[2] - least[2] >= form.taps)
      return false;
  // In multiplications; what spreading and gathering a number takes is about as long as so many.
  constexpr double moving = 5;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double weights = real(grid.depth * grid.rows);
  const double tiles =
      real(images * divide_up(grid.grid[1], form.side) * divide_up(grid.grid[2], form.side)) *
      values;
  return (tiles + moving * values) * weights + moving * tiles * real(grid.depth + grid.rows) <
         0.8 * real(images * places_in(grid.grid) * form.taps * form.taps) * weights;
}

bool winograd_rows_apart(const Gathering& grid, std::int64_t images) {
  constexpr std::int64_t enough_panels = 8;
  const std::int64_t side = winograd_side(grid);
  const std::int64_t tiles = images * divide_up(grid.grid[1], side) * divide_up(grid.grid[2], side);
  return WinogradWeights(grid).panels() >= enough_panels && grid.rows > 2 * tiles;
}

WinogradWeights::WinogradWeights(const Gathering& grid)
    : grid_(grid), panels_(divide_up(grid.rows, kernels::panels().columns)) {}

std::int64_t WinogradWeights::panel_size() const {
  return values * grid_.depth * kernels::panels().columns;
}

void WinogradWeights::spread(const float* weights, std::int64_t panel, float* target) const {
  const std::int64_t lanes = kernels::panels().columns, row = panel * lanes,
                     rows = std::min(lanes, grid_.rows - row);
  const Space least = least_offset(grid_);
  const Form form = form_of(grid_);
  const std::int64_t taps = form.taps;
  const std::int64_t turned_size = chunk_channels * taps * taps * lanes;
  Room<float> room({turned_size});
  float* const turned = room.take(turned_size);
  if (rows < lanes) std::fill_n(turned, turned_size, 0.0f);
  const MoveFunction move = move_function(DType::float32);
  float* const source = const_cast<float*>(weights) + row * grid_.row_step;  // read only
  for (std::int64_t begin = 0; begin < grid_.depth; begin += chunk_channels) {
    const std::int64_t end = std::min(grid_.depth, begin + chunk_channels);
    const bool in_order = grid_.depth_step == taps * taps;
    const std::int64_t together = in_order ? end - begin : 1;
    for (std::int64_t channel = begin; channel < end; channel += together)
      move({source + channel * grid_.depth_step, 1, grid_.row_step},
           {turned + (channel - begin) * taps * taps * lanes, lanes, 1}, together * taps * taps,
           rows);
    for (std::int64_t channel = begin; channel < end; ++channel) {
      std::array<const float*, values> from;
      std::array<float*, values> to;
      for (const Gathering::Tap& tap : grid_.taps)
        from[static_cast<std::size_t>((tap.offset[1] - least[1]) * taps + tap.offset[2] -
                                      least[2])] =
            turned + ((channel - begin) * taps * taps + tap.weight) * lanes;
      for (std::int64_t value = 0; value < values; ++value)
        to[static_cast<std::size_t>(value)] = target + (value * grid_.depth + channel) * lanes;
      form.functions.spread_weights(from.data(), to.data(), lanes);
    }
  }
}

void run_winograd(const GridWork<float>& work) {
  Task(work).run();
}

WinogradGradient::WinogradGradient(const Gathering& grid, std::int64_t images)
    : grid_(grid), images_(images), bands_(Bands(grid, images).count()) {}

void WinogradGradient::run(const Work& work) const {
  const PanelFunctions<float>& functions = panels();
  const Form form = form_of(grid_);
  const std::int64_t taps = form.taps;
  const Bands bands(grid_, images_);
  const Spreading images = spreading_of_images(grid_, work.images, work.image_step, work.channels);
  const Spreading results(work.results, work.result_step, grid_.target, work.filters, form.side,
                          form.side, 0, 0, form.functions.spread_gradient);
  const Area tiles = bands.largest();
  const std::int64_t count = bands.images_together() * tiles.size();
  const std::int64_t channels = images.lanes(), filters = results.lanes();
  const std::int64_t most_lanes = std::max(channels, filters);
  const std::int64_t vectors = std::max(images.room(tiles), results.room(tiles));
  const std::int64_t right_size = values * value_step(count, channels),
                     left_size = values * value_step(count, filters);
  const std::int64_t sum_step = value_step(filters, channels);
  Room<float> room(
      {vectors, left_size, right_size, values * sum_step, most_lanes, taps * taps * channels});
  float *const planes = room.take(vectors), *const left = room.take(left_size),
               *const right = room.take(right_size), *const sums = room.take(values * sum_step),
               *const zeros = room.take(most_lanes),
               *const turned = room.take(taps * taps * channels);
  std::fill_n(zeros, most_lanes, 0.0f);
  std::fill_n(sums, values * sum_step, 0.0f);
  const std::int64_t groups = divide_up(work.filters, functions.rows);
  for (std::int64_t number = work.first_band; number < work.last_band; ++number) {
    const Bands::Band band = bands[number];
    images.run(band, zeros, planes, right);
    results.run(band, zeros, planes, left);
    for (std::int64_t value = 0; value < values; ++value) {
      for (std::int64_t column = 0; column < work.channels; column += functions.columns) {
        for (std::int64_t group = 0; group < groups; ++group) {
          const std::int64_t begin = work.filters * group / groups,
                             end = work.filters * (group + 1) / groups;
          functions.product({.depth = band.count(),
                             .a = left + value * value_step(band.count(), filters) + begin,
                             .b = right + value * value_step(band.count(), channels) + column,
                             .c = sums + value * sum_step + begin * channels + column,
                             .c_stride = channels,
                             .rows = static_cast<int>(end - begin),
                             .columns = static_cast<int>(
                                 std::min<std::int64_t>(functions.columns, work.channels - column)),
                             .add = true,
                             .a_row = 1,
                             .a_step = filters,
                             .b_step = channels});
        }
      }
    }
  }
  const MoveFunction move = move_function(DType::float32);
  for (std::int64_t filter = 0; filter < work.filters; ++filter) {
    std::array<const float*, values> from;
    std::array<float*, values> to;
    for (std::int64_t i = 0; i < values; ++i)
      from[static_cast<std::size_t>(i)] = sums + i * sum_step + filter * channels;
    for (std::int64_t i = 0; i < taps * taps; ++i)
      to[static_cast<std::size_t>(i)] = turned + i * channels;
    form.functions.gather_weights(from.data(), to.data(), work.channels);
    move({turned, channels, 1}, {work.weights + filter * work.filter_step, 1, taps * taps},
         taps * taps, work.channels);
  }
}

}  // namespace afterglow::kernels
