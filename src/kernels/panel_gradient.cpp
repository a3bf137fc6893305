// SPDX-License-Identifier: Apache-2.0
#include "kernels/panel_gradient.h"

#include <algorithm>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// Places whose products are added up at once: what they see stays in the second cache.
constexpr std::int64_t most_depth = 512;
/// Small images are taken together until they have so many.
constexpr std::int64_t enough_depth = 128;

template <class Real>
const PanelFunctions<Real>& panels() {
  return real_functions<Real>().panels;
}

template <class Real>
constexpr DType dtype_of = sizeof(Real) == sizeof(float) ? DType::float32 : DType::float64;

/// The pixels that the windows of a grid see, of which some may be outside of the image.
struct View {
  Space first, extents;
  Space spacing;  ///< of pixels in the image: those that no window sees may be left out

  explicit View(const Gathering& grid) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      first[axis] = grid.taps[0].offset[axis];
      std::int64_t last = first[axis];
      spacing[axis] = grid.step[axis];
      for (const Gathering::Tap& tap : grid.taps) {
        if ((tap.offset[axis] - first[axis]) % spacing[axis]) spacing[axis] = 1;
        first[axis] = std::min(first[axis], tap.offset[axis]);
        last = std::max(last, tap.offset[axis]);
      }
      last += (grid.grid[axis] - 1) * grid.step[axis];
      extents[axis] = (last - first[axis]) / spacing[axis] + 1;
    }
  }
  std::int64_t size() const { return places_in(extents); }
  std::int64_t pixel(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }
  /// What a tap finds for the first place.
  std::int64_t pixel_of(const Gathering::Tap& tap) const {
    return pixel((tap.offset[0] - first[0]) / spacing[0], (tap.offset[1] - first[1]) / spacing[1],
                 (tap.offset[2] - first[2]) / spacing[2]);
  }
  /// Those within the image.
  Range inside(const Gathering& grid, std::size_t axis) const {
    const auto pixels_before = [&](std::int64_t place) {
      const std::int64_t distance = std::max<std::int64_t>(0, place - first[axis]);
      return std::min(divide_up(distance, spacing[axis]), extents[axis]);
    };
    return {pixels_before(0), pixels_before(grid.source[axis])};
  }
};

/// So many taps follow each other in a row.
std::int64_t taps_of_row(const Gathering& grid) {
  std::size_t count = 1;
  const auto follows = [&](std::size_t tap) {
    Space next = grid.taps[tap - 1].offset;
    ++next[2];
    return grid.taps[tap].offset == next;
  };
  while (count < grid.taps.size() && follows(count)) ++count;
  return static_cast<std::int64_t>(count);
}

/// What the first tap finds, for all places of some images.
std::vector<std::int64_t> pixels_of_places(const Gathering& grid, const View& view,
                                           std::int64_t images) {
  std::vector<std::int64_t> pixels;
  pixels.reserve(static_cast<std::size_t>(images * places_in(grid.grid)));
  const auto pixel = [&](std::size_t axis, std::int64_t place) {
    return place * (grid.step[axis] / view.spacing[axis]);
  };
  for (std::int64_t image = 0; image < images; ++image)
    for (std::int64_t z = 0; z < grid.grid[0]; ++z)
      for (std::int64_t y = 0; y < grid.grid[1]; ++y)
        for (std::int64_t x = 0; x < grid.grid[2]; ++x)
          pixels.push_back(image * view.size() + view.pixel(pixel(0, z), pixel(1, y), pixel(2, x)));
  return pixels;
}

/// Channels that are side by side.
template <class Real>
struct Strip {
  std::int64_t first, channels;
  std::int64_t line;  ///< of sums, in whole vectors: those of a row of taps
  Real *pixels, *sums;
  std::vector<const Real*> sources;  ///< what the first tap finds for each place
};

