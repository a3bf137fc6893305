// SPDX-License-Identifier: Apache-2.0
// Inverses, equations and decompositions of stacks of matrices; products, triangles and diagonals
// of them. They are computed in float32 and float64: nd takes nothing else, and NumPy's functions
// take integers as float64.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/element_types.h"
#include "kernels/matrices.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

/// The type that an array is computed in.
DType computed_type(const Inference& inference, const Operand& input) {
  if (input.dtype == DType::float32 || input.dtype == DType::float64) return input.dtype;
  if (inference.legacy || input.dtype == DType::float16) {
    inference.refuse("needs float32 or float64", ErrorKind::type);
  }
  return DType::float64;
}

/// That of the first input, which is a stack of matrices.
DType need_matrices(const Inference& inference) {
  const Operand& input = inference.call.inputs[0];
  if (input.is_immediate() || input.layout->rank() < 2) inference.refuse("needs matrices");
  const DType dtype = computed_type(inference, input);
  need_maths_library(inference);
  return dtype;
}

DType need_square(const Inference& inference) {
  const DType dtype = need_matrices(inference);
  const auto shape = inference.call.inputs[0].shape();
  if (shape.back() != shape[shape.size() - 2]) inference.refuse("needs square matrices");
  return dtype;
}

std::int64_t rows_of(const Operand& matrices) {
  return matrices.shape()[matrices.shape().size() - 2];
}
std::int64_t columns_of(const Operand& matrices) {
  return matrices.shape().back();
}

std::int64_t count_of(const Operand& matrices) {
  return element_count(matrices.shape().first(matrices.shape().size() - 2));
}

/// Nanoseconds: so many multiplications and additions per element of a row of each matrix.
void set_cost(Inference& inference, double per_element) {
  const Operand& a = inference.call.inputs[0];
  inference.call.cost =
      500 +
      (1500 + per_element * static_cast<double>(a.size() / std::max<std::int64_t>(1, count_of(a))) *
                  static_cast<double>(std::min(rows_of(a), columns_of(a)))) *
          static_cast<double>(count_of(a));
}

/// Calls `work(type, number of the matrix)` for one matrix after another.
template <class Work>
class MatrixPass : public lazy::Pass {
 public:
  MatrixPass(const Call& call, Work work)
      : work_(std::move(work)),
        dtype_(call.outputs[0].dtype),
        count_(count_of(call.inputs[0])),
        per_share_(std::max<std::int64_t>(
            1, 4096 / std::max<std::int64_t>(
                          1, rows_of(call.inputs[0]) * columns_of(call.inputs[0])))) {}
  int shares() const override { return static_cast<int>((count_ + per_share_ - 1) / per_share_); }
  void run(int share) override {
    const std::int64_t end = std::min(count_, (share + 1) * per_share_);
    for (std::int64_t i = share * per_share_; i < end; ++i) {
      if (dtype_ == DType::float32) {
        work_(float{}, i);
      } else {
        work_(double{}, i);
      }
    }
  }

 private:
  Work work_;
  DType dtype_;
  std::int64_t count_, per_share_;
};

template <class Work>
std::unique_ptr<lazy::Pass> pass_of(const Call& call, Work work) {
  return std::make_unique<MatrixPass<Work>>(call, std::move(work));
}

/// The memory of one matrix in a stack without gaps; `size` is that of each.
template <class T>
T* matrix_of(const Operand& operand, std::int64_t size, std::int64_t number) {
  return reinterpret_cast<T*>(operand.data()) + number * size;
}

/// One matrix of a stack, without gaps and in the type that is computed with.
template <class T>
class Loaded {
 public:
  Loaded(const Operand& stack, std::int64_t number) {
    const std::int64_t rows = rows_of(stack), columns = columns_of(stack);
    constexpr DType own = std::is_same_v<T, float> ? DType::float32 : DType::float64;
    if (stack.dtype == own && stack.layout->is_contiguous()) {
      data_ = matrix_of<const T>(stack, rows * columns, number);
      return;
    }
    const auto shape = stack.shape(), strides = stack.layout->strides();
    std::int64_t offset = 0;
    for (std::size_t axis = shape.size() - 2; axis-- > 0; number /= shape[axis])
      offset += number % shape[axis] * strides[axis];
    const std::int64_t down = strides[shape.size() - 2], across = strides.back();
    copy_.reserve(static_cast<std::size_t>(rows * columns));
    with_type(stack.dtype, [&]<class Element>(Element) {
      if constexpr (!std::is_same_v<Element, HalfBits>) {  // is refused
        const auto* const source = reinterpret_cast<const Element*>(stack.data());
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t column = 0; column < columns; ++column)
            copy_.push_back(static_cast<T>(source[offset + row * down + column * across]));
        }
      }
    });
    data_ = copy_.data();
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  std::vector<T> copy_;
};

void square_infer(Inference& inference) {
  const DType dtype = need_square(inference);
  inference.add_output(inference.call.inputs[0].shape(), dtype);
  set_cost(inference, 0.3);
}

std::unique_ptr<lazy::Pass> inverse_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    const Loaded<T> a(call.inputs[0], i);
    kernels::invert<T>(a.data(), n, matrix_of<T>(call.outputs[0], n * n, i));
  });
}

std::unique_ptr<lazy::Pass> inverse_or_zero_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    const Loaded<T> a(call.inputs[0], i);
    T* const result = matrix_of<T>(call.outputs[0], n * n, i);
    if (kernels::determinant<T>(a.data(), n) != 0) {
      kernels::invert<T>(a.data(), n, result);
    } else {
      std::fill_n(result, n * n, T(0));
    }
  });
}

