// SPDX-License-Identifier: Apache-2.0
// Convolutions against the definition.
#include "kernels/convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "check.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

/// What each place of the kernel sees, for each window.
template <class Visit>
void for_each_meeting(const Windows& w, Visit visit) {
  const std::int64_t places = places_in(w.result), taps = places_in(w.kernel);
  for (std::int64_t n = 0; n < w.count * w.groups; ++n)
    for (std::int64_t place = 0; place < places; ++place)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t window[] = {place / w.result[2] / w.result[1],
                                       place / w.result[2] % w.result[1], place % w.result[2]};
        const std::int64_t at[] = {tap / w.kernel[2] / w.kernel[1], tap / w.kernel[2] % w.kernel[1],
                                   tap % w.kernel[2]};
        std::int64_t seen = 0;
        bool is_inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          const std::int64_t position =
              window[axis] * w.stride[axis] + at[axis] * w.dilate[axis] - w.pad[axis];
          is_inside = is_inside && position >= 0 && position < w.image[axis];
          seen = seen * w.image[axis] + position;
        }
        if (!is_inside) continue;
        for (std::int64_t f = 0; f < w.filters; ++f)
          for (std::int64_t c = 0; c < w.channels; ++c)
            visit((n * w.channels + c) * places_in(w.image) + seen,
                  ((n % w.groups * w.filters + f) * w.channels + c) * taps + tap,
                  (n * w.filters + f) * places + place);
      }
}

Buffer filled(DType dtype, std::int64_t size) {
  Buffer buffer(dtype, size);
  for (std::int64_t i = 0; i < size; ++i) buffer.set(i, random_integer(-3, 3));
  return buffer;
}

/// Reals, whose channels differ in scale by up to a million.
Buffer uneven(DType dtype, std::int64_t size, std::int64_t channels, std::int64_t plane) {
  std::vector<double> scales;
  for (std::int64_t i = 0; i < channels; ++i)
    scales.push_back(std::pow(10.0, random_integer(-3000, 3000) / 1000.0));
  Buffer buffer(dtype, size);
  for (std::int64_t i = 0; i < size; ++i)
    buffer.set(i, random_integer(-1000, 1000) / 1000.0 *
                      scales[static_cast<std::size_t>(i / plane % channels)]);
  return buffer;
}

Buffer unset(DType dtype, std::int64_t size) {
  Buffer buffer(dtype, size);
  for (std::int64_t i = 0; i < size; ++i) buffer.set(i, std::numeric_limits<double>::quiet_NaN());
  return buffer;
}

template <class Pass>
void run_backwards(Pass& pass) {
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
}

/// Equal, or as near as `bound` times the largest of all.
void check_near(const Windows& w, const char* what, const Buffer& found,
                const std::vector<long double>& wanted, long double bound) {
  long double largest = 0;
  for (const long double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::int64_t i = 0; i < found.size(); ++i) {
    if (std::abs(found[i] - wanted[static_cast<std::size_t>(i)]) <= bound * largest) continue;
    std::ostringstream text;
    text << what << " of " << w.count << " images, " << w.groups << " groups, " << w.channels
         << " channels, " << w.filters << " filters: " << found[i] << " instead of "
         << wanted[static_cast<std::size_t>(i)] << " at " << i << ", where the largest is "
         << largest << "; image, kernel, stride, dilate, pad:";
    for (const Space& space : {w.image, w.kernel, w.stride, w.dilate, w.pad})
      text << " (" << space[0] << ", " << space[1] << ", " << space[2] << ")";
    check::fail(__FILE__, __LINE__, text.str());
  }
}

/// What Winograd's way may differ by; without multiply-adds it does by 1e-5.
constexpr long double winograd_bound = 5e-5L;

struct Operands {
  Buffer image, weight, gradient, bias, image_bias;
};

