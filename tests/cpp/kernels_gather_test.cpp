// SPDX-License-Identifier: Apache-2.0
// Index arrays against plain loops.
#include "kernels/gather.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "check.h"

using namespace afterglow;
using namespace afterglow::kernels;

namespace {

std::mt19937 generator(7);

std::int64_t draw(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(generator);
}

/// A block of rows: `before` times `extent` rows of `columns`, indexed along the middle, with gaps
/// between columns if `step` is not 1.
struct Case {
  std::int64_t before, extent, columns, step, positions;
  std::vector<std::int32_t> data, indices;

  Case() {
    before = draw(1, 4);
    extent = draw(1, 6);
    columns = draw(1, 5) == 1 ? 700 : draw(1, 9);
    step = draw(1, 2);
    positions = draw(1, 4) == 1 ? 1500 : draw(1, 8);
    data.resize(static_cast<std::size_t>(before * extent * columns * step));
    for (auto& element : data) element = static_cast<std::int32_t>(draw(-1000, 1000));
    for (std::int64_t i = 0; i < positions; ++i) {
      indices.push_back(static_cast<std::int32_t>(draw(-extent, extent - 1)));
    }
    before_stride = extent * columns * step;
    stride = columns * step;
  }

  std::int64_t before_stride, stride;
  std::int64_t one = 1;

  Indexed indexed() {
    Indexed result;
    result.data = reinterpret_cast<std::byte*>(data.data());
    result.dtype = DType::int32;
    result.before = {1, &before, &before_stride};
    result.positions = {1, &positions, nullptr};
    result.after = {1, &columns, &step};
    result.indices.push_back({indices.data(), DType::int32, &one, extent, stride});
    return result;
  }

  std::int64_t place(std::int64_t outer, std::int64_t position, std::int64_t column) const {
    const std::int64_t index = indices[static_cast<std::size_t>(position)];
    return outer * before_stride + (index < 0 ? index + extent : index) * stride + column * step;
  }
};

template <class Pass>
void run(const Pass& pass) {
  for (int share = 0; share < pass.shares(); ++share) pass.run(share);
}

template <class Function>
bool refuses(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::index;
  }
  return false;
}

}  // namespace

TEST("gather") {
  for (int round = 0; round < 200; ++round) {
    Case test;
    std::vector<std::int32_t> result(
        static_cast<std::size_t>(test.before * test.positions * test.columns));
    run(GatherPass(test.indexed(), reinterpret_cast<std::byte*>(result.data())));
    std::size_t next = 0;
    for (std::int64_t outer = 0; outer < test.before; ++outer) {
      for (std::int64_t position = 0; position < test.positions; ++position) {
        for (std::int64_t column = 0; column < test.columns; ++column) {
          const auto at = static_cast<std::size_t>(test.place(outer, position, column));
          CHECK(result[next++] == test.data[at]);
        }
      }
    }
  }
}

TEST("scatter writes in order, and adds") {
  for (int round = 0; round < 200; ++round) {
    for (const bool add : {false, true}) {
      Case test;
      std::vector<std::int32_t> expected = test.data;
      std::vector<std::int32_t> values(
          static_cast<std::size_t>(test.before * test.positions * test.columns));
      for (auto& value : values) value = static_cast<std::int32_t>(draw(-1000, 1000));
      const bool repeated = draw(0, 2) == 0;
      const std::int64_t strides[] = {repeated ? 0 : test.positions * test.columns,
                                      repeated ? 0 : test.columns, repeated ? 0 : 1};
      for (std::int64_t outer = 0; outer < test.before; ++outer) {
        for (std::int64_t position = 0; position < test.positions; ++position) {
          for (std::int64_t column = 0; column < test.columns; ++column) {
            const std::int64_t from =
                outer * strides[0] + position * strides[1] + column * strides[2];
            auto& element = expected[static_cast<std::size_t>(test.place(outer, position, column))];
            element = values[static_cast<std::size_t>(from)] + (add ? element : 0);
          }
        }
      }
      const ScatterSource source{reinterpret_cast<const std::byte*>(values.data()), &strides[0],
                                 &strides[1], &strides[2]};
      run(ScatterPass(test.indexed(), source, add));
      CHECK(test.data == expected);
    }
  }
}

TEST("indices outside") {
  const float indices[] = {0, 2.9f, 3, -1, -5, 1e30f, -1e30f, NAN};
  std::int32_t data[] = {10, 11, 12};
  const std::int64_t count = std::size(indices), one = 1;
  Indexed indexed;
  indexed.data = reinterpret_cast<std::byte*>(data);
  indexed.dtype = DType::int32;
  indexed.positions = {1, &count, nullptr};
  indexed.indices.push_back({indices, DType::float32, &one, 3, 1});
  std::int32_t result[std::size(indices)];
  const auto gather = [&](IndexMode mode) {
    indexed.mode = mode;
    run(GatherPass(indexed, reinterpret_cast<std::byte*>(result)));
  };
  gather(IndexMode::clip);
  const std::int32_t clipped[] = {10, 12, 12, 10, 10, 12, 10, 10};
  CHECK(std::ranges::equal(result, clipped));
  gather(IndexMode::wrap);
  CHECK(result[2] == 10 && result[3] == 12 && result[4] == 11);
  CHECK(refuses([&] { gather(IndexMode::from_end); }));
  CHECK(refuses([&] { gather(IndexMode::strict); }));
  CHECK(refuses([&] { gather(IndexMode::label); }));
  const float labels[] = {0, 2.9f, 1, -1, -5, 2, -1e30f, NAN};
  indexed.indices[0].data = labels;
  gather(IndexMode::label);
  const std::int32_t named[] = {10, 12, 11, 10, 10, 12, 10, 10};
  CHECK(std::ranges::equal(result, named));
}

TEST("nothing is written when an index is outside") {
  Case test;
  test.indices.back() = static_cast<std::int32_t>(test.extent);
  const std::vector<std::int32_t> before = test.data;
  const std::int32_t value = 5000;
  const std::int64_t none = 0;
  const ScatterSource source{reinterpret_cast<const std::byte*>(&value), &none, &none, &none};
  CHECK(refuses([&] { run(ScatterPass(test.indexed(), source, false)); }));
  CHECK(test.data == before);
}

TEST("positions that move by themselves") {
  // The second element of row 0, the first of row 1: what pick does.
  double data[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t indices[] = {1, 0};
  const std::int64_t count = 2, own = 3, one = 1;
  Indexed indexed;
  indexed.data = reinterpret_cast<std::byte*>(data);
  indexed.dtype = DType::float64;
  indexed.positions = {1, &count, &own};
  indexed.indices.push_back({indices, DType::int64, &one, 3, 1});
  double result[2];
  run(GatherPass(indexed, reinterpret_cast<std::byte*>(result)));
  CHECK(result[0] == 2 && result[1] == 4);
}

TEST("one-hot") {
  const std::int8_t indices[] = {2, -1, 0, 3};
  const std::int64_t count = 4, one = 1;
  std::uint16_t result[12];
  const IndexArray array{indices, DType::int8, &one, 0, 0};
  run(OneHotPass(array, {1, &count, nullptr}, reinterpret_cast<std::byte*>(result), DType::float16,
                 3, 9, 1));
  const std::uint16_t expected[] = {1, 1, 9, 1, 1, 1, 9, 1, 1, 1, 1, 1};
  CHECK(std::ranges::equal(result, expected));
}

CHECK_MAIN
