// SPDX-License-Identifier: Apache-2.0
// Products of the weights with a matrix whose columns are what the windows see, which is never
// there as a whole: panels of it are packed from images with zeros around them.
#include "kernels/convolution.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "kernels/abreast.h"
#include "kernels/depthwise.h"
#include "kernels/grid_work.h"
#include "kernels/panel_gradient.h"
#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"
#include "kernels/winograd.h"

namespace afterglow::kernels {
namespace {

/// Steps of the sum between two looks at the target: so long a panel stays in the second cache.
constexpr std::int64_t most_depth = 384;
/// Columns that meet the same rows one after the other.
constexpr std::int64_t columns_together = 256;
/// Few rows are not worth packing.
constexpr std::int64_t fewest_rows = 3;
/// Operations of a share at least, where there are several, and at most.
constexpr double small_share = 4e6, large_share = 1e9;
/// Elements of images that a share prepares at once, but for a single row of places that needs
/// more.
constexpr std::int64_t most_elements = 1 << 19;
/// The same of gradients of weights, which read them several times.
constexpr std::int64_t most_turned = 1 << 18;
/// Rows of a block, where rows are divided.
constexpr std::int64_t fewest_in_block = 16;

/// Small blocks of work, such as single channels, are put together.
int shares_for(std::int64_t blocks, double operations) {
  constexpr std::int64_t enough = 16;
  const double wanted = static_cast<double>(blocks) * operations / small_share;
  return static_cast<int>(
      std::min(blocks, std::max(enough, static_cast<std::int64_t>(wanted) + 1)));
}

template <class Real>
constexpr DType dtype_of = sizeof(Real) == sizeof(float) ? DType::float32 : DType::float64;

template <class Real>
const PanelFunctions<Real>& panels() {
  return real_functions<Real>().panels;
}

}  // namespace

/// What taps find, for all places of a grid one behind the other, so that each tap reads on without
/// gaps. Taps that differ along the outermost axis share a lane: what the next row of places finds
/// there lies one row further. Rows of several images take turns. With gaps, taps that differ along
/// the innermost axis share a lane too, whose rows are longer than those of the grid.
class Lanes {
 public:
  Lanes(const Gathering& grid, std::int64_t images, bool gaps = false)
      : grid_(grid), outer_(grid.grid[0] > 1 ? 0 : 1), images_(images), line_(grid.grid[2]) {
    const auto least = [&](std::size_t axis) {
      std::int64_t found = grid.taps.empty() ? 0 : grid.taps[0].offset[axis];
      for (const Gathering::Tap& tap : grid.taps) found = std::min(found, tap.offset[axis]);
      return found;
    };
    const std::int64_t step = grid.step[outer_], first_row = least(outer_), first_column = least(2);
    constexpr Space one = {1, 1, 1};
    if (gaps) line_ += span(grid);
    is_dense_ = grid.spread == one && line_ == grid.grid[2];
    inner_ = line_ * (outer_ ? 1 : grid.grid[1]);
    struct Place {
      std::size_t lane;
      std::int64_t row, column;
    };
    std::vector<Place> places;
    for (const Gathering::Tap& tap : grid.taps) {
      const std::int64_t distance = tap.offset[outer_] - first_row, row = distance / step;
      Space offset = tap.offset;
      offset[outer_] = first_row + distance % step;
      if (gaps) offset[2] = first_column;
      const auto found = std::ranges::find(lanes_, offset, &Lane::offset);
      places.push_back(
          {static_cast<std::size_t>(found - lanes_.begin()), row, tap.offset[2] - offset[2]});
      if (found == lanes_.end()) lanes_.push_back({offset, 0, 0});
      Lane& lane = lanes_[places.back().lane];
      lane.rows = std::max(lane.rows, row + grid.grid[outer_]);
    }
    for (Lane& lane : lanes_) {
      lane.begin = plane_;
      plane_ += lane.rows * row();
    }
    for (const Place& place : places)
      taps_.push_back(lanes_[place.lane].begin + place.row * row() + place.column);
  }

  static bool can_have_gaps(const Gathering& grid) {
    constexpr std::int64_t widest = 16;
    return grid.grid[0] == 1 && grid.step[2] == 1 && span(grid) < widest;
  }
  /// Whether filling one lane instead of several spares more than multiplying what is in the gaps.
  static bool gaps_pay(const Gathering& grid, std::int64_t rows) {
    constexpr std::int64_t filling = 3;
    const auto taps = static_cast<std::int64_t>(grid.taps.size());
    return can_have_gaps(grid) && rows * taps < filling * grid.grid[2];
  }

  std::size_t outer() const { return outer_; }
  /// Of a channel.
  std::int64_t plane() const { return plane_; }
  /// Where the taps begin in it.
  const std::vector<std::int64_t>& taps() const { return taps_; }
  std::int64_t columns() const { return grid_.grid[outer_] * row(); }

  /// A channel of the images.
  template <class Real>
  void fill(const Real* source, std::int64_t image_step, Real* target) const {
    for (const Lane& lane : lanes_) {
      for (std::int64_t image = 0; image < images_; ++image) {
        const Real* const from = source + image * image_step;
        Real* const to = target + lane.begin + image * inner_;
        if (outer_) {
          fill_lines(from, lane.offset, lane.rows, to, row());
          continue;
        }
        for (std::int64_t z = 0; z < lane.rows; ++z) {
          Space offset = lane.offset;
          offset[0] += z * grid_.step[0];
          fill_lines(from, offset, grid_.grid[1], to + z * row(), line_);
        }
      }
    }
  }

  /// Places of the target that lie side by side, as far as they do.
  struct Run {
    std::int64_t image, place, column, count;
  };
  void find_runs(std::int64_t begin, std::int64_t end, std::vector<Run>& runs) const {
    runs.clear();
    if (is_dense_ && images_ == 1)
      return runs.push_back({0, target_place(grid_, 0, 0, 0) + begin, 0, end - begin});
    for (std::int64_t column = begin; column < end;) {
      const std::int64_t row = column / inner_, place = column % inner_;
      const std::int64_t outer = row / images_, x = place % line_, y = place / line_;
      const std::int64_t left = is_dense_ ? inner_ - place : line_ - x;
      const std::int64_t used = is_dense_ ? left : std::max<std::int64_t>(0, grid_.grid[2] - x);
      const std::int64_t count = std::min(used, end - column);
      if (count)
        runs.push_back(
            {row % images_,
             outer_ ? target_place(grid_, 0, outer, x) : target_place(grid_, outer, y, x),
             column - begin, count});
      column += std::min(left, end - column);
    }
  }

 private:
  /// With elements of one residue of the outer step.
  struct Lane {
    Space offset;  ///< of its first element
    std::int64_t rows, begin;
  };

