// SPDX-License-Identifier: Apache-2.0
// Matrix products against the definition. Needs AFTERGLOW_BLAS.
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "check.h"
#include "kernels/product.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

long double wrapped(DType dtype, long double value) {
  if (is_floating(dtype)) return value;
  if (dtype == DType::boolean) return value != 0;
  const long double span = std::ldexp(1.0L, static_cast<int>(size_of(dtype)) * 8);
  const long double low = dtype == DType::uint8 ? 0 : -span / 2;
  return value - std::floor((value - low) / span) * span;
}

void check_product(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_a,
                   bool transpose_b, std::int64_t padding, int threads, long double slack = 1) {
  ProductShape shape{m, n, k, transpose_a, transpose_b, 0, 0};
  shape.lda = (transpose_a ? m : k) + padding;
  shape.ldb = (transpose_b ? k : n) + padding;
  Buffer a(dtype, (transpose_a ? k : m) * shape.lda + 1);
  Buffer b(dtype, (transpose_b ? n : k) * shape.ldb + 1);
  Buffer c(dtype, m * n);
  fill_small(a);
  fill_small(b);
  for (std::int64_t i = 0; i < c.size(); ++i)
    c.set(i, is_floating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 1.0);
  ProductPass pass(shape, dtype, a.data(), b.data(), c.data(), threads);
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
  pass.finish();
  const long double unit = dtype == DType::float16   ? 1e-3L
                           : dtype == DType::float32 ? 1e-6L
                                                     : 1e-14L;
  // Large products are sampled.
  const std::int64_t step = m * n * k > 2000000 ? 97 : 1;
  for (std::int64_t place = 0; place < m * n; place += step) {
    const std::int64_t i = place / n, j = place % n;
    long double sum = 0, size = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      const long double term = a[transpose_a ? l * shape.lda + i : i * shape.lda + l] *
                               b[transpose_b ? j * shape.ldb + l : l * shape.ldb + j];
      sum += term;
      size += std::fabs(term);
    }
    const long double tolerance =
        is_floating(dtype) ? slack * unit * (size / std::sqrt(k + 1.0L) + std::fabs(sum)) : 0;
    if (!(std::fabs(c[place] - wrapped(dtype, sum)) <= tolerance)) {
      std::ostringstream text;
      text << name_of(dtype) << " " << m << "x" << n << "x" << k << " at " << i << ", " << j << ": "
           << c[place] << " instead of " << sum;
      check::fail(__FILE__, __LINE__, text.str());
    }
  }
}

}  // namespace

TEST("products of every type, transposed or not") {
  const std::int64_t sizes[][3] = {{1, 1, 1},   {3, 5, 7},    {17, 1, 33}, {1, 19, 23},
                                   {1, 1, 50},  {0, 3, 4},    {4, 0, 3},   {4, 3, 0},
                                   {31, 64, 9}, {65, 2, 130}, {2, 70, 5},  {40, 33, 65}};
  for (DType dtype : all_dtypes)
    for (const auto& size : sizes)
      for (int transposes = 0; transposes < 4; ++transposes)
        for (std::int64_t padding : {0, 3})
          check_product(dtype, size[0], size[1], size[2], transposes & 1, transposes & 2, padding,
                        2);
}

TEST("products cut into shares") {
  for (int threads : {1, 2, 7}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      check_product(DType::float32, 301, 257, 190, transposes & 1, transposes & 2, 5, threads);
      check_product(DType::float64, 130, 401, 203, transposes & 1, transposes & 2, 0, threads);
      check_product(DType::float16, 203, 201, 210, transposes & 1, transposes & 2, 1, threads);
    }
    check_product(DType::int32, 90, 110, 70, false, true, 0, threads);
    check_product(DType::float32, 1, 3000, 500, false, false, 0, threads);
    check_product(DType::float32, 3000, 1, 500, true, false, 0, threads);
  }
}

