// SPDX-License-Identifier: Apache-2.0
// Block kernels against scalar references.
#include <algorithm>
#include <limits>

#include "check.h"
#include "kernels/elementwise.h"
#include "kernels_reference.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

constexpr Formula formula_at(int i) {
  return static_cast<Formula>(i);
}
constexpr int formulas = static_cast<int>(Formula::count_of_formulas);

std::string label(Formula formula, DType dtype) {
  return "formula " + std::to_string(static_cast<int>(formula)) + " of " + name_of(dtype);
}

void run_block(Formula formula, DType dtype, const void* a, const void* b, void* output,
               std::int64_t count) {
  // Where there is a third input, it is the second once more.
  const void* inputs[] = {a, b, b};
  block_function(formula, dtype)(inputs, output, count);
}

double worst_ulps(Formula formula, double low, double high, double (*truth)(double)) {
  constexpr std::int64_t count = 1 << 16;
  std::vector<float> x(count), y(count);
  double worst = 0;
  for (int round = 0; round < 4; ++round) {
    for (float& value : x) value = static_cast<float>(random_real(low, high));
    run_block(formula, DType::float32, x.data(), nullptr, y.data(), count);
    for (std::int64_t i = 0; i < count; ++i) worst = std::max(worst, ulps(y[i], truth(x[i])));
  }
  return worst;
}

float one(Formula formula, float a, float b = 0) {
  float result;
  run_block(formula, DType::float32, &a, &b, &result, 1);
  return result;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float tiny = std::numeric_limits<float>::denorm_min();

}  // namespace

TEST("every formula of every compute type") {
  constexpr std::int64_t count = 500;
  for (int f = 0; f < formulas; ++f) {
    for (DType dtype : all_dtypes) {
      const Formula formula = formula_at(f);
      if (dtype == DType::float16) {
        CHECK(block_function(formula, dtype) == nullptr);
        continue;
      }
      if (!block_function(formula, dtype)) continue;
      Buffer a(dtype, count), b(dtype, count), out(produced_type(formula, dtype), count);
      fill_small(a);
      fill_small(b);
      for (std::int64_t i = 0; i < 40; ++i) b.set(i, a[i]);
      if (is_floating(dtype) && formula == Formula::power)
        for (std::int64_t i = 0; i < count; ++i) a.set(i, std::fabs(a[i]));
      run_block(formula, dtype, a.data(), b.data(), out.data(), count);
      for (std::int64_t i = 0; i < count; ++i) {
        long double want = wanted(formula, a[i], b[i], !is_floating(dtype));
        if (out.dtype() == dtype) want = bring(formula, dtype, want);
        const long double scale = dtype == DType::float32 ? 3e-7L : 2e-15L;
        const bool close = is_floating(dtype) &&
                           std::fabs(out[i] - want) <= scale * scale_of_errors(formula, want);
        if (!close && !same(out[i], want)) {
          std::ostringstream text;
          text << label(formula, dtype) << " at " << a[i] << ", " << b[i] << ": " << out[i]
               << " instead of " << want;
          check::fail(__FILE__, __LINE__, text.str());
        }
      }
    }
  }
}

TEST("vector functions are within two units in the last place") {
  auto exp = [](double x) { return std::exp(x); };
  auto log = [](double x) { return std::log(x); };
  auto tanh = [](double x) { return std::tanh(x); };
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(worst_ulps(Formula::exp, -104, 89, exp) < 1.5);
  CHECK(worst_ulps(Formula::exp, -1, 1, exp) < 1.5);
  CHECK(worst_ulps(Formula::log, 0, 2, log) < 1.5);
  CHECK(worst_ulps(Formula::log, 0, 1e-37, log) < 1.5);
  CHECK(worst_ulps(Formula::log, 0, 1e30, log) < 1.5);
  CHECK(worst_ulps(Formula::tanh, -10, 10, tanh) < 2.5);
  CHECK(worst_ulps(Formula::tanh, -0.5, 0.5, tanh) < 2.5);
  CHECK(worst_ulps(Formula::tanh, -1e-20, 1e-20, tanh) < 2.5);
  CHECK(worst_ulps(Formula::sigmoid, -105, 20, sigmoid) < 2.5);
  CHECK(worst_ulps(Formula::sigmoid, -2, 2, sigmoid) < 2.5);
  auto sin = [](double x) { return std::sin(x); };
  auto cos = [](double x) { return std::cos(x); };
  auto expm1 = [](double x) { return std::expm1(x); };
  auto log1p = [](double x) { return std::log1p(x); };
  auto erf = [](double x) { return std::erf(x); };
  auto acosh = [](double x) { return std::acosh(x); };
  for (double range : {1.0, 100.0, 1e6, 1e30}) {
    CHECK(worst_ulps(Formula::sin, -range, range, sin) < 1.6);
    CHECK(worst_ulps(Formula::cos, -range, range, cos) < 1.6);
    CHECK(worst_ulps(Formula::arccosh, -range, range, acosh) < 0.51);
  }
  for (double range : {1e-20, 1e-3, 1.0, 80.0}) {
    CHECK(worst_ulps(Formula::expm1, -range, range, expm1) < 2.0);
    CHECK(worst_ulps(Formula::log1p, -range, range, log1p) < 2.0);
    CHECK(worst_ulps(Formula::erf, -range, range, erf) < 1.5);
  }
  constexpr std::int64_t count = 1 << 16;
  std::vector<float> a(count), b(count), c(count);
  for (std::int64_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(std::exp(random_real(-80, 80)));
    b[i] = static_cast<float>(random_real(-3, 3));
  }
  run_block(Formula::power, DType::float32, a.data(), b.data(), c.data(), count);
  for (std::int64_t i = 0; i < count; ++i)
    CHECK(ulps(c[i], std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]))) < 0.51);
}

