// SPDX-License-Identifier: Apache-2.0
// Images of other sizes and colours, against plain formulas. What OpenCV's pixels are in detail,
// recorded answers tell (tests/golden/images.json).
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"
#include "kernels/colours.h"
#include "kernels/rescale.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

std::vector<double> random_numbers(std::int64_t count) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(random_real(0, 255));
  return result;
}

template <class Pass>
void run(const Pass& pass) {
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
}

/// Between the two nearest pixels, of which there is but one beyond the borders.
double interpolated(const double* line, std::int64_t extent, std::int64_t step, double place) {
  place = std::clamp(place, 0.0, static_cast<double>(extent - 1));
  const auto first = static_cast<std::int64_t>(place), second = std::min(first + 1, extent - 1);
  const double rest = place - static_cast<double>(first);
  return line[first * step] * (1 - rest) + line[second * step] * rest;
}

double centre(std::int64_t result, std::int64_t extent, std::int64_t results) {
  return (static_cast<double>(result) + 0.5) * static_cast<double>(extent) /
             static_cast<double>(results) -
         0.5;
}

Rescaling random_rescaling(Interpolation interpolation) {
  return {random_integer(1, 3),  random_integer(1, 40), random_integer(1, 40), random_integer(1, 5),
          random_integer(1, 40), random_integer(1, 40), interpolation};
}

}  // namespace

TEST("bilinear pixels lie between four") {
  for (int round = 0; round < 60; ++round) {
    const Rescaling r = random_rescaling(Interpolation::linear);
    const std::vector<double> source = random_numbers(r.images * r.height * r.width * r.channels);
    std::vector<double> target(
        static_cast<std::size_t>(r.images * r.result_height * r.result_width * r.channels));
    run(RescalePass(r, DType::float64, source.data(), target.data()));
    const double* found = target.data();
    for (std::int64_t image = 0; image < r.images; ++image)
      for (std::int64_t y = 0; y < r.result_height; ++y)
        for (std::int64_t x = 0; x < r.result_width; ++x)
          for (std::int64_t channel = 0; channel < r.channels; ++channel) {
            const double* const first =
                source.data() + image * r.height * r.width * r.channels + channel;
            std::vector<double> column;
            for (std::int64_t row = 0; row < r.height; ++row)
              column.push_back(interpolated(first + row * r.width * r.channels, r.width, r.channels,
                                            centre(x, r.width, r.result_width)));
            const double wanted =
                interpolated(column.data(), r.height, 1, centre(y, r.height, r.result_height));
            CHECK(std::abs(*found++ - wanted) < 1e-3);  // weights are float32
          }
  }
}

TEST("pixels of every kind stay between the least and the greatest, or near") {
  for (int round = 0; round < 200; ++round) {
    const Rescaling r = random_rescaling(static_cast<Interpolation>(round % 5));
    const auto size = static_cast<std::size_t>(r.images * r.height * r.width * r.channels);
    std::vector<std::uint8_t> source(size),
        target(static_cast<std::size_t>(r.images * r.result_height * r.result_width * r.channels));
    for (std::uint8_t& one : source) one = static_cast<std::uint8_t>(random_integer(100, 110));
    run(RescalePass(r, DType::uint8, source.data(), target.data()));
    for (const std::uint8_t one : target) CHECK(one >= 85 && one <= 125);
    std::vector<float> reals(source.begin(), source.end()), results(target.size());
    run(RescalePass(r, DType::float32, reals.data(), results.data()));
    for (std::size_t i = 0; i < target.size(); ++i)
      CHECK(std::abs(results[i] - static_cast<float>(target[i])) <= 1.01f);
  }
}

TEST("the nearest pixels of elements of any size") {
  for (const DType dtype : all_dtypes) {
    Rescaling r = random_rescaling(Interpolation::nearest);
    r.result_height = 2 * r.height;
    r.result_width = 3 * r.width;
    const std::int64_t size = r.images * r.height * r.width * r.channels;
    std::vector<std::byte> source(static_cast<std::size_t>(size) * size_of(dtype)),
        target(6 * source.size());
    for (std::int64_t i = 0; i < size; ++i) store(source.data(), dtype, i, random_integer(0, 1));
    run(RescalePass(r, dtype, source.data(), target.data()));
    for (std::int64_t i = 0; i < 6 * size; ++i) {
      const std::int64_t channel = i % r.channels, x = i / r.channels % r.result_width,
                         y = i / r.channels / r.result_width;  // of all images
      const std::int64_t from = ((y / 2) * r.width + x / 3) * r.channels + channel;
      CHECK(load(target.data(), dtype, i) == load(source.data(), dtype, from));
    }
  }
}