std::unique_ptr<lazy::Pass> cholesky_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    const Loaded<T> a(call.inputs[0], i);
    kernels::cholesky<T>(a.data(), n, matrix_of<T>(call.outputs[0], n * n, i));
  });
}

void determinant_infer(Inference& inference) {
  const DType dtype = need_square(inference);
  const auto shape = inference.call.inputs[0].shape();
  Shape stack(shape.begin(), shape.end() - 2);
  if (stack.empty() && inference.legacy) stack.push_back(1);
  inference.add_output(stack, dtype);
  set_cost(inference, 0.15);
}

std::unique_ptr<lazy::Pass> determinant_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    const Loaded<T> a(call.inputs[0], i);
    *matrix_of<T>(call.outputs[0], 1, i) = kernels::determinant<T>(a.data(), n);
  });
}

/// Stacks are broadcast. With one axis less than the matrices, the right side holds vectors.
void solve_infer(Inference& inference) {
  const DType dtype = need_square(inference);
  Operand &a = inference.call.inputs[0], &b = inference.call.inputs[1];
  if (b.is_immediate()) inference.refuse("needs two arrays", ErrorKind::type);
  computed_type(inference, b);
  Shape left(a.shape().begin(), a.shape().end()), right(b.shape().begin(), b.shape().end());
  Shape steps(b.layout->strides().begin(), b.layout->strides().end());
  const bool are_vectors = right.size() + 1 == left.size();
  if (are_vectors) {
    right.push_back(1);
    steps.push_back(1);
  }
  if (right.size() < 2 || right[right.size() - 2] != left.back()) {
    inference.refuse("both sides must have as many rows");
  }
  const std::optional<Shape> stack = common_shape(std::span(left).first(left.size() - 2),
                                                  std::span(right).first(right.size() - 2));
  if (!stack) inference.refuse("the stacks of matrices cannot be broadcast together");
  const auto on_stack = [&](const Shape& matrices) {
    Shape shape = *stack;
    shape.insert(shape.end(), matrices.end() - 2, matrices.end());
    return shape;
  };
  Shape result = on_stack(right);
  if (a.shape().size() != stack->size() + 2 || on_stack(left) != left) {
    a.given = std::exchange(a.layout, stretched(*a.layout, on_stack(left)));
  }
  if (are_vectors || result != right) {
    const Reference<Layout> columns = Layout::strided(right, steps);
    b.given = std::exchange(b.layout, stretched(*columns, result));
  }
  if (are_vectors) result.pop_back();
  inference.add_output(result, dtype);
  set_cost(inference, 0.5);
}

std::unique_ptr<lazy::Pass> solve_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0]),
                        columns = columns_of(call.inputs[1])]<class T>(T, std::int64_t i) {
    const Loaded<T> a(call.inputs[0], i), b(call.inputs[1], i);
    kernels::solve<T>(a.data(), n, b.data(), columns,
                      matrix_of<T>(call.outputs[0], n * columns, i));
  });
}

void singular_infer(Inference& inference) {
  const DType dtype = need_matrices(inference);
  const Operand& a = inference.call.inputs[0];
  const std::int64_t least = std::min(rows_of(a), columns_of(a));
  Shape left(a.shape().begin(), a.shape().end()), right = left;
  Shape values(left.begin(), left.end() - 1);
  left.back() = values.back() = least;
  right[right.size() - 2] = least;
  inference.add_output(left, dtype);
  inference.add_output(values, dtype);
  inference.add_output(right, dtype);
  set_cost(inference, 3);
}

std::unique_ptr<lazy::Pass> singular_kernel(const Call& call) {
  return pass_of(call, [&call, rows = rows_of(call.inputs[0]),
                        columns = columns_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    const std::int64_t least = std::min(rows, columns);
    const Loaded<T> a(call.inputs[0], i);
    kernels::singular<T>(a.data(), rows, columns, matrix_of<T>(call.outputs[0], rows * least, i),
                         matrix_of<T>(call.outputs[1], least, i),
                         matrix_of<T>(call.outputs[2], least * columns, i));
  });
}

// --- triangles, packed and as matrices ---

struct Triangle {
  std::int64_t offset = 0;
  bool lower = true;
  static constexpr auto fields = std::tuple{
      field("offset", &Triangle::offset,
            "of its diagonal from the main one; a positive one makes it an upper triangle, a "
            "negative one a lower"),
      field("lower", &Triangle::lower, "whether it is the lower one, if there is no offset")};
};

/// Elements in packed order: lower triangles by rows, upper ones by columns.
struct Packing {
  std::int64_t side, offset;
  bool lower;

  std::int64_t length() const {
    const std::int64_t longest = side - offset;
    return longest * (longest + 1) / 2;
  }

  /// Calls with the place of each element in its matrix.
  template <class Function>
  void each(Function function) const {
    for (std::int64_t line = offset; line < side; ++line) {
      for (std::int64_t i = 0; i <= line - offset; ++i)
        function(lower ? line * side + i : i * side + line);
    }
  }
};

Packing packing_of(std::int64_t side, const Triangle& given) {
  return {side, std::abs(given.offset), given.offset < 0 || (given.offset == 0 && given.lower)};
}

/// The longest side of matrices that are made of less.
constexpr std::int64_t longest_side = std::int64_t{1} << 24;

