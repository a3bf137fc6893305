// SPDX-License-Identifier: Apache-2.0
#include "array/array.h"

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
  CHECK_THROWS(Layout::contiguous(Shape{-1}));
  CHECK_THROWS(Layout::contiguous(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}));
  CHECK_THROWS(Layout::contiguous(Shape(33, 1)));
  CHECK_EQUAL(Layout::contiguous(Shape{std::int64_t{1} << 40, 0, std::int64_t{1} << 40})->size(),
              0);
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

TEST("tiny values live inside the storage, others in the pool") {
  const Array tiny = make({16}), large = make({1000});
  tiny.storage->take_buffer();
  large.storage->take_buffer();
  CHECK(tiny.data() > reinterpret_cast<std::byte*>(tiny.storage.get()));
  CHECK(tiny.data() < reinterpret_cast<std::byte*>(tiny.storage.get() + 1));
  CHECK(large.data() != nullptr);
}

CHECK_MAIN
