// SPDX-License-Identifier: Apache-2.0
// Windows that slide over images, against the definition.
#include "kernels/pooling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "check.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

constexpr DType reals[] = {DType::float32, DType::float64, DType::float16};

struct Range {
  std::int64_t begin, end;
};

/// The places of a window along an axis, those in the padding included.
Range range_of(const PoolingWindows& w, const WindowAxis& axis, std::int64_t window) {
  if (w.is_adaptive)
    return {window * axis.extent / axis.results,
            ((window + 1) * axis.extent + axis.results - 1) / axis.results};
  const std::int64_t begin = window * axis.stride - axis.pad;
  return {begin, std::min(begin + axis.kernel, axis.extent + axis.pad)};
}

std::int64_t places_of(const PoolingWindows& w) {
  return w.images * w.lanes * w.depth.extent * w.rows.extent * w.columns.extent;
}
std::int64_t results_of(const PoolingWindows& w) {
  return w.images * w.lanes * w.depth.results * w.rows.results * w.columns.results;
}

/// Every window: its result, the places of the data in it in order, and what a mean divides by.
void for_each_window(
    const PoolingWindows& w,
    const std::function<void(std::int64_t, const std::vector<std::int64_t>&, double)>& visit) {
  for (std::int64_t image = 0; image < w.images; ++image)
    for (std::int64_t d = 0; d < w.depth.results; ++d)
      for (std::int64_t r = 0; r < w.rows.results; ++r)
        for (std::int64_t c = 0; c < w.columns.results; ++c)
          for (std::int64_t lane = 0; lane < w.lanes; ++lane) {
            const Range ranges[] = {range_of(w, w.depth, d), range_of(w, w.rows, r),
                                    range_of(w, w.columns, c)};
            std::vector<std::int64_t> places;
            double all = 1;
            for (const Range& one : ranges) all *= static_cast<double>(one.end - one.begin);
            for (std::int64_t i = ranges[0].begin; i < ranges[0].end; ++i)
              for (std::int64_t j = ranges[1].begin; j < ranges[1].end; ++j)
                for (std::int64_t k = ranges[2].begin; k < ranges[2].end; ++k) {
                  if (i < 0 || i >= w.depth.extent || j < 0 || j >= w.rows.extent || k < 0 ||
                      k >= w.columns.extent)
                    continue;
                  places.push_back(
                      (((image * w.depth.extent + i) * w.rows.extent + j) * w.columns.extent + k) *
                          w.lanes +
                      lane);
                }
            const double count = w.counts_pad ? all : static_cast<double>(places.size());
            visit((((image * w.depth.results + d) * w.rows.results + r) * w.columns.results + c) *
                          w.lanes +
                      lane,
                  places, w.is_mean ? count : 1);
          }
}

Buffer filled(DType dtype, std::int64_t size) {
  Buffer buffer(dtype, size);
  for (std::int64_t i = 0; i < size; ++i) buffer.set(i, random_integer(-4, 4));
  return buffer;
}

/// A target that nobody has written to.
Buffer unset(DType dtype, std::int64_t size) {
  Buffer buffer(dtype, size);
  for (std::int64_t i = 0; i < size; ++i) buffer.set(i, 77);
  return buffer;
}

void run(WindowWork work, const PoolingWindows& w, DType dtype, const PoolingPass::Arrays& arrays) {
  const PoolingPass pass(work, w, dtype, arrays);
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
}

void check_near(const Buffer& found, const std::vector<double>& wanted) {
  const double bound = found.dtype() == DType::float16   ? 2e-3
                       : found.dtype() == DType::float32 ? 1e-6
                                                         : 1e-14;
  for (std::int64_t i = 0; i < found.size(); ++i) {
    const double one = wanted[static_cast<std::size_t>(i)];
    CHECK(std::abs(static_cast<double>(found[i]) - one) <= bound * (1 + std::abs(one)));
  }
}

