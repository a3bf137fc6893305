// SPDX-License-Identifier: Apache-2.0
#include "kernels/pixels.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/pixel_winograd.h"
#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// Pixels that meet the same weights one after the other, before what follows is told of them.
constexpr std::int64_t block_pixels = 96;
/// Many weights for few pixels: filters are divided before pixels are.
constexpr std::int64_t many_pixels = 1024, many_weights = 1 << 16, fewest_pixels = 16;
constexpr std::int64_t fewest_tiles = 24;
/// Operations of a share at least, where there are several, and at most.
constexpr double small_share = 1.5e6, small_depthwise_share = 5e5, large_share = 5e8;
constexpr std::int64_t enough_shares = 16;
/// Weights of a share at least: where few pixels meet them, reading them is the work.
constexpr std::int64_t small_weights = 1 << 18;

template <class Real>
const PixelFunctions<Real>& functions() {
  return real_functions<Real>().pixels;
}

std::int64_t panel_columns(DType dtype) {
  return dtype == DType::float32 ? functions<float>().columns : functions<double>().columns;
}

std::int64_t square_side(DType dtype) {
  return dtype == DType::float32 ? functions<float>().side : functions<double>().side;
}

/// Of a group; of all channels where each has its own filter.
std::int64_t panels_of(const Windows& windows, DType dtype) {
  return divide_up(is_depthwise(windows) ? windows.groups : windows.filters, panel_columns(dtype));
}

/// Images of so few channels are copied with zeros around them, so that taps side by side are one
/// row of weights.
bool joins_taps(const Windows& windows, int width) {
  return !is_depthwise(windows) && windows.groups == 1 && windows.channels < width &&
         windows.kernel[2] > 1 && windows.dilate[2] == 1;
}

/// Depthwise filters of 3 by 3 take squares of pixels, if rows are long enough.
bool takes_squares(const Windows& windows, std::int64_t side) {
  const Space &kernel = windows.kernel, &stride = windows.stride;
  return is_depthwise(windows) && kernel == Space{1, 3, 3} && windows.image[0] == 1 &&
         windows.pad[0] == 0 && stride[1] == stride[2] && stride[2] <= 2 &&
         windows.dilate[1] == 1 && windows.dilate[2] == 1 && windows.result[2] >= side;
}

/// Where a pixel of the result is.
struct Place {
  std::int64_t image, z, y, x;
};

Place place_of(const Windows& windows, std::int64_t pixel) {
  const Space& result = windows.result;
  const std::int64_t row = pixel / result[2];
  return {row / result[1] / result[0], row / result[1] % result[0], row % result[1],
          pixel % result[2]};
}

template <class Real>
PixelResult<Real> result_of(const PixelConvolution& work) {
  return {static_cast<const Real*>(work.bias), static_cast<const Real*>(work.addend),
          static_cast<Real*>(work.results),    work.windows.groups * work.windows.filters,
          static_cast<Real>(work.low),         static_cast<Real>(work.high)};
}

/// From a pixel and a column on.
template <class Real>
PixelResult<Real> at(PixelResult<Real> result, std::int64_t pixel, std::int64_t column) {
  const std::int64_t place = pixel * result.stride + column;
  if (result.start) result.start += column;
  if (result.addend) result.addend += place;
  result.target += place;
  return result;
}

/// Rows of the result of depthwise filters of 3 by 3.
template <class Real>
class SquareTask {
 public:
  SquareTask(const PixelConvolution& work, const PixelConvolutionPass::Epilogue& epilogue)
      : windows_(work.windows),
        images_(static_cast<const Real*>(work.images)),
        packed_(static_cast<const Real*>(work.packed)),
        result_(result_of<Real>(work)),
        epilogue_(epilogue),
        zeros_(static_cast<std::size_t>(windows_.groups)) {}

