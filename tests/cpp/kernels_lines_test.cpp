// SPDX-License-Identifier: Apache-2.0
// Searches, running sums, sorted and interleaved lines, softmax and reversed sequences against
// plain loops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"
#include "kernels/arg_reduce.h"
#include "kernels/interleave.h"
#include "kernels/scan.h"
#include "kernels/sequence.h"
#include "kernels/softmax.h"
#include "kernels/sort.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

struct Extents {
  std::int64_t outer, length, inner;
  std::int64_t size() const { return outer * length * inner; }
  std::int64_t position(std::int64_t line, std::int64_t i) const {
    return (line / inner * length + i) * inner + line % inner;
  }
};

const Extents extents[] = {{1, 1, 1},    {1, 10, 1},     {300, 10, 1}, {2, 33, 1},
                           {3, 2050, 1}, {1, 140000, 1}, {2, 5, 3},    {1, 3, 600},
                           {2, 40, 257}, {1, 5000, 30},  {0, 3, 2},    {4, 3, 0}};

template <class Pass>
void run_all(Pass& pass) {
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
}

std::int64_t place_of(const Buffer& input, const Extents& extents, std::int64_t line,
                      bool maximum) {
  std::int64_t place = 0;
  for (std::int64_t i = 1; i < extents.length; ++i) {
    const long double best = input[extents.position(line, place)];
    const long double value = input[extents.position(line, i)];
    if (std::isnan(best)) break;
    if (std::isnan(value) || (maximum ? value > best : value < best)) place = i;
  }
  return place;
}

}  // namespace

TEST("the first of the greatest and smallest elements is found") {
  for (DType dtype : all_dtypes) {
    for (const Extents& each : extents) {
      for (const bool with_nan : {false, true}) {
        if (with_nan && !is_floating(dtype)) continue;
        Buffer input(dtype, each.size());
        fill_small(input);
        if (with_nan)
          for (int i = 0; i < 3 && each.size(); ++i)
            input.set(random_integer(0, each.size() - 1), NAN);
        for (const Reduction order : {Reduction::maximum, Reduction::minimum}) {
          Buffer output(DType::int64, each.outer * each.inner);
          ArgReducePass pass(order, {input.data(), dtype, each.outer, each.length, each.inner},
                             output.data(), DType::int64);
          run_all(pass);
          pass.finish();
          for (std::int64_t line = 0; line < output.size(); ++line)
            CHECK_EQUAL(static_cast<std::int64_t>(output[line]),
                        place_of(input, each, line, order == Reduction::maximum));
        }
      }
    }
  }
}

TEST("running sums from both ends") {
  for (DType dtype : all_dtypes) {
    if (dtype == DType::boolean) continue;
    for (const Extents& each : extents) {
      Buffer input(dtype, each.size());
      for (std::int64_t i = 0; i < input.size(); ++i) input.set(i, random_integer(0, 1));
      for (const bool reverse : {false, true}) {
        Buffer output(dtype, each.size());
        ScanPass pass({input.data(), dtype, each.outer, each.length, each.inner}, reverse,
                      output.data());
        run_all(pass);
        for (std::int64_t line = 0; line < each.outer * each.inner; ++line) {
          std::int64_t sum = 0;
          Buffer rounded(dtype, 1);
          for (std::int64_t step = 0; step < each.length; ++step) {
            const std::int64_t place = each.position(line, reverse ? each.length - 1 - step : step);
            sum += static_cast<std::int64_t>(input[place]);
            if (dtype == DType::uint8) sum &= 255;
            if (dtype == DType::int8 && sum > 127) sum -= 256;
            rounded.set(0, sum);
            CHECK_EQUAL(output[place], rounded[0]);
          }
        }
      }
    }
  }
}

TEST("sequences are turned around up to their lengths") {
  const std::int64_t steps = 50, sequences = 7, width = 600;
  Buffer input(DType::int32, steps * sequences * width);
  for (std::int64_t i = 0; i < input.size(); ++i) input.set(i, i);
  Buffer lengths(DType::float32, sequences);
  for (std::int64_t i = 0; i < sequences; ++i) lengths.set(i, random_integer(0, steps));
  lengths.set(0, steps + 5);
  lengths.set(1, -3);
  Buffer output(DType::int32, input.size());
  ReversePass pass(input.data(), output.data(), steps, sequences, width * 4, lengths.data(),
                   DType::float32);
  run_all(pass);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < sequences * width; ++i) {
      const std::int64_t length = i < width ? steps : static_cast<std::int64_t>(lengths[i / width]);
      const std::int64_t from = step < length ? length - 1 - step : step;
      CHECK_EQUAL(output[step * sequences * width + i], input[from * sequences * width + i]);
    }
  }
}

