// SPDX-License-Identifier: Apache-2.0
// Products of the weights with a matrix whose columns are what the windows see, which is never
// there as a whole: panels of it are packed from images with zeros around them.
#include "kernels/convolution.h"

#include <algorithm>
#include <numeric>

#include "kernels/grid_work.h"
#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"
#include "kernels/winograd.h"

namespace afterglow::kernels {
namespace {

/// Steps of the sum between two looks at the target: so long a panel stays in the second cache.
constexpr std::int64_t most_depth = 384;
/// Panels that meet the same rows one after the other.
constexpr std::int64_t panels_together = 8;
/// Few rows are not worth packing.
constexpr std::int64_t fewest_rows = 3;
/// Operations of a share at least, where there are several, and at most.
constexpr double small_share = 4e6, large_share = 1e9;
/// Padded elements that a share has at once, but for a single row of places that needs more.
constexpr std::int64_t most_padded = 1 << 20;
/// Rows of a block, where rows are divided.
constexpr std::int64_t fewest_in_block = 16;

template <class Real>
const PanelFunctions<Real>& panels() {
  return real_functions<Real>().panels;
}

/// The source with zeros around it, and with every step-th column side by side, so that each tap
/// reads rows without gaps and without asking for borders.
struct Padded {
  Space low, extents;      ///< zeros in front, or less than none; extents in all
  std::int64_t lane = 0;   ///< columns of a residue
  std::int64_t pitch = 0;  ///< from row to row
  std::int64_t plane = 0;  ///< from channel to channel
  std::vector<std::int64_t> taps;

  explicit Padded(const Gathering& grid) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto offset = [axis](const Gathering::Tap& tap) { return tap.offset[axis]; };
      const std::int64_t least =
          grid.taps.empty() ? 0 : std::ranges::min(grid.taps, {}, offset).offset[axis];
      const std::int64_t greatest =
          grid.taps.empty() ? 0 : std::ranges::max(grid.taps, {}, offset).offset[axis];
      low[axis] = -least;
      extents[axis] = low[axis] + (grid.grid[axis] - 1) * grid.step[axis] + greatest + 1;
    }
    lane = divide_up(extents[2], grid.step[2]);
    pitch = lane * grid.step[2];
    plane = extents[0] * extents[1] * pitch;
    for (const Gathering::Tap& tap : grid.taps) {
      const std::int64_t column = tap.offset[2] + low[2];
      taps.push_back(((tap.offset[0] + low[0]) * extents[1] + tap.offset[1] + low[1]) * pitch +
                     column % grid.step[2] * lane + column / grid.step[2]);
    }
  }

  /// Of a place of the grid.
  std::int64_t offset(const Gathering& grid, std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * grid.step[0] * extents[1] + y * grid.step[1]) * pitch + x;
  }

  template <class Real>
  void fill(const Gathering& grid, const Real* source, Real* target) const {
    std::fill_n(target, plane, Real(0));
    Space first, last;  // of the source, within the zeros
    for (int axis = 0; axis < 3; ++axis) {
      first[axis] = std::max<std::int64_t>(0, -low[axis]);
      last[axis] = std::min(grid.source[axis], extents[axis] - low[axis]);
    }
    const std::int64_t step = grid.step[2];
    for (std::int64_t z = first[0]; z < last[0]; ++z) {
      for (std::int64_t y = first[1]; y < last[1]; ++y) {
        const Real* const row = source + (z * grid.source[1] + y) * grid.source[2];
        Real* const place = target + ((z + low[0]) * extents[1] + y + low[1]) * pitch;
        for (std::int64_t x = first[2]; x < std::min(first[2] + step, last[2]); ++x) {
          const std::int64_t column = x + low[2], count = divide_up(last[2] - x, step);
          Real* const side = place + column % step * lane + column / step;
          if (step == 1) {
            std::copy_n(row + x, count, side);
          } else {
            for (std::int64_t i = 0; i < count; ++i) side[i] = row[x + i * step];
          }
        }
      }
    }
  }
};