  static std::int64_t span(const Gathering& grid) {
    std::int64_t least = 0, greatest = 0;
    for (const Gathering::Tap& tap : grid.taps) {
      const std::int64_t distance = tap.offset[2] - grid.taps[0].offset[2];
      least = std::min(least, distance);
      greatest = std::max(greatest, distance);
    }
    return greatest - least;
  }
  std::int64_t row() const { return images_ * inner_; }

  /// Lines of a plane, of which the first begins at `offset`.
  template <class Real>
  void fill_lines(const Real* source, const Space& offset, std::int64_t lines, Real* target,
                  std::int64_t target_stride) const {
    const Space& extents = grid_.source;
    // What of the grid meets the image along an axis.
    const auto meeting = [&](std::size_t axis, std::int64_t count) -> Range {
      const std::int64_t step = grid_.step[axis], first = offset[axis], end = extents[axis];
      const std::int64_t begin = std::min(count, first < 0 ? divide_up(-first, step) : 0);
      return {begin, first < end ? std::clamp(divide_up(end - first, step), begin, count) : begin};
    };
    const Range x = meeting(2, line_);
    Range y = meeting(1, lines);
    if (offset[0] < 0 || offset[0] >= extents[0] || x.begin == x.end) y.end = y.begin;
    const auto pad = [&](std::int64_t first, std::int64_t last) {
      panels<Real>().pad_lines({.source = nullptr,
                                .source_stride = 0,
                                .lines = last - first,
                                .step = 1,
                                .before = line_,
                                .count = 0,
                                .after = 0,
                                .target = target + first * target_stride,
                                .target_stride = target_stride});
    };
    pad(0, y.begin);
    const std::int64_t first_line =
        (offset[0] * extents[1] + offset[1] + y.begin * grid_.step[1]) * extents[2];
    panels<Real>().pad_lines({.source = source + first_line + offset[2] + x.begin * grid_.step[2],
                              .source_stride = grid_.step[1] * extents[2],
                              .lines = y.end - y.begin,
                              .step = grid_.step[2],
                              .before = x.begin,
                              .count = x.end - x.begin,
                              .after = line_ - x.end,
                              .target = target + y.begin * target_stride,
                              .target_stride = target_stride});
    pad(y.end, lines);
  }

  const Gathering& grid_;
  const std::size_t outer_;
  const std::int64_t images_;
  std::int64_t line_;   ///< places of a row, with the gap
  bool is_dense_;       ///< whether columns lie side by side in the target
  std::int64_t inner_;  ///< of an image before it is the next one's turn
  std::int64_t plane_ = 0;
  std::vector<Lane> lanes_;
  std::vector<std::int64_t> taps_;
};

namespace {

/// Of one image and group.
double operations_of(const Gathering& grid) {
  return 2.0 * static_cast<double>(places_in(grid.grid) * grid.rows * grid.depth) *
         static_cast<double>(grid.taps.size());
}

/// Elements of an image that a share has beside it.
using Elements = std::int64_t (*)(const Gathering& grid);
std::int64_t turned_elements(const Gathering& grid) {
  return grid.depth * pixels_seen(grid);
}
std::int64_t lane_plane(const Gathering& grid) {
  return Lanes(grid, 1).plane();
}
std::int64_t lane_elements(const Gathering& grid) {
  return grid.depth * lane_plane(grid);
}

/// The grid in slabs along its outermost axes: large images are not prepared as a whole, and a
/// share of them does not take long. Slabs begin with multiples of `unit`.
void add_slabs(const Gathering& grid, Elements elements, std::int64_t most, const Space& unit,
               std::vector<Gathering>& slabs) {
  std::size_t axis = 0;
  while (axis < 2 && grid.grid[axis] == 1) ++axis;
  const std::int64_t extent = grid.grid[axis], units = divide_up(extent, unit[axis]);
  const double most_operations =
      large_share * static_cast<double>(divide_up(grid.rows, fewest_in_block));
  const std::int64_t count =
      std::max(divide_up(elements(grid), most),
               static_cast<std::int64_t>(operations_of(grid) / most_operations) + 1);
  if (count == 1 || (axis == 2 && units == 1)) return slabs.push_back(grid);
  for (std::int64_t number = 0; number < std::min(count, units); ++number) {
    const std::int64_t begin = units * number / std::min(count, units) * unit[axis];
    Gathering slab = grid;
    slab.grid[axis] =
        std::min(extent, units * (number + 1) / std::min(count, units) * unit[axis]) - begin;
    slab.start[axis] += begin * grid.spread[axis];
    for (Gathering::Tap& tap : slab.taps) tap.offset[axis] += begin * grid.step[axis];
    // One row of places may still be large.
    if (slab.grid[axis] == 1 && axis < 2)
      add_slabs(slab, elements, most, unit, slabs);
    else
      slabs.push_back(std::move(slab));
  }
}

/// Images whose places do not fill panels of so many columns go together, unless they are large.
bool go_together(const Gathering& grid, std::int64_t columns) {
  constexpr std::int64_t many_places = 1024;
  return places_in(grid.grid) % columns != 0 && places_in(grid.grid) < many_places;
}

/// Vectors of images of a share that go abreast: two where one has too few sums to keep two units
/// busy, and there are enough shares.
std::int64_t vectors_abreast(std::int64_t rows, std::int64_t images, std::int64_t width) {
  constexpr std::int64_t enough_rows = 7, enough_shares = 4;
  return rows < enough_rows && images >= 2 * enough_shares * width ? 2 : 1;
}

/// Whether all grids go Winograd's way. Those of which some do not are left together.
bool all_pay_winograd(std::span<const Gathering> grids, std::int64_t images, std::int64_t width) {
  double operations = 0;
  for (const Gathering& grid : grids) operations += operations_of(grid);
  // What remains of these where images can go abreast.
  const double share = AbreastGrids::fit(grids, images, width)
                           ? multiplications_inside(grids) / (operations / 2)
                           : 1;
  return std::ranges::all_of(grids, [&](const Gathering& grid) {
    return places_in(grid.grid) && winograd_pays(grid, images, share * operations_of(grid) / 2);
  });
}

/// Whether images should go abreast, in vectors, rather than their places.
bool abreast_pays(std::span<const Gathering> grids, std::int64_t images, std::int64_t width,
                  std::int64_t panel_rows) {
  if (!AbreastGrids::fit(grids, images, width)) return false;
  // As long as so many multiplications takes it to turn an element, to begin a line of a lane, to
  // copy an element there, and to bring one from a tile to its place.
  constexpr double turning = 16, beginning = 150, copying = 3, bringing = 60;
  // With fewer sums each multiplication waits for the one before.
  constexpr double enough_sums = 5;
  constexpr Space one = {1, 1, 1};
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const Gathering& first = grids[0];
  const std::int64_t rows = std::min(first.rows, panel_rows);
  const double sums = real(rows * vectors_abreast(rows, images, width));
  const double abreast =
      multiplications_inside(grids) * std::max(1.0, enough_sums / sums) *
          real(divide_up(images, width) * width) / real(images) +
      turning * real(first.depth * places_in(first.source) + first.rows * places_in(first.target));
  double lanes = 0;
  for (const Gathering& grid : grids) {
    lanes += operations_of(grid) / 2;
    if (!places_in(grid.grid)) continue;
    lanes += real(lane_elements(grid)) * (copying + beginning / real(grid.grid[2]));
    if (grid.spread != one || go_together(grid, 2 * width))
      lanes += bringing * real(grid.rows * places_in(grid.grid));
  }
  return abreast < lanes;
}

/// The taps of a filter, in the order of its weights.
std::vector<Gathering::Tap> all_taps(const Windows& windows) {
  std::vector<Gathering::Tap> taps;
  std::int64_t weight = 0;
  for (std::int64_t z = 0; z < windows.kernel[0]; ++z)
    for (std::int64_t y = 0; y < windows.kernel[1]; ++y)
      for (std::int64_t x = 0; x < windows.kernel[2]; ++x)
        taps.push_back(
            {weight++,
             {z * windows.dilate[0] - windows.pad[0], y * windows.dilate[1] - windows.pad[1],
              x * windows.dilate[2] - windows.pad[2]}});
  return taps;
}

/// A window of one place that meets every element once: rows do not matter.
void flatten(Gathering& grid) {
  constexpr Space zero = {0, 0, 0}, one = {1, 1, 1};
  if (grid.taps.size() != 1 || grid.taps[0].offset != zero || grid.step != one ||
      grid.source != grid.grid || grid.target != grid.grid)
    return;
  grid.source = grid.grid = grid.target = {1, 1, places_in(grid.grid)};
}

Gathering convolution_grid(const Windows& windows) {
  const std::int64_t weights = places_in(windows.kernel);
  Gathering grid = {.source = windows.image,
                    .grid = windows.result,
                    .step = windows.stride,
                    .target = windows.result,
                    .start = {0, 0, 0},
                    .spread = {1, 1, 1},
                    .taps = all_taps(windows),
                    .rows = windows.filters,
                    .depth = windows.channels,
                    .row_step = windows.channels * weights,
                    .depth_step = weights};
  flatten(grid);
  return grid;
}

/// One for each residue of the stride: which taps meet an element depends on it.
std::vector<Gathering> transposed_grids(const Windows& windows) {
  const std::int64_t weights = places_in(windows.kernel);
  std::vector<Gathering> grids;
  const Space& stride = windows.stride;
  for (std::int64_t z = 0; z < std::min(stride[0], windows.image[0]); ++z) {
    for (std::int64_t y = 0; y < std::min(stride[1], windows.image[1]); ++y) {
      for (std::int64_t x = 0; x < std::min(stride[2], windows.image[2]); ++x) {
        const Space start = {z, y, x};
        Gathering grid = {.source = windows.result,
                          .grid = {},
                          .step = {1, 1, 1},
                          .target = windows.image,
                          .start = start,
                          .spread = stride,
                          .taps = {},
                          .rows = windows.channels,
                          .depth = windows.filters,
                          .row_step = weights,
                          .depth_step = windows.channels * weights};
        for (int axis = 0; axis < 3; ++axis)
          grid.grid[axis] = divide_up(windows.image[axis] - start[axis], stride[axis]);
        for (const Gathering::Tap& tap : all_taps(windows)) {
          bool meets = true;
          Space offset;
          for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t distance = start[axis] - tap.offset[axis];
            meets = meets && distance % stride[axis] == 0;
            offset[axis] = distance / stride[axis];
          }
          if (meets) grid.taps.push_back({tap.weight, offset});
        }
        flatten(grid);
        grids.push_back(std::move(grid));
      }
    }
  }
  return grids;
}

/// A few rows: each is a filter over what the taps find.
template <class Real>
class FilterTask {
 public:
  explicit FilterTask(const GridWork<Real>& work)
      : work_(work),
        grid_(work.grid),
        taps_(static_cast<std::int64_t>(grid_.taps.size())),
        lanes_(grid_, 1, Lanes::can_have_gaps(grid_)) {}

