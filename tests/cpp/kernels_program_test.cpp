// SPDX-License-Identifier: Apache-2.0
// Fused programs, bit for bit against the same steps run one at a time.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "check.h"
#include "kernels/product.h"
#include "kernels/stores.h"
#include "kernels_program_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

/// Shares in random order, on two threads.
void run_pass(ProgramPass& pass) {
  std::vector<int> order(pass.shares());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < order.size();) pass.run(order[i]);
  };
  if (order.size() == 1) {
    work();
  } else {
    std::thread other(work);
    work();
    other.join();
  }
  pass.finish();
}

void check_same(const std::vector<Buffer>& got, const std::vector<Buffer>& want,
                const std::string& where) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same_elements(got[i], want[i])) check::fail(__FILE__, __LINE__, where);
}

std::vector<Buffer> wanted(Example& example) {
  std::vector<Buffer> memory = example.buffers;
  const Program program = example.bound(memory);
  Reference(example, program).run();
  return memory;
}

/// Whichever way large results take to memory; here all are large.
void check_program(Example& example, const std::string& where) {
  for (const Stores stores : {Stores::through_caches, Stores::around_caches}) {
    set_stores(stores, 1);
    std::vector<Buffer> memory = example.buffers;
    ProgramPass pass(example.bound(memory));
    run_pass(pass);
    check_same(memory, wanted(example), where);
  }
}

bool chance(int one_in) {
  return random_integer(1, one_in) == 1;
}

constexpr Formula some_formulas[] = {Formula::copy,     Formula::negative, Formula::abs,
                                     Formula::relu,     Formula::square,   Formula::add,
                                     Formula::subtract, Formula::multiply, Formula::maximum,
                                     Formula::minimum,  Formula::less,     Formula::greater_equal,
                                     Formula::divide,   Formula::select,   Formula::clip,
                                     Formula::tanh,     Formula::exp};
constexpr Reduction all_reductions[] = {Reduction::sum,     Reduction::mean,  Reduction::maximum,
                                        Reduction::minimum, Reduction::norm1, Reduction::norm2,
                                        Reduction::product};

DType random_dtype() {
  if (!chance(3)) return DType::float32;
  return all_dtypes[random_integer(0, 7)];
}

/// An operand of any layout over the whole shape.
int add_random_operand(Example& example, DType dtype, bool written) {
  const int kind = static_cast<int>(random_integer(0, written ? 12 : 17));
  int index;
  if (example.program.split >= 0) {
    const std::int64_t rows = example.rows, columns = example.columns;
    index = kind <= 7    ? example.add_dense(dtype)
            : kind == 8  ? example.add_matrix(dtype, columns + 3, 1)
            : kind == 9  ? example.add_matrix(dtype, 1, rows)
            : kind == 10 ? example.add_matrix(dtype, columns * 2, 2)
            : kind == 11 ? example.add_matrix(dtype, -columns, 1)
            : kind == 12 ? example.add_matrix(dtype, columns, -1)
            : kind == 13 ? example.add_matrix(dtype, 0, 1)
            : kind == 14 ? example.add_matrix(dtype, 1, 0)
            : kind == 15 ? example.add_matrix(dtype, 3, 0)
                         : example.add_matrix(dtype, 0, 0);
  } else {
    const int rank = example.program.rank;
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (kind > 6) std::shuffle(order.begin(), order.end(), generator());
    std::vector<std::int64_t> steps(rank);
    std::int64_t extent = 1, base = 0;
    for (int i = rank - 1; i >= 0; --i) {
      const int axis = order[i];
      const bool broadcast = kind == 16 || (kind > 12 && chance(2));
      const std::int64_t stretch = kind > 6 && chance(6) ? 2 : 1;
      steps[axis] = broadcast ? 0 : extent * stretch;
      if (broadcast) continue;
      extent *= example.shape[axis] * stretch;
      if (kind > 6 && chance(8)) {
        base += (example.shape[axis] - 1) * steps[axis];
        steps[axis] *= -1;
      }
    }
    index = example.add_operand(dtype, steps, base, extent);
  }
  if (kind == 17) example.program.operands[index].scalar = true;
  return index;
}