template <class Real>
void fill_channels(const Gathering& grid, const Padded& padded, const Real* source,
                   std::int64_t channels, Real* target) {
  for (std::int64_t channel = 0; channel < channels; ++channel)
    padded.fill(grid, source + channel * places_in(grid.source), target + channel * padded.plane);
}

/// Of one image and group.
double operations_of(const Gathering& grid) {
  return 2.0 * static_cast<double>(places_in(grid.grid) * grid.rows * grid.depth) *
         static_cast<double>(grid.taps.size());
}

/// The grid in slabs along its outermost axis: large images are not padded as a whole, and a share
/// of them does not take long. Slabs begin with multiples of `unit`.
void add_slabs(const Gathering& grid, std::vector<Gathering>& slabs, std::int64_t unit = 1) {
  int axis = 0;
  while (axis < 2 && grid.grid[axis] == 1) ++axis;
  const std::int64_t extent = grid.grid[axis], units = divide_up(extent, unit);
  const double most_operations =
      large_share * static_cast<double>(divide_up(grid.rows, fewest_in_block));
  const std::int64_t count = std::clamp<std::int64_t>(
      std::max(divide_up(grid.depth * Padded(grid).plane, most_padded),
               static_cast<std::int64_t>(operations_of(grid) / most_operations) + 1),
      1, units);
  for (std::int64_t number = 0; number < count; ++number) {
    const std::int64_t begin = units * number / count * unit;
    Gathering slab = grid;
    slab.grid[axis] = std::min(extent, units * (number + 1) / count * unit) - begin;
    slab.start[axis] += begin * grid.spread[axis];
    for (Gathering::Tap& tap : slab.taps) tap.offset[axis] += begin * grid.step[axis];
    slabs.push_back(std::move(slab));
  }
}

/// A row of the grid, or what a panel has of it.
struct Run {
  std::int64_t image, z, y, x, column, count;
};

/// What of the grids of several images, one behind the other, lies between two columns.
void find_runs(const Gathering& grid, std::int64_t begin, std::int64_t end,
               std::vector<Run>& runs) {
  runs.clear();
  const std::int64_t places = places_in(grid.grid);
  for (std::int64_t column = begin; column < end;) {
    const std::int64_t image = column / places, place = column % places;
    const std::int64_t x = place % grid.grid[2], row = place / grid.grid[2];
    const std::int64_t count = std::min(grid.grid[2] - x, end - column);
    runs.push_back({image, row / grid.grid[1], row % grid.grid[1], x, column - begin, count});
    column += count;
  }
}

/// Adds the places of a tile to the target, or puts them there.
template <class Real>
void store_runs(const Gathering& grid, const std::vector<Run>& runs, const Real* values,
                const Real* start, Real* target, std::int64_t image_step) {
  const std::int64_t spread = grid.spread[2];
  for (const Run& run : runs) {
    Real* place = target + run.image * image_step + target_place(grid, run.z, run.y, run.x);
    const Real* from = values + run.column;
    if (start) {
      for (std::int64_t i = 0; i < run.count; ++i) place[i * spread] = *start + from[i];
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) place[i * spread] += from[i];
    }
  }
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

/// Sums up what the taps find, in the order of the channels.
template <class Real>
class GridTask {
 public:
  explicit GridTask(const GridWork<Real>& work)
      : work_(work),
        grid_(work.grid),
        padded_(work.grid),
        depth_(grid_.depth * static_cast<std::int64_t>(grid_.taps.size())) {}

  void run() {
    if (work_.row_end - work_.row_begin < fewest_rows || !depth_)
      filter();
    else
      multiply();
  }

 private:
  /// What is read of an image: all channels, padded.
  std::int64_t image_size() const { return grid_.depth * padded_.plane; }
  std::int64_t target_plane() const { return places_in(grid_.target); }

  void fill_image(std::int64_t image, Real* target) const {
    fill_channels(grid_, padded_, work_.source + image * work_.source_step, grid_.depth, target);
  }