  void run() const {
    const std::int64_t depth = grid_.depth * taps_, size = grid_.depth * lanes_.plane();
    const std::int64_t columns = lanes_.columns(), plane = places_in(grid_.source);
    Room<Real> room({size, columns, depth});
    Real *const found = room.take(size), *const sums = room.take(columns),
                *const weights = room.take(depth);
    std::vector<std::int64_t> offsets;
    for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
      for (const std::int64_t tap : lanes_.taps())
        offsets.push_back(channel * lanes_.plane() + tap);
    std::vector<Lanes::Run> runs;
    lanes_.find_runs(0, columns, runs);
    for (std::int64_t row = work_.row_begin; row < work_.row_end; ++row) {
      for (std::int64_t i = 0; i < depth; ++i)
        weights[i] = work_.weights[row * grid_.row_step + i / taps_ * grid_.depth_step +
                                   grid_.taps[static_cast<std::size_t>(i % taps_)].weight];
      for (std::int64_t image = 0; image < work_.images; ++image) {
        const Real* const source = work_.source + image * work_.source_step;
        for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
          lanes_.fill(source + channel * plane, 0, found + channel * lanes_.plane());
        panels<Real>().filter(found, offsets.data(), weights, depth,
                              work_.bias ? work_.bias[row] : Real(0), columns, sums);
        store(runs, sums, work_.target + image * work_.target_step + row * places_in(grid_.target));
        work_.complete(image, row, row + 1, 0, places_in(grid_.grid));
      }
    }
  }

 private:
  void store(const std::vector<Lanes::Run>& runs, const Real* sums, Real* target) const {
    const std::int64_t spread = grid_.spread[2];
    if (spread == 1 && (runs.size() == 1 || grid_.grid[0] == 1)) {
      // Runs are equally long and equally far from each other.
      const std::int64_t far = std::ssize(runs) > 1;
      return panels<Real>().pad_lines({.source = sums,
                                       .source_stride = far ? runs[1].column - runs[0].column : 0,
                                       .lines = std::ssize(runs),
                                       .step = 1,
                                       .before = 0,
                                       .count = runs[0].count,
                                       .after = 0,
                                       .target = target + runs[0].place,
                                       .target_stride = far ? runs[1].place - runs[0].place : 0});
    }
    for (const Lanes::Run& run : runs)
      for (std::int64_t i = 0; i < run.count; ++i)
        target[run.place + i * spread] = sums[run.column + i];
  }

  const GridWork<Real>& work_;
  const Gathering& grid_;
  const std::int64_t taps_;
  const Lanes lanes_;
};

/// The weights of a group in panels: some rows for each step of the sum. A step is a tap of a
/// channel; those of a tap follow each other, or those of a channel.
class PanelWeights {
 public:
  explicit PanelWeights(const Gathering& grid, std::int64_t panel_rows, bool by_taps = false)
      : grid_(grid),
        panel_rows_(panel_rows),
        together_(by_taps ? grid.depth : 1),
        depth_(grid.depth * static_cast<std::int64_t>(grid.taps.size())) {}

