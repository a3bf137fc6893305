// SPDX-License-Identifier: Apache-2.0
#include "kernels/abreast.h"

#include <algorithm>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// The places for which a tap meets the image.
std::array<Range, 3> places_inside(const Gathering& grid, const Gathering::Tap& tap) {
  std::array<Range, 3> found;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t step = grid.step[axis], offset = tap.offset[axis];
    const auto places_before = [&](std::int64_t pixel) {
      return std::clamp<std::int64_t>(divide_up(std::max<std::int64_t>(0, pixel - offset), step), 0,
                                      grid.grid[axis]);
    };
    found[axis] = {places_before(0), places_before(grid.source[axis])};
  }
  return found;
}

std::int64_t pixel_of(const Gathering& grid, const Space& place) {
  return (place[0] * grid.source[1] + place[1]) * grid.source[2] + place[2];
}

}  // namespace

double multiplications_inside(std::span<const Gathering> grids) {
  std::int64_t count = 0;
  for (const Gathering& grid : grids) {
    for (const Gathering::Tap& tap : grid.taps) {
      std::int64_t places = 1;
      for (const Range& range : places_inside(grid, tap)) places *= range.end - range.begin;
      count += places;
    }
  }
  return static_cast<double>(count) * static_cast<double>(grids[0].rows * grids[0].depth);
}

bool AbreastGrids::fit(std::span<const Gathering> grids, std::int64_t images, std::int64_t width) {
  // Elements of an image. Wide vectors come with large tiles, for which less is read.
  const std::int64_t most_seen = width << 11, most_found = width << 12;
  const Gathering& grid = grids[0];
  return grid.depth * places_in(grid.source) <= most_seen &&
         grid.rows * places_in(grid.target) <= most_found &&
         5 * images >= 4 * divide_up(images, width) * width;
}

AbreastGrids::AbreastGrids(std::span<const Gathering> grids) : grids_(grids), runs_(grids.size()) {
  for (std::size_t i = 0; i < grids.size(); ++i) find_runs(grids[i], runs_[i]);
}

void AbreastGrids::find_runs(const Gathering& grid, std::vector<Run>& runs) const {
  std::vector<std::array<Range, 3>> inside;
  for (const Gathering::Tap& tap : grid.taps) inside.push_back(places_inside(grid, tap));
  const auto has = [](const Range& range, std::int64_t place) {
    return range.begin <= place && place < range.end;
  };
  const auto add = [&](const Space& place) {
    const Space seen = {place[0] * grid.step[0], place[1] * grid.step[1], place[2] * grid.step[2]};
    Run run = {pixel_of(grid, seen), target_place(grid, place[0], place[1], place[2]), 0, 0, true};
    for (std::size_t tap = 0; tap < inside.size(); ++tap) {
      const auto& [z, y, x] = inside[tap];
      if (has(z, place[0]) && has(y, place[1]) && has(x, place[2])) {
        ++run.count;
        continue;
      }
      if (run.count) {
        runs.push_back(run);
        run.is_first = false;
      }
      run.tap = static_cast<std::int64_t>(tap) + 1;
      run.count = 0;
    }
    // What no tap meets is zero.
    if (run.count || run.is_first) runs.push_back(run);
  };
  for (std::int64_t z = 0; z < grid.grid[0]; ++z)
    for (std::int64_t y = 0; y < grid.grid[1]; ++y)
      for (std::int64_t x = 0; x < grid.grid[2]; ++x) add({z, y, x});
}

template <class Real>
void AbreastGrids::run(const GridWork<Real>& work, std::span<const Real* const> weights) const {
  const PanelFunctions<Real>& functions = real_functions<Real>().panels;
  const std::int64_t rows = work.row_end - work.row_begin, depth = work.grid.depth;
  const std::int64_t source_plane = places_in(work.grid.source),
                     target_plane = places_in(work.grid.target);
  const std::int64_t abreast = divide_up(work.images, functions.width) * functions.width;
  const std::int64_t seen = depth * source_plane * abreast, row = target_plane * abreast;
  Room<Real> room({seen, rows * row});
  Real *const images = room.take(seen), *const results = room.take(rows * row);
  const MoveFunction move =
      move_function(sizeof(Real) == sizeof(float) ? DType::float32 : DType::float64);
  move({const_cast<Real*>(work.source), 1, work.source_step},  // read only
       {images, abreast, 1}, depth * source_plane, work.images);
  for (std::int64_t i = 0; work.bias && i < rows; ++i)
    std::fill_n(results + i * row, row, work.bias[work.row_begin + i]);
  std::vector<const Real*> sources;
  for (std::size_t number = 0; number < grids_.size(); ++number) {
    const Gathering& grid = grids_[number];
    // Where the taps of the first place are, though they may be outside.
    sources.clear();
    for (const Gathering::Tap& tap : grid.taps)
      for (std::int64_t channel = 0; channel < depth; ++channel)
        sources.push_back(images + (channel * source_plane + pixel_of(grid, tap.offset)) * abreast);
    const std::int64_t panels = divide_up(grid.rows, functions.rows);
    for (std::int64_t panel = work.first_panel, first = work.row_begin; first < work.row_end;
         ++panel) {
      const std::int64_t next = grid.rows * (panel + 1) / panels;
      const Real* const packed = weights[number] + panel * std::ssize(sources) * functions.rows;
      for (const Run& run : runs_[number])
        functions.gathered_product(
            {.depth = run.count * depth,
             .a = packed + run.tap * depth * functions.rows,
             .a_row = 1,
             .a_step = functions.rows,
             .sources = sources.data() + run.tap * depth,
             .offset = run.pixel * abreast,
             .c = results + (first - work.row_begin) * row + run.place * abreast,
             .c_stride = row,
             .rows = static_cast<int>(next - first),
             .columns = static_cast<int>(abreast),
             .add = work.bias || !run.is_first});
      first = next;
    }
  }
  move({results, 1, abreast}, {work.target + work.row_begin * target_plane, work.target_step, 1},
       work.images, rows * target_plane);
  for (std::int64_t image = 0; image < work.images; ++image)
    work.complete(image, work.row_begin, work.row_end, 0, target_plane);
}

template void AbreastGrids::run(const GridWork<float>& work,
                                std::span<const float* const> weights) const;
template void AbreastGrids::run(const GridWork<double>& work,
                                std::span<const double* const> weights) const;

}  // namespace afterglow::kernels