  Real weight_of(std::int64_t row, std::int64_t step) const {
    const auto taps = static_cast<std::int64_t>(grid_.taps.size());
    return work_.weights[row * grid_.row_step + step / taps * grid_.depth_step +
                         grid_.taps[static_cast<std::size_t>(step % taps)].weight];
  }
  Real bias_of(std::int64_t row) const { return work_.bias ? work_.bias[row] : Real(0); }

  /// A few rows: each is a filter over the padded source.
  void filter() const {
    const std::int64_t rows_of_grid = grid_.grid[0] * grid_.grid[1];
    // Without steps, rows of the grid may as well be taken with what lies between them.
    const bool is_dense = grid_.step[1] == 1 && grid_.grid[0] == 1;
    const std::int64_t length =
        is_dense ? (grid_.grid[1] - 1) * padded_.pitch + grid_.grid[2] : grid_.grid[2];
    Room<Real> room({image_size(), length, depth_});
    Real *const image = room.take(image_size()), *const sums = room.take(length),
                *const weights = room.take(depth_);
    std::vector<std::int64_t> offsets;
    for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
      for (const std::int64_t tap : padded_.taps) offsets.push_back(channel * padded_.plane + tap);
    std::vector<Run> runs(1);
    for (std::int64_t n = 0; n < work_.images; ++n) {
      fill_image(n, image);
      for (std::int64_t row = work_.row_begin; row < work_.row_end; ++row) {
        for (std::int64_t i = 0; i < depth_; ++i) weights[i] = weight_of(row, i);
        Real* const target = work_.target + row * target_plane();
        const Real zero = 0;
        for (std::int64_t each = 0; each < (is_dense ? 1 : rows_of_grid); ++each) {
          const std::int64_t z = each / grid_.grid[1], y = each % grid_.grid[1];
          panels<Real>().filter(image + padded_.offset(grid_, z, y, 0), offsets.data(), weights,
                                depth_, bias_of(row), length, sums);
          for (std::int64_t line = 0; line < (is_dense ? grid_.grid[1] : 1); ++line) {
            runs[0] = {n, z, y + line, 0, 0, grid_.grid[2]};
            store_runs(grid_, runs, sums + line * padded_.pitch, &zero, target, work_.target_step);
          }
        }
        work_.complete(n, row, row + 1, 0, places_in(grid_.grid));
      }
    }
  }