  std::int64_t panels() const { return divide_up(grid_.rows, panel_rows_); }
  /// Panels are about equally large.
  std::int64_t first_row(std::int64_t panel) const { return grid_.rows * panel / panels(); }
  std::int64_t panel_size() const { return depth_ * panel_rows_; }

  template <class Real>
  void pack(const Real* weights, std::int64_t panel, Real* target) const {
    const std::int64_t begin = first_row(panel), rows = first_row(panel + 1) - begin;
    const auto taps = static_cast<std::int64_t>(grid_.taps.size());
    auto* const source = const_cast<Real*>(weights) + begin * grid_.row_step;  // read only
    target += panel * panel_size();
    bool in_order = grid_.depth_step == taps && together_ == 1;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      in_order = in_order && grid_.taps[static_cast<std::size_t>(tap)].weight == tap;
    const MoveFunction move = move_function(dtype_of<Real>);
    if (in_order) return move({source, 1, grid_.row_step}, {target, panel_rows_, 1}, depth_, rows);
    for (std::int64_t first = 0; first < grid_.depth; first += together_) {
      const std::int64_t last = std::min(grid_.depth, first + together_);
      for (const Gathering::Tap& tap : grid_.taps) {
        for (std::int64_t channel = first; channel < last; ++channel, target += panel_rows_) {
          const Real* const from = source + channel * grid_.depth_step + tap.weight;
          for (std::int64_t row = 0; row < rows; ++row) target[row] = from[row * grid_.row_step];
        }
      }
    }
  }

 private:
  const Gathering& grid_;
  const std::int64_t panel_rows_, together_ /* channels of a tap */, depth_;
};

/// The product of packed weights with a matrix whose columns are what the windows see.
template <class Real>
class PanelTask {
 public:
  explicit PanelTask(const GridWork<Real>& work)
      : work_(work),
        grid_(work.grid),
        weights_(grid_, panels<Real>().rows),
        depth_(grid_.depth * static_cast<std::int64_t>(grid_.taps.size())),
        width_(panels<Real>().gathered_columns(divide_up(grid_.rows, weights_.panels()))) {}

  void run() {
    constexpr Space one = {1, 1, 1};
    const std::int64_t places = places_in(grid_.grid);
    const bool apart = !go_together(grid_, panels<Real>().columns);
    const bool gaps = Lanes::gaps_pay(grid_, work_.row_end - work_.row_begin);
    const bool in_order = apart && !gaps;
    const std::int64_t together = apart ? 1 : work_.images;
    const Lanes lanes(grid_, together, gaps);
    const std::int64_t size = grid_.depth * lanes.plane();
    const std::int64_t tile = std::int64_t{panels<Real>().rows} * columns_together;
    Room<Real> room({size, tile});
    Real* const found = room.take(size);
    tile_ = room.take(tile);
    for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
      for (const std::int64_t tap : lanes.taps())
        sources_.push_back(found + channel * lanes.plane() + tap);
    for (std::int64_t image = 0; image < work_.images; image += together) {
      for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
        lanes.fill(work_.source + image * work_.source_step + channel * places_in(grid_.source),
                   work_.source_step, found + channel * lanes.plane());
      for (std::int64_t begin = 0; begin < lanes.columns(); begin += columns_together) {
        const std::int64_t end = std::min(lanes.columns(), begin + columns_together);
        grid_.spread == one&& in_order ? multiply(lanes, image, begin, end)
                                       : multiply_apart(lanes, image, begin, end);
        if (in_order) work_.complete(image, work_.row_begin, work_.row_end, begin, end);
      }
    }
    for (std::int64_t image = 0; !in_order && image < work_.images; ++image)
      work_.complete(image, work_.row_begin, work_.row_end, 0, places);
  }

 private:
  std::int64_t target_plane() const { return places_in(grid_.target); }

  /// Some columns of all rows, which lie side by side in the target.
  void multiply(const Lanes& lanes, std::int64_t image, std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = 0; !step || step < depth_; step += most_depth) {
      const std::int64_t steps = std::min(most_depth, depth_ - step);
      for_each_panel([&](std::int64_t panel, std::int64_t row, std::int64_t rows) {
        for (std::int64_t column = begin; column < end; column += width_) {
          lanes.find_runs(column, std::min(end, column + width_), runs_);
          run_tile(image, panel, row, rows, step, steps, column, std::min(width_, end - column));
        }
      });
    }
  }

  /// Columns that do not: they are brought to their places once.
  void multiply_apart(const Lanes& lanes, std::int64_t image, std::int64_t begin,
                      std::int64_t end) {
    for (std::int64_t column = begin; column < end; column += width_) {
      lanes.find_runs(column, std::min(end, column + width_), runs_);
      for_each_panel([&](std::int64_t panel, std::int64_t row, std::int64_t rows) {
        run_tile(image, panel, row, rows, 0, depth_, column, std::min(width_, end - column));
      });
    }
  }

  void for_each_panel(auto work) const {
    for (std::int64_t panel = work_.first_panel, row = work_.row_begin; row < work_.row_end;
         ++panel) {
      const std::int64_t next = weights_.first_row(panel + 1);
      work(panel, row, next - row);
      row = next;
    }
  }

  void run_tile(std::int64_t image, std::int64_t panel, std::int64_t row, std::int64_t rows,
                std::int64_t step, std::int64_t steps, std::int64_t column, std::int64_t columns) {
    const PanelFunctions<Real>& functions = panels<Real>();
    GatheredProduct<Real> product = {
        .depth = steps,
        .a = work_.weights + panel * weights_.panel_size() + step * functions.rows,
        .a_row = 1,
        .a_step = functions.rows,
        .sources = sources_.data() + step,
        .offset = column,
        .c = tile_,
        .c_stride = columns_together,
        .rows = static_cast<int>(rows),
        .columns = static_cast<int>(columns),
        .add = false};
    Real* const target = work_.target + image * work_.target_step + row * target_plane();
    if (runs_.size() == 1 && runs_[0].count == columns && columns % functions.width == 0 &&
        grid_.spread[2] == 1) {
      Real* const place = target + runs_[0].image * work_.target_step + runs_[0].place;
      const bool has_start = work_.bias && !step;
      for (std::int64_t i = 0; has_start && i < rows; ++i)
        std::fill_n(place + i * target_plane(), columns, work_.bias[row + i]);
      product.c = place;
      product.c_stride = target_plane();
      product.add = step > 0 || has_start;
      return functions.gathered_product(product);
    }
    functions.gathered_product(product);
    for (std::int64_t i = 0; i < rows; ++i)
      store(tile_ + i * columns_together, work_.bias ? work_.bias[row + i] : Real(0), step > 0,
            target + i * target_plane());
  }