TEST("colours of all types, in one piece or several") {
  for (const DType dtype : all_dtypes) {
    if (dtype == DType::boolean) continue;
    for (int round = 0; round < 20; ++round) {
      const int channels = round % 2 ? 3 : 1;
      const ColourImages images = {random_integer(0, 3), random_integer(0, 700), channels, dtype};
      const std::int64_t size = images.images * images.pixels * channels;
      std::vector<std::byte> source(static_cast<std::size_t>(size) * size_of(dtype)),
          target(source.size());
      for (std::int64_t i = 0; i < size; ++i)
        store(source.data(), dtype, i, random_integer(0, 100));
      const auto change = static_cast<ColourChange>(round / 2 % 4);
      const float factor = static_cast<float>(random_integer(0, 4)) / 4;
      ColourPlan plan = {};
      plan.count = 1;
      plan.changes[0] = change;
      plan.lows[0] = 0;
      plan.highs[0] = 1;
      const std::vector<float> draws(static_cast<std::size_t>(images.images), factor);
      run(ColourPass(plan, images, source.data(), draws.data(), target.data()));
      for (std::int64_t i = 0; i < size; ++i) {
        const long double from = load(source.data(), dtype, i), to = load(target.data(), dtype, i);
        if (change == ColourChange::brightness) {
          CHECK(std::abs(to - from * factor) < 1.01L);
        } else if (factor == 1 || (channels == 1 && change != ColourChange::contrast)) {
          CHECK(std::abs(to - from) < 1.01L);
        } else {
          CHECK(to >= 0 && to <= 100.1L);
        }
      }
    }
  }
}

TEST("a large image in several shares is what it is in one") {
  const ColourImages large = {1, 90000, 3, DType::float32};
  std::vector<float> source, target(3 * 90000), light(3 * 90000);
  for (int i = 0; i < 3 * 90000; ++i) source.push_back(static_cast<float>(random_real(0, 255)));
  ColourPlan plan = {};
  plan.count = 2;
  plan.changes[0] = ColourChange::hue;
  plan.changes[1] = ColourChange::saturation;
  plan.lows[0] = plan.highs[0] = 0.3f;
  plan.lows[1] = plan.highs[1] = 0.6f;
  const float draws[] = {0.5f, 0.5f};
  const ColourPass pass(plan, large, source.data(), draws, target.data());
  CHECK(pass.shares() > 1);
  run(pass);
  const float strengths[] = {0.1f, -0.2f, 0.3f};
  const LightPass lit(large, source.data(), strengths, light.data());
  CHECK(lit.shares() > 1);
  run(lit);
  for (std::size_t i = 0; i < 90000; i += 977) {
    const ColourImages one = {1, 1, 3, DType::float32};
    float wanted[3];
    run(ColourPass(plan, one, &source[3 * i], draws, wanted));
    for (std::size_t c = 0; c < 3; ++c) CHECK(target[3 * i + c] == wanted[c]);
    run(LightPass(one, &source[3 * i], strengths, wanted));
    for (std::size_t c = 0; c < 3; ++c) CHECK(light[3 * i + c] == wanted[c]);
  }
}

TEST("the order of changes is drawn") {
  const ColourImages one = {2, 1, 1, DType::uint8};
  const std::uint8_t source[] = {200, 200};
  std::uint8_t target[2];
  ColourPlan plan = {};
  plan.count = 2;
  plan.is_shuffled = true;
  plan.changes[0] = plan.changes[1] = ColourChange::brightness;
  plan.lows[0] = plan.highs[0] = 2;     // 255 is the most
  plan.lows[1] = plan.highs[1] = 0.5f;  // first, it leaves room
  const float draws[] = {0, 0, 0.1f, 0.9f, 0, 0, 0.9f, 0.1f};
  run(ColourPass(plan, one, source, draws, target));
  CHECK_EQUAL(int{target[0]}, 127);
  CHECK_EQUAL(int{target[1]}, 200);
}

TEST("channels are normalized by their own numbers") {
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{1}, std::int64_t{100000}}) {
    const Normalizing n = {6, 3, length, {1, 2, 3, 3}, {2, 4, 8, 8}};
    const std::vector<double> source = random_numbers(6 * length);
    std::vector<double> target(source.size());
    run(NormalizePass(n, DType::float64, source.data(), target.data()));
    for (std::int64_t i = 0; i < 6 * length; i += 1013) {
      const std::int64_t channel = i / length % 3;
      CHECK_EQUAL(target[static_cast<std::size_t>(i)],
                  (source[static_cast<std::size_t>(i)] - n.means[channel]) / n.deviations[channel]);
    }
  }
}

CHECK_MAIN