  /// The product of the rows' weights with a matrix whose columns are the patches.
  void multiply() {
    const PanelFunctions<Real>& functions = panels<Real>();
    const std::int64_t rows = work_.row_end - work_.row_begin,
                       columns = work_.images * places_in(grid_.grid);
    const std::int64_t groups = divide_up(rows, functions.rows);
    const std::int64_t panel = std::min(depth_, most_depth) * functions.columns;
    const std::int64_t tile = std::int64_t{functions.rows} * functions.columns;
    const std::int64_t packed = groups * depth_ * functions.rows;
    Room<Real> room({work_.images * image_size(), packed, panels_together * panel, tile});
    images_padded_ = room.take(work_.images * image_size());
    left_ = room.take(packed);
    right_ = room.take(panels_together * panel);
    tile_ = room.take(tile);
    for (std::int64_t n = 0; n < work_.images; ++n)
      fill_image(n, images_padded_ + n * image_size());
    pack_weights(functions, groups);
    std::vector<const Real*> sources;
    for (std::int64_t channel = 0; channel < grid_.depth; ++channel)
      for (const std::int64_t tap : padded_.taps)
        sources.push_back(images_padded_ + channel * padded_.plane + tap);
    std::vector<std::vector<Run>> runs(panels_together);
    std::vector<PanelPiece> pieces;
    const std::int64_t together = panels_together * functions.columns;
    for (std::int64_t begin = 0; begin < columns; begin += together) {
      const std::int64_t count = divide_up(std::min(together, columns - begin), functions.columns);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t first = begin + i * functions.columns;
        find_runs(grid_, first, std::min(columns, first + functions.columns),
                  runs[static_cast<std::size_t>(i)]);
      }
      for (std::int64_t step = 0; step < depth_; step += most_depth) {
        const std::int64_t steps = std::min(most_depth, depth_ - step);
        for (std::int64_t i = 0; i < count; ++i) {
          pieces.clear();
          for (const Run& run : runs[static_cast<std::size_t>(i)])
            pieces.push_back({run.image * image_size() + padded_.offset(grid_, run.z, run.y, run.x),
                              run.column, run.count});
          functions.pack(sources.data() + step, steps, pieces.data(),
                         static_cast<std::int64_t>(pieces.size()), right_ + i * panel);
        }
        for (std::int64_t group = 0; group < groups; ++group)
          for (std::int64_t i = 0; i < count; ++i)
            run_tile(functions, group, groups, step, steps, right_ + i * panel,
                     runs[static_cast<std::size_t>(i)]);
      }
      const std::int64_t places = places_in(grid_.grid), end = std::min(columns, begin + together);
      for (std::int64_t n = begin / places; n * places < end; ++n)
        work_.complete(n, work_.row_begin, work_.row_end,
                       std::max<std::int64_t>(0, begin - n * places),
                       std::min(places, end - n * places));
    }
  }

  /// Groups of rows are about equally large.
  std::int64_t first_row(std::int64_t group, std::int64_t groups) const {
    return work_.row_begin + (work_.row_end - work_.row_begin) * group / groups;
  }

  void pack_weights(const PanelFunctions<Real>& functions, std::int64_t groups) {
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t begin = first_row(group, groups), end = first_row(group + 1, groups);
      Real* target = left_ + group * depth_ * functions.rows;
      const auto taps = static_cast<std::int64_t>(grid_.taps.size());
      for (std::int64_t channel = 0; channel < grid_.depth; ++channel) {
        for (std::int64_t tap = 0; tap < taps; ++tap, target += functions.rows) {
          const Real* source = work_.weights + begin * grid_.row_step + channel * grid_.depth_step +
                               grid_.taps[static_cast<std::size_t>(tap)].weight;
          for (std::int64_t row = begin; row < end; ++row, source += grid_.row_step)
            target[row - begin] = *source;
        }
      }
    }
  }

  void run_tile(const PanelFunctions<Real>& functions, std::int64_t group, std::int64_t groups,
                std::int64_t step, std::int64_t steps, const Real* panel,
                const std::vector<Run>& runs) {
    const std::int64_t row = first_row(group, groups);
    const int rows = static_cast<int>(first_row(group + 1, groups) - row);
    const Run &first = runs.front(), &last = runs.back();
    const auto columns = static_cast<int>(last.column + last.count);
    const Real* const left = left_ + (group * depth_ + step) * functions.rows;
    constexpr Space one = {1, 1, 1};
    const bool is_direct =
        grid_.spread == one && first.image == last.image && columns % functions.width == 0;
    if (!is_direct) {
      functions.product({steps, left, panel, tile_, functions.columns, rows, columns, false});
      for (int i = 0; i < rows; ++i) {
        const Real start = bias_of(row + i);
        store_runs(grid_, runs, tile_ + i * functions.columns, step ? nullptr : &start,
                   work_.target + (row + i) * target_plane(), work_.target_step);
      }
      return;
    }
    Real* const place = work_.target + first.image * work_.target_step + row * target_plane() +
                        target_place(grid_, first.z, first.y, first.x);
    const bool has_start = work_.bias && !step;
    for (int i = 0; has_start && i < rows; ++i)
      std::fill_n(place + i * target_plane(), columns, work_.bias[row + i]);
    functions.product(
        {steps, left, panel, place, target_plane(), rows, columns, step > 0 || has_start});
  }

  const GridWork<Real> work_;
  const Gathering& grid_;
  const Padded padded_;
  const std::int64_t depth_;
  Real *images_padded_ = nullptr, *left_ = nullptr, *right_ = nullptr, *tile_ = nullptr;
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
                    std::move(epilogue)) {}