TEST("sines near the multiples of a quarter turn") {
  std::vector<float> x, y;
  for (int quarters = -600000; quarters <= 600000; quarters += 7) {
    const float near = static_cast<float>(quarters * 1.57079632679489661923);
    for (float towards : {-infinity, near, infinity}) x.push_back(std::nextafter(near, towards));
  }
  y.resize(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  double worst = 0;
  run_block(Formula::sin, DType::float32, x.data(), nullptr, y.data(), count);
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps(y[i], std::sin(static_cast<double>(x[i]))));
  run_block(Formula::cos, DType::float32, x.data(), nullptr, y.data(), count);
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps(y[i], std::cos(static_cast<double>(x[i]))));
  CHECK(worst < 1.5);
}

TEST("blocks of normal numbers take a shorter way to the same bits") {
  constexpr std::int64_t count = 100;
  std::vector<float> a(count), b(count), plain(count), mixed(count);
  for (double size : {3.0, 40.0, 1e4}) {
    for (std::int64_t i = 0; i < count; ++i) {
      a[i] = static_cast<float>(std::exp(random_real(-80, 80) / size));
      b[i] = static_cast<float>(random_real(-size, size));
    }
    for (Formula formula : {Formula::log, Formula::power}) {
      run_block(formula, DType::float32, a.data(), b.data(), plain.data(), count);
      for (float odd : {0.0f, tiny, -2.0f, infinity, not_a_number}) {
        std::vector<float> other = a;
        other[37] = odd;
        run_block(formula, DType::float32, other.data(), b.data(), mixed.data(), count);
        for (std::int64_t i = 0; i < count; ++i)
          if (i != 37) CHECK(same(mixed[i], plain[i]));
        CHECK(same(mixed[37], one(formula, odd, b[37])));
      }
    }
    for (std::int64_t i = 0; i < count; ++i)
      CHECK(ulps(plain[i], std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]))) < 0.51);
    std::vector<float> exponents = b;
    exponents[5] = infinity;
    exponents[6] = not_a_number;
    run_block(Formula::power, DType::float32, a.data(), exponents.data(), mixed.data(), count);
    for (std::int64_t i = 0; i < count; ++i)
      CHECK(same(mixed[i], one(Formula::power, a[i], exponents[i])));
  }
}

TEST("the Gaussian linear unit keeps small results and ends in lines") {
  for (double x = -5; x < 6; x += 1.0 / 64) {
    const double truth = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    const float result = one(Formula::gelu, static_cast<float>(x));
    CHECK(std::fabs(result - truth) <= 1e-6 * std::max(std::fabs(truth), 0.05));
  }
  CHECK_EQUAL(one(Formula::gelu, infinity), infinity);
  CHECK_EQUAL(one(Formula::gelu, -infinity), 0.0f);
  CHECK_EQUAL(one(Formula::gelu, -1e30f), 0.0f);
  CHECK(std::isnan(one(Formula::gelu, not_a_number)));
}

