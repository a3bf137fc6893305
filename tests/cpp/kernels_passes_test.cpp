// SPDX-License-Identifier: Apache-2.0
// Elementwise passes over strided, broadcast and differently typed operands against plain indexing.
#include <algorithm>
#include <limits>

#include "check.h"
#include "kernels/elementwise.h"
#include "kernels_reference.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

void run_pass(const ElementwisePass& pass) {
  for (int share = 0; share < share_count(pass); ++share) run_share(pass, share);
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

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

TEST("a scalar gives the bits of a block of it") {
  constexpr std::int64_t count = 1500;
  for (int f = 0; f < static_cast<int>(Formula::count_of_formulas); ++f) {
    const Formula formula = static_cast<Formula>(f);
    for (DType dtype : {DType::float32, DType::float64, DType::int32}) {
      if (!block_function(formula, dtype)) continue;
      for (unsigned scalars = 0; scalars < 1u << input_count(formula); ++scalars) {
        ElementwisePass pass;
        pass.compute = dtype;
        pass.produced = produced_type(formula, dtype);
        pass.function = block_function(formula, dtype);
        pass.inputs_used = input_count(formula);
        pass.rank = 1;
        pass.size = count;
        pass.shape = &pass.size;
        std::vector<Buffer> inputs(max_inputs, Buffer(dtype, count));
        for (int i = 0; i < pass.inputs_used; ++i) {
          fill_small(inputs[i]);
          for (std::int64_t k = 0; scalars >> i & 1u && k < count; ++k)
            inputs[i].set(k, inputs[i][0]);
          pass.inputs[i] = {inputs[i].data(), dtype};
        }
        Buffer blocks(pass.produced, count), single(pass.produced, count);
        pass.output = {blocks.data(), pass.produced};
        run_pass(pass);
        for (int i = 0; i < pass.inputs_used; ++i) pass.inputs[i].scalar = scalars >> i & 1u;
        pass.output = {single.data(), pass.produced};
        run_pass(pass);
        CHECK(blocks.same_bits(single));
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