DType need_floating(const Inference& inference) {
  const Operand& input = inference.call.inputs[0];
  if (input.is_immediate()) inference.refuse("needs an array, not a number", ErrorKind::type);
  if (!input.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  if (input.dtype != DType::float32 && input.dtype != DType::float64) {
    inference.refuse("needs float32 or float64", ErrorKind::type);
  }
  return input.dtype;
}

void pack_infer(Inference& inference, const Triangle& given) {
  const auto shape = inference.call.inputs[0].shape();
  if (shape.size() < 2) inference.refuse("needs matrices");
  const DType dtype = need_floating(inference);
  if (shape.back() != shape[shape.size() - 2]) inference.refuse("needs square matrices");
  if (given.offset <= -shape.back() || given.offset >= shape.back()) {
    inference.refuse("there is no diagonal " + std::to_string(given.offset));
  }
  const Packing packing = packing_of(shape.back(), given);
  Shape result(shape.begin(), shape.end() - 2);
  result.push_back(packing.length());
  inference.add_output(result, dtype);
  inference.call.settled.set(packing);
  inference.call.cost = 150 + 0.5 * static_cast<double>(element_count(result));
}

void unpack_infer(Inference& inference, const Triangle& given) {
  const DType dtype = need_floating(inference);
  const auto shape = inference.call.inputs[0].shape();
  const std::int64_t length = shape.empty() ? 0 : shape.back();
  auto longest =
      static_cast<std::int64_t>((std::sqrt(8 * static_cast<double>(length) + 1) - 1) / 2);
  while (longest * (longest + 1) / 2 < length) ++longest;
  if (!length || longest * (longest + 1) / 2 != length) {
    inference.refuse(std::to_string(length) + " elements do not fill a triangle");
  }
  if (given.offset < -longest_side || given.offset > longest_side - longest ||
      -given.offset > longest_side - longest) {
    inference.refuse("an offset of " + std::to_string(given.offset) + " makes matrices too large",
                     ErrorKind::memory);
  }
  const Packing packing = packing_of(longest + std::abs(given.offset), given);
  Shape result(shape.begin(), shape.end() - 1);
  result.insert(result.end(), 2, packing.side);
  inference.add_output(result, dtype);
  inference.call.settled.set(packing);
  inference.call.cost = 150 + 0.5 * static_cast<double>(element_count(result));
}

class PackingPass : public lazy::Pass {
 public:
  PackingPass(const Call& call, bool unpacks) : call_(call), unpacks_(unpacks) {}
  void run(int) override {
    if (call_.outputs[0].dtype == DType::float32) {
      move<float>();
    } else {
      move<double>();
    }
  }

 private:
  template <class T>
  void move() const {
    const auto packing = call_.settled.get<Packing>();
    const T* source = reinterpret_cast<const T*>(call_.inputs[0].data());
    T* target = reinterpret_cast<T*>(call_.outputs[0].data());
    const std::int64_t area = packing.side * packing.side, length = packing.length();
    const std::int64_t count =
        call_.outputs[0].size() / std::max<std::int64_t>(1, unpacks_ ? area : length);
    for (std::int64_t matrix = 0; matrix < count; ++matrix) {
      if (unpacks_) {
        std::fill_n(target, area, T(0));
        packing.each([&](std::int64_t place) { target[place] = *source++; });
        target += area;
      } else {
        packing.each([&](std::int64_t place) { *target++ = source[place]; });
        source += area;
      }
    }
  }

  const Call& call_;
  const bool unpacks_;
};

template <bool unpacks>
std::unique_ptr<lazy::Pass> packing_kernel(const Call& call) {
  return std::make_unique<PackingPass>(call, unpacks);
}

// --- what gradients and compositions are made of ---

std::int64_t last_extent(const Value& x) {
  return x.array.shape().back();
}

/// The transposed matrices.
Value turned(const Value& a) {
  Part part = whole(a.array);
  std::swap(part.shape.back(), part.shape[part.shape.size() - 2]);
  std::swap(part.strides.back(), part.strides[part.strides.size() - 2]);
  return copy(view(a, part));
}

/// Numbers of rows in a column, and of columns in a row.
struct Places {
  Value rows, columns;
  Places(std::int64_t height, std::int64_t width, Context context)
      : rows(shaped(count_up(height, DType::int64, context), {height, 1})),
        columns(count_up(width, DType::int64, context)) {}
};

Value unit(const Value& like, std::int64_t side) {
  const Places places(side, side, like.array.context());
  return in_type(equal(places.rows, places.columns), like.array.dtype);
}

/// One triangle of each matrix with zeros elsewhere.
Value triangle(const Value& a, bool lower) {
  const auto shape = a.array.shape();
  const Places places(shape[shape.size() - 2], shape.back(), a.array.context());
  return where(lower ? places.rows >= places.columns : places.rows <= places.columns, a, 0);
}

/// The lower triangle of each matrix with half of the diagonal.
Value halved_triangle(const Value& a) {
  const std::int64_t side = last_extent(a);
  const Places places(side, side, a.array.context());
  const DType dtype = a.array.dtype;
  return a * (in_type(places.rows >= places.columns, dtype) -
              in_type(equal(places.rows, places.columns), dtype) * 0.5);
}

Value symmetric(const Value& a) {
  return (a + turned(a)) * 0.5;
}

Value skew(const Value& a) {
  return a - turned(a);
}

/// A vector that multiplies the columns of matrices.
Value as_row(const Value& vector) {
  Shape shape = shape_of(vector);
  shape.insert(shape.end() - 1, 1);
  return shaped(vector, shape);
}

/// A vector that multiplies the rows of matrices.
Value as_column(const Value& vector) {
  Shape shape = shape_of(vector);
  shape.push_back(1);
  return shaped(vector, shape);
}

/// One by (column - row) of each pair of values, and 0 for a value and itself.
Value gaps(const Value& values) {
  const Value one = unit(values, last_extent(values));
  // The diagonal is taken out before the division, so that no rule meets 1 / 0.
  return (1 - one) / (as_row(values) - as_column(values) + one);
}

Value solve(const Value& a, const Value& b) {
  return apply(the_op<"solve">(), {}, a, b);
}

// --- gradients ---

Value through_inverse(Gradient& c) {
  const Value inverse = c.output();
  return fit_type(c, 0, -matmul(matmul(inverse, c.g, true), inverse, false, true));
}

Value through_determinant(Gradient& c) {
  Shape numbers = c.shape(0);
  std::fill_n(numbers.end() - 2, 2, 1);
  const Value inverse = apply(op_named("inverse_or_zero"), {}, c[0]);
  return fit_type(c, 0, turned(inverse) * shaped(c.g * c.output(), numbers));
}

Value through_solve_left(Gradient& c) {
  Value back = solve(turned(c[0]), c.g), solution = c.output();
  if (c.shape(1).size() + 1 == c.shape(0).size()) {
    back = as_column(back);
    solution = as_column(solution);
  }
  return fit(c, 0, -matmul(back, solution, false, true));
}

Value through_solve_right(Gradient& c) {
  return fit(c, 1, solve(turned(c[0]), c.g));
}

Value through_cholesky(Gradient& c) {
  const Value factor = c.output(), inverse = apply(op_named("inverse"), {}, factor);
  const Value middle = halved_triangle(matmul(factor, c.g, true));
  return fit_type(c, 0, symmetric(matmul(matmul(inverse, middle, true), inverse)));
}

Value through_svd(Gradient& c) {
  const Value left = c.output(0), values = c.output(1), right = c.output(2);
  const Value to_left = c.head(0), to_values = c.head(1), to_right = c.head(2);
  const Shape shape = c.shape(0);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  Value result;
  const auto add = [&](const Value& part) { result = result ? result + part : part; };
  if (to_values) add(matmul(left * as_row(to_values), right));
  Value apart;
  if (to_left || to_right) apart = gaps(values * values);
  if (to_left) {
    const Value along = matmul(left, to_left, true);
    add(matmul(matmul(left, skew(along) * apart * as_row(values)), right));
    if (rows > columns) add(matmul((to_left - matmul(left, along)) * as_row(1 / values), right));
  }
  if (to_right) {
    const Value along = matmul(right, to_right, false, true);
    add(matmul(matmul(left, skew(along) * apart * as_column(values)), right));
    if (columns > rows)
      add(matmul(left, (to_right - matmul(along, right, true)) * as_column(1 / values)));
  }
  return fit_type(c, 0, result);
}

template <Name op>
Value through_packing(Gradient& c) {
  return apply(the_op<op>(), lazy::write_arguments(c.parameters<Triangle>()), contiguous(c.g));
}

// --- made of others ---

void need_matrices(const Composition& c, std::size_t input) {
  if (rank_of(c[input]) < 2) c.refuse("needs matrices");
  const DType dtype = c[input].array.dtype;
  if (dtype != DType::float32 && dtype != DType::float64)
    c.refuse("needs float32 or float64", ErrorKind::type);
}

void need_square(const Composition& c, std::size_t input) {
  need_matrices(c, input);
  const auto shape = c[input].array.shape();
  if (shape.back() != shape[shape.size() - 2]) c.refuse("needs square matrices");
}

/// Of two stacks of one shape.
Value stacked_product(const Composition& c, const Value& left, const Value& right,
                      bool transpose_left, bool transpose_right) {
  const auto first = left.array.shape(), second = right.array.shape();
  if (!std::equal(first.begin(), first.end() - 2, second.begin(), second.end() - 2))
    c.refuse("needs stacks of one shape");
  return matmul(left, right, transpose_left, transpose_right);
}

Value scaled(const Value& x, double factor) {
  return factor == 1 ? x : x * factor;
}

constexpr std::string_view alpha_doc = "times which the product is taken",
                           axis_doc = "of the rows; the last one is that of the columns",
                           transpose_a_doc = "whether the first factor is transposed",
                           transpose_b_doc = "whether the second one is",
                           lower_doc = "whether the lower triangle counts, or the upper one";

struct Gemm {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 1;
  std::int64_t axis = -2;
  static constexpr auto fields =
      std::tuple{field("transpose_a", &Gemm::transpose_a, transpose_a_doc),
                 field("transpose_b", &Gemm::transpose_b, transpose_b_doc),
                 field("alpha", &Gemm::alpha, alpha_doc),
                 field("beta", &Gemm::beta, "times which ``C`` is added"),
                 field("axis", &Gemm::axis, axis_doc)};
};

struct Gemm2 {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1;
  std::int64_t axis = -2;
  static constexpr auto fields =
      std::tuple{field("transpose_a", &Gemm2::transpose_a, transpose_a_doc),
                 field("transpose_b", &Gemm2::transpose_b, transpose_b_doc),
                 field("alpha", &Gemm2::alpha, alpha_doc), field("axis", &Gemm2::axis, axis_doc)};
};

/// A view with one axis at another place.
Value axis_moved(const Value& x, std::int64_t source, std::int64_t target) {
  Part part = whole(x.array);
  for (Shape* each : {&part.shape, &part.strides}) {
    const std::int64_t moved = (*each)[static_cast<std::size_t>(source)];
    each->erase(each->begin() + source);
    each->insert(each->begin() + target, moved);
  }
  return view(x, part);
}

Value gemm2(Composition& c, const Gemm2& given) {
  need_matrices(c, 0);
  need_matrices(c, 1);
  const int rank = rank_of(c[0]);
  const std::int64_t rows = normal_axis(c, given.axis, rank), usual = rank - 2;
  if (rank_of(c[1]) != rank || rows == rank - 1)
    c.refuse("needs stacks of one shape with rows before columns; axis is " +
             std::to_string(given.axis));
  if (rows == usual)
    return scaled(stacked_product(c, c[0], c[1], given.transpose_a, given.transpose_b),
                  given.alpha);
  const Value product =
      stacked_product(c, axis_moved(c[0], rows, usual), axis_moved(c[1], rows, usual),
                      given.transpose_a, given.transpose_b);
  return copy(axis_moved(scaled(product, given.alpha), usual, rows));
}

Value gemm(Composition& c, const Gemm& given) {
  need_matrices(c, 2);
  const Value product = gemm2(c, {given.transpose_a, given.transpose_b, given.alpha, given.axis});
  if (shape_of(product) != shape_of(c[2]) || product.array.dtype != c[2].array.dtype)
    c.refuse("the product has shape " + to_string(product.array.shape()) + "; C needs that");
  return product + scaled(c[2], given.beta);
}

struct Syrk {
  bool transpose = false;
  double alpha = 1;
  static constexpr auto fields =
      std::tuple{field("transpose", &Syrk::transpose, "whether the transposed matrix comes first"),
                 field("alpha", &Syrk::alpha, alpha_doc)};
};

Value syrk(Composition& c, const Syrk& given) {
  need_matrices(c, 0);
  return scaled(matmul(c[0], c[0], given.transpose, !given.transpose), given.alpha);
}

struct Trmm {
  bool transpose = false, rightside = false, lower = true;
  double alpha = 1;
  static constexpr auto fields =
      std::tuple{field("transpose", &Trmm::transpose, "whether the triangle is transposed"),
                 field("rightside", &Trmm::rightside, "whether it is the second factor"),
                 field("lower", &Trmm::lower, lower_doc), field("alpha", &Trmm::alpha, alpha_doc)};
};

Value trmm(Composition& c, const Trmm& given) {
  need_square(c, 0);
  need_matrices(c, 1);
  const Value factor = triangle(c[0], given.lower);
  return scaled(given.rightside ? stacked_product(c, c[1], factor, false, given.transpose)
                                : stacked_product(c, factor, c[1], given.transpose, false),
                given.alpha);
}

struct Half {
  bool lower = true;
  static constexpr auto fields = std::tuple{field("lower", &Half::lower, lower_doc)};
};

Value potrf(Composition& c, const Half& given) {
  need_square(c, 0);
  return given.lower ? apply(op_named("cholesky"), {}, c[0])
                     : turned(apply(op_named("cholesky"), {}, turned(c[0])));
}

Value potri(Composition& c, const Half& given) {
  need_square(c, 0);
  const Value inverse =
      apply(op_named("inverse"), {}, triangle(given.lower ? c[0] : turned(c[0]), true));
  return matmul(inverse, inverse, true);
}

struct Diagonal {
  std::int64_t offset = 0;
  static constexpr auto fields =
      std::tuple{field("offset", &Diagonal::offset, "how far above the main diagonal")};
};

/// Of square matrices.
Part diagonal_of(const Array& matrices, std::int64_t offset) {
  Part part = whole(matrices);
  const std::int64_t across = part.strides.back();
  part.shape.pop_back();
  part.strides.pop_back();
  part.offset = offset > 0 ? offset * across : -offset * part.strides.back();
  part.shape.back() -= std::abs(offset);
  part.strides.back() += across;
  return part;
}

Value sumlogdiag(Composition& c) {
  need_square(c, 0);
  const Value diagonal = view(c[0], diagonal_of(c[0].array, 0));
  const Value result = sum(log(diagonal), {rank_of(diagonal) - 1}, false);
  return rank_of(result) ? result : shaped(result, {1});
}

Value extractdiag(Composition& c, const Diagonal& given) {
  need_square(c, 0);
  const std::int64_t side = last_extent(c[0]);
  if (given.offset <= -side || given.offset >= side)
    c.refuse("there is no diagonal " + std::to_string(given.offset));
  return copy(view(c[0], diagonal_of(c[0].array, given.offset)));
}

Value makediag(Composition& c, const Diagonal& given) {
  const Array& array = c[0].array;
  if (array.dtype != DType::float32 && array.dtype != DType::float64)
    c.refuse("needs float32 or float64", ErrorKind::type);
  if (!rank_of(c[0])) c.refuse("needs at least one dimension");
  Shape shape = shape_of(c[0]);
  const std::int64_t room = longest_side - shape.back();
  if (given.offset > room || given.offset < -room)
    c.refuse("an offset of " + std::to_string(given.offset) + " makes matrices too large",
             ErrorKind::memory);
  shape.back() += std::abs(given.offset);
  shape.push_back(shape.back());
  Value result = full(0, shape, array.dtype, array.context());
  write(result, c[0], diagonal_of(result.array, given.offset));
  return result;
}

Value as_square(const Composition& c, const Value& x, std::int64_t side) {
  if (side * side != x.array.size()) c.refuse("the shape does not make a square matrix");
  return shaped(x, {side, side});
}

struct Tensorinv {
  std::int64_t ind = 2;
  static constexpr auto fields =
      std::tuple{field("ind", &Tensorinv::ind, "how many axes stand for the rows")};
};

Value tensorinv(Composition& c, const Tensorinv& given) {
  if (given.ind <= 0) c.refuse("ind must be positive, but is " + std::to_string(given.ind));
  const Shape shape = shape_of(c[0]);
  const std::span all(shape);
  const auto front = all.first(std::min(all.size(), static_cast<std::size_t>(given.ind)));
  const auto back = all.subspan(front.size());
  Shape result(back.begin(), back.end());
  result.insert(result.end(), front.begin(), front.end());
  return shaped(apply(op_named("inverse"), {}, as_square(c, c[0], element_count(front))), result);
}

struct Tensorsolve {
  std::optional<Shape> a_axes;
  static constexpr auto fields =
      std::tuple{field("a_axes", &Tensorsolve::a_axes, "axes of the first that go to its end")};
};

Value tensorsolve(Composition& c, const Tensorsolve& given) {
  Value a = c[0];
  if (given.a_axes) {
    Shape order, moved;
    for (const std::int64_t axis : *given.a_axes) moved.push_back(normal_axis(c, axis, rank_of(a)));
    for (std::int64_t axis = 0; axis < rank_of(a); ++axis) {
      if (std::ranges::find(moved, axis) == moved.end()) order.push_back(axis);
    }
    order.insert(order.end(), moved.begin(), moved.end());
    a = copy(reordered(a, order));
  }
  const auto shape = a.array.shape();
  // What NumPy's slice from -(rank of a - rank of b) on is, also where b has as many axes or more.
  const auto known = static_cast<std::size_t>(rank_of(c[1]));
  const std::size_t first = known < shape.size() ? known : known - shape.size();
  const auto rest = shape.subspan(std::min(shape.size(), first));
  const Value square = as_square(c, a, element_count(rest));
  return shaped(solve(square, shaped(c[1], {c[1].array.size()})), Shape(rest.begin(), rest.end()));
}

struct MatrixPower {
  std::int64_t n = 0;
  static constexpr auto fields =
      std::tuple{lazy::required("n", &MatrixPower::n, "how many factors there are")};
};

Value matrix_power(Composition& c, const MatrixPower& given) {
  const Value& a = c[0];
  const Shape shape = shape_of(a);
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2])
    c.refuse("needs square matrices");
  if (given.n == 0) return stretch(unit(a, shape.back()), shape);
  if (given.n == 1) return copy(a);
  const Value base = given.n < 0 ? apply(op_named("inverse"), {}, a) : a;
  const auto exponent = static_cast<std::uint64_t>(std::abs(given.n));
  Value result = base;
  int bit = 63;
  while (!(exponent >> bit & 1)) --bit;
  while (bit-- > 0) {
    result = matmul(result, result);
    if (exponent >> bit & 1) result = matmul(result, base);
  }
  return result;
}

