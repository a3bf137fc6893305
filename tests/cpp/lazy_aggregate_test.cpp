// SPDX-License-Identifier: Apache-2.0
// One call for many rows of arrays.
#include "lazy/aggregate.h"

#include "lazy_support.h"

using namespace support;

namespace {

/// weight -= 0.5 * gradient for each pair in `arrays`, captured on the first.
bool descend(Window& window, std::vector<Array> arrays) {
  if (!lazy::suit_one_call(arrays, 2)) return false;
  lazy::Diversion diversion;
  const Array step = apply(window, "multiply", arrays[1], 0.5);
  apply(window, "subtract", arrays[0], step, &arrays[0]);
  auto aggregate = lazy::Aggregate::make(diversion.calls(), std::span(arrays).first(2));
  if (!aggregate) {
    diversion.give_up(window);
    return false;
  }
  lazy::issue_aggregate(window, std::move(aggregate), std::move(arrays), {});
  return true;
}

std::vector<Array> pairs(const std::vector<std::int64_t>& sizes) {
  std::vector<Array> arrays;
  for (const std::int64_t size : sizes) {
    arrays.push_back(filled({size}, 3));
    arrays.push_back(filled({size}, static_cast<float>(size)));
  }
  return arrays;
}

}  // namespace

TEST("one call does to all rows what was done to the first") {
  const std::vector<std::int64_t> sizes = {1, 2, 5, 100, 3000, 70000, 1};
  for (const int threads : {1, 2, 4}) {
    auto window = threaded(threads);
    const std::vector<Array> arrays = pairs(sizes);
    const std::int64_t before = window->statistics().issued;
    CHECK(descend(*window, arrays));
    CHECK_EQUAL(window->statistics().issued, before + 1);
    for (std::size_t row = 0; row < sizes.size(); ++row) {
      const float expected = 3 - 0.5f * static_cast<float>(sizes[row]);
      CHECK_EQUAL(value(*window, arrays[2 * row]), expected);
      CHECK_EQUAL(value(*window, arrays[2 * row], sizes[row] - 1), expected);
      CHECK_EQUAL(arrays[2 * row + 1].storage->version, 0u);
    }
    finish(*window);
  }
}

TEST("rows keep their order with the calls around them") {
  auto window = threaded(2);
  const std::vector<Array> arrays = pairs({10, 20});
  Array between;
  {
    Gate gate(*window);
    apply(*window, "multiply", arrays[0], 2.0, &arrays[0]);
    CHECK(descend(*window, arrays));
    between = apply(*window, "add", arrays[2], 0.0);
    apply(*window, "multiply", arrays[3], 1000.0, &arrays[3]);
    apply(*window, "add", arrays[2], 100.0, &arrays[2]);
  }
  CHECK_EQUAL(value(*window, arrays[0], 9), 1.0f);
  CHECK_EQUAL(value(*window, between, 19), -7.0f);
  CHECK_EQUAL(value(*window, arrays[2], 19), 93.0f);
  finish(*window);
}

TEST("a poisoned row poisons itself alone") {
  auto window = threaded(2);
  const std::vector<Array> arrays = pairs({10, 20, 30});
  lazy::inject_failure(0, ErrorKind::value);
  apply(*window, "multiply", arrays[3], 2.0, &arrays[3]);
  CHECK(descend(*window, arrays));
  CHECK_EQUAL(value(*window, arrays[0]), -2.0f);
  CHECK_EQUAL(value(*window, arrays[4]), -12.0f);
  wait(*window, arrays[2]);
  CHECK(arrays[2].storage->failure != nullptr);
  finish(*window);
  CHECK(window->failures().take_first() != nullptr);
  CHECK(window->failures().take_first() == nullptr);
}

TEST("rows that share memory, are strided or of other types do not suit one call") {
  const Array a = filled({8}, 1), b = filled({8}, 1), c = filled({8}, 1), d = filled({8}, 1);
  CHECK(lazy::suit_one_call(std::vector{a, b, c, d}, 2));
  CHECK(!lazy::suit_one_call(std::vector{a, b, a, d}, 2));
  CHECK(!lazy::suit_one_call(std::vector{a, b, c, b}, 2));
  CHECK(!lazy::suit_one_call(std::vector{a, slice(b, 0, 4), c, d}, 2));
  CHECK(!lazy::suit_one_call(std::vector{slice(a, 0, 4, 2), filled({4}, 1), c, d}, 2));
  const Array wide = Array::create(Layout::contiguous(Shape{8}), DType::float64, {});
  CHECK(!lazy::suit_one_call(std::vector{a, b, c, wide}, 2));
}

TEST("calls that are not elementwise, or touch other arrays, join the window after all") {
  auto window = threaded(2);
  const Array weight = filled({8}, 1), other = filled({8}, 1), stranger = filled({8}, 5);
  for (const bool folds : {true, false}) {
    lazy::Diversion diversion;
    const Array result = folds ? call(*window, "sum", {weight}, {Shape{0}})
                               : apply(*window, "add", weight, stranger, &weight);
    CHECK(!lazy::Aggregate::make(diversion.calls(), std::vector{weight, other}));
    diversion.give_up(*window);
    CHECK(!lazy::Diversion::current());
    CHECK_EQUAL(value(*window, result), folds ? 8.0f : 6.0f);
  }
  finish(*window);
}

TEST("a read while calls are captured gives the capture up") {
  auto window = threaded(2);
  const Array weight = filled({8}, 1);
  lazy::Diversion diversion;
  apply(*window, "add", weight, 1.0, &weight);
  CHECK_EQUAL(value(*window, weight), 2.0f);
  CHECK(diversion.calls().empty());
  finish(*window);
}

TEST("a call for rows that nobody holds is dropped") {
  auto window = threaded(1);
  {
    Gate gate(*window);
    CHECK(descend(*window, pairs({10, 20})));
    window->publish_all();
  }
  finish(*window);
  CHECK_EQUAL(window->statistics().dropped, 1);
}

CHECK_MAIN