void check_windows(const Windows& w, DType dtype, const Operands& given, long double bound) {
  const auto& [image, weight, gradient, bias, image_bias] = given;
  const std::int64_t images = image.size(), results = gradient.size(), weights = weight.size();
  std::vector<long double> result_wanted(static_cast<std::size_t>(results)),
      image_wanted(static_cast<std::size_t>(images)),
      weight_wanted(static_cast<std::size_t>(weights));
  for (std::int64_t i = 0; i < results; ++i)
    result_wanted[static_cast<std::size_t>(i)] =
        bias[i / places_in(w.result) % (w.groups * w.filters)];
  for (std::int64_t i = 0; i < images; ++i)
    image_wanted[static_cast<std::size_t>(i)] =
        image_bias[i / places_in(w.image) % (w.groups * w.channels)];
  for_each_meeting(w, [&](std::int64_t i, std::int64_t k, std::int64_t r) {
    result_wanted[static_cast<std::size_t>(r)] += image[i] * weight[k];
    image_wanted[static_cast<std::size_t>(i)] += gradient[r] * weight[k];
    weight_wanted[static_cast<std::size_t>(k)] += gradient[r] * image[i];
  });

  Buffer result = unset(dtype, results), image_found = unset(dtype, images),
         weight_found = unset(dtype, weights);
  std::vector<int> told(static_cast<std::size_t>(results));
  std::vector<long double> told_values(static_cast<std::size_t>(results));
  ConvolutionPass forward(
      w, dtype, image.data(), weight.data(), bias.data(), result.data(),
      [&](std::int64_t row, std::int64_t row_end, std::int64_t column, std::int64_t column_end) {
        for (; row < row_end; ++row)
          for (std::int64_t i = column; i < column_end; ++i) {
            const std::int64_t place = row * places_in(w.result) + i;
            ++told[static_cast<std::size_t>(place)];
            told_values[static_cast<std::size_t>(place)] = result[place];
          }
      });
  run_backwards(forward);
  check_near(w, "convolution", result, result_wanted, bound);
  for (const int times : told) CHECK(times == 1);
  check_near(w, "convolution when it was told of", result, told_values, 0);
  TransposedConvolutionPass back(w, dtype, gradient.data(), weight.data(), image_bias.data(),
                                 image_found.data());
  run_backwards(back);
  check_near(w, "transposed convolution", image_found, image_wanted, bound);
  WeightGradientPass learn(w, dtype, image.data(), gradient.data(), weight_found.data());
  run_backwards(learn);
  learn.finish();
  check_near(w, "gradient of the weights", weight_found, weight_wanted, bound);
}

struct Sizes {
  std::int64_t images, results, weights;
};
Sizes sizes_of(const Windows& w) {
  return {w.count * w.groups * w.channels * places_in(w.image),
          w.count * w.groups * w.filters * places_in(w.result),
          w.groups * w.filters * w.channels * places_in(w.kernel)};
}

/// Small integers, so that every order of the sums gives the same bits; but Winograd's way has
/// thirds in it.
void check_windows(const Windows& w, DType dtype, long double bound = 0) {
  const Sizes sizes = sizes_of(w);
  check_windows(
      w, dtype,
      {filled(dtype, sizes.images), filled(dtype, sizes.weights), filled(dtype, sizes.results),
       filled(dtype, w.groups * w.filters), filled(dtype, w.groups * w.channels)},
      bound);
}

void check_uneven_windows(const Windows& w, long double bound) {
  constexpr DType dtype = DType::float32;
  const Sizes sizes = sizes_of(w);
  const std::int64_t channels = w.groups * w.channels, filters = w.groups * w.filters;
  check_windows(w, dtype,
                {uneven(dtype, sizes.images, channels, places_in(w.image)),
                 uneven(dtype, sizes.weights, filters, w.channels * places_in(w.kernel)),
                 uneven(dtype, sizes.results, filters, places_in(w.result)),
                 uneven(dtype, filters, filters, 1), uneven(dtype, channels, channels, 1)},
                bound);
}