  /// Adds a row of the tile to the target, or puts it there.
  void store(const Real* values, Real start, bool add, Real* target) const {
    const std::int64_t spread = grid_.spread[2];
    for (const Lanes::Run& run : runs_) {
      Real* const place = target + run.image * work_.target_step + run.place;
      const Real* const from = values + run.column;
      if (add) {
        for (std::int64_t i = 0; i < run.count; ++i) place[i * spread] += from[i];
      } else if (spread == 1) {
        for (std::int64_t i = 0; i < run.count; ++i) place[i] = start + from[i];
      } else {
        for (std::int64_t i = 0; i < run.count; ++i) place[i * spread] = start + from[i];
      }
    }
  }

  const GridWork<Real>& work_;
  const Gathering& grid_;
  const PanelWeights weights_;
  const std::int64_t depth_, width_;  ///< steps of the sums; columns of a tile
  Real* tile_ = nullptr;
  std::vector<const Real*> sources_;
  std::vector<Lanes::Run> runs_;
};

}  // namespace

double Windows::operations() const {
  constexpr double moving = 16;
  const auto pieces = [](std::int64_t number) { return static_cast<double>(number); };
  const double products =
      pieces(count * groups * filters * places_in(result)) * pieces(channels * places_in(kernel));
  return 2 * products + moving * pieces(count * groups) *
                            pieces(channels * places_in(image) + filters * places_in(result));
}

ConvolutionPass::ConvolutionPass(const Windows& windows, DType dtype, const void* images,
                                 const void* weights, const void* bias, void* results,
                                 Epilogue epilogue)
    : GatheringPass(windows, dtype, images, weights, bias, results, {convolution_grid(windows)},
                    std::move(epilogue), false) {}

TransposedConvolutionPass::TransposedConvolutionPass(const Windows& windows, DType dtype,
                                                     const void* results, const void* weights,
                                                     const void* bias, void* images)
    : GatheringPass(windows, dtype, results, weights, bias, images, transposed_grids(windows), {},
                    true) {}

GatheringPass::GatheringPass(const Windows& windows, DType dtype, const void* source,
                             const void* weights, const void* bias, void* target,
                             std::vector<Gathering> grids, Epilogue epilogue, bool is_transposed)
    : batch_(windows.count),
      groups_(windows.groups),
      dtype_(dtype),
      source_(source),
      weights_(weights),
      bias_(bias),
      target_(target),
      epilogue_(std::move(epilogue)) {
  if (!batch_ || !groups_ || !grids[0].rows) return;
  planes_ = is_transposed
                ? depthwise_transpose(windows, dtype, source, weights, bias, target)
                : depthwise_convolution(windows, dtype, source, weights, bias, target, epilogue_);
  if (planes_) {
    shares_ = planes_->shares();
    return;
  }
  if (grids[0].rows < fewest_rows || !grids[0].depth)
    way_ = Way::filter;
  else if (dtype == DType::float32 && all_pay_winograd(grids, batch_, vector_width()))
    way_ = Way::winograd;
  else if (abreast_pays(grids, batch_, vector_width(), panel_rows()))
    way_ = Way::abreast;
  const Elements elements = way_ == Way::winograd ? turned_elements : lane_elements;
  for (Gathering& grid : grids) {
    if (!places_in(grid.grid)) continue;
    grid.packed = packed_size_;
    packed_size_ += groups_ * panels_of(grid) * panel_size(grid);
    kinds_.push_back(grids_.size());
    if (way_ == Way::abreast)
      grids_.push_back(grid);
    else
      add_slabs(grid, elements, most_elements,
                way_ == Way::winograd ? winograd_unit(grid) : Space{1, 1, 1}, grids_);
  }
  if (grids_.empty()) return;
  // Enough images to fill some panels; rows are divided where there are few images.
  const Gathering& grid = grids_[0];
  const double operations = operations_of(grid);
  if (way_ == Way::winograd && grids_.size() == 1 && winograd_rows_apart(grid, batch_)) {
    rows_apart_ = true;
    row_blocks_ = panels_of(grid);
    blocks_ = groups_ * row_blocks_;
    shares_ = shares_for(
        blocks_, operations * static_cast<double>(batch_) / static_cast<double>(row_blocks_));
    return;
  }
  packed_.of_size(packed_size_ * static_cast<std::int64_t>(size_of(dtype)));
  constexpr std::int64_t enough_columns = 512, enough_shares = 8, even = 4;
  const std::int64_t most_images = std::clamp<std::int64_t>(
      most_elements / std::max<std::int64_t>(1, elements(grid)), 1, batch_);
  std::int64_t images = std::clamp<std::int64_t>(divide_up(enough_columns, places_in(grid.grid)), 1,
                                                 std::min(most_images, divide_up(batch_, 2)));
  while (images < most_images && operations * static_cast<double>(images) < small_share)
    images = std::min(most_images, 2 * images);
  if (way_ == Way::abreast) {
    abreast_ = std::make_unique<AbreastGrids>(grids_);
    image_unit_ = vector_width();
    const std::int64_t rows = std::min<std::int64_t>(grid.rows, panel_rows());
    images = vectors_abreast(rows, batch_, image_unit_) * image_unit_;
  }
  image_blocks_ = divide_up(batch_, images);
  // So that a few threads end at the same time.
  if (image_blocks_ > even)
    image_blocks_ = std::min(divide_up(batch_, image_unit_), divide_up(image_blocks_, even) * even);
  grid_blocks_ = way_ == Way::abreast ? 1 : std::ssize(grids_);
  const std::int64_t blocks = grid_blocks_ * image_blocks_ * groups_;
  const double block_operations = operations * static_cast<double>(images);
  std::int64_t wanted = divide_up(enough_shares, blocks);
  wanted = std::min(wanted, static_cast<std::int64_t>(block_operations / small_share) + 1);
  wanted = std::max(wanted, static_cast<std::int64_t>(block_operations / large_share) + 1);
  const std::int64_t in_block =
      way_ == Way::winograd ? 2 * panels<float>().columns : fewest_in_block;
  row_blocks_ = std::clamp<std::int64_t>(wanted, 1, divide_up(grid.rows, in_block));
  blocks_ = blocks * row_blocks_;
  shares_ = shares_for(blocks_, block_operations / static_cast<double>(row_blocks_));
}

GatheringPass::~GatheringPass() = default;

int GatheringPass::panel_rows() const {
  return dtype_ == DType::float32 ? panels<float>().rows : panels<double>().rows;
}

int GatheringPass::vector_width() const {
  return dtype_ == DType::float32 ? panels<float>().width : panels<double>().width;
}

std::int64_t GatheringPass::panels_of(const Gathering& grid) const {
  if (way_ == Way::filter) return grid.rows;
  return way_ == Way::winograd ? WinogradWeights(grid).panels()
                               : PanelWeights(grid, panel_rows()).panels();
}

std::int64_t GatheringPass::panel_size(const Gathering& grid) const {
  if (way_ == Way::filter) return 0;
  return way_ == Way::winograd ? WinogradWeights(grid).panel_size()
                               : PanelWeights(grid, panel_rows()).panel_size();
}