/// A random tree of steps; what nobody reads goes to an output.
Example random_example(std::vector<std::int64_t> shape, int split, bool folds) {
  Example example;
  example.set_shape(std::move(shape), split);
  const bool long_rows = folds && example.columns > longest_row;
  Program& program = example.program;
  struct Value {
    DType dtype;
    bool by_row;
    bool is_read = false;
    bool may_be_read = true;
  };
  std::vector<Value> values;
  std::vector<int> last_read(most_operands, -1), by_row_operand(most_operands, 0);
  std::vector<bool> used_as_output(most_operands, false);

  const auto pick = [&](bool by_row) -> Source {
    std::vector<int> candidates;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].may_be_read && (values[i].by_row || !by_row))
        candidates.push_back(static_cast<int>(i));
    if (!candidates.empty() && !chance(3)) {
      const int index = candidates[random_integer(0, candidates.size() - 1)];
      values[index].is_read = true;
      return value(index);
    }
    for (int attempt = 0; attempt < 4 && program.operands_used > 0; ++attempt) {
      const int index = static_cast<int>(random_integer(0, program.operands_used - 1));
      if (used_as_output[example.buffer_of[index]] || by_row_operand[index] != by_row) continue;
      last_read[example.buffer_of[index]] = program.steps_used;
      return operand(index);
    }
    if (program.operands_used > 14) {
      // Whatever may be read: the first value is always of use unless it is a fold of long rows.
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i].may_be_read && (values[i].by_row || !by_row)) {
          values[i].is_read = true;
          return value(static_cast<int>(i));
        }
    }
    const DType dtype = random_dtype();
    const int index = by_row ? example.add_matrix(dtype, chance(5) ? 0 : 1, 0)
                             : add_random_operand(example, dtype, false);
    by_row_operand[index] = by_row;
    last_read[example.buffer_of[index]] = program.steps_used;
    return operand(index);
  };

  const int steps = static_cast<int>(random_integer(1, 9));
  for (int number = 0; number < steps; ++number) {
    const bool is_fold = folds && (number == 0 || chance(3));
    const bool by_row = !is_fold && folds && chance(3);
    Step step;
    if (is_fold) {
      const Source source = pick(false);
      const DType from = source.kind == Source::Kind::operand
                             ? example.buffers[example.buffer_of[source.index]].dtype()
                             : values[source.index].dtype;
      const DType compute = chance(6) ? DType::float64 : compute_type(from);
      step = fold_step(all_reductions[random_integer(0, 6)], compute,
                       chance(3) ? random_dtype() : compute, source);
    } else {
      const Formula formula = some_formulas[random_integer(0, std::size(some_formulas) - 1)];
      std::vector<Source> inputs;
      for (int i = 0; i < input_count(formula); ++i) inputs.push_back(pick(by_row));
      const DType compute = compute_type(random_dtype());
      const DType produced = produced_type(formula, compute);
      const DType dtype = chance(3) ? random_dtype() : produced;
      step = formula_step(formula, compute, dtype, inputs, -1, by_row);
    }
    example.add_step(step);
    values.push_back({step.dtype, by_row || is_fold, false, !(long_rows && is_fold)});
  }
  // Outputs: new ones, or over something that is no longer read.
  for (int number = 0; number < steps; ++number) {
    Step& step = program.steps[number];
    const bool by_row = values[number].by_row;
    const bool needed = !values[number].is_read || (long_rows && step.kind == Step::Kind::fold);
    if (!needed && !chance(4)) continue;
    const DType dtype = chance(6) ? DType::float64 : step.dtype;
    int output = -1;
    if (chance(3) && !(long_rows && by_row)) {
      for (int i = 0; i < program.operands_used; ++i) {
        const int buffer = example.buffer_of[i];
        if (used_as_output[buffer] || last_read[buffer] > number || by_row_operand[i] != by_row)
          continue;
        if (example.program.operands[i].scalar) continue;
        bool repeats = false;
        for (int axis = 0; axis < program.rank; ++axis)
          repeats |= example.shape[axis] > 1 && example.strides[i][axis] == 0 &&
                     !(by_row && axis >= program.split);
        const bool mixes_types =
            example.buffers[buffer].dtype() == DType::float16 && step.dtype != DType::float16;
        if (repeats || mixes_types ||
            (by_row && example.rows > 1 && example.strides[i][program.split - 1] == 0))
          continue;
        output = chance(2) ? i : example.add_twin(i);
        break;
      }
    }
    if (output < 0) {
      output = by_row ? example.add_matrix(dtype, 1, 0) : add_random_operand(example, dtype, true);
      if (program.operands[output].scalar) program.operands[output].scalar = false;
    }
    used_as_output[example.buffer_of[output]] = true;
    step.output = static_cast<std::int8_t>(output);
  }
  return example;
}

std::string described(const char* what, int round, const Example& example) {
  std::ostringstream text;
  text << what << " round " << round << " shape";
  for (std::int64_t length : example.shape) text << ' ' << length;
  return text.str();
}

}  // namespace

TEST("random programs over any layout") {
  for (int round = 0; round < 1500; ++round) {
    std::vector<std::int64_t> shape(random_integer(0, 4));
    for (std::int64_t& length : shape) length = random_integer(1, round % 7 == 0 ? 45 : 12);
    if (shape.size() == 1 && chance(2)) shape[0] = random_integer(1, 5000);
    if (std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>()) > 200000)
      continue;
    Example example = random_example(shape, -1, false);
    check_program(example, described("plain", round, example));
  }
}

