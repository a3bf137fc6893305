// SPDX-License-Identifier: Apache-2.0
#include "kernels/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/elements.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 1 << 15;

int shares_of(std::int64_t units, std::int64_t size_of_each) {
  const std::int64_t size = units * std::max<std::int64_t>(1, size_of_each);
  return static_cast<int>(std::min(divide_up(size, share_size), units));
}

/// The two elements that a place lies between, and how near it is to the second.
template <class Real>
struct Between {
  std::int64_t first, second;
  Real weight;
};

template <class Real>
std::vector<Between<Real>> places_along(std::int64_t extent, std::int64_t results,
                                        bool aligns_corners) {
  std::vector<Between<Real>> result(static_cast<std::size_t>(results));
  const Real scale =
      aligns_corners
          ? (results > 1 ? static_cast<Real>(extent - 1) / static_cast<Real>(results - 1) : Real(0))
          : static_cast<Real>(extent) / static_cast<Real>(results);
  for (std::int64_t i = 0; i < results; ++i) {
    const Real place =
        aligns_corners ? scale * static_cast<Real>(i)
                       : std::max(scale * (static_cast<Real>(i) + Real(0.5)) - Real(0.5), Real(0));
    const std::int64_t first = std::min(static_cast<std::int64_t>(place), extent - 1);
    result[static_cast<std::size_t>(i)] = {first, std::min(first + 1, extent - 1),
                                           place - static_cast<Real>(first)};
  }
  return result;
}

}  // namespace

ResizePass::ResizePass(const Resizing& resizing, DType dtype, const void* source, void* target)
    : resizing_(resizing), dtype_(dtype), source_(source), target_(target) {
  const std::int64_t places = resizing.height * resizing.width,
                     results = resizing.result_height * resizing.result_width;
  shares_ = places && results ? shares_of(resizing.images, std::max(places, results)) : 0;
}

void ResizePass::run(int share) const {
  const Range range = range_of(resizing_.images, shares_, share);
  with_real(dtype_, [&](auto element, auto number) {
    run_as<decltype(element), decltype(number)>(range.begin, range.end);
  });
}

/// Two rows become one first, and its columns the result then.
template <class Element, class Real>
void ResizePass::run_as(std::int64_t begin, std::int64_t end) const {
  const Resizing& r = resizing_;
  const auto rows = places_along<Real>(r.height, r.result_height, r.aligns_corners);
  const auto columns = places_along<Real>(r.width, r.result_width, r.aligns_corners);
  const auto* const source = static_cast<const Element*>(source_);
  auto* const target = static_cast<Element*>(target_);
  const std::int64_t places = r.height * r.width, results = r.result_height * r.result_width;
  std::vector<Real> line(static_cast<std::size_t>(r.width));
  std::vector<Real> sums(static_cast<std::size_t>(r.is_gradient ? places : 0));
  for (std::int64_t image = begin; image < end; ++image) {
    if (!r.is_gradient) {
      for (std::int64_t y = 0; y < r.result_height; ++y) {
        const Between<Real>& row = rows[static_cast<std::size_t>(y)];
        const Element *const above = source + image * places + row.first * r.width, *const below =
                                                                                        source +
                                                                                        image *
                                                                                            places +
                                                                                        row.second *
                                                                                            r.width;
        for (std::int64_t x = 0; x < r.width; ++x)
          line[static_cast<std::size_t>(x)] =
              (1 - row.weight) * load(above[x]) + row.weight * load(below[x]);
        Element* const into = target + image * results + y * r.result_width;
        for (std::int64_t x = 0; x < r.result_width; ++x) {
          const Between<Real>& column = columns[static_cast<std::size_t>(x)];
          store(into[x], (1 - column.weight) * line[static_cast<std::size_t>(column.first)] +
                             column.weight * line[static_cast<std::size_t>(column.second)]);
        }
      }
      continue;
    }
    std::ranges::fill(sums, Real(0));
    for (std::int64_t y = 0; y < r.result_height; ++y) {
      std::ranges::fill(line, Real(0));
      const Element* const from = source + image * results + y * r.result_width;
      for (std::int64_t x = 0; x < r.result_width; ++x) {
        const Between<Real>& column = columns[static_cast<std::size_t>(x)];
        const Real value = load(from[x]);
        line[static_cast<std::size_t>(column.first)] += (1 - column.weight) * value;
        line[static_cast<std::size_t>(column.second)] += column.weight * value;
      }
      const Between<Real>& row = rows[static_cast<std::size_t>(y)];
      Real *const above = sums.data() + row.first * r.width, *const below =
                                                                 sums.data() + row.second * r.width;
      for (std::int64_t x = 0; x < r.width; ++x)
        above[x] += (1 - row.weight) * line[static_cast<std::size_t>(x)];
      for (std::int64_t x = 0; x < r.width; ++x)
        below[x] += row.weight * line[static_cast<std::size_t>(x)];
    }
    for (std::int64_t i = 0; i < places; ++i)
      store(target[image * places + i], sums[static_cast<std::size_t>(i)]);
  }
}