  void run(Range rows) const {
    const std::int64_t height = windows_.result[1], width = windows_.result[2];
    for (std::int64_t row = rows.begin; row < rows.end;) {
      const std::int64_t count = row + 1 < rows.end && (row + 1) % height != 0 ? 2 : 1;
      filter(row, count);
      if (epilogue_) epilogue_(row * width, (row + count) * width, 0, windows_.groups);
      row += count;
    }
  }

 private:
  static constexpr std::int64_t taps = 3;

  void filter(std::int64_t row, std::int64_t count) const {
    const PixelFunctions<Real>& functions = kernels::functions<Real>();
    const std::int64_t width = windows_.result[2], side = functions.side,
                       stride = windows_.stride[2], channels = windows_.groups;
    const std::int64_t image = row / windows_.result[1],
                       top = row % windows_.result[1] * stride - windows_.pad[1];
    const std::int64_t height = (count - 1) * stride + taps, length = (side - 1) * stride + taps;
    const auto square = functions.squares[stride - 1][count - 1];
    const Real* sources[most_seen];
    for (std::int64_t done = 0; done < width; done += side) {
      // The last square goes over pixels that are there already.
      const std::int64_t first = std::min(done, width - side),
                         left = first * stride - windows_.pad[2];
      for (std::int64_t y = 0; y < height; ++y) {
        const bool is_row = 0 <= top + y && top + y < windows_.image[1];
        const Real* const from =
            images_ + ((image * windows_.image[1] + top + y) * windows_.image[2] + left) * channels;
        for (std::int64_t x = 0; x < length; ++x) {
          const bool is_inside = is_row && 0 <= left + x && left + x < windows_.image[2];
          sources[y * length + x] = is_inside ? from + x * channels : zeros_.data();
        }
      }
      square({sources, channels, packed_, channels, at(result_, row * width + first, 0),
              width * channels});
    }
  }

  /// What a square of two rows sees with a stride of two.
  static constexpr std::int64_t most_seen = 5 * 9;

  const Windows& windows_;
  const Real *const images_, *const packed_;
  const PixelResult<Real> result_;
  const PixelConvolutionPass::Epilogue& epilogue_;
  const std::vector<Real> zeros_;
};

/// A range of pixels of the result and a range of panels of a group.
template <class Real>
class PixelTask {
 public:
  PixelTask(const PixelConvolution& work, const PixelConvolutionPass::Epilogue& epilogue)
      : windows_(work.windows),
        images_(static_cast<const Real*>(work.images)),
        packed_(static_cast<const Real*>(work.packed)),
        result_{static_cast<const Real*>(work.bias), static_cast<const Real*>(work.addend),
                static_cast<Real*>(work.results),    windows_.groups * windows_.filters,
                static_cast<Real>(work.low),         static_cast<Real>(work.high)},
        epilogue_(epilogue),
        taps_(places_in(windows_.kernel)),
        source_channels_(windows_.groups * windows_.channels),
        joins_taps_(kernels::joins_taps(windows_, functions<Real>().width)) {}

  void run(std::int64_t group, Range pixels, Range panels) {
    group_ = group;
    const std::int64_t first = panels.begin * functions<Real>().columns;
    const std::int64_t last = std::min(panels.end * functions<Real>().columns,
                                       is_depthwise(windows_) ? windows_.groups : windows_.filters);
    const std::int64_t row = windows_.result[2];
    prepare_scratch();
    for (std::int64_t begin = pixels.begin; begin < pixels.end;) {
      const std::int64_t left =
          joins_taps_ ? std::min(pixels.end - begin, row - begin % row) : pixels.end - begin;
      const std::int64_t count = divide_up(left, divide_up(left, block_pixels));
      joins_taps_ ? copy_sources(begin, count) : find_sources(begin, count);
      is_depthwise(windows_) ? filter(begin, count) : multiply(begin, count, panels, last);
      if (epilogue_) {
        const std::int64_t offset = group * windows_.filters;
        epilogue_(begin, begin + count, offset + first, offset + last);
      }
      begin += count;
    }
  }