std::int64_t GatheringPass::first_row(const Gathering& grid, std::int64_t panel) const {
  return way_ == Way::winograd ? std::min(grid.rows, panel * panels<float>().columns)
                               : grid.rows * panel / panels_of(grid);
}

template <class Real>
void GatheringPass::pack_panel(std::int64_t number) {
  std::size_t kind = 0;
  while (number >= groups_ * panels_of(grids_[kinds_[kind]]))
    number -= groups_ * panels_of(grids_[kinds_[kind++]]);
  const Gathering& grid = grids_[kinds_[kind]];
  const std::int64_t count = panels_of(grid), group = number / count;
  const Real* const weights = weights_of<Real>(grid, group);
  Real* const target = packed_of<Real>(grid, group);
  if constexpr (sizeof(Real) == sizeof(float))
    if (way_ == Way::winograd)
      return WinogradWeights(grid).spread(weights, number % count,
                                          target + number % count * panel_size(grid));
  PanelWeights(grid, panel_rows(), way_ == Way::abreast).pack(weights, number % count, target);
}

template <class Real>
const Real* GatheringPass::weights_of(const Gathering& grid, std::int64_t group) const {
  // A group has filters times channels of them.
  const std::int64_t size = std::max(grid.row_step * grid.rows, grid.depth_step * grid.depth);
  return static_cast<const Real*>(weights_) + group * size;
}

template <class Real>
Real* GatheringPass::packed_of(const Gathering& grid, std::int64_t group) const {
  return reinterpret_cast<Real*>(packed_.data()) + grid.packed +
         group * panels_of(grid) * panel_size(grid);
}

template <class Real>
void GatheringPass::pack_weights() {
  std::int64_t panels = 0;
  for (const std::size_t kind : kinds_) panels += groups_ * panels_of(grids_[kind]);
  for (std::int64_t panel = next_panel_++; panel < panels; panel = next_panel_++) {
    pack_panel<Real>(panel);
    if (++panels_packed_ == panels) panels_packed_.notify_all();
  }
  // What is missing is being made by threads that run.
  for (std::int64_t packed = panels_packed_; packed < panels; packed = panels_packed_)
    panels_packed_.wait(packed);
}

template <class Real>
void GatheringPass::run_block(std::int64_t block) {
  // Grids that take turns in the lines of an image follow each other while these are near.
  const Gathering& grid = grids_[static_cast<std::size_t>(block % grid_blocks_)];
  block /= grid_blocks_;
  const std::int64_t row_block = block % row_blocks_;
  block /= row_blocks_;
  const std::int64_t image_block = block % image_blocks_;
  const std::int64_t units = divide_up(batch_, image_unit_);
  const std::int64_t first = units * image_block / image_blocks_ * image_unit_,
                     last =
                         std::min(batch_, units * (image_block + 1) / image_blocks_ * image_unit_);
  const std::int64_t group = block / image_blocks_;
  const std::int64_t source_plane = places_in(grid.source), target_plane = places_in(grid.target);
  const std::int64_t source_step = groups_ * grid.depth * source_plane;
  const std::int64_t target_step = groups_ * grid.rows * target_plane;
  const std::int64_t panels = panels_of(grid);
  const std::int64_t first_panel = panels * row_block / row_blocks_,
                     last_panel = panels * (row_block + 1) / row_blocks_;
  const auto* const bias = static_cast<const Real*>(bias_);
  GridWork<Real> work = {
      .grid = grid,
      .source = static_cast<const Real*>(source_) + first * source_step +
                group * grid.depth * source_plane,
      .source_step = source_step,
      .weights = way_ == Way::filter ? weights_of<Real>(grid, group) : packed_of<Real>(grid, group),
      .bias = bias ? bias + group * grid.rows : nullptr,
      .target =
          static_cast<Real*>(target_) + first * target_step + group * grid.rows * target_plane,
      .target_step = target_step,
      .images = last - first,
      .row_begin = first_row(grid, first_panel),
      .row_end = first_row(grid, last_panel),
      .first_panel = first_panel,
      .first_channel = (first * groups_ + group) * grid.rows,
      .channels = groups_ * grid.rows,
      .epilogue = epilogue_};
  if (way_ == Way::filter) return FilterTask<Real>(work).run();
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (rows_apart_) {
      static thread_local Scratch spread;
      const std::int64_t size = panel_size(grid);
      auto* const own = reinterpret_cast<float*>(
          spread.of_size((last_panel - first_panel) * size * std::int64_t{sizeof(float)}));
      for (std::int64_t panel = first_panel; panel < last_panel; ++panel)
        WinogradWeights(grid).spread(weights_of<float>(grid, group), panel,
                                     own + (panel - first_panel) * size);
      work.weights = own;
      return run_winograd(work);
    }
  }
  pack_weights<Real>();
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (way_ == Way::winograd) {
      work.weights += first_panel * panel_size(grid);
      return run_winograd(work);
    }
  }
  if (way_ == Way::abreast) {
    std::vector<const Real*> weights;
    for (const Gathering& each : grids_) weights.push_back(packed_of<Real>(each, group));
    return abreast_->run<Real>(work, weights);
  }
  PanelTask<Real>(work).run();
}

void GatheringPass::run(int share) {
  if (planes_) return planes_->run(share);
  const Range blocks = range_of(blocks_, shares_, share);
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block)
    dtype_ == DType::float32 ? run_block<float>(block) : run_block<double>(block);
}