template <class Real>
class Task {
 public:
  explicit Task(const PanelGradient<Real>& work)
      : work_(work), taps_(work.taps), taps_of_row_(taps_of_row(work.slabs[0].grid)) {}

  void run() {
    const std::int64_t most = panels<Real>().columns, width = panels<Real>().width;
    std::int64_t pixels = 0, places = 0, row = 0, sums = 0;
    for (const Slab& slab : work_.slabs) {
      pixels = std::max(pixels, images_together(slab) * View(slab.grid).size());
      places = std::max(places, images_together(slab) * places_in(slab.grid.grid));
      row = std::max(row, View(slab.grid).extents[2]);
    }
    for (std::int64_t first = 0; first < work_.channels; first += most) {
      const std::int64_t channels = std::min(most, work_.channels - first);
      const std::int64_t line = divide_up(taps_of_row_ * channels, width) * width;
      strips_.push_back({first, channels, line, nullptr, nullptr, {}});
      sums += taps_ / taps_of_row_ * work_.filters * line;
    }
    result_distance_ = places + width;
    const std::int64_t results = work_.filters * result_distance_;
    Room<Real> room({pixels * work_.channels, row * most, results, sums});
    pixels_ = room.take(pixels * work_.channels);
    row_ = room.take(row * most);
    results_ = room.take(results);
    Real* next = room.take(sums);
    for (Strip<Real>& strip : strips_) {
      strip.sums = next;
      next += taps_ / taps_of_row_ * work_.filters * strip.line;
    }
    for (const Slab& slab : work_.slabs) add(slab);
    for (const Strip<Real>& strip : strips_) store(strip);
  }

 private:
  using Slab = typename PanelGradient<Real>::Slab;

  static std::int64_t images_together(const Slab& slab) {
    return std::min(slab.count, divide_up(enough_depth, places_in(slab.grid.grid)));
  }

  void add(const Slab& slab) {
    const Gathering& grid = slab.grid;
    const View view(grid);
    const std::int64_t together = images_together(slab);
    std::fill_n(pixels_, together * view.size() * work_.channels, Real(0));
    const std::vector<std::int64_t> pixels = pixels_of_places(grid, view, together);
    for (Strip<Real>& strip : strips_) {
      strip.pixels = pixels_ + together * view.size() * strip.first;
      strip.sources.resize(pixels.size());
      for (std::size_t i = 0; i < pixels.size(); ++i)
        strip.sources[i] = strip.pixels + pixels[i] * strip.channels;
    }
    // Rows that begin in the same place of the nearest cache would drive each other out of it.
    constexpr std::int64_t cache_way = 4096;
    const std::int64_t places = places_in(grid.grid), plane = places_in(grid.target);
    const bool is_copied =
        together > 1 || plane * static_cast<std::int64_t>(sizeof(Real)) % cache_way == 0;
    for (std::int64_t first = 0; first < slab.count; first += together) {
      const std::int64_t count = std::min(together, slab.count - first);
      const Real* const results = slab.results + first * work_.result_step;
      for (std::int64_t image = 0; image < count; ++image) {
        for (std::int64_t filter = 0; is_copied && filter < work_.filters; ++filter)
          std::copy_n(results + image * work_.result_step + filter * plane, places,
                      results_ + filter * result_distance_ + image * places);
        for (const Strip<Real>& strip : strips_)
          turn(grid, view, slab.images + (first + image) * work_.image_step, strip,
               strip.pixels + image * view.size() * strip.channels);
      }
      for (const Strip<Real>& strip : strips_)
        multiply(grid, view, strip, is_copied ? results_ : results,
                 is_copied ? result_distance_ : plane, count * places);
      has_sums_ = true;
    }
  }