 private:
  /// Zeros for what lies outside of images, or room for the rows of a block.
  void prepare_scratch() {
    row_size_ = ((block_pixels - 1) * windows_.stride[2] + windows_.kernel[2]) * windows_.channels;
    const std::int64_t count =
        joins_taps_ ? taps_ / windows_.kernel[2] * row_size_ : source_channels_;
    static thread_local Scratch scratch;
    scratch_ = reinterpret_cast<Real*>(scratch.of_size(count * std::int64_t{sizeof(Real)}));
    if (!joins_taps_) std::fill_n(scratch_, count, Real(0));
    sources_.resize(static_cast<std::size_t>(taps_ * block_pixels));
  }

  const Real* row_of_image(std::int64_t image, std::int64_t z, std::int64_t y) const {
    return images_ + ((image * windows_.image[0] + z) * windows_.image[1] + y) * windows_.image[2] *
                         source_channels_;
  }

  /// Calls `visit` with each row of taps and the row of the image that it meets at a place, or
  /// nullptr.
  template <class Visit>
  void for_each_tap_row(const Place& place, Visit&& visit) const {
    std::int64_t number = 0;
    for (std::int64_t kz = 0; kz < windows_.kernel[0]; ++kz) {
      const std::int64_t z =
          place.z * windows_.stride[0] + kz * windows_.dilate[0] - windows_.pad[0];
      for (std::int64_t ky = 0; ky < windows_.kernel[1]; ++ky, ++number) {
        const std::int64_t y =
            place.y * windows_.stride[1] + ky * windows_.dilate[1] - windows_.pad[1];
        const bool inside = z >= 0 && z < windows_.image[0] && y >= 0 && y < windows_.image[1];
        visit(number, inside ? row_of_image(place.image, z, y) : nullptr);
      }
    }
  }

  /// What the taps meet, for pixels of any rows.
  void find_sources(std::int64_t begin, std::int64_t count) {
    const std::int64_t step = windows_.stride[2], channels = source_channels_;
    for (std::int64_t done = 0; done < count;) {
      const Place place = place_of(windows_, begin + done);
      const std::int64_t run = std::min(count - done, windows_.result[2] - place.x);
      for_each_tap_row(place, [&](std::int64_t number, const Real* row) {
        for (std::int64_t kx = 0; kx < windows_.kernel[2]; ++kx) {
          const Real** const to =
              sources_.data() + (number * windows_.kernel[2] + kx) * block_pixels + done;
          const std::int64_t x = place.x * step + kx * windows_.dilate[2] - windows_.pad[2];
          // Pixels [low, high) of the run meet the image.
          const std::int64_t low = std::clamp<std::int64_t>(divide_up(-x, step), 0, run);
          const std::int64_t high =
              row ? std::clamp(divide_up(windows_.image[2] - x, step), low, run) : low;
          std::fill(to, to + low, scratch_);
          for (std::int64_t i = low; i < high; ++i)
            to[i] = row + (x + i * step) * channels + group_ * windows_.channels;
          std::fill(to + high, to + run, scratch_);
        }
      });
      done += run;
    }
  }

  /// The rows that the taps meet, with zeros around them, for pixels of one row.
  void copy_sources(std::int64_t begin, std::int64_t count) {
    const Place place = place_of(windows_, begin);
    const std::int64_t channels = windows_.channels, step = windows_.stride[2];
    const std::int64_t first = place.x * step - windows_.pad[2];
    const std::int64_t last = first + (count - 1) * step + windows_.kernel[2];
    const std::int64_t low = std::clamp<std::int64_t>(0, first, last);
    const std::int64_t high = std::clamp(windows_.image[2], low, last);
    for_each_tap_row(place, [&](std::int64_t number, const Real* row) {
      Real* const to = scratch_ + number * row_size_;
      if (row) {
        std::fill_n(to, (low - first) * channels, Real(0));
        std::copy_n(row + low * channels, (high - low) * channels, to + (low - first) * channels);
        std::fill_n(to + (high - first) * channels, (last - high) * channels, Real(0));
      } else {
        std::fill_n(to, (last - first) * channels, Real(0));
      }
      for (std::int64_t i = 0; i < count; ++i)
        sources_[static_cast<std::size_t>(number * block_pixels + i)] = to + i * step * channels;
    });
  }