WeightGradientPass::WeightGradientPass(const Windows& windows, DType dtype, const void* images,
                                       const void* results, void* weights)
    : windows_(windows), dtype_(dtype), images_(images), results_(results), weights_(weights) {
  const std::int64_t taps = places_in(windows.kernel), columns = windows.channels * taps;
  const std::int64_t count = windows.groups * windows.filters * columns;
  if (!count) return;
  planes_ = depthwise_gradient(windows, dtype, images, results, weights);
  if (planes_) {
    shares_ = planes_->shares();
    return;
  }
  Gathering grid = convolution_grid(windows);
  const double operations = 2.0 * static_cast<double>(count) *
                            static_cast<double>(windows.count * places_in(windows.result));
  const auto pieces = [&](double each, std::int64_t others) {
    return static_cast<std::int64_t>(operations / each / static_cast<double>(others)) + 1;
  };
  // Where a row of taps leaves much of its vectors empty, panels are slower.
  constexpr std::int64_t fewest_taps = 3, nearest_cache = 1 << 13;
  const std::int64_t width =
      dtype == DType::float32 ? panels<float>().width : panels<double>().width;
  const std::int64_t row = windows.channels * (windows.dilate[2] == 1 ? windows.kernel[2] : 1);
  const bool fills_vectors = row >= 0.8 * static_cast<double>(divide_up(row, width) * width);
  if (dtype == DType::float32 && winograd_pays(grid, windows.count, operations_of(grid) / 2))
    way_ = Way::winograd;
  else if (windows.filters < fewest_rows)
    way_ = Way::lanes;
  else if (!fills_vectors && taps >= fewest_taps && grid.step[2] <= 2 && places_in(grid.grid))
    way_ = Way::lanes;
  constexpr std::int64_t most_columns = 512, enough_shares = 8, most_parts_size = 1 << 22;
  const std::int64_t wanted =
      std::max(std::min(enough_shares, pieces(small_share, 1)), pieces(large_share, 1));
  if (way_ == Way::panels) {
    constexpr std::int64_t most_filters = 512, most_sums = 1 << 18;
    filter_blocks_ = divide_up(windows.filters, most_filters);
    grid.rows = divide_up(windows.filters, filter_blocks_);
    std::int64_t most = most_sums / (grid.rows * taps);
    // Each part has sums of its own, and each block of channels reads all results: what is less.
    if (windows.count * places_in(windows.result) < columns)
      most = std::min(most, windows.channels * windows.groups * filter_blocks_ / wanted);
    divide_channels(most);
    grid.depth = block_columns_ / taps;
    if (places_in(grid.grid)) add_slabs(grid, turned_elements, most_turned, {1, 1, 1}, slabs_);
    units_ = std::ssize(slabs_) * windows.count;
  } else {
    const std::int64_t most = way_ == Way::winograd
                                  ? WinogradGradient::block_channels
                                  : std::max<std::int64_t>(1, most_columns / taps);
    filter_blocks_ = divide_up(windows.filters, WinogradGradient::block_channels);
    block_columns_ = divide_up(windows.channels, divide_up(windows.channels, most)) * taps;
    if (way_ == Way::winograd || windows.filters < fewest_rows)
      slabs_.push_back(grid);
    else
      add_slabs(grid, lane_plane, nearest_cache, {1, 1, 1}, slabs_);
    units_ = way_ == Way::winograd ? WinogradGradient(grid, windows.count).bands()
                                   : std::ssize(slabs_) * windows.count;
  }
  column_blocks_ = divide_up(columns, block_columns_);
  const std::int64_t blocks = windows.groups * column_blocks_ * filter_blocks_;
  parts_ = std::min(divide_up(enough_shares, blocks), pieces(small_share, 1));
  parts_ = std::max(parts_, pieces(large_share, blocks));
  parts_ = std::clamp<std::int64_t>(std::min(parts_, most_parts_size / count + 1), 1,
                                    std::max<std::int64_t>(1, units_));
  if (way_ == Way::panels && blocks * parts_ < std::min(wanted, enough_shares / 2)) {
    std::int64_t others = windows.groups * filter_blocks_ * parts_;
    divide_channels(windows.channels * others / wanted);
    others = windows.groups * column_blocks_ * parts_;
    filter_blocks_ = std::clamp(divide_up(wanted, others), filter_blocks_,
                                divide_up(windows.filters, fewest_in_block));
  }
  sums_.of_size((parts_ - 1) * count * static_cast<std::int64_t>(size_of(dtype)));
  blocks_ = windows.groups * column_blocks_ * filter_blocks_ * parts_;
  shares_ = shares_for(blocks_, operations / static_cast<double>(blocks_));
}

WeightGradientPass::~WeightGradientPass() = default;

/// Into blocks of at most so many, but of whole panels.
void WeightGradientPass::divide_channels(std::int64_t most) {
  const std::int64_t panel =
      dtype_ == DType::float32 ? panels<float>().columns : panels<double>().columns;
  const std::int64_t taps = places_in(windows_.kernel), channels = windows_.channels;
  const std::int64_t count = divide_up(channels, panel);
  const std::int64_t blocks = divide_up(count, std::clamp<std::int64_t>(most / panel, 1, count));
  block_columns_ = std::min(channels, divide_up(count, blocks) * panel) * taps;
  column_blocks_ = divide_up(channels * taps, block_columns_);
}

WeightGradientPass::Block WeightGradientPass::block_of(std::int64_t share) const {
  const std::int64_t taps = places_in(windows_.kernel);
  const std::int64_t begin = share % column_blocks_ * block_columns_;
  share /= column_blocks_;
  const std::int64_t filter_block = share % filter_blocks_;
  share /= filter_blocks_;
  const std::int64_t columns = std::min(block_columns_, windows_.channels * taps - begin);
  const std::int64_t first = begin / taps;
  return {share / parts_,
          share % parts_,
          begin,
          columns,
          first,
          divide_up(begin + columns, taps) - first,
          windows_.filters * filter_block / filter_blocks_,
          windows_.filters * (filter_block + 1) / filter_blocks_};
}

WeightGradientPass::Images WeightGradientPass::images_of(const Block& block,
                                                         std::size_t slab) const {
  const auto first = static_cast<std::int64_t>(slab) * windows_.count;
  return {std::clamp<std::int64_t>(first_unit(block.part) - first, 0, windows_.count),
          std::clamp<std::int64_t>(first_unit(block.part + 1) - first, 0, windows_.count)};
}

/// Where the weights of a block that belong to a filter go.
template <class Real>
Real* WeightGradientPass::target_of(const Block& block, std::int64_t filter) {
  const std::int64_t columns = windows_.channels * places_in(windows_.kernel);
  const std::int64_t count = windows_.groups * windows_.filters * columns;
  Real* const first = block.part ? reinterpret_cast<Real*>(sums_.data()) + (block.part - 1) * count
                                 : static_cast<Real*>(weights_);
  return first + (block.group * windows_.filters + filter) * columns + block.begin;
}

/// The first channel of a block in an image.
template <class Real>
const Real* WeightGradientPass::image_of(const Block& block, std::int64_t number) const {
  const std::int64_t channel =
      (number * windows_.groups + block.group) * windows_.channels + block.first_channel;
  return static_cast<const Real*>(images_) + channel * places_in(windows_.image);
}

/// The gradients of a filter's results in an image, from the first of a slab on.
template <class Real>
const Real* WeightGradientPass::gradients_of(const Gathering& slab, const Block& block,
                                             std::int64_t number, std::int64_t filter) const {
  const std::int64_t row = (number * windows_.groups + block.group) * windows_.filters + filter;
  return static_cast<const Real*>(results_) + row * places_in(slab.target) +
         target_place(slab, 0, 0, 0);
}

template <class Real>
void WeightGradientPass::run_panels(const Block& block) {
  PanelGradient<Real> gradient = {
      .slabs = {},
      .taps = places_in(windows_.kernel),
      .channels = block.channels,
      .image_step = image_step(),
      .filters = block.last_filter - block.first_filter,
      .result_step = windows_.groups * windows_.filters * places_in(windows_.result),
      .weights = target_of<Real>(block, block.first_filter),
      .filter_step = windows_.channels * places_in(windows_.kernel)};
  for (std::size_t number = 0; number < slabs_.size(); ++number) {
    const Gathering& slab = slabs_[number];
    const Images images = images_of(block, number);
    if (images.begin < images.end)
      gradient.slabs.push_back({slab, image_of<Real>(block, images.begin),
                                gradients_of<Real>(slab, block, images.begin, block.first_filter),
                                images.end - images.begin});
  }
  gradient.run();
}

