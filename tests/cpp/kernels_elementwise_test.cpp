// SPDX-License-Identifier: Apache-2.0
// Block kernels and elementwise passes against scalar references.
#include <algorithm>
#include <limits>

#include "check.h"
#include "kernels/elementwise.h"
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

long double floor_modulo(long double a, long double b) {
  long double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The wanted result, before it is brought into the type.
long double wanted(Formula formula, long double a, long double b, bool integers) {
  switch (formula) {
    case Formula::copy:
      return a;
    case Formula::negative:
      return -a;
    case Formula::absolute:
      return std::fabs(a);
    case Formula::exponential:
      return std::exp(a);
    case Formula::logarithm:
      return std::log(a);
    case Formula::square_root:
      return std::sqrt(a);
    case Formula::hyperbolic_tangent:
      return std::tanh(a);
    case Formula::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Formula::rectify:
      return a > 0 ? a : 0;
    case Formula::add:
      return a + b;
    case Formula::subtract:
      return a - b;
    case Formula::multiply:
      return a * b;
    case Formula::divide:
      return integers ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case Formula::modulo:
      return b == 0 ? 0 : floor_modulo(a, b);
    case Formula::power:
      return std::pow(a, b);
    case Formula::maximum:
      return std::max(a, b);
    case Formula::minimum:
      return std::min(a, b);
    case Formula::equal:
      return a == b;
    case Formula::not_equal:
      return a != b;
    case Formula::less:
      return a < b;
    case Formula::less_equal:
      return a <= b;
    case Formula::greater:
      return a > b;
    case Formula::greater_equal:
      return a >= b;
    case Formula::count_of_formulas:
      break;
  }
  return 0;
}

/// A result brought into an integer type: saturated for power, wrapped for arithmetic.
long double bring(Formula formula, DType dtype, long double value) {
  if (is_floating(dtype)) return value;
  if (dtype == DType::boolean) return value != 0;
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const long double span = std::ldexp(1.0L, bits);
  const long double low = dtype == DType::uint8 ? 0 : -span / 2;
  if (formula == Formula::power)
    return std::isnan(value) ? 0 : std::trunc(std::min(std::max(value, low), low + span - 1));
  if (std::isnan(value) || std::fabs(value) >= 0x1p63L) return bits == 8 ? 0 : low;
  value = std::trunc(value);
  return value - std::floor((value - low) / span) * span;
}

void run_block(Formula formula, DType dtype, const void* a, const void* b, void* output,
               std::int64_t count) {
  const void* inputs[] = {a, b};
  block_function(formula, dtype)(inputs, output, count);
}

void run_pass(const ElementwisePass& pass) {
  for (int share = 0; share < share_count(pass); ++share) run_share(pass, share);
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
        const long double scale = dtype == DType::float32 ? 3e-7L : 5e-16L;
        const bool close =
            is_floating(dtype) && std::fabs(out[i] - want) <= scale * std::fabs(want);
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
  CHECK(worst_ulps(Formula::exponential, -104, 89, exp) < 1.5);
  CHECK(worst_ulps(Formula::exponential, -1, 1, exp) < 1.5);
  CHECK(worst_ulps(Formula::logarithm, 0, 2, log) < 1.5);
  CHECK(worst_ulps(Formula::logarithm, 0, 1e-37, log) < 1.5);
  CHECK(worst_ulps(Formula::logarithm, 0, 1e30, log) < 1.5);
  CHECK(worst_ulps(Formula::hyperbolic_tangent, -10, 10, tanh) < 2.5);
  CHECK(worst_ulps(Formula::hyperbolic_tangent, -0.5, 0.5, tanh) < 2.5);
  CHECK(worst_ulps(Formula::hyperbolic_tangent, -1e-20, 1e-20, tanh) < 2.5);
  CHECK(worst_ulps(Formula::sigmoid, -105, 20, sigmoid) < 2.5);
  CHECK(worst_ulps(Formula::sigmoid, -2, 2, sigmoid) < 2.5);
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

TEST("special values") {
  const float values[] = {0.0f,     -0.0f,     1.0f,        -1.0f,       2.0f,        -2.0f,
                          0.5f,     -0.5f,     3.0f,        -3.0f,       1e38f,       -1e38f,
                          tiny,     -tiny,     1e-40f,      16777216.0f, 16777217.0f, 8388609.0f,
                          infinity, -infinity, not_a_number};
  for (float a : values) {
    CHECK(ulps(one(Formula::exponential, a), std::exp(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::logarithm, a), std::log(static_cast<double>(a))) < 1.5);
    CHECK(ulps(one(Formula::hyperbolic_tangent, a), std::tanh(static_cast<double>(a))) < 2.5);
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
  CHECK(std::signbit(one(Formula::hyperbolic_tangent, -0.0f)));
  CHECK(std::isnan(one(Formula::rectify, not_a_number)));
  CHECK(one(Formula::exponential, -103.0f) > 0);
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
    run_block(Formula::absolute, dtype, &low, nullptr, &result, 1);
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
      if (dtype == DType::float16) continue;
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

TEST("casts") {
  constexpr std::int64_t count = 1500;
  auto cast = [](Buffer& from, Buffer& to) {
    ElementwisePass pass;
    pass.compute = to.dtype() == DType::float16 ? DType::float32 : to.dtype();
    if (from.dtype() == DType::float64 && to.dtype() == DType::float16)
      pass.compute = DType::float64;
    pass.produced = pass.compute;
    pass.function = block_function(Formula::copy, pass.compute);
    pass.inputs_used = 1;
    pass.rank = 1;
    pass.size = from.size();
    pass.shape = &pass.size;
    pass.inputs[0] = {from.data(), from.dtype()};
    pass.output = {to.data(), to.dtype()};
    run_pass(pass);
  };
  for (DType from : all_dtypes) {
    for (DType to : all_dtypes) {
      Buffer a(from, count), b(to, count);
      fill_small(a);
      cast(a, b);
      for (std::int64_t i = 0; i < count; ++i) {
        Buffer want(to, 1);
        want.set(0, bring(Formula::copy, to, a[i]));
        CHECK(same(b[i], want[0]));
      }
    }
  }
  // Every half survives, and halfway cases go to even.
  Buffer halves(DType::float16, 65536), floats(DType::float32, 65536), back(DType::float16, 65536);
  for (int i = 0; i < 65536; ++i) halves.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
  cast(halves, floats);
  cast(floats, back);
  for (int i = 0; i < 65536; ++i) {
    CHECK(same(floats[i], halves[i]));
    CHECK(same(back[i], halves[i]));
  }
  Buffer doubles(DType::float64, 60000), rounded(DType::float16, 60000);
  for (int i = 0; i < 60000; ++i) {
    const double low = static_cast<double>(halves[i % 31743]),
                 high = static_cast<double>(halves[i % 31743 + 1]);
    const double share[] = {0.5, 0.5 - 0x1p-26, 0.5 + 0x1p-26, 0.5 + 0x1p-40};
    doubles.set(i, std::isinf(high) ? low : low + (high - low) * share[i % 4]);
  }
  cast(doubles, rounded);
  for (int i = 0; i < 60000; ++i) {
    const int bits = i % 31743;
    const bool up = i % 4 == 0 ? bits % 2 == 1 : i % 4 >= 2;
    if (std::isinf(halves[bits + 1])) continue;
    CHECK(same(rounded[i], halves[bits + (up ? 1 : 0)]));
  }
  const float odd_values[] = {not_a_number, infinity, -infinity, 3e9f, -3e9f, 1e20f, -1.0f, 300.0f};
  Buffer odd(DType::float32, 8), bytes(DType::uint8, 8), ints(DType::int32, 8),
      longs(DType::int64, 8);
  for (int i = 0; i < 8; ++i) odd.set(i, odd_values[i]);
  cast(odd, bytes);
  cast(odd, ints);
  cast(odd, longs);
  CHECK_EQUAL(bytes[6], 255.0L);
  CHECK_EQUAL(bytes[7], 44.0L);
  CHECK_EQUAL(ints[3], -0x1p31L);
  CHECK_EQUAL(longs[3], 3e9L);
  CHECK_EQUAL(longs[5], -0x1p63L);
}

TEST("passes over any layout") {
  for (int round = 0; round < 3000; ++round) {
    const int rank = static_cast<int>(random_integer(0, 4));
    std::int64_t shape[4], size = 1;
    for (int i = 0; i < rank; ++i)
      size *= shape[i] = random_integer(round % 50 == 0 ? 0 : 1, round % 7 == 0 ? 45 : 12);
    if (size > 70000) continue;
    const bool two = random_integer(0, 2) > 0, compares = random_integer(0, 4) == 0;
    const Formula formula = two ? (compares ? Formula::less : Formula::add) : Formula::copy;
    DType compute = all_dtypes[random_integer(0, 7)];
    if (compute == DType::float16) compute = DType::float32;

    // Three operands in memory of their own, with permuted, reversed, stretched or broadcast axes.
    std::int64_t strides[3][4], bases[3];
    std::vector<Buffer> buffers;
    for (int operand = 0; operand < 3; ++operand) {
      int order[4] = {0, 1, 2, 3};
      if (random_integer(0, 1)) std::shuffle(order, order + rank, generator());
      std::int64_t extent = 1;
      bases[operand] = 0;
      for (int i = rank - 1; i >= 0; --i) {
        const int axis = order[i];
        const bool broadcast = operand > 0 && random_integer(0, 5) == 0;
        const std::int64_t stretch = random_integer(0, 5) == 0 ? 2 : 1;
        strides[operand][axis] = broadcast ? 0 : extent * stretch;
        if (!broadcast) extent *= std::max<std::int64_t>(shape[axis], 1) * stretch;
        if (!broadcast && random_integer(0, 8) == 0) {
          bases[operand] += (std::max<std::int64_t>(shape[axis], 1) - 1) * strides[operand][axis];
          strides[operand][axis] *= -1;
        }
      }
      const bool plain_type = random_integer(0, 1) == 0;
      DType dtype = plain_type ? compute : all_dtypes[random_integer(0, 7)];
      if (operand == 0 && plain_type) dtype = produced_type(formula, compute);
      buffers.emplace_back(dtype, extent);
      fill_small(buffers.back());
    }
    ElementwisePass pass;
    pass.function = block_function(formula, compute);
    pass.compute = compute;
    pass.produced = produced_type(formula, compute);
    pass.inputs_used = input_count(formula);
    pass.rank = rank;
    pass.shape = shape;
    pass.size = size;
    bool scalar[3] = {};
    for (int operand = 0; operand < 3; ++operand) {
      scalar[operand] = operand > 0 && random_integer(0, 6) == 0;
      Operand& place = operand ? pass.inputs[operand - 1] : pass.output;
      place.dtype = buffers[operand].dtype();
      place.data = static_cast<char*>(buffers[operand].data()) +
                   bases[operand] * static_cast<std::int64_t>(size_of(place.dtype));
      place.strides = scalar[operand] ? nullptr : strides[operand];
      place.scalar = scalar[operand];
    }
    const bool in_place = random_integer(0, 5) == 0 && !scalar[1];
    if (in_place) pass.inputs[0] = pass.output;
    const Buffer before = buffers[0];
    run_pass(pass);

    for (std::int64_t position = 0; position < size; ++position) {
      std::int64_t rest = position, offset[3] = {bases[0], bases[1], bases[2]};
      for (int axis = rank - 1; axis >= 0; --axis) {
        for (int operand = 0; operand < 3; ++operand)
          if (!scalar[operand]) offset[operand] += rest % shape[axis] * strides[operand][axis];
        rest /= shape[axis];
      }
      const long double a = in_place ? before[offset[0]] : buffers[1][offset[1]];
      const long double b = buffers[2][offset[2]];
      long double want = wanted(formula, bring(Formula::copy, compute, a),
                                bring(Formula::copy, compute, b), false);
      if (formula == Formula::add) want = bring(formula, compute, want);
      Buffer rounded(buffers[0].dtype(), 1);
      rounded.set(0, bring(Formula::copy, rounded.dtype(), want));
      if (!same(buffers[0][offset[0]], rounded[0])) {
        std::ostringstream text;
        text << "round " << round << " position " << position << " compute " << name_of(compute)
             << ": " << buffers[0][offset[0]] << " instead of " << want;
        check::fail(__FILE__, __LINE__, text.str());
      }
    }
  }
}

TEST("large transposed copies") {
  constexpr std::int64_t rows = 517, columns = 1031;
  for (DType dtype : {DType::float32, DType::uint8, DType::float16, DType::float64}) {
    Buffer a(dtype, rows * columns), b(dtype, rows * columns);
    fill_small(a);
    const std::int64_t shape[] = {columns, rows}, strides[] = {1, columns};
    ElementwisePass pass;
    pass.compute = pass.produced = dtype == DType::float16 ? DType::float32 : dtype;
    pass.function = block_function(Formula::copy, pass.compute);
    pass.inputs_used = 1;
    pass.rank = 2;
    pass.shape = shape;
    pass.size = rows * columns;
    pass.inputs[0] = {a.data(), dtype, strides};
    pass.output = {b.data(), dtype};
    run_pass(pass);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) CHECK(b[j * rows + i] == a[i * columns + j]);
  }
}

CHECK_MAIN
