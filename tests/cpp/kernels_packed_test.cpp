// SPDX-License-Identifier: Apache-2.0
// Products by packed panels against the definition.
#include "kernels/packed.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

constexpr std::int64_t gap = 5;  // behind each row of a result, where nothing may be written

template <class Real>
std::vector<Real> random_elements(std::int64_t count) {
  std::vector<Real> elements(static_cast<std::size_t>(count));
  for (Real& element : elements) element = static_cast<Real>(random_integer(-100, 100)) / 64;
  return elements;
}

/// Lines of so many steps, one after the other or side by side.
template <class Real>
Factor<Real> factor_of(const std::vector<Real>& elements, std::int64_t lines, std::int64_t steps,
                       bool along) {
  return along ? Factor<Real>{elements.data(), steps, 1} : Factor<Real>{elements.data(), 1, lines};
}

template <class Real>
void check_packed(std::int64_t rows, std::int64_t columns, std::int64_t steps, int along,
                  bool add) {
  const std::vector<Real> left = random_elements<Real>(rows * steps),
                          right = random_elements<Real>(columns * steps);
  const Factor<Real> a = factor_of(left, rows, steps, along & 1),
                     b = factor_of(right, columns, steps, along & 2);
  const std::int64_t stride = columns + gap;
  const std::vector<Real> before = random_elements<Real>(rows * stride);
  std::vector<Real> c = before;
  std::vector<int> seen(c.size());
  const PackedProduct<Real> product = {
      rows,
      columns,
      steps,
      a,
      b,
      c.data(),
      stride,
      add,
      [&](std::int64_t top, std::int64_t bottom, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = top; i < bottom; ++i)
          for (std::int64_t j = first; j < last; ++j)
            ++seen[static_cast<std::size_t>(i * stride + j)];
      }};
  product.run();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const auto place = static_cast<std::size_t>(i * stride + j);
      CHECK_EQUAL(seen[place], j < columns ? 1 : 0);
      if (j >= columns) {
        CHECK(c[place] == before[place]);
        continue;
      }
      long double sum = add ? before[place] : 0, size = std::fabs(sum);
      for (std::int64_t step = 0; step < steps; ++step) {
        const long double term =
            static_cast<long double>(a.data[i * a.line_distance + step * a.step_distance]) *
            b.data[j * b.line_distance + step * b.step_distance];
        sum += term;
        size += std::fabs(term);
      }
      CHECK(std::fabs(c[place] - sum) <= (sizeof(Real) == 4 ? 1e-6L : 1e-15L) * size);
    }
  }
  // Bits do not depend on which rows and columns are computed together, or on what packed them.
  const std::int64_t row = random_integer(0, rows - 1), column = random_integer(0, columns - 1);
  std::vector<Real> some = before;
  const auto corner = static_cast<std::size_t>(row * stride + column);
  const PackedProduct<Real> part = {
      rows - row,
      columns - column,
      steps,
      {a.data + row * a.line_distance, a.line_distance, a.step_distance},
      {b.data + column * b.line_distance, b.line_distance, b.step_distance},
      some.data() + corner,
      stride,
      add};
  part.run();
  for (std::int64_t i = row; i < rows; ++i)
    for (std::int64_t j = column; j < columns; ++j)
      CHECK(some[static_cast<std::size_t>(i * stride + j)] ==
            c[static_cast<std::size_t>(i * stride + j)]);
  std::vector<Real> again = before;
  PackedFactor<Real>(b, steps, columns).multiply(a, rows, again.data(), stride, add);
  CHECK(again == c);
}

template <class Real>
void check_all() {
  for (int round = 0; round < 60; ++round)
    check_packed<Real>(random_integer(1, 40), random_integer(1, 80), random_integer(1, 40),
                       round & 3, round & 4);
  // Sums in parts, and more rows and columns than are packed at once.
  for (int along = 0; along < 4; ++along) {
    check_packed<Real>(13, 35, 1601, along, along & 1);
    check_packed<Real>(301, 47, 770, along, along & 2);
    check_packed<Real>(3, 1500, 767, along, false);
  }
}

}  // namespace

TEST("packed products of float32") {
  check_all<float>();
}

TEST("packed products of float64") {
  check_all<double>();
}

CHECK_MAIN