template <class Real>
void WeightGradientPass::run_lanes(const Block& block) {
  const PanelFunctions<Real>& functions = panels<Real>();
  const auto taps = static_cast<std::int64_t>(places_in(windows_.kernel));
  const std::int64_t filters = block.last_filter - block.first_filter, width = functions.width;
  const std::int64_t sum_stride = block.columns * width;
  // Long sums, of several images where these are small.
  const auto together_of = [&](const Gathering& slab) {
    constexpr std::int64_t enough_places = 1024, most_images = 8;
    const std::int64_t places = places_in(slab.grid);
    const bool is_whole = places % width == 0 && 2 * places >= enough_places;
    return is_whole ? 1 : std::clamp<std::int64_t>(enough_places / places, 1, most_images);
  };
  std::int64_t lane_size = 0, length = 0;
  for (const Gathering& slab : slabs_) {
    const std::int64_t together = together_of(slab);
    lane_size = std::max(lane_size, Lanes(slab, together).plane());
    length = std::max(length, divide_up(together * places_in(slab.grid), width) * width);
  }
  Room<Real> room({lane_size, filters * length, filters * sum_stride});
  Real *const found = room.take(lane_size), *const copied = room.take(filters * length),
              *const sums = room.take(filters * sum_stride);
  std::fill_n(sums, filters * sum_stride, Real(0));
  for (std::size_t number = 0; number < slabs_.size(); ++number) {
    const Gathering& slab = slabs_[number];
    const std::int64_t places = places_in(slab.grid), together = together_of(slab);
    const Images images = images_of(block, number);
    const Lanes most_lanes(slab, together),
        last_lanes(slab, std::max<std::int64_t>(1, (images.end - images.begin) % together));
    for (std::int64_t n = images.begin; n < images.end; n += together) {
      const Lanes& lanes = n + together <= images.end ? most_lanes : last_lanes;
      const std::int64_t used = divide_up(lanes.columns(), width) * width;
      const bool is_copied = lanes.columns() != places || used != places;
      // The zeros behind the values meet what lies here: left from elsewhere, it may not be finite.
      std::fill_n(found + lanes.plane(), width, Real(0));
      if (is_copied) copy_gradients(slab, block, n, lanes, length, copied);
      const Real* const values =
          is_copied ? copied : gradients_of<Real>(slab, block, n, block.first_filter);
      const std::int64_t value_stride = is_copied ? length : places_in(slab.target);
      for (std::int64_t channel = 0; channel < block.channels; ++channel) {
        lanes.fill(image_of<Real>(block, n) + channel * places_in(slab.source), image_step(),
                   found);
        const std::int64_t groups = divide_up(taps, functions.dot_taps);
        for (std::int64_t filter = 0; filter < filters; filter += functions.dot_rows) {
          for (std::int64_t group = 0; group < groups; ++group) {
            const std::int64_t tap = taps * group / groups, last = taps * (group + 1) / groups;
            functions.lane_dots(
                {.values = values + filter * value_stride,
                 .value_stride = value_stride,
                 .rows =
                     static_cast<int>(std::min<std::int64_t>(functions.dot_rows, filters - filter)),
                 .taps = static_cast<int>(last - tap),
                 .source = found,
                 .offsets = lanes.taps().data() + tap,
                 .count = used,
                 .sums = sums + filter * sum_stride + (channel * taps + tap) * width,
                 .sum_stride = sum_stride});
          }
        }
      }
    }
  }
  for (std::int64_t filter = 0; filter < filters; ++filter) {
    for (std::int64_t column = 0; column < block.columns; ++column) {
      const Real* const each = sums + filter * sum_stride + column * width;
      target_of<Real>(block, block.first_filter + filter)[column] =
          std::accumulate(each, each + width, Real(0));
    }
  }
}

/// In the order of lanes, with zeros behind them.
template <class Real>
void WeightGradientPass::copy_gradients(const Gathering& slab, const Block& block,
                                        std::int64_t image, const Lanes& lanes, std::int64_t stride,
                                        Real* target) const {
  const std::int64_t rows = slab.grid[lanes.outer()], row = places_in(slab.grid) / rows;
  const std::int64_t images = lanes.columns() / places_in(slab.grid);
  for (std::int64_t filter = block.first_filter; filter < block.last_filter;
       ++filter, target += stride) {
    for (std::int64_t i = 0; i < images; ++i)
      panels<Real>().pad_lines({.source = gradients_of<Real>(slab, block, image + i, filter),
                                .source_stride = row,
                                .lines = rows,
                                .step = 1,
                                .before = 0,
                                .count = row,
                                .after = 0,
                                .target = target + i * row,
                                .target_stride = images * row});
    std::fill(target + lanes.columns(), target + stride, Real(0));
  }
}

void WeightGradientPass::run_winograd(const Block& block) {
  const Gathering& grid = slabs_[0];
  const std::int64_t image_channels = windows_.groups * windows_.channels,
                     result_channels = windows_.groups * windows_.filters;
  WinogradGradient(grid, windows_.count)
      .run({.images = image_of<float>(block, 0),
            .image_step = image_channels * places_in(grid.source),
            .channels = block.channels,
            .results = gradients_of<float>(grid, block, 0, block.first_filter),
            .result_step = result_channels * places_in(grid.target),
            .filters = block.last_filter - block.first_filter,
            .first_band = first_unit(block.part),
            .last_band = first_unit(block.part + 1),
            .weights = target_of<float>(block, block.first_filter),
            .filter_step = windows_.channels * places_in(windows_.kernel)});
}

template <class Real>
void WeightGradientPass::run_block(std::int64_t share) {
  const Block block = block_of(share);
  switch (way_) {
    case Way::lanes:
      return run_lanes<Real>(block);
    case Way::panels:
      return run_panels<Real>(block);
    case Way::winograd:
      return run_winograd(block);
  }
}

void WeightGradientPass::run(int share) {
  if (planes_) return planes_->run(share);
  const Range blocks = range_of(blocks_, shares_, share);
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block)
    dtype_ == DType::float32 ? run_block<float>(block) : run_block<double>(block);
}

template <class Real>
void WeightGradientPass::add_parts() {
  const std::int64_t weights =
      windows_.groups * windows_.filters * windows_.channels * places_in(windows_.kernel);
  auto* const target = static_cast<Real*>(weights_);
  for (std::int64_t part = 1; part < parts_; ++part) {
    const Real* const source = reinterpret_cast<const Real*>(sums_.data()) + (part - 1) * weights;
    for (std::int64_t i = 0; i < weights; ++i) target[i] += source[i];
  }
}

void WeightGradientPass::finish() {
  if (planes_) return planes_->finish();
  if (dtype_ == DType::float32)
    add_parts<float>();
  else
    add_parts<double>();
}

}  // namespace afterglow::kernels