  /// Calls `visit` with the parts of a block, of nearly equal size.
  template <class Visit>
  static void for_each_tile(std::int64_t count, std::int64_t most, Visit&& visit) {
    const std::int64_t tiles = divide_up(count, most);
    for (std::int64_t tile = 0; tile < tiles; ++tile)
      visit(count * tile / tiles, count * (tile + 1) / tiles);
  }

  void multiply(std::int64_t begin, std::int64_t count, Range panels, std::int64_t last) const {
    const std::int64_t columns = functions<Real>().columns, depth = taps_ * windows_.channels;
    const std::int64_t joined = joins_taps_ ? windows_.kernel[2] : 1;
    const std::int64_t all_panels = divide_up(windows_.filters, columns);
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const std::int64_t column = group_ * windows_.filters + panel * columns;
      const Real* const weights = packed_ + (group_ * all_panels + panel) * depth * columns;
      for_each_tile(count, functions<Real>().pixels, [&](std::int64_t from, std::int64_t to) {
        functions<Real>().product({sources_.data() + from, block_pixels, taps_ / joined,
                                   windows_.channels * joined, weights,
                                   at(result_, begin + from, column), static_cast<int>(to - from),
                                   static_cast<int>(std::min(columns, last - panel * columns))});
      });
    }
  }

  void filter(std::int64_t begin, std::int64_t count) const {
    for_each_tile(count, functions<Real>().filtered, [&](std::int64_t from, std::int64_t to) {
      functions<Real>().filter({sources_.data() + from, block_pixels, taps_, windows_.groups,
                                packed_, windows_.groups, at(result_, begin + from, 0),
                                static_cast<int>(to - from)});
    });
  }

  const Windows& windows_;
  const Real *const images_, *const packed_;
  const PixelResult<Real> result_;
  const PixelConvolutionPass::Epilogue& epilogue_;
  const std::int64_t taps_, source_channels_;
  const bool joins_taps_;
  std::int64_t group_ = 0, row_size_ = 0;
  Real* scratch_ = nullptr;
  std::vector<const Real*> sources_;  ///< [tap][pixel of the block]
};

}  // namespace

Packing packing_for(const Windows& windows, DType dtype) {
  return pixel_winograd_pays(windows, dtype) ? Packing::winograd : Packing::panels;
}

std::int64_t packed_filters_size(const Windows& windows, DType dtype, Packing packing) {
  if (packing == Packing::winograd) return spread_filters_size(windows);
  const std::int64_t taps = places_in(windows.kernel);
  if (is_depthwise(windows)) return taps * windows.groups;
  return windows.groups * panels_of(windows, dtype) * taps * windows.channels *
         panel_columns(dtype);
}

PackFiltersPass::PackFiltersPass(const Windows& windows, DType dtype, Packing packing,
                                 const void* weights, const void* factors, void* packed)
    : windows_(windows),
      dtype_(dtype),
      packing_(packing),
      weights_(weights),
      factors_(factors),
      packed_(packed) {}

int PackFiltersPass::shares() const {
  if (is_depthwise(windows_)) return 1;
  return static_cast<int>(windows_.groups * panels_of(windows_, dtype_));
}

template <class Real>
void PackFiltersPass::pack(std::int64_t panel) const {
  const std::int64_t taps = places_in(windows_.kernel), columns = functions<Real>().columns;
  const auto* const weights = static_cast<const Real*>(weights_);
  const auto* const factors = static_cast<const Real*>(factors_);
  const auto factor = [&](std::int64_t filter) { return factors ? factors[filter] : Real(1); };
  auto* target = static_cast<Real*>(packed_);
  if (is_depthwise(windows_)) {
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t channel = 0; channel < windows_.groups; ++channel)
        *target++ = weights[channel * taps + tap] * factor(channel);
    return;
  }
  const std::int64_t depth = windows_.channels * taps, panels = panels_of(windows_, dtype_);
  const std::int64_t first = panel % panels * columns;
  const std::int64_t used = std::min(columns, windows_.filters - first);
  target += panel * depth * columns;
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int64_t filter = panel / panels * windows_.filters + first + column;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t channel = 0; channel < windows_.channels; ++channel)
        target[(tap * windows_.channels + channel) * columns + column] =
            column < used ? weights[filter * depth + channel * taps + tap] * factor(filter)
                          : Real(0);
  }
}