/// The product of a chain of matrices in the order that takes the fewest operations.
class Chain {
 public:
  explicit Chain(std::vector<Value> matrices) : matrices_(std::move(matrices)) {
    sides_.push_back(static_cast<double>(matrices_[0].array.shape()[0]));
    for (const Value& each : matrices_)
      sides_.push_back(static_cast<double>(each.array.shape()[1]));
    const std::size_t count = matrices_.size();
    costs_.assign(count * count, 0);
    cuts_.assign(count * count, 0);
    for (std::size_t length = 1; length < count; ++length) {
      for (std::size_t first = 0; first + length < count; ++first) find(first, first + length);
    }
  }

  Value product() const { return product(0, matrices_.size() - 1); }

 private:
  std::size_t place(std::size_t first, std::size_t last) const {
    return first * matrices_.size() + last;
  }

  /// Where that part is best cut in two.
  void find(std::size_t first, std::size_t last) {
    double& least = costs_[place(first, last)];
    least = std::numeric_limits<double>::infinity();
    for (std::size_t cut = first; cut < last; ++cut) {
      const double cost = costs_[place(first, cut)] + costs_[place(cut + 1, last)] +
                          sides_[first] * sides_[cut + 1] * sides_[last + 1];
      if (cost >= least) continue;
      least = cost;
      cuts_[place(first, last)] = cut;
    }
  }