TEST("small results of sums of any length") {
  const std::int64_t sides[] = {2, 3, 10, 12, 13, 16, 17, 25, 31, 32, 33, 47, 63, 64, 65};
  for (DType dtype : {DType::float32, DType::float64}) {
    for (std::int64_t m : sides) {
      for (std::int64_t n : sides) {
        const std::int64_t k = random_integer(0, 3) ? random_integer(1, 40) : 760 + m + n;
        const bool transpose_a = random_integer(0, 1) != 0;
        // Of so many sums a few are far from the usual error.
        check_product(dtype, m, n, k, transpose_a, false, random_integer(0, 2), 2, 4);
      }
    }
  }
}

TEST("a long sum is cut into parts") {
  for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
    const ProductPass pass({20, 30, 50000, false, false, 50000, 30}, dtype, nullptr, nullptr,
                           nullptr, 4);
    CHECK_EQUAL(pass.shares(), 4);
    check_product(dtype, 20, 30, 50000, false, false, 0, 4);
  }
}

TEST("shares are enough for the threads and not too long") {
  const ProductPass large({2000, 2000, 2000, false, false, 2000, 2000}, DType::float32, nullptr,
                          nullptr, nullptr, 2);
  CHECK_EQUAL(large.shares(), 8);
  const ProductPass small({64, 64, 64, false, false, 64, 64}, DType::float32, nullptr, nullptr,
                          nullptr, 2);
  CHECK_EQUAL(small.shares(), 1);
  const ProductPass middle({256, 256, 256, false, false, 256, 256}, DType::float32, nullptr,
                           nullptr, nullptr, 4);
  CHECK_EQUAL(middle.shares(), 4);
}

TEST("stacks of products") {
  // Factors lie apart, or are one and the same for the whole stack; a part of the stacks is so high
  // that several matrices share a share, a part so large that matrices are cut.
  const struct {
    std::int64_t height, m, n, k;
  } cases[] = {{0, 3, 4, 5}, {1, 3, 4, 5}, {7, 3, 4, 5},      {300, 8, 9, 33},
               {5, 1, 4, 6}, {5, 4, 1, 6}, {2, 300, 310, 90}, {3, 4, 5, 0}};
  for (DType dtype : {DType::float32, DType::float16, DType::int32, DType::boolean}) {
    for (const auto& [height, m, n, k] : cases) {
      for (bool shared : {false, true}) {
        ProductShape shape{m, n, k, false, false, k, n};
        Buffer a(dtype, height * (m * k + 3) + 1), b(dtype, height * k * n + 1);
        Buffer c(dtype, height * m * n);
        fill_small(a);
        fill_small(b);
        std::vector<StackPlace> places;
        for (std::int64_t i = 0; i < height; ++i)
          places.push_back({i * (m * k + 3), shared ? 0 : i * k * n});
        std::vector<int> seen(static_cast<std::size_t>(height * m * n));
        std::mutex lock;
        const auto epilogue = [&](std::int64_t row_begin, std::int64_t row_end,
                                  std::int64_t column_begin, std::int64_t column_end) {
          const std::lock_guard hold(lock);
          for (std::int64_t row = row_begin; row < row_end; ++row)
            for (std::int64_t column = column_begin; column < column_end; ++column)
              ++seen[static_cast<std::size_t>(row * n + column)];
        };
        ProductPass pass(shape, dtype, a.data(), b.data(), c.data(), 2, epilogue, places);
        for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
        pass.finish();
        for (int count : seen) CHECK(count == 1);
        const std::int64_t step = m * n * k > 1000000 ? 97 : 1;
        for (std::int64_t place = 0; place < height * m * n; place += step) {
          const std::int64_t matrix = place / (m * n), i = place / n % m, j = place % n;
          long double sum = 0, size = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            const long double term = a[places[static_cast<std::size_t>(matrix)].a + i * k + l] *
                                     b[places[static_cast<std::size_t>(matrix)].b + l * n + j];
            sum += term;
            size += std::fabs(term);
          }
          const long double unit = dtype == DType::float16 ? 1e-3L : 1e-6L;
          const long double tolerance = is_floating(dtype) ? unit * (size + 1) : 0;
          CHECK(std::fabs(c[place] - wrapped(dtype, sum)) <= tolerance);
        }
      }
    }
  }
}

CHECK_MAIN
