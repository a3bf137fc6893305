// SPDX-License-Identifier: Apache-2.0
#include "kernels/regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/elements.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

template <class Real>
struct Region {
  std::int64_t image;
  Real left, top, height, width;  ///< in places of the data; the last two of a part of the result
  // Of a region that is turned: where the centre is, from which the others count, and the angle.
  Real x = 0, y = 0, cosine = 1, sine = 0;
};

/// Places of whole elements.
template <class Real>
Region<Real> rounded(const Regions& shape, Real image, const Real (&corners)[4]) {
  const Real scale = static_cast<Real>(shape.scale);
  Real at[4];
  for (int i = 0; i < 4; ++i) at[i] = std::round(corners[i] * scale);
  const auto extent = [](Real begin, Real end) { return std::max(end - begin + 1, Real(1)); };
  return {static_cast<std::int64_t>(image), at[0], at[1],
          extent(at[1], at[3]) / static_cast<Real>(shape.rows),
          extent(at[0], at[2]) / static_cast<Real>(shape.columns)};
}

template <class Real>
Region<Real> exact(const Regions& shape, Real image, const Real (&corners)[4]) {
  const Real scale = static_cast<Real>(shape.scale), shift = shape.shifts ? Real(0.5) : Real(0);
  Real at[4];
  for (int i = 0; i < 4; ++i) at[i] = corners[i] * scale - shift;
  const auto extent = [&](Real begin, Real end) {
    return shape.shifts ? end - begin : std::max(end - begin, Real(1));
  };
  return {static_cast<std::int64_t>(image), at[0], at[1],
          extent(at[1], at[3]) / static_cast<Real>(shape.rows),
          extent(at[0], at[2]) / static_cast<Real>(shape.columns)};
}

template <class Real>
Region<Real> turned(const Regions& shape, Real image, const Real (&numbers)[5]) {
  const Real scale = static_cast<Real>(shape.scale);
  const Real width = std::max(numbers[2] * scale, Real(1)),
             height = std::max(numbers[3] * scale, Real(1));
  const Real angle = numbers[4] * std::numbers::pi_v<Real> / 180;
  return {static_cast<std::int64_t>(image),
          -width / 2,
          -height / 2,
          height / static_cast<Real>(shape.rows),
          width / static_cast<Real>(shape.columns),
          numbers[0] * scale,
          numbers[1] * scale,
          std::cos(angle),
          std::sin(angle)};
}

/// From corner to corner of whole elements of the image.
template <class Real>
Region<Real> covered(const Regions& shape, Real image, const Real (&corners)[4]) {
  const Real scale = static_cast<Real>(shape.scale);
  Real at[4];
  for (int i = 0; i < 4; ++i) at[i] = (std::round(corners[i]) + (i > 1 ? 1 : 0)) * scale;
  const auto extent = [](Real begin, Real end) { return std::max(end - begin, Real(0.1)); };
  return {static_cast<std::int64_t>(image), at[0], at[1],
          extent(at[1], at[3]) / static_cast<Real>(shape.rows),
          extent(at[0], at[2]) / static_cast<Real>(shape.columns)};
}

struct Bounds {
  std::int64_t begin, end;
};

/// The elements of a part.
template <class Real>
Bounds bounds(Real first, Real size, std::int64_t part, std::int64_t extent) {
  const auto limited = [&](Real place) {
    return static_cast<std::int64_t>(std::clamp(place, Real(0), static_cast<Real>(extent)));
  };
  return {limited(std::floor(static_cast<Real>(part) * size) + first),
          limited(std::ceil(static_cast<Real>(part + 1) * size) + first)};
}

/// The same where the region begins between elements.
template <class Real>
Bounds covering(Real first, Real size, std::int64_t part, std::int64_t extent) {
  const auto limited = [&](Real place) {
    return static_cast<std::int64_t>(std::clamp(place, Real(0), static_cast<Real>(extent)));
  };
  return {limited(std::floor(static_cast<Real>(part) * size + first)),
          limited(std::ceil(static_cast<Real>(part + 1) * size + first))};
}

/// Four elements around a place, and how much of each it has.
template <class Real>
struct Sample {
  std::int64_t places[4] = {};
  Real weights[4] = {};

  Sample(Real y, Real x, std::int64_t height, std::int64_t width) {
    if (!(y >= -1 && y <= static_cast<Real>(height) && x >= -1 && x <= static_cast<Real>(width)))
      return;
    const Along rows(y, height), columns(x, width);
    for (int i = 0; i < 4; ++i) {
      places[i] = rows.places[i / 2] * width + columns.places[i % 2];
      weights[i] = rows.weights[i / 2] * columns.weights[i % 2];
    }
  }