TEST("random programs with folds") {
  constexpr std::int64_t lengths[] = {1, 1, 2, 3, 7, 16, 63, 64, 65, 200, 1000, 1023, 1024, 1025};
  for (int round = 0; round < 2500; ++round) {
    std::int64_t columns = lengths[random_integer(0, std::size(lengths) - 1)];
    const std::int64_t rows = random_integer(1, columns > 100 ? 30 : chance(10) ? 3000 : 40);
    std::vector<std::int64_t> shape;
    int split = 0;
    if (rows > 1 || chance(2)) {
      shape.push_back(rows);
      ++split;
      if (rows % 2 == 0 && chance(2)) {
        shape[0] /= 2;
        shape.push_back(2);
        ++split;
      }
    }
    shape.push_back(columns);
    if (columns % 2 == 0 && chance(3)) {
      shape.back() /= 2;
      shape.push_back(2);
    }
    Example example = random_example(shape, split, true);
    check_program(example, described("folds", round, example));
  }
}

TEST("a value is computed where it is copied to") {
  // x[:] = (x + 1) * y; z[:] = that value; and x is read in between, which keeps the first copy.
  for (const bool read_between : {false, true}) {
    Example example;
    example.set_shape({5000}, -1);
    const int x = example.add_dense(DType::float32), y = example.add_dense(DType::float32);
    const int z = example.add_dense(DType::float32), w = example.add_dense(DType::float32);
    const DType real = DType::float32;
    example.add_step(formula_step(Formula::add, real, real, {operand(x), operand(y)}, -1, false));
    example.add_step(
        formula_step(Formula::multiply, real, real, {value(0), operand(y)}, -1, false));
    example.add_step(formula_step(Formula::subtract, real, real,
                                  {value(1), read_between ? operand(x) : operand(y)}, w, false));
    example.add_step(formula_step(Formula::copy, real, real, {value(1)}, x, false));
    example.add_step(formula_step(Formula::copy, real, real, {value(1)}, z, false));
    check_program(example, read_between ? "read between" : "not read between");
  }
}

TEST("folds of long rows") {
  constexpr std::int64_t lengths[] = {longest_row, longest_row + 1, 40000, 65536, 65537, 70000};
  for (int round = 0; round < 120; ++round) {
    const std::int64_t columns = lengths[round % std::size(lengths)];
    Example example = random_example({random_integer(1, 4), columns}, 1, true);
    check_program(example, described("long", round, example));
  }
}

TEST("more rows than a share") {
  for (int round = 0; round < 30; ++round) {
    Example example = random_example({random_integer(90, 150), 2000}, 1, round % 3 > 0);
    check_program(example, described("rows", round, example));
  }
}

TEST("regions make the whole") {
  for (int round = 0; round < 400; ++round) {
    const std::int64_t rows = random_integer(1, 90);
    const std::int64_t columns = chance(8) ? 1 : random_integer(1, chance(3) ? 1500 : 100);
    Example example = random_example({rows, columns}, 1, false);
    std::vector<Buffer> memory = example.buffers;
    ProgramPass pass(example.bound(memory));
    const std::int64_t row = random_integer(0, rows), column = random_integer(0, columns);
    std::thread other([&] {
      pass.run_region(row, rows, column, columns);
      pass.run_region(0, row, column, columns);
    });
    pass.run_region(0, row, 0, column);
    pass.run_region(row, rows, 0, column);
    other.join();
    check_same(memory, wanted(example), described("regions", round, example));
  }
}

TEST("an epilogue sees every element of a product once") {
  const auto check_product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    std::vector<float> a(m * k, 1.0f), b(k * n, 1.0f), c(m * n);
    std::vector<int> seen(m * n);
    bool complete = true;
    ProductShape shape{m, n, k, false, false, k, n};
    ProductPass pass(shape, DType::float32, a.data(), b.data(), c.data(), 4,
                     [&](std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                         std::int64_t column_end) {
                       for (std::int64_t i = row_begin; i < row_end; ++i)
                         for (std::int64_t j = column_begin; j < column_end; ++j) {
                           ++seen[i * n + j];
                           complete &= c[i * n + j] == static_cast<float>(k);
                         }
                     });
    for (int share = 0; share < pass.shares(); ++share) pass.run(share);
    pass.finish();
    CHECK(complete);
    CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  };
  check_product(3, 5, 0);
  check_product(300, 200, 100);
  check_product(2, 3, 3000000);
  check_product(0, 3, 5);
}

TEST("rows and columns join") {
  const std::int64_t shape[] = {2, 3, 4, 5};
  const std::int64_t contiguous[] = {60, 20, 5, 1}, swapped[] = {20, 40, 5, 1};
  const std::int64_t transposed[] = {3, 1, 30, 6}, repeated[] = {0, 0, 5, 1};
  CHECK(joins_at(2, 4, shape, nullptr));
  CHECK(joins_at(2, 4, shape, contiguous));
  CHECK(joins_at(0, 4, shape, contiguous));
  CHECK(!joins_at(2, 4, shape, swapped));
  CHECK(joins_at(1, 1, shape, swapped));
  CHECK(joins_at(2, 4, shape, transposed));
  CHECK(!joins_at(0, 4, shape, transposed));
  CHECK(joins_at(2, 4, shape, repeated));
  CHECK(!joins_at(0, 4, shape, repeated));
}

CHECK_MAIN