TEST("special values") {
  const float values[] = {0.0f,     -0.0f,     1.0f,        -1.0f,       2.0f,        -2.0f,
                          0.5f,     -0.5f,     3.0f,        -3.0f,       1e38f,       -1e38f,
                          tiny,     -tiny,     1e-40f,      16777216.0f, 16777217.0f, 8388609.0f,
                          infinity, -infinity, not_a_number};
  for (float a : values) {
    CHECK(ulps(one(Formula::exp, a), std::exp(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::log, a), std::log(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::tanh, a), std::tanh(static_cast<double>(a))) < 2.5);
    const float error = one(Formula::erf, a);
    CHECK(ulps(error, std::erf(static_cast<double>(a))) < 1.5);
    if (!std::isnan(a)) CHECK(std::signbit(error) == std::signbit(a));
    CHECK(ulps(one(Formula::sin, a), std::sin(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::cos, a), std::cos(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::sigmoid, a), 1 / (1 + std::exp(-static_cast<double>(a)))) < 2.5);
    for (float b : values) {
      CHECK(ulps(one(Formula::power, a, b),
                 std::pow(static_cast<double>(a), static_cast<double>(b))) < 0.51);
      const float power = one(Formula::power, a, b);
      if (!std::isnan(power)) CHECK(std::signbit(power) == std::signbit(std::pow(a, b)));
      const bool any_nan = std::isnan(a) || std::isnan(b);
      CHECK(same(one(Formula::maximum, a, b), any_nan ? not_a_number : std::max(a, b)));
      CHECK(same(one(Formula::minimum, a, b), any_nan ? not_a_number : std::min(a, b)));
      if (b == 0) CHECK_EQUAL(one(Formula::modulo, a, b), 0.0f);
    }
  }
  CHECK(std::signbit(one(Formula::tanh, -0.0f)));
  CHECK(std::signbit(one(Formula::sin, -0.0f)));
  CHECK(std::isnan(one(Formula::relu, not_a_number)));
  CHECK(one(Formula::exp, -103.0f) > 0);
  CHECK_EQUAL(one(Formula::modulo, -1.0f, infinity), infinity);
  CHECK_EQUAL(one(Formula::modulo, -7.0f, 3.0f), 2.0f);
}

TEST("integers wrap and never trap") {
  auto check = [](auto low, DType dtype) {
    using T = decltype(low);
    const T zero = 0, minus = -1;
    T result;
    run_block(Formula::divide, dtype, &low, &minus, &result, 1);
    CHECK(result == low);
    run_block(Formula::divide, dtype, &low, &zero, &result, 1);
    CHECK(result == 0);
    run_block(Formula::modulo, dtype, &low, &minus, &result, 1);
    CHECK(result == 0);
    run_block(Formula::modulo, dtype, &low, &zero, &result, 1);
    CHECK(result == 0);
    run_block(Formula::negative, dtype, &low, nullptr, &result, 1);
    CHECK(result == low);
    run_block(Formula::abs, dtype, &low, nullptr, &result, 1);
    CHECK(result == low);
    run_block(Formula::subtract, dtype, &low, &low, &result, 1);
    CHECK(result == 0);
    run_block(Formula::add, dtype, &low, &minus, &result, 1);
    CHECK(result == std::numeric_limits<T>::max());
    run_block(Formula::multiply, dtype, &low, &low, &result, 1);
    CHECK(result == 0);
  };
  check(std::numeric_limits<std::int8_t>::min(), DType::int8);
  check(std::numeric_limits<std::int32_t>::min(), DType::int32);
  check(std::numeric_limits<std::int64_t>::min(), DType::int64);
}

TEST("a value does not depend on its place in a block") {
  constexpr std::int64_t count = 300;
  for (int f = 0; f < formulas; ++f) {
    for (DType dtype : all_dtypes) {
      const Formula formula = formula_at(f);
      if (!block_function(formula, dtype)) continue;
      const DType produced = produced_type(formula, dtype);
      Buffer a(dtype, count), b(dtype, count), whole(produced, count), piece(produced, count);
      fill_small(a);
      fill_small(b);
      run_block(formula, dtype, a.data(), b.data(), whole.data(), count);
      auto at = [](Buffer& buffer, std::int64_t i) {
        return static_cast<char*>(buffer.data()) +
               i * static_cast<std::int64_t>(size_of(buffer.dtype()));
      };
      for (std::int64_t length : {1, 3, 7, 16, 33, 100}) {
        for (std::int64_t i = 0; i < count; i += length)
          run_block(formula, dtype, at(a, i), at(b, i), at(piece, i), std::min(length, count - i));
        if (!whole.same_bits(piece))
          check::fail(__FILE__, __LINE__, label(formula, dtype) + " in pieces");
      }
      if (produced != dtype) continue;
      run_block(formula, dtype, a.data(), b.data(), a.data(), count);
      if (!whole.same_bits(a)) check::fail(__FILE__, __LINE__, label(formula, dtype) + " in place");
    }
  }
}

CHECK_MAIN