TEST("lines are put in order") {
  for (DType dtype : all_dtypes) {
    for (const Extents& each : extents) {
      for (const bool descending : {false, true}) {
        Buffer input(dtype, each.size()), output(dtype, each.size());
        fill_small(input);
        SortResults results;
        results.values = output.data();
        results.keep = each.length;
        results.descending = descending;
        results.threads = 3;
        SortPass pass({input.data(), dtype, each.outer, each.length, each.inner}, results);
        run_all(pass);
        pass.finish();
        for (std::int64_t line = 0; line < each.outer * each.inner; ++line) {
          std::vector<long double> expected;
          for (std::int64_t i = 0; i < each.length; ++i)
            expected.push_back(input[each.position(line, i)]);
          std::sort(expected.begin(), expected.end());
          if (descending) std::reverse(expected.begin(), expected.end());
          for (std::int64_t i = 0; i < each.length; ++i)
            CHECK_EQUAL(output[each.position(line, i)], expected[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST("a long line of any values is put in order, and equal ones are dropped") {
  constexpr std::int64_t length = 140001;
  for (DType dtype : all_dtypes) {
    const bool real = is_floating(dtype);
    for (const bool descending : {false, true}) {
      Buffer input(dtype, length), output(dtype, length);
      for (std::int64_t i = 0; i < length; ++i) {
        auto* const bytes = static_cast<unsigned char*>(input.data()) + i * size_of(dtype);
        for (std::size_t byte = 0; byte < size_of(dtype); ++byte)
          bytes[byte] = static_cast<unsigned char>(random_integer(0, 255));
        if (dtype == DType::boolean) *bytes &= 1;
        if (real && i % 5 == 0) input.set(i, i % 2 ? 0.0L : -0.0L);
        if (real && i % 7 == 0) input.set(i, i % 2 ? INFINITY : -INFINITY);
      }
      SortResults results;
      results.values = output.data();
      results.keep = length;
      results.descending = descending;
      results.threads = 4;
      SortPass pass({input.data(), dtype, 1, length, 1}, results);
      run_all(pass);
      pass.finish();
      std::vector<long double> expected;
      for (std::int64_t i = 0; i < length; ++i) expected.push_back(input[i]);
      const auto before = [](long double one, long double other) {
        return std::isnan(other) ? !std::isnan(one) : one < other;
      };
      const auto same = [](long double one, long double other) {
        return one == other || (std::isnan(one) && std::isnan(other));
      };
      std::sort(expected.begin(), expected.end(), before);
      if (descending) std::reverse(expected.begin(), expected.end());
      for (std::int64_t i = 0; i < length; ++i)
        CHECK(same(output[i], expected[static_cast<std::size_t>(i)]));
      expected.erase(std::unique(expected.begin(), expected.end(), same), expected.end());
      CHECK_EQUAL(drop_equal_neighbours(output.data(), dtype, length),
                  static_cast<std::int64_t>(expected.size()));
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(same(output[static_cast<std::int64_t>(i)], expected[i]));
    }
  }
}

TEST("elements of several arrays are taken in turns") {
  for (DType dtype : all_dtypes) {
    for (const std::int64_t count : {0, 1, 37, 511, 513, 40000, 1100000}) {
      for (const std::size_t used : {2, 3, 4}) {
        if (count > 40000 && (used != 3 || dtype != DType::float32)) continue;
        std::vector<Buffer> sources(used, Buffer(dtype, count));
        std::vector<const void*> data;
        for (Buffer& source : sources) {
          fill_small(source);
          data.push_back(source.data());
        }
        Buffer result(dtype, count * static_cast<std::int64_t>(used));
        const InterleavePass pass(data, dtype, count, result.data());
        run_all(pass);
        for (std::int64_t i = 0; i < result.size(); ++i) {
          const auto number = static_cast<std::int64_t>(used);
          CHECK_EQUAL(result[i], sources[static_cast<std::size_t>(i % number)][i / number]);
        }
      }
    }
  }
}

TEST("softmax of rows and its logarithm") {
  for (DType dtype : {DType::float32, DType::float64}) {
    const long double tolerance = dtype == DType::float32 ? 2e-6L : 1e-14L;
    for (const Extents& each : extents) {
      if (each.inner != 1) continue;
      for (const bool as_logarithm : {false, true}) {
        Buffer input(dtype, each.size()), output(dtype, each.size());
        fill_small(input);
        SoftmaxPass pass(input.data(), output.data(), dtype, each.outer, each.length, as_logarithm);
        run_all(pass);
        for (std::int64_t line = 0; line < each.outer; ++line) {
          long double greatest = -INFINITY, total = 0;
          for (std::int64_t i = 0; i < each.length; ++i)
            greatest = std::max(greatest, input[each.position(line, i)]);
          for (std::int64_t i = 0; i < each.length; ++i)
            total += std::exp(input[each.position(line, i)] - greatest);
          for (std::int64_t i = 0; i < each.length; ++i) {
            const long double distance = input[each.position(line, i)] - greatest;
            const long double expected =
                as_logarithm ? distance - std::log(total) : std::exp(distance) / total;
            const long double value = output[each.position(line, i)];
            CHECK(std::abs(value - expected) <= tolerance * (1 + std::abs(expected)));
          }
        }
      }
    }
  }
}

CHECK_MAIN