void check_windows(const PoolingWindows& w, DType dtype) {
  const std::int64_t places = places_of(w), results = results_of(w);
  const Buffer data = filled(dtype, places), of_places = filled(dtype, places),
               of_results = filled(dtype, results);
  const auto zeros = [](std::int64_t size) {
    return std::vector<double>(static_cast<std::size_t>(size));
  };
  std::vector<double> sums = zeros(results), spread = zeros(places);
  std::vector<double> maxima = zeros(results), taken = zeros(results), given = zeros(places);
  for_each_window(w, [&](std::int64_t result, const std::vector<std::int64_t>& seen, double count) {
    const auto at = static_cast<std::size_t>(result);
    std::int64_t best = seen.front();
    for (const std::int64_t place : seen) {
      sums[at] += static_cast<double>(data[place]) / count;
      spread[static_cast<std::size_t>(place)] += static_cast<double>(of_results[result]) / count;
      if (data[place] > data[best]) best = place;
    }
    maxima[at] = static_cast<double>(data[best]);
    taken[at] = static_cast<double>(of_places[best]);
    given[static_cast<std::size_t>(best)] += static_cast<double>(of_results[result]);
  });

  Buffer greatest = unset(dtype, results), result = unset(dtype, results),
         place = unset(dtype, places);
  run(WindowWork::sum, w, dtype, {data.data(), nullptr, nullptr, result.data()});
  check_near(result, sums);
  run(WindowWork::sum_gradient, w, dtype, {nullptr, of_results.data(), nullptr, place.data()});
  check_near(place, spread);
  if (w.is_adaptive) return;
  PoolingWindows of_maxima = w;
  of_maxima.is_mean = false;
  run(WindowWork::maximum, of_maxima, dtype, {data.data(), nullptr, nullptr, greatest.data()});
  check_near(greatest, maxima);
  Buffer found = unset(dtype, results);
  Buffer winners(winner_type(w.depth.kernel * w.rows.kernel * w.columns.kernel), results);
  run(WindowWork::maximum_found, of_maxima, dtype,
      {data.data(), nullptr, winners.data(), found.data()});
  CHECK(found.same_bits(greatest));
  run(WindowWork::maximum_gradient, of_maxima, dtype,
      {nullptr, of_results.data(), winners.data(), place.data()});
  check_near(place, given);
  run(WindowWork::maximum_taken, of_maxima, dtype,
      {nullptr, of_places.data(), winners.data(), result.data()});
  check_near(result, taken);
}

WindowAxis random_axis(std::int64_t most) {
  WindowAxis axis{};
  axis.kernel = random_integer(1, 4);
  axis.stride = random_integer(1, 3);
  axis.pad = random_integer(0, axis.kernel - 1);
  axis.extent = std::max<std::int64_t>(1, axis.kernel - 2 * axis.pad) + random_integer(0, most);
  axis.results = (axis.extent + 2 * axis.pad - axis.kernel) / axis.stride + 1;
  return axis;
}

constexpr WindowAxis one{1, 1, 1, 1, 0};

}  // namespace

TEST("any windows: the greatest of what they see, sums, means, and their gradients") {
  for (int i = 0; i < 200; ++i) {
    const bool is_mean = random_integer(0, 1);
    const PoolingWindows w{random_integer(0, 2) ? one : random_axis(3),
                           random_integer(0, 3) ? random_axis(9) : one,
                           random_axis(40),
                           random_integer(1, 4),
                           random_integer(0, 1) ? 1 : random_integer(1, 70),
                           is_mean,
                           is_mean && random_integer(0, 1),
                           false};
    check_windows(w, reals[i % 3]);
  }
}

TEST("pairs and threes of columns, which have ways of their own") {
  for (const DType dtype : reals)
    for (const std::int64_t kernel : {2, 3})
      for (const std::int64_t pad : {0, 1})
        for (const std::int64_t extent : {8, 31, 64, 65}) {
          const WindowAxis axis{extent, (extent + 2 * pad - kernel) / 2 + 1, kernel, 2, pad};
          check_windows({one, axis, axis, 3, 1, false, false, false}, dtype);
          check_windows({one, axis, axis, 2, 1, true, true, false}, dtype);
          check_windows({one, axis, axis, 2, 17, true, false, false}, dtype);
        }
}

TEST("windows that divide an image evenly") {
  for (int i = 0; i < 60; ++i) {
    const auto axis = [] {
      return WindowAxis{random_integer(1, 20), random_integer(1, 9), 0, 0, 0};
    };
    check_windows({one, axis(), axis(), random_integer(1, 5), 1, true, false, true}, reals[i % 3]);
  }
}

CHECK_MAIN