 private:
  struct Along {
    std::int64_t places[2];
    Real weights[2];
    Along(Real place, std::int64_t extent) {
      place = std::max(place, Real(0));
      places[0] = std::min(static_cast<std::int64_t>(place), extent - 1);
      places[1] = std::min(places[0] + 1, extent - 1);
      weights[1] = places[0] == extent - 1 ? Real(0) : place - static_cast<Real>(places[0]);
      weights[0] = 1 - weights[1];
    }
  };
};

template <class Real>
std::int64_t samples_along(const Regions& shape, Real size) {
  if (shape.samples > 0) return shape.samples;
  return static_cast<std::int64_t>(std::ceil(std::clamp(size, Real(0), Real(1 << 20))));
}

/// Calls `step` with each sample of a part of a region, and the number of these before that.
template <class Real, class Begin, class Step>
void for_each_sample(const Regions& shape, const Region<Real>& region, std::int64_t row,
                     std::int64_t column, Begin&& begin, Step&& step) {
  if (shape.form == RegionForm::averaged) {
    const Bounds down = covering(region.top, region.height, row, shape.height),
                 across = covering(region.left, region.width, column, shape.width);
    begin(static_cast<Real>(
        std::max<std::int64_t>(1, (down.end - down.begin) * (across.end - across.begin))));
    for (std::int64_t y = down.begin; y < down.end; ++y) {
      for (std::int64_t x = across.begin; x < across.end; ++x)
        step(Sample<Real>(static_cast<Real>(y), static_cast<Real>(x), shape.height, shape.width));
    }
    return;
  }
  const std::int64_t rows = samples_along(shape, region.height),
                     columns = samples_along(shape, region.width);
  begin(static_cast<Real>(std::max<std::int64_t>(1, rows * columns)));
  const auto place = [](Real first, Real size, std::int64_t part, std::int64_t sample,
                        std::int64_t samples) {
    return first + static_cast<Real>(part) * size +
           (static_cast<Real>(sample) + Real(0.5)) * size / static_cast<Real>(samples);
  };
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      Real down = place(region.top, region.height, row, y, rows),
           across = place(region.left, region.width, column, x, columns);
      if (shape.form == RegionForm::turned) {
        const Real before = across;
        across = before * region.cosine + down * region.sine + region.x;
        down = down * region.cosine - before * region.sine + region.y;
      }
      step(Sample<Real>(down, across, shape.height, shape.width));
    }
  }
}

constexpr std::int64_t share_size = 1 << 15;

}  // namespace

RegionsPass::RegionsPass(const Regions& shape, DType dtype, const void* data, const void* regions,
                         const void* values, void* target)
    : shape_(shape),
      dtype_(dtype),
      data_(data),
      regions_(regions),
      values_(values),
      target_(target) {
  const std::int64_t units = values ? shape.images * shape.channels : shape.regions;
  const std::int64_t each =
      values ? shape.height * shape.width : shape.out_channels * shape.rows * shape.columns * 4;
  shares_ = static_cast<int>(
      std::min(divide_up(units * std::max<std::int64_t>(each, 1), share_size), units));
}

void RegionsPass::run(int share) const {
  const Range range =
      range_of(values_ ? shape_.images * shape_.channels : shape_.regions, shares_, share);
  with_real(dtype_, [&](auto element, auto number) {
    run_as<decltype(element), decltype(number)>(range.begin, range.end);
  });
}