Windows windows(std::int64_t count, std::int64_t groups, std::int64_t channels,
                std::int64_t filters, Space image, Space kernel, Space stride = {1, 1, 1},
                Space dilate = {1, 1, 1}, Space pad = {0, 0, 0}) {
  Windows w{count, groups, channels, filters, image, {}, kernel, stride, dilate, pad};
  for (int axis = 0; axis < 3; ++axis)
    w.result[axis] =
        (image[axis] + 2 * pad[axis] - dilate[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  return w;
}

}  // namespace

TEST("convolutions of any windows are sums over what these see") {
  for (int i = 0; i < 150; ++i) {
    Space image, kernel, stride, dilate, pad;
    for (int axis = 0; axis < 3; ++axis) {
      kernel[axis] = random_integer(1, axis ? 4 : 2);
      stride[axis] = random_integer(1, 3);
      dilate[axis] = random_integer(1, 2);
      pad[axis] = random_integer(0, 2);
      const std::int64_t least = dilate[axis] * (kernel[axis] - 1) + 1 - 2 * pad[axis];
      image[axis] = std::max<std::int64_t>(1, least) + random_integer(0, axis ? 19 : 3);
    }
    check_windows(windows(random_integer(1, 5), random_integer(1, 3), random_integer(1, 5),
                          random_integer(1, i % 2 ? 30 : 4), image, kernel, stride, dilate, pad),
                  i % 3 ? DType::float32 : DType::float64);
  }
}

TEST("many small images, whose places take turns in vectors") {
  for (int i = 0; i < 24; ++i) {
    const bool is_deep = i % 5 == 0;
    Space image, kernel, stride, dilate, pad;
    for (int axis = 0; axis < 3; ++axis) {
      const bool is_used = axis || is_deep;
      kernel[axis] = is_used ? random_integer(1, axis ? 5 : 2) : 1;
      stride[axis] = is_used ? random_integer(1, 3) : 1;
      dilate[axis] = is_used ? random_integer(1, 2) : 1;
      pad[axis] = is_used ? random_integer(0, 4) : 0;
      const std::int64_t least = dilate[axis] * (kernel[axis] - 1) + 1 - 2 * pad[axis];
      image[axis] = std::max<std::int64_t>(1, least) + (is_used ? random_integer(0, 6) : 0);
    }
    // About as many as fill one vector, several, or many.
    const std::int64_t images = i % 3 == 0   ? random_integer(13, 16)
                                : i % 3 == 1 ? random_integer(26, 49)
                                             : random_integer(128, 144);
    check_windows(windows(images, i % 4 ? 1 : 2, random_integer(1, 6), random_integer(3, 20), image,
                          kernel, stride, dilate, pad),
                  i % 2 ? DType::float32 : DType::float64, winograd_bound);
  }
}

TEST("long sums, many rows and panels across images") {
  check_windows(windows(3, 1, 70, 40, {1, 9, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
                DType::float64);
  check_windows(windows(3, 1, 70, 40, {1, 9, 7}, {1, 4, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
                DType::float32);
  check_windows(windows(9, 1, 33, 65, {1, 5, 5}, {1, 1, 1}), DType::float32);
  check_windows(windows(2, 20, 1, 1, {1, 33, 35}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
                DType::float32);
  check_windows(windows(2, 20, 1, 2, {1, 33, 35}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}),
                DType::float64);
}

TEST("images that are too large to be padded as a whole are cut") {
  const Space one = {1, 1, 1};
  check_windows(windows(2, 1, 300, 4, {1, 60, 64}, {1, 3, 1}, one, one, {0, 1, 0}), DType::float32);
  check_windows(windows(1, 1, 300, 4, {1, 60, 64}, {1, 1, 1}), DType::float32);
  check_windows(windows(1, 1, 300, 3, {1, 61, 67}, {1, 2, 2}, {1, 2, 2}, {1, 3, 2}, {0, 2, 1}),
                DType::float64);
  check_windows(windows(1, 1, 260, 3, {9, 20, 26}, {2, 1, 2}, {2, 1, 1}, one, {1, 0, 1}),
                DType::float32);
  check_windows(windows(1, 1, 2, 1, {1, 1, 600000}, {1, 1, 3}, one, one, {0, 0, 1}),
                DType::float32);
  check_windows(windows(1, 1, 3, 2, {1, 700, 600}, {1, 2, 1}, one, one, {0, 1, 0}), DType::float32);
}

TEST("square windows over many channels are as near as Winograd's way allows") {
  const Space one = {1, 1, 1};
  const auto extent_of = [](int i) { return std::array<std::int64_t, 4>{5, 3, 2, 3}[i % 4]; };
  for (int i = 0; i < 16; ++i) {
    const std::int64_t extent = extent_of(i);
    const Space window = {1, extent, extent};
    Space image = {1, random_integer(1, 20), random_integer(1, 20)}, pad = {0, 0, 0};
    for (int axis = 1; axis < 3; ++axis)
      pad[axis] = std::max<std::int64_t>(random_integer(0, 3), extent - image[axis]);
    const Windows w = windows(random_integer(1, 6), random_integer(1, 2), random_integer(16, 50),
                              random_integer(16, 50), image, window, one, one, pad);
    check_windows(w, DType::float32, winograd_bound);
    check_uneven_windows(w, winograd_bound);
  }
  const Space window = {1, 3, 3};
  // Rows of more tiles than are worked on together, and images of which several are.
  check_windows(windows(1, 1, 16, 33, {1, 6, 230}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
  check_windows(windows(70, 1, 40, 20, {1, 4, 4}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
  // So many weights that each share spreads out its own.
  check_windows(windows(6, 2, 18, 300, {1, 4, 5}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
  check_windows(windows(5, 1, 310, 20, {1, 7, 3}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
  // Dilated, so that several images take turns, and with depth, where planes are summed up.
  for (int i = 0; i < 16; ++i) {
    const std::int64_t extent = extent_of(i);
    const bool is_deep = i % 2;
    const Space kernel = {is_deep ? random_integer(1, 3) : 1, extent, extent};
    const Space dilate = {1, random_integer(1, 3), random_integer(1, 3)};
    Space image = {is_deep ? random_integer(1, 18) : 1, random_integer(1, 20),
                   random_integer(1, 20)};
    Space pad = {};
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t reach = dilate[axis] * (kernel[axis] - 1) + 1;
      pad[axis] = std::max(axis || is_deep ? random_integer(0, 3) : 0,
                           (std::max<std::int64_t>(0, reach - image[axis]) + 1) / 2);
    }
    const Windows w = windows(random_integer(1, 4), random_integer(1, 2), random_integer(16, 40),
                              random_integer(16, 40), image, kernel, one, dilate, pad);
    check_windows(w, DType::float32, winograd_bound);
    check_uneven_windows(w, winograd_bound);
  }
  // In slabs, and in several blocks of rows.
  check_windows(windows(1, 1, 33, 17, {9, 40, 62}, {3, 3, 3}, one, one, {1, 1, 1}), DType::float32,
                winograd_bound);
  check_windows(windows(1, 1, 150, 16, {1, 61, 66}, window, one, {1, 2, 3}, {0, 2, 3}),
                DType::float32, winograd_bound);
  check_windows(windows(1, 1, 300, 16, {1, 61, 66}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
  check_windows(windows(1, 1, 40, 150, {1, 17, 14}, window, one, one, {0, 1, 1}), DType::float32,
                winograd_bound);
}

TEST("transposed windows whose residues of the stride go Winograd's way") {
  for (int i = 0; i < 18; ++i) {
    const std::int64_t stride = i % 3 ? 2 : 3,
                       taps = std::array<std::int64_t, 3>{2, 3, 5}[i / 3 % 3];
    const std::int64_t extent = stride * taps;
    const bool is_deep = i % 5 == 4;
    const Space kernel = {is_deep ? 4 : 1, extent, extent},
                steps = {is_deep ? 2 : 1, stride, stride};
    Space image, pad;
    for (int axis = 0; axis < 3; ++axis) {
      pad[axis] = axis || is_deep ? random_integer(0, 3) : 0;
      image[axis] = std::max<std::int64_t>(kernel[axis] - 2 * pad[axis], stride) +
                    (axis || is_deep ? random_integer(0, 21) : 0);
    }
    if (!is_deep) image[0] = 1;
    const Windows w = windows(random_integer(1, 4), random_integer(1, 2), random_integer(16, 50),
                              random_integer(16, 50), image, kernel, steps, {1, 1, 1}, pad);
    check_windows(w, DType::float32, winograd_bound);
    check_uneven_windows(w, winograd_bound);
  }
  // In slabs.
  check_windows(windows(1, 1, 16, 150, {1, 122, 131}, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}),
                DType::float32, winograd_bound);
}

TEST("a few filters, or a few weights of each") {
  const Space one = {1, 1, 1};
  for (int i = 0; i < 20; ++i) {
    const Space image = {i % 4 ? 1 : 3, random_integer(5, 40), random_integer(5, 40)};
    const Space kernel = {i % 4 ? 1 : 2, random_integer(1, 5), random_integer(1, 5)};
    check_windows(windows(random_integer(1, 10), random_integer(1, 4), random_integer(1, 4),
                          random_integer(3, i % 2 ? 80 : 10), image, kernel,
                          i % 5 ? one : Space{1, 2, 2}, one, {0, 1, 2}),
                  i % 3 ? DType::float32 : DType::float64);
  }
}

TEST("a filter for each channel") {
  for (int i = 0; i < 120; ++i) {
    const std::int64_t kernel = 2 * random_integer(1, 3) + 1, stride = random_integer(1, 2),
                       dilate = stride == 1 ? random_integer(1, 3) : 1;
    // As most networks have it, and any other; rows that are shorter than vectors, and longer.
    const bool is_centred = i % 3;
    Space image = {1, 1, 1}, pad = {0, 0, 0};
    for (int axis = 1; axis < 3; ++axis) {
      pad[axis] = is_centred ? kernel / 2 * dilate : random_integer(0, kernel);
      const std::int64_t least = dilate * (kernel - 1) + 1 - 2 * pad[axis];
      image[axis] = std::max<std::int64_t>(1, least) + random_integer(0, i % 2       ? 6
                                                                         : axis == 1 ? 20
                                                                                     : 70);
    }
    check_windows(windows(random_integer(1, 12), random_integer(1, 20), 1, 1, image,
                          {1, kernel, kernel}, {1, stride, stride}, {1, dilate, dilate}, pad),
                  i % 4 ? DType::float32 : DType::float64);
  }
  // Many shares; a few large planes; sums in several parts.
  check_windows(windows(9, 70, 1, 1, {1, 28, 28}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
                DType::float32);
  check_windows(windows(1, 2, 1, 1, {1, 301, 290}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}),
                DType::float32);
  check_windows(windows(2, 1, 1, 1, {1, 260, 251}, {1, 5, 5}, {1, 1, 1}, {1, 2, 2}, {0, 4, 4}),
                DType::float32);
}

TEST("gradients of weights that several panels of channels see") {
  for (int i = 0; i < 24; ++i) {
    Space image, kernel, stride, dilate, pad;
    for (int axis = 0; axis < 3; ++axis) {
      kernel[axis] = 1 << random_integer(0, axis ? 2 : 1);
      stride[axis] = random_integer(1, 3);
      dilate[axis] = random_integer(1, 3);
      pad[axis] = random_integer(0, 2);
      const std::int64_t least = dilate[axis] * (kernel[axis] - 1) + 1 - 2 * pad[axis];
      image[axis] = std::max<std::int64_t>(1, least) + random_integer(0, axis ? 9 : 2);
    }
    check_windows(windows(random_integer(1, 9), random_integer(1, 2), random_integer(20, 75),
                          random_integer(3, 30), image, kernel, stride, dilate, pad),
                  i % 3 ? DType::float32 : DType::float64);
  }
  // More weights than places, rows of results that meet in the cache, and many filters.
  check_windows(windows(40, 1, 300, 30, {1, 2, 2}, {1, 1, 1}), DType::float32);
  check_windows(windows(2, 1, 40, 14, {1, 32, 32}, {1, 1, 1}), DType::float32);
  check_windows(windows(2, 1, 33, 530, {1, 5, 6}, {1, 1, 3}), DType::float32);
  check_windows(windows(1, 1, 70, 40, {1, 40, 31}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}),
                DType::float32);
}

TEST("without images, channels or filters there is nothing, or only the bias") {
  check_windows(windows(0, 1, 3, 4, {1, 5, 5}, {1, 3, 3}), DType::float32);
  check_windows(windows(2, 1, 0, 4, {1, 5, 5}, {1, 3, 3}), DType::float32);
  check_windows(windows(2, 1, 3, 0, {1, 5, 5}, {1, 3, 3}), DType::float32);
}

CHECK_MAIN
