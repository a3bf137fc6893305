// SPDX-License-Identifier: Apache-2.0
#include "array/array.h"

#include <optional>
#include <random>
#include <vector>

#include "base/error.h"
#include "check.h"

using namespace afterglow;

namespace {

Array make(Shape shape, DType dtype = DType::float32) {
  return Array::create(Layout::contiguous(shape), dtype, Context{});
}

Array view(const Array& base, std::int64_t offset, Shape shape, Shape strides) {
  Array result = base;
  result.offset += offset;
  result.layout = Layout::strided(shape, strides);
  return result;
}

/// The kind of error that an action ends with, if it does.
template <class Action>
std::optional<ErrorKind> refusal(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return {};
}

}  // namespace

TEST("layouts know size, strides and contiguity") {
  const auto layout = Layout::contiguous(Shape{2, 3, 4});
  CHECK_EQUAL(layout->size(), 24);
  CHECK_EQUAL(layout->strides()[0], 12);
  CHECK(layout->is_contiguous());
  CHECK(!Layout::strided(Shape{3, 2}, Shape{1, 3})->is_contiguous());
  CHECK(Layout::strided(Shape{1, 4}, Shape{99, 1})->is_contiguous());
  CHECK(Layout::strided(Shape{0, 4}, Shape{7, 7})->is_contiguous());
  CHECK_EQUAL(Layout::contiguous(Shape{})->size(), 1);
  CHECK_EQUAL(to_string(Shape{3}), "(3,)");
  CHECK_EQUAL(to_string(Shape{2, 3}), "(2, 3)");
}

TEST("impossible shapes are refused") {
  CHECK_THROWS("shape (-1,) has a negative dimension", Layout::contiguous(Shape{-1}));
  CHECK_THROWS("too large to address",
               Layout::contiguous(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}));
  CHECK_THROWS("33 dimensions", Layout::contiguous(Shape(33, 1)));
  CHECK_EQUAL(Layout::contiguous(Shape{std::int64_t{1} << 40, 0, std::int64_t{1} << 40})->size(),
              0);
}

TEST("shapes of any length behave as vectors") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 200; ++round) {
    Shape shape;
    std::vector<std::int64_t> expected;
    for (int step = 0; step < 40; ++step) {
      const auto value = static_cast<std::int64_t>(random() % 100);
      const std::size_t place = below(expected.size() + 1);
      switch (below(expected.empty() ? 5 : 8)) {
        case 0:
          shape.push_back(value);
          expected.push_back(value);
          break;
        case 1:
          shape.insert(shape.begin() + place, 3, value);
          expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(place), 3, value);
          break;
        case 2:
          shape.insert(shape.begin() + place, {value, 1});
          expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(place), {value, 1});
          break;
        case 3: {
          const std::size_t count = below(9);
          shape.resize(count, value);
          expected.resize(count, value);
          break;
        }
        case 4: {
          const Shape copy = shape;
          Shape other{value};
          other = std::move(shape);
          shape = Shape(4, value);
          shape = copy;
          CHECK(other == copy);
          break;
        }
        case 5:
          shape.pop_back();
          expected.pop_back();
          break;
        default: {
          const std::size_t from = below(expected.size());
          const std::size_t to = from + below(expected.size() - from + 1);
          shape.erase(shape.begin() + from, shape.begin() + to);
          expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(from),
                         expected.begin() + static_cast<std::ptrdiff_t>(to));
        }
      }
      CHECK(std::equal(shape.begin(), shape.end(), expected.begin(), expected.end()));
      CHECK(shape == Shape(expected.begin(), expected.end()));
    }
  }
  const Shape none, pair{1, 2}, other{1, 3}, longer{1, 2, 0};
  CHECK(none == Shape(0, 1) && pair != other && pair < longer && longer < other);
  CHECK_THROWS("no such element", Shape{}.at(0));
}

TEST("views tell identity and overlap") {
  const Array base = make({10});
  CHECK(same_view(base, view(base, 0, {10}, {1})));
  CHECK(!same_view(base, view(base, 0, {5}, {2})));
  CHECK(may_overlap(view(base, 0, {5}, {2}), view(base, 1, {5}, {2})));
  CHECK(!may_overlap(view(base, 0, {5}, {1}), view(base, 5, {5}, {1})));
  CHECK(may_overlap(view(base, 0, {6}, {1}), view(base, 9, {5}, {-1})));
  CHECK(!may_overlap(base, make({10})));
  CHECK(base.covers_storage());
  CHECK(!view(base, 0, {9}, {1}).covers_storage());
}