TransposedConvolutionPass::TransposedConvolutionPass(const Windows& windows, DType dtype,
                                                     const void* results, const void* weights,
                                                     const void* bias, void* images)
    : GatheringPass(windows, dtype, results, weights, bias, images, transposed_grids(windows), {}) {
}

GatheringPass::GatheringPass(const Windows& windows, DType dtype, const void* source,
                             const void* weights, const void* bias, void* target,
                             std::vector<Gathering> grids, Epilogue epilogue)
    : batch_(windows.count),
      groups_(windows.groups),
      dtype_(dtype),
      source_(source),
      weights_(weights),
      bias_(bias),
      target_(target),
      epilogue_(std::move(epilogue)),
      is_winograd_(dtype == DType::float32 && grids.size() == 1 &&
                   winograd_pays(grids[0], batch_)) {
  if (!batch_ || !groups_ || !grids[0].rows) return;
  for (const Gathering& grid : grids)
    if (places_in(grid.grid)) add_slabs(grid, grids_, is_winograd_ ? winograd_side : 1);
  if (grids_.empty()) return;
  // Enough images to fill some panels; rows are divided where there are few images.
  const Gathering& grid = grids_[0];
  const double operations = operations_of(grid);
  constexpr std::int64_t enough_columns = 512, enough_shares = 8;
  const std::int64_t most_images = std::clamp<std::int64_t>(
      most_padded / std::max<std::int64_t>(1, grid.depth * Padded(grid).plane), 1, batch_);
  images_ = std::clamp<std::int64_t>(divide_up(enough_columns, places_in(grid.grid)), 1,
                                     std::min(most_images, divide_up(batch_, 2)));
  while (images_ < most_images && operations * static_cast<double>(images_) < small_share)
    images_ = std::min(most_images, 2 * images_);
  const std::int64_t blocks = std::ssize(grids_) * divide_up(batch_, images_) * groups_;
  const double block_operations = operations * static_cast<double>(images_);
  std::int64_t wanted = divide_up(enough_shares, blocks);
  wanted = std::min(wanted, static_cast<std::int64_t>(block_operations / small_share) + 1);
  wanted = std::max(wanted, static_cast<std::int64_t>(block_operations / large_share) + 1);
  if (is_winograd_) {
    row_step_ = panels<float>().columns;
    spread_.of_size(groups_ * WinogradWeights(grid).size() * std::int64_t{sizeof(float)});
  }
  row_blocks_ = std::clamp<std::int64_t>(
      wanted, 1, divide_up(grid.rows, is_winograd_ ? 2 * row_step_ : fewest_in_block));
  shares_ = static_cast<int>(blocks * row_blocks_);
}

std::int64_t GatheringPass::weights_size() const {
  // Filters times channels.
  const Gathering& grid = grids_[0];
  return std::max(grid.row_step * grid.rows, grid.depth_step * grid.depth);
}

void GatheringPass::spread_weights() {
  const WinogradWeights spread(grids_[0]);
  const std::int64_t pieces = groups_ * spread.pieces();
  for (std::int64_t piece = next_piece_++; piece < pieces; piece = next_piece_++) {
    const std::int64_t group = piece / spread.pieces();
    spread.spread(static_cast<const float*>(weights_) + group * weights_size(),
                  piece % spread.pieces(),
                  reinterpret_cast<float*>(spread_.data()) + group * spread.size());
    if (++pieces_done_ == pieces) pieces_done_.notify_all();
  }
  // What is missing is being made by threads that run.
  for (std::int64_t done = pieces_done_; done < pieces; done = pieces_done_)
    pieces_done_.wait(done);
}