  Value product(std::size_t first, std::size_t last) const {
    if (first == last) return matrices_[first];
    const std::size_t cut = cuts_[place(first, last)];
    return dot(product(first, cut), product(cut + 1, last), false, false);
  }

  std::vector<Value> matrices_;
  std::vector<double> sides_, costs_;
  std::vector<std::size_t> cuts_;
};

Value multi_dot(Composition& c) {
  std::vector<Value> matrices(c.inputs().begin(), c.inputs().end());
  if (matrices.size() < 2) c.refuse("needs at least two arrays");
  const bool is_row = rank_of(matrices.front()) == 1, is_column = rank_of(matrices.back()) == 1;
  if (is_row) matrices.front() = as_row(matrices.front());
  if (is_column) matrices.back() = as_column(matrices.back());
  for (const Value& each : matrices) {
    if (rank_of(each) != 2)
      c.refuse("needs matrices, not an array of shape " + to_string(each.array.shape()));
  }
  const Value result = Chain(std::move(matrices)).product();
  const Shape shape = shape_of(result);
  return shaped(result, Shape(shape.begin() + is_row, shape.end() - is_column));
}

}  // namespace

void declare_linalg(Table& table) {
  table.add({.name = "inverse",
             .mxnet_names = {"_linalg_inverse", "linalg_inverse", "_npi_inv"},
             .spellings = {"np.linalg.inv(a)"},
             .doc = R"(Return the inverse matrices.

>>> nd.linalg.inverse(nd.array([[1, 1], [1, 2]])).asnumpy()
array([[ 2., -1.],
       [-1.,  1.]], dtype=float32)
>>> np.linalg.inv(np.array([[1, 1], [1, 2]]))
array([[ 2., -1.],
       [-1.,  1.]]))",
             .inputs = {"A"},
             .infer = square_infer,
             .kernel = inverse_kernel,
             .may_fail = true,
             .gradients = {reading_output(through_inverse)}});
  // Of singular matrices it is zeros.
  table.add({.name = "inverse_or_zero",
             .inputs = {"A"},
             .infer = square_infer,
             .kernel = inverse_or_zero_kernel,
             .may_fail = true,
             .gradients = {reading_output(through_inverse)}});
  table.add({.name = "det",
             .mxnet_names = {"_linalg_det", "linalg_det", "_npi_det"},
             .spellings = {"np.linalg.det(a)"},
             .doc = R"(Return the determinants.

>>> nd.linalg.det(nd.array([[2, 0], [0, 4]])).asnumpy()
array([8.], dtype=float32)
>>> np.linalg.det(np.array([[2, 0], [0, 4]]))
array(8.))",
             .inputs = {"A"},
             .infer = determinant_infer,
             .kernel = determinant_kernel,
             .may_fail = true,
             .gradients = {reading_output_and({0}, through_determinant)},
             .node = number_outputs<3>});
  table.add({.name = "cholesky",
             .mxnet_names = {"_npi_cholesky"},
             .spellings = {"np.linalg.cholesky(a)"},
             .doc = R"(Return the lower triangular L with ``a = L @ L.T``.

>>> np.linalg.cholesky(np.array([[4, 2], [2, 5]]))
array([[2., 0.],
       [1., 2.]]))",
             .inputs = {"A"},
             .infer = square_infer,
             .kernel = cholesky_kernel,
             .may_fail = true,
             .gradients = {reading_output(through_cholesky)}});
  table.add(
      {.name = "solve",
       .mxnet_names = {"_npi_solve"},
       .spellings = {"np.linalg.solve(a, b)"},
       .doc =
           R"(Return the solution x of ``a @ x = b``; with one axis less than ``a``, ``b`` holds vectors.

>>> np.linalg.solve(np.array([[2, 0], [0, 4]]), np.array([2, 2]))
array([1. , 0.5]))",
       .inputs = {"A", "B"},
       .infer = solve_infer,
       .kernel = solve_kernel,
       .may_fail = true,
       .gradients = {reading_output_and({0}, through_solve_left),
                     reading({0}, through_solve_right)}});
  table.add({.name = "svd",
             .mxnet_names = {"_npi_svd"},
             .inputs = {"A"},
             .infer = singular_infer,
             .kernel = singular_kernel,
             .may_fail = true,
             .gradients = {reading_output(through_svd)}});
  table.add<Triangle>(
      {.name = "extracttrian",
       .mxnet_names = {"_linalg_extracttrian", "linalg_extracttrian"},
       .doc =
           R"(Return the elements of the triangle below (or above) a diagonal, which belongs to it.

A positive ``offset`` stands for an upper triangle, a negative one for a lower.

>>> nd.linalg.extracttrian(nd.array([[1, 2], [3, 4]])).asnumpy()
array([1., 3., 4.], dtype=float32))",
       .inputs = {"A"},
       .infer = pack_infer,
       .kernel = packing_kernel<false>,
       .gradients = {reading_nothing(through_packing<"maketrian">)}});
  table.add<Triangle>(
      {.name = "maketrian",
       .mxnet_names = {"_linalg_maketrian", "linalg_maketrian"},
       .doc = R"(Return matrices with the elements in a triangle and zeros elsewhere.

>>> nd.linalg.maketrian(nd.array([1, 2, 3])).asnumpy()
array([[1., 0.],
       [2., 3.]], dtype=float32))",
       .inputs = {"A"},
       .infer = unpack_infer,
       .kernel = packing_kernel<true>,
       .gradients = {reading_nothing(through_packing<"extracttrian">)}});
  table.compose<Gemm>(
      {.name = "gemm",
       .mxnet_names = {"_linalg_gemm", "linalg_gemm"},
       .doc = R"(Return ``alpha * A x B + beta * C``; the rows of the matrices are along ``axis``.

>>> nd.linalg.gemm(nd.ones((2, 3)), nd.ones((3, 2)), nd.ones((2, 2)), beta=4.0).asnumpy()
array([[7., 7.],
       [7., 7.]], dtype=float32))",
       .inputs = {"A", "B", "C"},
       .compose = gemm});
  table.compose<Gemm2>(
      {.name = "gemm2",
       .mxnet_names = {"_linalg_gemm2", "linalg_gemm2"},
       .doc = R"(Return ``alpha * A x B``; the rows of the matrices are along ``axis``.

>>> nd.linalg.gemm2(nd.ones((2, 3)), nd.ones((2, 3)), transpose_b=True, alpha=0.5).asnumpy()
array([[1.5, 1.5],
       [1.5, 1.5]], dtype=float32))",
       .inputs = {"A", "B"},
       .compose = gemm2});
  table.compose<Syrk>(
      {.name = "syrk",
       .mxnet_names = {"_linalg_syrk", "linalg_syrk"},
       .doc =
           R"(Return ``alpha`` times each matrix times its transpose (``transpose``: the other way round).

>>> nd.linalg.syrk(nd.array([[1, 2]]), transpose=True).asnumpy()
array([[1., 2.],
       [2., 4.]], dtype=float32))",
       .inputs = {"A"},
       .compose = syrk});
  table.compose<Trmm>(
      {.name = "trmm",
       .mxnet_names = {"_linalg_trmm", "linalg_trmm"},
       .doc =
           R"(Return ``alpha * A x B``, or ``B x A`` with ``rightside``; one triangle of ``A`` counts.

>>> nd.linalg.trmm(nd.array([[1, 9], [1, 1]]), nd.array([[2], [3]])).asnumpy()
array([[2.],
       [5.]], dtype=float32))",
       .inputs = {"A", "B"},
       .compose = trmm});
  table.compose<Half>({.name = "potrf",
                       .mxnet_names = {"_linalg_potrf", "linalg_potrf"},
                       .spellings = {"nd.linalg.potrf(A, out=None, name=None, *, lower=True)",
                                     "nd.linalg_potrf(A, out=None, name=None, *, lower=True)"},
                       .doc = R"(Return the Cholesky factors: triangular L with ``A = L x L'``.

>>> nd.linalg.potrf(nd.array([[4, 2], [2, 5]])).asnumpy()
array([[2., 0.],
       [1., 2.]], dtype=float32))",
                       .inputs = {"A"},
                       .compose = potrf});
  table.compose<Half>({.name = "potri",
                       .mxnet_names = {"_linalg_potri", "linalg_potri"},
                       .spellings = {"nd.linalg.potri(A, out=None, name=None, *, lower=True)",
                                     "nd.linalg_potri(A, out=None, name=None, *, lower=True)"},
                       .doc = R"(Return the inverse of ``L x L'`` from its Cholesky factor L.

>>> nd.linalg.potri(nd.array([[2, 0], [0, 4]])).asnumpy()
array([[0.25  , 0.    ],
       [0.    , 0.0625]], dtype=float32))",
                       .inputs = {"A"},
                       .compose = potri});
  table.add({.name = "sumlogdiag",
             .mxnet_names = {"_linalg_sumlogdiag", "linalg_sumlogdiag"},
             .doc = R"(Return the sum of the logarithms of each diagonal.

>>> nd.linalg.sumlogdiag(nd.ones((3, 2, 2))).asnumpy()
array([0., 0., 0.], dtype=float32))",
             .inputs = {"A"},
             .compose = sumlogdiag});
  table.compose<Diagonal>({.name = "extractdiag",
                           .mxnet_names = {"_linalg_extractdiag", "linalg_extractdiag"},
                           .doc = R"(Return the diagonals, ``offset`` above the main one.

>>> nd.linalg.extractdiag(nd.array([[1, 2], [3, 4]])).asnumpy()
array([1., 4.], dtype=float32))",
                           .inputs = {"A"},
                           .compose = extractdiag});
  table.compose<Diagonal>(
      {.name = "makediag",
       .mxnet_names = {"_linalg_makediag", "linalg_makediag"},
       .doc = R"(Return matrices with the elements on a diagonal and zeros around it.

>>> nd.linalg.makediag(nd.array([1, 2]), offset=1).asnumpy()
array([[0., 1., 0.],
       [0., 0., 2.],
       [0., 0., 0.]], dtype=float32))",
       .inputs = {"A"},
       .compose = makediag});
  table.compose<Tensorinv>({.name = "tensorinv",
                            .mxnet_names = {"_npi_tensorinv"},
                            .spellings = {"np.linalg.tensorinv(a, ind=2)"},
                            .doc = R"(Return the inverse for ``tensordot`` over ``ind`` axes.

>>> np.linalg.tensorinv(np.eye(6).reshape((6, 2, 3)), ind=1).shape
(2, 3, 6))",
                            .inputs = {"a"},
                            .compose = tensorinv});
  table.compose<Tensorsolve>(
      {.name = "tensorsolve",
       .mxnet_names = {"_npi_tensorsolve"},
       .spellings = {"np.linalg.tensorsolve(a, b, axes:a_axes=None)"},
       .doc =
           R"(Return the solution x of ``tensordot(a, x, x.ndim) = b``; ``axes`` of ``a`` go to its end.

>>> np.linalg.tensorsolve(np.eye(6).reshape((2, 3, 6)), np.ones((2, 3))).shape
(6,))",
       .inputs = {"a", "b"},
       .compose = tensorsolve});
  table.compose<MatrixPower>(
      {.name = "matrix_power",
       .spellings = {"np.linalg.matrix_power(a, n)"},
       .doc = R"(Return ``n`` matrices multiplied; a negative ``n`` takes the inverse.

>>> np.linalg.matrix_power(np.array([[1, 1], [0, 1]]), 5)
array([[1., 5.],
       [0., 1.]]))",
       .inputs = {"a"},
       .compose = matrix_power});
  table.add(
      {.name = "multi_dot",
       .spellings = {"np.linalg.multi_dot(arrays, *, out=None)"},
       .doc =
           R"(Return the product of several matrices in the order that takes the fewest operations.

The first and the last may be vectors.

>>> np.linalg.multi_dot([np.ones((9, 2)), np.ones((2, 9)), np.ones((9, 1))]).shape
(9, 1))",
       .inputs = {"arrays"},
       .variadic = true,
       .compose = multi_dot});
}

}  // namespace afterglow::ops