void PackFiltersPass::run(int share) const {
  if (packing_ == Packing::winograd)
    spread_filters(windows_, static_cast<const float*>(weights_),
                   static_cast<const float*>(factors_), share, static_cast<float*>(packed_));
  else if (dtype_ == DType::float32)
    pack<float>(share);
  else
    pack<double>(share);
}

PixelConvolutionPass::PixelConvolutionPass(const PixelConvolution& work, Epilogue epilogue)
    : work_(work), epilogue_(std::move(epilogue)) {
  const Windows& windows = work_.windows;
  const DType dtype = work_.dtype;
  const std::int64_t panels = panels_of(windows, dtype);
  const std::int64_t pixels = windows.count * places_in(windows.result);
  if (!pixels || !panels || !windows.groups) return;
  const std::int64_t groups = is_depthwise(windows) ? 1 : windows.groups;
  const double operations = windows.operations();
  std::int64_t wanted = static_cast<std::int64_t>(
      operations / (is_depthwise(windows) ? small_depthwise_share : small_share));
  const std::int64_t weights = packed_filters_size(windows, dtype, Packing::panels);
  wanted = std::max(wanted, weights / small_weights);
  wanted = std::clamp<std::int64_t>(wanted, 1, divide_up(enough_shares, groups));
  // As many for each of two, four or eight threads.
  wanted = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
  wanted = std::max(
      wanted, static_cast<std::int64_t>(operations / static_cast<double>(groups) / large_share));
  std::int64_t filter_shares = 1, unit_shares = 1;
  if (packing_for(windows, dtype) == Packing::winograd) {
    kind_ = Units::tiles;
    units_ = winograd_tiles(windows);
    // Tiles are spread out again by those who have other filters.
    unit_shares = std::clamp<std::int64_t>(units_ / fewest_tiles, 1, wanted);
    filter_shares = std::clamp<std::int64_t>(wanted / unit_shares, 1, divide_up(panels, 2));
  } else if (takes_squares(windows, square_side(dtype))) {
    kind_ = Units::rows;
    units_ = windows.count * windows.result[1];
    unit_shares = std::min(wanted, units_);
  } else {
    kind_ = Units::pixels;
    units_ = pixels;
    const bool divides_filters = pixels < many_pixels && weights > groups * many_weights;
    if (divides_filters) filter_shares = std::min(wanted, panels);
    unit_shares = std::min(divide_up(wanted, filter_shares), divide_up(units_, fewest_pixels));
  }
  filter_shares_ = static_cast<int>(filter_shares);
  unit_shares_ = static_cast<int>(unit_shares);
  shares_ = static_cast<int>(groups * filter_shares * unit_shares);
}

template <class Real>
void PixelConvolutionPass::run_share(int share) const {
  const int block = share / unit_shares_;
  const Range units = range_of(units_, unit_shares_, share % unit_shares_);
  const Range panels =
      range_of(panels_of(work_.windows, work_.dtype), filter_shares_, block % filter_shares_);
  switch (kind_) {
    case Units::pixels:
      return PixelTask<Real>(work_, epilogue_).run(block / filter_shares_, units, panels);
    case Units::rows:
      return SquareTask<Real>(work_, epilogue_).run(units);
    case Units::tiles:
      return run_pixel_winograd(work_, units, panels, epilogue_);
  }
}

void PixelConvolutionPass::run(int share) const {
  if (work_.dtype == DType::float32)
    run_share<float>(share);
  else
    run_share<double>(share);
}

}  // namespace afterglow::kernels