  void turn(const Gathering& grid, const View& view, const Real* image, const Strip<Real>& strip,
            Real* pixels) const {
    const Range z = view.inside(grid, 0), y = view.inside(grid, 1), x = view.inside(grid, 2);
    const std::int64_t plane = places_in(grid.source), count = x.end - x.begin;
    const auto place = [&](std::size_t axis, std::int64_t pixel) {
      return view.first[axis] + pixel * view.spacing[axis];
    };
    for (std::int64_t i = z.begin; i < z.end && count > 0; ++i) {
      for (std::int64_t j = y.begin; j < y.end; ++j) {
        const Real* row = image + strip.first * plane +
                          (place(0, i) * grid.source[1] + place(1, j)) * grid.source[2] +
                          place(2, x.begin);
        std::int64_t distance = plane;
        if (view.spacing[2] > 1) {
          panels<Real>().pad_lines({.source = row,
                                    .source_stride = plane,
                                    .lines = strip.channels,
                                    .step = view.spacing[2],
                                    .before = 0,
                                    .count = count,
                                    .after = 0,
                                    .target = row_,
                                    .target_stride = count});
          row = row_;
          distance = count;
        }
        move_function(dtype_of<Real>)(
            {const_cast<Real*>(row), 1, distance},  // read only
            {pixels + view.pixel(i, j, x.begin) * strip.channels, strip.channels, 1}, count,
            strip.channels);
      }
    }
  }

  void multiply(const Gathering& grid, const View& view, const Strip<Real>& strip,
                const Real* results, std::int64_t distance, std::int64_t places) const {
    const PanelFunctions<Real>& functions = panels<Real>();
    const std::int64_t groups = divide_up(work_.filters, functions.rows);
    for (std::int64_t place = 0; place < places; place += most_depth) {
      for (std::int64_t group = 0; group < groups; ++group) {
        const std::int64_t first = work_.filters * group / groups,
                           last = work_.filters * (group + 1) / groups;
        Real* sums = strip.sums + first * strip.line;
        for (std::int64_t tap = 0; tap < taps_; tap += taps_of_row_) {
          functions.gathered_product(
              {.depth = std::min(most_depth, places - place),
               .a = results + first * distance + place,
               .a_row = distance,
               .a_step = 1,
               .sources = strip.sources.data() + place,
               .offset = view.pixel_of(grid.taps[static_cast<std::size_t>(tap)]) * strip.channels,
               .c = sums,
               .c_stride = strip.line,
               .rows = static_cast<int>(last - first),
               .columns = static_cast<int>(taps_of_row_ * strip.channels),
               .add = has_sums_ || place > 0});
          sums += work_.filters * strip.line;
        }
      }
    }
  }

  void store(const Strip<Real>& strip) const {
    const Real* sums = strip.sums;
    for (std::int64_t row = 0; row < taps_; row += taps_of_row_) {
      for (std::int64_t filter = 0; filter < work_.filters; ++filter, sums += strip.line) {
        Real* const target = work_.weights + filter * work_.filter_step + strip.first * taps_ + row;
        if (taps_ == 1) {
          std::copy_n(sums, strip.channels, target);
          continue;
        }
        for (std::int64_t channel = 0; channel < strip.channels; ++channel)
          for (std::int64_t tap = 0; tap < taps_of_row_; ++tap)
            target[channel * taps_ + tap] = sums[tap * strip.channels + channel];
      }
    }
  }

  const PanelGradient<Real>& work_;
  const std::int64_t taps_, taps_of_row_;
  std::vector<Strip<Real>> strips_;
  Real *pixels_ = nullptr, *row_ = nullptr, *results_ = nullptr;
  std::int64_t result_distance_ = 0;
  bool has_sums_ = false;
};

}  // namespace

std::int64_t pixels_seen(const Gathering& grid) {
  return View(grid).size();
}

template <class Real>
void PanelGradient<Real>::run() const {
  if (!slabs.empty()) return Task<Real>(*this).run();
  for (std::int64_t filter = 0; filter < filters; ++filter)
    std::fill_n(weights + filter * filter_step, channels * taps, Real(0));
}

template struct PanelGradient<float>;
template struct PanelGradient<double>;

}  // namespace afterglow::kernels