/// Of results: regions; of the gradient: planes of the data, each in a visit of all regions, so
/// that no two shares write to one place.
template <class Element, class Real>
void RegionsPass::run_as(std::int64_t begin, std::int64_t end) const {
  const auto* const data = static_cast<const Element*>(data_);
  const auto* const regions = static_cast<const Element*>(regions_);
  const auto* const values = static_cast<const Element*>(values_);
  auto* const target = static_cast<Element*>(target_);
  const std::int64_t plane_size = shape_.height * shape_.width,
                     parts = shape_.rows * shape_.columns;
  const auto region_of = [&](std::int64_t index) {
    const Element* const row = regions + numbers_of(shape_.form) * index;
    const Real image = load(row[0]);
    const Real corners[4] = {load(row[1]), load(row[2]), load(row[3]), load(row[4])};
    // Samples of no image are zeros.
    const bool is_image = image > -1 && image < static_cast<Real>(shape_.images);
    if (!is_image && !(shape_.form == RegionForm::sampled && image < 0))
      throw Error(ErrorKind::index, "region " + std::to_string(index) +
                                        " is of an image that is not one of the " +
                                        std::to_string(shape_.images) + " there are");
    Region<Real> region;
    switch (shape_.form) {
      case RegionForm::greatest:
        region = rounded(shape_, image, corners);
        break;
      case RegionForm::sampled:
        region = exact(shape_, image, corners);
        break;
      case RegionForm::turned: {
        const Real numbers[5] = {corners[0], corners[1], corners[2], corners[3], load(row[5])};
        region = turned(shape_, image, numbers);
        break;
      }
      case RegionForm::averaged:
        region = covered(shape_, image, corners);
        break;
    }
    if (image < 0) region.image = -1;
    return region;
  };
  const auto channel_of = [&](std::int64_t channel, std::int64_t part) {
    const std::int64_t row = part / shape_.columns * shape_.group_rows / shape_.rows,
                       column = part % shape_.columns * shape_.group_columns / shape_.columns;
    return (channel * shape_.group_rows + row) * shape_.group_columns + column;
  };
  // The place of the greatest element of a part in its plane, or -1.
  const auto greatest = [&](const Element* plane, const Region<Real>& region, std::int64_t part) {
    const Bounds rows = bounds(region.top, region.height, part / shape_.columns, shape_.height),
                 columns = bounds(region.left, region.width, part % shape_.columns, shape_.width);
    Real most = std::numeric_limits<Real>::lowest();
    std::int64_t found = -1;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      for (std::int64_t x = columns.begin; x < columns.end; ++x) {
        const std::int64_t place = y * shape_.width + x;
        const Real value = load(plane[place]);
        if (value > most) {
          most = value;
          found = place;
        }
      }
    }
    return found;
  };
  if (!values_) {
    for (std::int64_t index = begin; index < end; ++index) {
      const Region<Real> region = region_of(index);
      for (std::int64_t channel = 0; channel < shape_.out_channels; ++channel) {
        for (std::int64_t part = 0; part < parts; ++part) {
          Element& result = target[(index * shape_.out_channels + channel) * parts + part];
          if (region.image < 0) {
            store(result, Real(0));
            continue;
          }
          const Element* const plane =
              data + (region.image * shape_.channels + channel_of(channel, part)) * plane_size;
          if (shape_.form == RegionForm::greatest) {
            const std::int64_t place = greatest(plane, region, part);
            store(result, place < 0 ? Real(0) : load(plane[place]));
            continue;
          }
          Real sum = 0, count = 1;
          for_each_sample(
              shape_, region, part / shape_.columns, part % shape_.columns,
              [&](Real samples) { count = samples; },
              [&](const Sample<Real>& sample) {
                for (int i = 0; i < 4; ++i)
                  sum += sample.weights[i] * load(plane[sample.places[i]]);
              });
          store(result, sum / count);
        }
      }
    }
    return;
  }
  std::vector<Real> sums(static_cast<std::size_t>(plane_size));
  for (std::int64_t plane = begin; plane < end; ++plane) {
    std::ranges::fill(sums, Real(0));
    const std::int64_t image = plane / shape_.channels, in_channel = plane % shape_.channels;
    const std::int64_t channel = in_channel / (shape_.group_rows * shape_.group_columns);
    for (std::int64_t index = 0; index < shape_.regions && channel < shape_.out_channels; ++index) {
      const Region<Real> region = region_of(index);
      if (region.image != image) continue;
      for (std::int64_t part = 0; part < parts; ++part) {
        if (channel_of(channel, part) != in_channel) continue;
        const Real value = load(values[(index * shape_.out_channels + channel) * parts + part]);
        if (shape_.form == RegionForm::greatest) {
          const std::int64_t place = greatest(data + plane * plane_size, region, part);
          if (place >= 0) sums[static_cast<std::size_t>(place)] += value;
          continue;
        }
        Real count = 1;
        for_each_sample(
            shape_, region, part / shape_.columns, part % shape_.columns,
            [&](Real samples) { count = samples; },
            [&](const Sample<Real>& sample) {
              for (int i = 0; i < 4; ++i)
                sums[static_cast<std::size_t>(sample.places[i])] +=
                    value * sample.weights[i] / count;
            });
      }
    }
    for (std::int64_t i = 0; i < plane_size; ++i)
      store(target[plane * plane_size + i], sums[static_cast<std::size_t>(i)]);
  }
}

}  // namespace afterglow::kernels