// --- grids ---

namespace {

/// Where a place of a grid lies among the elements; places outside of the image have none.
template <class Real>
struct Corner {
  std::int64_t x = -2, y = -2;  ///< of the element above and to the left
  Real right = 0, below = 0;    ///< how near the place is to the other ones

  Corner(Real grid_x, Real grid_y, const Grid& grid) {
    const Real at_x = (grid_x + 1) * static_cast<Real>(grid.width - 1) / 2,
               at_y = (grid_y + 1) * static_cast<Real>(grid.height - 1) / 2;
    if (!(at_x > -1 && at_x < static_cast<Real>(grid.width) && at_y > -1 &&
          at_y < static_cast<Real>(grid.height)))
      return;
    x = static_cast<std::int64_t>(std::floor(at_x));
    y = static_cast<std::int64_t>(std::floor(at_y));
    right = at_x - static_cast<Real>(x);
    below = at_y - static_cast<Real>(y);
  }

  /// Calls `step(place, row, column)` with those of the four elements that are there.
  template <class Step>
  void for_each(const Grid& grid, Step&& step) const {
    for (int row = 0; row < 2; ++row) {
      if (y + row < 0 || y + row >= grid.height) continue;
      for (int column = 0; column < 2; ++column) {
        if (x + column >= 0 && x + column < grid.width)
          step((y + row) * grid.width + x + column, row, column);
      }
    }
  }
  Real weight(int row, int column) const {
    return (row ? below : 1 - below) * (column ? right : 1 - right);
  }
};

}  // namespace

SamplerPass::SamplerPass(SamplerWork work, const Grid& grid, DType dtype, const void* data,
                         const void* places, const void* values, void* target)
    : work_(work),
      grid_(grid),
      dtype_(dtype),
      data_(data),
      places_(places),
      values_(values),
      target_(target) {
  const bool by_row = work == SamplerWork::grid_gradient;
  units_ = grid.images * (by_row ? grid.rows : grid.channels);
  shares_ =
      shares_of(units_, by_row ? grid.columns * grid.channels * 4
                               : std::max(grid.rows * grid.columns * 4, grid.height * grid.width));
}

void SamplerPass::run(int share) const {
  const Range range = range_of(units_, shares_, share);
  with_real(dtype_, [&](auto element, auto number) {
    run_as<decltype(element), decltype(number)>(range.begin, range.end);
  });
}

template <class Element, class Real>
void SamplerPass::run_as(std::int64_t begin, std::int64_t end) const {
  const auto* const data = static_cast<const Element*>(data_);
  const auto* const places = static_cast<const Element*>(places_);
  const auto* const values = static_cast<const Element*>(values_);
  auto* const target = static_cast<Element*>(target_);
  const std::int64_t results = grid_.rows * grid_.columns, plane = grid_.height * grid_.width;
  const auto corner = [&](std::int64_t image, std::int64_t i) {
    const Element* const grid = places + image * 2 * results;
    return Corner<Real>(load(grid[i]), load(grid[results + i]), grid_);
  };
  if (work_ == SamplerWork::sample) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const Element* const from = data + unit * plane;
      for (std::int64_t i = 0; i < results; ++i) {
        const Corner<Real> at = corner(unit / grid_.channels, i);
        Real sum = 0;
        at.for_each(grid_, [&](std::int64_t place, int row, int column) {
          sum += load(from[place]) * at.weight(row, column);
        });
        store(target[unit * results + i], sum);
      }
    }
    return;
  }
  if (work_ == SamplerWork::data_gradient) {
    std::vector<Real> sums(static_cast<std::size_t>(plane));
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::ranges::fill(sums, Real(0));
      for (std::int64_t i = 0; i < results; ++i) {
        const Corner<Real> at = corner(unit / grid_.channels, i);
        const Real value = load(values[unit * results + i]);
        at.for_each(grid_, [&](std::int64_t place, int row, int column) {
          sums[static_cast<std::size_t>(place)] += value * at.weight(row, column);
        });
      }
      for (std::int64_t i = 0; i < plane; ++i)
        store(target[unit * plane + i], sums[static_cast<std::size_t>(i)]);
    }
    return;
  }
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const std::int64_t image = unit / grid_.rows;
    for (std::int64_t column = 0; column < grid_.columns; ++column) {
      const std::int64_t i = unit % grid_.rows * grid_.columns + column;
      const Corner<Real> at = corner(image, i);
      Real along_x = 0, along_y = 0;
      for (std::int64_t channel = 0; channel < grid_.channels; ++channel) {
        const std::int64_t number = image * grid_.channels + channel;
        const Element* const from = data + number * plane;
        const Real value = load(values[number * results + i]);
        at.for_each(grid_, [&](std::int64_t place, int row, int side) {
          const Real element = load(from[place]) * value;
          along_x += element * (side ? 1 : -1) * (row ? at.below : 1 - at.below);
          along_y += element * (row ? 1 : -1) * (side ? at.right : 1 - at.right);
        });
      }
      Element* const into = target + image * 2 * results + i;
      store(into[0], along_x * static_cast<Real>(grid_.width - 1) / 2);
      store(into[results], along_y * static_cast<Real>(grid_.height - 1) / 2);
    }
  }
}