template <class Real>
void GatheringPass::run_share(std::int64_t share) {
  const std::int64_t row_block = share % row_blocks_;
  share /= row_blocks_;
  const std::int64_t image_blocks = divide_up(batch_, images_);
  const std::int64_t first = share % image_blocks * images_;
  share /= image_blocks;
  const std::int64_t group = share % groups_;
  const Gathering& grid = grids_[static_cast<std::size_t>(share / groups_)];
  const std::int64_t source_plane = places_in(grid.source), target_plane = places_in(grid.target);
  const std::int64_t source_step = groups_ * grid.depth * source_plane;
  const std::int64_t target_step = groups_ * grid.rows * target_plane;
  const std::int64_t row_units = divide_up(grid.rows, row_step_);
  const auto* const bias = static_cast<const Real*>(bias_);
  GridWork<Real> work = {
      grid,
      static_cast<const Real*>(source_) + first * source_step + group * grid.depth * source_plane,
      source_step,
      static_cast<const Real*>(weights_) + group * weights_size(),
      bias ? bias + group * grid.rows : nullptr,
      static_cast<Real*>(target_) + first * target_step + group * grid.rows * target_plane,
      target_step,
      std::min(images_, batch_ - first),
      row_units * row_block / row_blocks_ * row_step_,
      std::min(grid.rows, row_units * (row_block + 1) / row_blocks_ * row_step_),
      (first * groups_ + group) * grid.rows,
      groups_ * grid.rows,
      epilogue_};
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (is_winograd_) {
      spread_weights();
      work.weights =
          reinterpret_cast<const float*>(spread_.data()) + group * WinogradWeights(grid).size();
      return run_winograd(work);
    }
  }
  GridTask<Real>(work).run();
}

void GatheringPass::run(int share) {
  if (dtype_ == DType::float32)
    run_share<float>(share);
  else
    run_share<double>(share);
}