TEST("memory known by two storages overlaps where the addresses do") {
  struct Nobody : Lender {};
  std::vector<float> memory(10);
  auto* const data = reinterpret_cast<std::byte*>(memory.data());
  const auto borrowed = [&](std::byte* start, std::int64_t count) {
    return Array{Storage::borrow(start, 4 * count, Context{}, std::make_unique<Nobody>()),
                 Layout::contiguous(Shape{count}), 0, DType::float32};
  };
  const Array whole = borrowed(data, 10), again = borrowed(data, 10), end = borrowed(data + 24, 4);
  CHECK(may_overlap(whole, again));
  CHECK(may_overlap(view(whole, 1, {9}, {1}), view(again, 0, {9}, {1})));
  CHECK(!may_overlap(view(whole, 0, {5}, {1}), view(again, 5, {5}, {1})));
  CHECK(!may_overlap(view(whole, 0, {6}, {1}), end));
  CHECK(may_overlap(view(whole, 6, {1}, {1}), end));
  CHECK(!may_overlap(whole, make({10})));
}

TEST("views that reach outside of their array are refused") {
  const Array base = make({10});
  check_inside(view(base, 2, {4}, {2}), base);
  check_inside(view(base, 9, {10}, {-1}), base);
  CHECK(refusal([&] { check_inside(view(base, 1, {10}, {1}), base); }) == ErrorKind::index);
  CHECK(refusal([&] { check_inside(view(base, 8, {10}, {-1}), base); }) == ErrorKind::index);
  const std::int64_t far = std::int64_t{1} << 61;
  CHECK(refusal([&] { check_inside(view(base, 0, {5}, {far}), base); }) == ErrorKind::index);
  CHECK(refusal([&] { check_inside(view(base, 2 * far, {1}, {1}), base); }) == ErrorKind::index);
  CHECK(refusal([&] { extent_sum(2 * far, 2 * far); }) == ErrorKind::memory);
  CHECK(refusal([&] { extent_product(2 * far, 2); }) == ErrorKind::memory);
  CHECK_EQUAL(extent_product(3, extent_sum(1, 2)), 9);
}

TEST("tiny values live inside the storage, others in the pool") {
  const Array tiny = make({16}), large = make({1000});
  tiny.storage->take_buffer();
  large.storage->take_buffer();
  CHECK(tiny.data() > reinterpret_cast<std::byte*>(tiny.storage.get()));
  CHECK(tiny.data() < reinterpret_cast<std::byte*>(tiny.storage.get() + 1));
  CHECK(large.data() != nullptr);
}

TEST("borrowed memory goes back to its lender once, and never to the pool") {
  struct Counting : Lender {
    explicit Counting(int& count) : count(count) {}
    ~Counting() override { ++count; }
    int& count;
  };
  int given_back = 0;
  alignas(64) std::byte memory[4096];
  const Array own = make({1024});
  for (int round = 1; round <= 3; ++round) {  // the object itself is used again
    for (std::int64_t bytes : {16, 4096}) {
      Reference<Storage> storage =
          Storage::borrow(memory, bytes, {}, std::make_unique<Counting>(given_back));
      CHECK(storage->is_shared() && Storage::any_shared());
      CHECK(!storage->is_inside());
      CHECK(!storage->fits_buffer_of(*own.storage) && !own.storage->fits_buffer_of(*storage));
      storage->take_buffer();
      storage->release_buffer();
      CHECK_EQUAL(static_cast<void*>(storage->data()), static_cast<void*>(memory));
      const Reference<Storage> second = storage;
      storage.reset();
      CHECK_EQUAL(given_back % 2, bytes == 16 ? 0 : 1);
    }
    CHECK_EQUAL(given_back, 2 * round);
    CHECK(!Storage::any_shared());
  }
  const Array fresh = make({1024});
  CHECK(!fresh.storage->is_shared() && !fresh.storage->data());
}

CHECK_MAIN