// --- patches ---

PatchesPass::PatchesPass(Work work, const Patches& patches, DType dtype, const void* first,
                         const void* second, const void* values, void* target)
    : work_(work),
      patches_(patches),
      dtype_(dtype),
      first_(first),
      second_(second),
      values_(values),
      target_(target) {
  const std::int64_t reach = 2 * (patches.displacement / patches.step) + 1;
  const std::int64_t terms = reach * reach * patches.columns * patches.kernel * patches.kernel;
  const bool compares = work == Work::compare;
  units_ = patches.images * (compares ? patches.rows : patches.channels);
  shares_ = shares_of(units_, terms * (compares ? patches.channels : patches.rows));
}

void PatchesPass::run(int share) const {
  const Range range = range_of(units_, shares_, share);
  with_real(dtype_, [&](auto element, auto number) {
    run_as<decltype(element), decltype(number)>(range.begin, range.end);
  });
}

template <class Element, class Real>
void PatchesPass::run_as(std::int64_t begin, std::int64_t end) const {
  const Patches& p = patches_;
  const auto* const first = static_cast<const Element*>(first_);
  const auto* const second = static_cast<const Element*>(second_);
  const auto* const values = static_cast<const Element*>(values_);
  auto* const target = static_cast<Element*>(target_);
  const std::int64_t radius = p.displacement / p.step, reach = 2 * radius + 1,
                     plane = p.height * p.width, results = p.rows * p.columns;
  const Real count = static_cast<Real>(p.kernel * p.kernel * p.channels);
  const auto result_at = [&](std::int64_t image, std::int64_t shift, std::int64_t row,
                             std::int64_t column) {
    return ((image * reach * reach + shift) * p.rows + row) * p.columns + column;
  };
  // Calls `step(place in the first plane or -1, place in the second or -1)` for a pair of patches.
  const auto for_each_pair = [&](std::int64_t shift, std::int64_t row, std::int64_t column,
                                 auto&& step) {
    const std::int64_t y = row * p.stride + p.displacement - p.pad,
                       x = column * p.stride + p.displacement - p.pad,
                       down = (shift / reach - radius) * p.step,
                       right = (shift % reach - radius) * p.step;
    const auto place = [&](std::int64_t at_y, std::int64_t at_x) -> std::int64_t {
      return at_y >= 0 && at_y < p.height && at_x >= 0 && at_x < p.width ? at_y * p.width + at_x
                                                                         : -1;
    };
    for (std::int64_t i = 0; i < p.kernel; ++i) {
      for (std::int64_t j = 0; j < p.kernel; ++j)
        step(place(y + i, x + j), place(y + i + down, x + j + right));
    }
  };
  const auto element = [&](const Element* data, std::int64_t place) {
    return place < 0 ? Real(0) : load(data[place]);
  };
  if (work_ == Work::compare) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t image = unit / p.rows, row = unit % p.rows;
      for (std::int64_t shift = 0; shift < reach * reach; ++shift) {
        for (std::int64_t column = 0; column < p.columns; ++column) {
          Real sum = 0;
          for_each_pair(shift, row, column, [&](std::int64_t one, std::int64_t other) {
            if (p.multiplies && (one < 0 || other < 0)) return;
            for (std::int64_t channel = 0; channel < p.channels; ++channel) {
              const std::int64_t offset = (image * p.channels + channel) * plane;
              const Real a = element(first + offset, one), b = element(second + offset, other);
              sum += p.multiplies ? a * b : std::abs(a - b);
            }
          });
          store(target[result_at(image, shift, row, column)], sum / count);
        }
      }
    }
    return;
  }
  std::vector<Real> sums(static_cast<std::size_t>(plane));
  for (std::int64_t unit = begin; unit < end; ++unit) {
    std::ranges::fill(sums, Real(0));
    const Element *const a = first + unit * plane, *const b = second + unit * plane;
    for (std::int64_t shift = 0; shift < reach * reach; ++shift) {
      for (std::int64_t i = 0; i < results; ++i) {
        const std::int64_t row = i / p.columns, column = i % p.columns;
        const Real value = load(values[result_at(unit / p.channels, shift, row, column)]) / count;
        for_each_pair(shift, row, column, [&](std::int64_t one, std::int64_t other) {
          const bool is_first = work_ == Work::first_gradient;
          const std::int64_t own = is_first ? one : other;
          if (own < 0) return;
          const Real x = element(a, one), y = element(b, other);
          Real factor = is_first ? y : x;
          if (!p.multiplies) factor = (x >= y) == is_first ? Real(1) : Real(-1);
          sums[static_cast<std::size_t>(own)] += value * factor;
        });
      }
    }
    for (std::int64_t i = 0; i < plane; ++i)
      store(target[unit * plane + i], sums[static_cast<std::size_t>(i)]);
  }
}

}  // namespace afterglow::kernels