WeightGradientPass::WeightGradientPass(const Windows& windows, DType dtype, const void* images,
                                       const void* results, void* weights)
    : windows_(windows), dtype_(dtype), images_(images), results_(results), weights_(weights) {
  const std::int64_t taps = places_in(windows.kernel), columns = windows.channels * taps;
  const std::int64_t count = windows.groups * windows.filters * columns;
  if (!count) return;
  Gathering grid = convolution_grid(windows);
  const double operations = 2.0 * static_cast<double>(count) *
                            static_cast<double>(windows.count * places_in(windows.result));
  const auto pieces = [&](double each, std::int64_t others) {
    return static_cast<std::int64_t>(operations / each / static_cast<double>(others)) + 1;
  };
  is_winograd_ = dtype == DType::float32 && winograd_pays(grid, windows.count);
  constexpr std::int64_t most_columns = 512, fewest_columns = 128, enough_shares = 8,
                         most_parts_size = 1 << 22;
  if (is_winograd_) {
    constexpr std::int64_t most = WinogradGradient::block_channels;
    filter_blocks_ = divide_up(windows.filters, most);
    block_columns_ = divide_up(windows.channels, divide_up(windows.channels, most)) * taps;
    units_ = WinogradGradient(grid, windows.count).bands();
    slabs_.push_back(std::move(grid));
  } else {
    block_columns_ = divide_up(columns, divide_up(columns, most_columns));
    grid.depth = std::min(windows.channels, divide_up(block_columns_, taps) + 1);
    if (places_in(grid.grid)) add_slabs(grid, slabs_);
    units_ = std::ssize(slabs_) * windows.count;
  }
  column_blocks_ = divide_up(columns, block_columns_);
  const std::int64_t blocks = windows.groups * column_blocks_ * filter_blocks_;
  parts_ = std::min(divide_up(enough_shares, blocks), pieces(small_share, 1));
  parts_ = std::max(parts_, pieces(large_share, blocks));
  parts_ = std::clamp<std::int64_t>(std::min(parts_, most_parts_size / count + 1), 1,
                                    std::max<std::int64_t>(1, units_));
  if (!is_winograd_) {
    const std::int64_t most = std::max(column_blocks_, divide_up(columns, fewest_columns));
    column_blocks_ = std::clamp(pieces(large_share, windows.groups * parts_), column_blocks_, most);
    block_columns_ = divide_up(columns, column_blocks_);
    column_blocks_ = divide_up(columns, block_columns_);
  }
  sums_.resize(static_cast<std::size_t>((parts_ - 1) * count) * size_of(dtype));
  shares_ = static_cast<int>(windows.groups * column_blocks_ * filter_blocks_ * parts_);
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
  const PanelFunctions<Real>& functions = panels<Real>();
  const std::int64_t rows = windows_.filters, taps = places_in(windows_.kernel);
  const int lanes = functions.columns;
  const std::int64_t panels_used = divide_up(block.columns, lanes);
  const std::int64_t groups = divide_up(rows, functions.rows);
  const std::int64_t depth = most_depth, sum_stride = panels_used * lanes;
  std::int64_t image_size = 0;
  for (const Gathering& slab : slabs_)
    image_size = std::max(image_size, block.channels * Padded(slab).plane);
  Room<Real> room({image_size, groups * functions.rows * depth, panels_used * depth * lanes,
                   std::int64_t{lanes} * lanes, groups * functions.rows * sum_stride});
  Real *const image = room.take(image_size),
              *const left = room.take(groups * functions.rows * depth),
              *const right = room.take(panels_used * depth * lanes),
              *const square = room.take(std::int64_t{lanes} * lanes),
              *const sums = room.take(groups * functions.rows * sum_stride);
  std::fill_n(sums, groups * functions.rows * sum_stride, Real(0));
  const MoveFunction move = move_function(dtype_);
  std::vector<const Real*> sources;
  std::vector<Run> runs;
  std::vector<PanelPiece> pieces;
  const auto first_row = [&](std::int64_t group) { return rows * group / groups; };
  for (std::size_t number = 0; number < slabs_.size(); ++number) {
    const Gathering& slab = slabs_[number];
    const Images images = images_of(block, number);
    const Padded padded(slab);
    const std::int64_t places = places_in(slab.grid), row_step = places_in(slab.target);
    sources.clear();
    for (std::int64_t i = 0; i < panels_used * lanes; ++i) {
      // What lies behind the last column is multiplied too.
      const std::int64_t column = block.begin + std::min(i, block.columns - 1);
      sources.push_back(image + (column / taps - block.first_channel) * padded.plane +
                        padded.taps[static_cast<std::size_t>(column % taps)]);
    }
    for (std::int64_t n = images.begin; n < images.end; ++n) {
      fill_channels(slab, padded, image_of<Real>(block, n), block.channels, image);
      const Real* const gradients = gradients_of<Real>(slab, block, n, 0);
      for (std::int64_t place = 0; place < places; place += depth) {
        const std::int64_t steps = std::min(depth, places - place);
        for (std::int64_t group = 0; group < groups; ++group)
          move({const_cast<Real*>(gradients) + first_row(group) * row_step + place, 1, row_step},
               {left + group * functions.rows * depth, functions.rows, 1}, steps,
               first_row(group + 1) - first_row(group));
        for (std::int64_t step = 0; step < steps; step += lanes) {
          const std::int64_t here = std::min<std::int64_t>(lanes, steps - step);
          find_runs(slab, place + step, place + step + here, runs);
          pieces.clear();
          for (const Run& run : runs)
            pieces.push_back({padded.offset(slab, run.z, run.y, run.x), run.column, run.count});
          for (std::int64_t panel = 0; panel < panels_used; ++panel) {
            functions.pack(sources.data() + panel * lanes, lanes, pieces.data(),
                           static_cast<std::int64_t>(pieces.size()), square);
            move({square, 1, lanes}, {right + (panel * depth + step) * lanes, lanes, 1}, here,
                 lanes);
          }
        }
        for (std::int64_t group = 0; group < groups; ++group)
          for (std::int64_t panel = 0; panel < panels_used; ++panel)
            functions.product(
                {steps, left + group * functions.rows * depth, right + panel * depth * lanes,
                 sums + first_row(group) * sum_stride + panel * lanes, sum_stride,
                 static_cast<int>(first_row(group + 1) - first_row(group)), lanes, true});
      }
    }
  }
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(sums + row * sum_stride, block.columns, target_of<Real>(block, row));
}

template <class Real>
void WeightGradientPass::run_dots(const Block& block) {
  const PanelFunctions<Real>& functions = panels<Real>();
  const std::int64_t taps = places_in(windows_.kernel);
  const std::int64_t lanes = block.columns * functions.width;
  // Rows of the grid are taken together, with zeros for what lies between them, where they can.
  const auto is_dense = [](const Gathering& slab) {
    return slab.step[1] == 1 && slab.grid[0] == 1;
  };
  const auto length_of = [&](const Gathering& slab, const Padded& padded) {
    const std::int64_t rows = is_dense(slab) ? slab.grid[1] : 1;
    return divide_up((rows - 1) * padded.pitch + slab.grid[2], functions.width) * functions.width;
  };
  std::int64_t image_size = 0, line_size = 0;
  for (const Gathering& slab : slabs_) {
    const Padded padded(slab);
    image_size = std::max(image_size, block.channels * padded.plane + functions.width);
    line_size = std::max(line_size, length_of(slab, padded));
  }
  Room<Real> room({image_size, line_size, windows_.filters * lanes});
  Real *const image = room.take(image_size), *const line = room.take(line_size),
              *const sums = room.take(windows_.filters * lanes);
  std::fill_n(sums, windows_.filters * lanes, Real(0));
  std::vector<std::int64_t> offsets;
  for (std::size_t number = 0; number < slabs_.size(); ++number) {
    const Gathering& slab = slabs_[number];
    const Images images = images_of(block, number);
    const Padded padded(slab);
    const std::int64_t length = length_of(slab, padded), width = slab.grid[2];
    const std::int64_t rows = slab.grid[0] * slab.grid[1], together = is_dense(slab) ? rows : 1;
    std::fill_n(image + block.channels * padded.plane, functions.width, Real(0));
    std::fill_n(line, length, Real(0));
    offsets.clear();
    for (std::int64_t i = block.begin; i < block.begin + block.columns; ++i)
      offsets.push_back((i / taps - block.first_channel) * padded.plane +
                        padded.taps[static_cast<std::size_t>(i % taps)]);
    for (std::int64_t n = images.begin; n < images.end; ++n) {
      fill_channels(slab, padded, image_of<Real>(block, n), block.channels, image);
      for (std::int64_t filter = 0; filter < windows_.filters; ++filter) {
        const Real* const gradients = gradients_of<Real>(slab, block, n, filter);
        for (std::int64_t first = 0; first < rows; first += together) {
          for (std::int64_t y = 0; y < together; ++y)
            std::copy_n(gradients + (first + y) * width, width, line + y * padded.pitch);
          const std::int64_t place =
              padded.offset(slab, first / slab.grid[1], first % slab.grid[1], 0);
          functions.dots(line, image + place, offsets.data(), block.columns, length,
                         sums + filter * lanes);
        }
      }
    }
  }
  for (std::int64_t filter = 0; filter < windows_.filters; ++filter) {
    for (std::int64_t column = 0; column < block.columns; ++column) {
      const Real* const each = sums + filter * lanes + column * functions.width;
      target_of<Real>(block, filter)[column] =
          std::accumulate(each, each + functions.width, Real(0));
    }
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
  if (is_winograd_) return run_winograd(block);
  windows_.filters < fewest_rows ? run_dots<Real>(block) : run_panels<Real>(block);
}

void WeightGradientPass::run(int share) {
  if (dtype_ == DType::float32)
    run_block<float>(share);
  else
    run_block<double>(share);
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
  if (dtype_ == DType::float32)
    add_parts<float>();
  else
    add_parts<double>();
}

}  // namespace afterglow::kernels
