// SPDX-License-Identifier: Apache-2.0
// Products of vectors, matrices, stacks of them, and of tensors along any axes.
#include "kernels/product.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Dot {
  bool transpose_a = false;
  bool transpose_b = false;
  std::optional<std::string> forward_stype = {};
  static constexpr auto fields =
      std::tuple{field("transpose_a", &Dot::transpose_a, "whether the first factor is transposed"),
                 field("transpose_b", &Dot::transpose_b, "whether the second one is"),
                 field("forward_stype", &Dot::forward_stype, "is taken and has no effect")};
};

struct Matmul {
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto fields = std::tuple{
      field("transpose_a", &Matmul::transpose_a, "whether the first factor is transposed"),
      field("transpose_b", &Matmul::transpose_b, "whether the second one is")};
};

/// The second factor has as many rows as the first has columns.
void complete_dot(lazy::Completion& completion, const Dot& given) {
  const auto& left = completion.shapes[0];
  auto& right = completion.shapes[1];
  if (!left || left->empty() || !right || right->empty()) return;
  (given.transpose_b ? right->back() : right->front()) =
      given.transpose_a ? left->front() : left->back();
}

/// An m by k matrix times a k by n matrix, once the factors are transposed; or a stack of them.
struct Product {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  bool is_stack;
  int threads;
};

/// The matrix in the last two axes of a view, as products take it.
struct MatrixView {
  bool transposed;      ///< its columns, not its rows, lie without gaps
  std::int64_t stride;  ///< from one row (transposed: column) to the next
};

/// Nothing where neither rows nor columns lie without gaps.
std::optional<MatrixView> matrix_view(const Layout& layout) {
  const auto shape = layout.shape().last(2);
  const auto strides = layout.strides().last(2);
  if (strides[1] == 1 || shape[1] <= 1) return MatrixView{false, strides[0]};
  if (strides[0] == 1 || shape[0] <= 1) return MatrixView{true, strides[1]};
  return std::nullopt;
}

/// Where each matrix of a stack begins; both factors have the same stack.
std::vector<kernels::StackPlace> stack_places(const Layout& a, const Layout& b) {
  std::vector<kernels::StackPlace> places(1);
  for (int axis = 0; axis < a.rank() - 2; ++axis) {
    std::vector<kernels::StackPlace> next;
    next.reserve(places.size() * static_cast<std::size_t>(a.shape()[axis]));
    for (const kernels::StackPlace& place : places) {
      for (std::int64_t i = 0; i < a.shape()[axis]; ++i)
        next.push_back({place.a + i * a.strides()[axis], place.b + i * b.strides()[axis]});
    }
    places = std::move(next);
  }
  return places;
}

kernels::ProductShape shape_of_product(const Call& call, const Product& product) {
  kernels::ProductShape shape;
  shape.m = product.m;
  shape.n = product.n;
  shape.k = product.k;
  shape.transpose_a = product.transpose_a;
  shape.transpose_b = product.transpose_b;
  if (product.is_stack) {
    const MatrixView a = *matrix_view(*call.inputs[0].layout);
    const MatrixView b = *matrix_view(*call.inputs[1].layout);
    shape.transpose_a = a.transposed != product.transpose_a;
    shape.transpose_b = b.transposed != product.transpose_b;
    shape.lda = a.stride;
    shape.ldb = b.stride;
  } else {
    shape.lda = shape.transpose_a ? shape.m : shape.k;
    shape.ldb = shape.transpose_b ? shape.k : shape.n;
  }
  return shape;
}

kernels::ProductPass product_pass(const Call& call, std::byte* target, lazy::Epilogue epilogue) {
  const auto product = call.settled.get<Product>();
  const Operand &left = call.inputs[0], &right = call.inputs[1];
  std::vector<kernels::StackPlace> places(1);
  if (product.is_stack) places = stack_places(*left.layout, *right.layout);
  return {shape_of_product(call, product),
          left.dtype,
          left.data(),
          right.data(),
          target,
          product.threads,
          std::move(epilogue),
          std::move(places)};
}

std::unique_ptr<lazy::Pass> product_kernel_then(const Call& call, lazy::Epilogue epilogue) {
  return kernel_pass<kernels::ProductPass>(
      product_pass(call, call.outputs[0].data(), std::move(epilogue)));
}

std::unique_ptr<lazy::Pass> product_kernel(const Call& call) {
  return product_kernel_then(call, {});
}

lazy::RowForm product_form(const Call& call) {
  const auto product = call.settled.get<Product>();
  if (!product.is_stack || !product.m) return {.tile = 0};
  const Operand& left = call.inputs[0];
  const std::int64_t height = left.size() / std::max<std::int64_t>(1, product.m * product.k);
  return {.rows = height * product.m,
          .length = product.k,
          .results = product.n,
          .matrix = product.m,
          .tile = kernels::rows_of_tile(shape_of_product(call, product), left.dtype, height,
                                        product.threads),
          .reads_rows = !product.transpose_a && left.layout->is_contiguous()};
}

class ProductOfRows : public lazy::RowKernel {
 public:
  explicit ProductOfRows(const Call& call)
      : form_(product_form(call)),
        item_(static_cast<std::int64_t>(size_of(call.inputs[0].dtype))),
        pass_(product_pass(call, nullptr, {})) {}

  void run(std::int64_t begin, std::int64_t end, const void* source, void* target) override {
    for (std::int64_t row = begin; row < end; row += std::min(form_.tile, form_.matrix)) {
      const auto* const from = static_cast<const std::byte*>(source);
      pass_.run_tile(row / form_.matrix, row % form_.matrix,
                     from ? from + (row - begin) * form_.length * item_ : nullptr,
                     static_cast<std::byte*>(target) + (row - begin) * form_.results * item_);
    }
  }

 private:
  const lazy::RowForm form_;
  const std::int64_t item_;
  const kernels::ProductPass pass_;
};

std::unique_ptr<lazy::RowKernel> product_of_rows(const Call& call) {
  return std::make_unique<ProductOfRows>(call);
}

void set_product(const Inference& inference, Product product) {
  Call& call = inference.call;
  product.threads = lazy::window().configured_threads();
  call.settled.set(product);
  const bool library = is_floating(call.inputs[0].dtype);
  if (library) need_maths_library(inference);
  // Nanoseconds at about 60 billion operations a second; integers have no library.
  const double operations = 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                            static_cast<double>(product.k);
  call.cost = 200 + operations / (library ? 60 : 4);
}

void check_factors(const Inference& inference) {
  const Operand& a = inference.call.inputs[0];
  const Operand& b = inference.call.inputs[1];
  if (a.is_immediate() || b.is_immediate()) {
    inference.refuse("needs two arrays", ErrorKind::argument);
  }
  if (a.dtype != b.dtype) {
    inference.refuse("inputs must have the same type; convert one with astype");
  }
}

void check_inner(const Inference& inference, std::int64_t a, std::int64_t b) {
  if (a != b) {
    inference.refuse("the inner dimensions " + std::to_string(a) + " and " + std::to_string(b) +
                     " differ");
  }
}

/// The last axis of a with the first of b, after the transposes (which reverse all axes).
void dot_infer(Inference& inference, bool transposes_a, bool transposes_b) {
  Call& call = inference.call;
  const Operand& a = call.inputs[0];
  const Operand& b = call.inputs[1];
  if (!a.layout->rank() || !b.layout->rank()) {
    inference.refuse("needs arrays of at least one dimension");
  }
  if (inference.legacy && a.layout->rank() == 1 && b.layout->rank() == 1 &&
      (transposes_a || transposes_b)) {
    inference.refuse("two vectors cannot be transposed");
  }
  const bool transpose_a = transposes_a && a.layout->rank() > 1;
  const bool transpose_b = transposes_b && b.layout->rank() > 1;
  const auto shape_a = a.shape();
  const auto shape_b = b.shape();
  const std::int64_t inner_a = transpose_a ? shape_a.front() : shape_a.back();
  const std::int64_t inner_b = transpose_b ? shape_b.back() : shape_b.front();
  check_inner(inference, inner_a, inner_b);
  Shape result;
  if (transpose_a) {
    result.assign(shape_a.begin() + 1, shape_a.end());
  } else {
    result.assign(shape_a.begin(), shape_a.end() - 1);
  }
  call.row_axes = static_cast<int>(result.size());
  const auto rest = transpose_b ? shape_b.first(shape_b.size() - 1) : shape_b.subspan(1);
  const std::int64_t m = element_count(result), n = element_count(rest);
  result.insert(result.end(), rest.begin(), rest.end());
  if (result.empty() && inference.legacy) result.push_back(1);
  inference.add_output(result, a.dtype);
  set_product(inference, {m, n, inner_a, transpose_a, transpose_b, false, 0});
}

/// Matrices in the last two axes, which are seen as stacks of that shape. Views are taken as they
/// are, so a transposed or repeated matrix costs no copy. A vector is one row, or one column.
void stack_infer(Inference& inference, const Matmul& given, const Shape& stack) {
  Call& call = inference.call;
  const bool is_row = call.inputs[0].layout->rank() == 1;
  const bool is_column = call.inputs[1].layout->rank() == 1;
  for (Operand& input : call.inputs) {
    const std::size_t rank = input.shape().size();
    if (rank == stack.size() + 2 && std::equal(stack.begin(), stack.end(), input.shape().begin()))
      continue;
    Shape shape(input.shape().begin(), input.shape().end());
    Shape strides(input.layout->strides().begin(), input.layout->strides().end());
    if (rank == 1) {
      const bool is_first = &input == &call.inputs[0];
      strides.insert(is_first ? strides.begin() : strides.end(), is_first ? shape[0] : 1);
      shape.insert(is_first ? shape.begin() : shape.end(), 1);
    }
    const std::size_t missing = stack.size() + 2 - shape.size();
    shape.insert(shape.begin(), missing, 1);
    strides.insert(strides.begin(), missing, 0);
    for (std::size_t axis = 0; axis < stack.size(); ++axis) {
      if (shape[axis] == 1) strides[axis] = 0;
      shape[axis] = stack[axis];
    }
    input.given = std::exchange(input.layout, Layout::strided(shape, strides));
  }
  if (!matrix_view(*call.inputs[0].layout) || !matrix_view(*call.inputs[1].layout)) {
    inference.refuse("needs matrices whose rows or columns lie without gaps");
  }
  const auto a = call.inputs[0].shape().last(2), b = call.inputs[1].shape().last(2);
  const std::int64_t inner = a[given.transpose_a ? 0 : 1];
  check_inner(inference, inner, b[given.transpose_b ? 1 : 0]);
  const std::int64_t m = a[given.transpose_a ? 1 : 0], n = b[given.transpose_b ? 0 : 1];
  Shape result = stack;
  if (!is_row) result.push_back(m);
  call.row_axes = static_cast<int>(result.size());
  if (!is_column) result.push_back(n);
  inference.add_output(result, call.inputs[0].dtype);
  set_product(inference, {m, n, inner, given.transpose_a, given.transpose_b, true, 0});
  call.cost *= static_cast<double>(element_count(stack));
}

void matmul_infer(Inference& inference, const Matmul& given) {
  check_factors(inference);
  const Layout& a = *inference.call.inputs[0].layout;
  const Layout& b = *inference.call.inputs[1].layout;
  if (!a.rank() || !b.rank()) {
    inference.refuse("needs arrays of at least one dimension; * takes numbers");
  }
  // All rows of a stack in one product.
  if (b.rank() <= 2 && a.is_contiguous() && b.is_contiguous() && !given.transpose_a &&
      !given.transpose_b) {
    return dot_infer(inference, false, false);
  }
  const auto stack_of = [](const Layout& layout) {
    return layout.shape().first(static_cast<std::size_t>(std::max(0, layout.rank() - 2)));
  };
  const std::optional<Shape> stack = common_shape(stack_of(a), stack_of(b));
  if (!stack) inference.refuse("the stacks of matrices cannot be broadcast together");
  stack_infer(inference, given, *stack);
}

void batch_infer(Inference& inference, const Dot& given) {
  check_factors(inference);
  const auto a = inference.call.inputs[0].shape(), b = inference.call.inputs[1].shape();
  if (a.size() < 3 || b.size() < 3) inference.refuse("needs at least three dimensions");
  if (a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin())) {
    inference.refuse("needs two stacks of matrices with the same leading dimensions");
  }
  stack_infer(inference, {given.transpose_a, given.transpose_b}, Shape(a.begin(), a.end() - 2));
}

// --- gradients ---

/// An array as a matrix whose rows or columns are the contracted axis.
Value as_matrix(const Value& value, bool contracted_first) {
  const auto shape = value.array.shape();
  if (shape.size() == 2) return value;
  const std::int64_t contracted = contracted_first ? shape.front() : shape.back();
  const std::int64_t rest = value.array.size() / std::max<std::int64_t>(1, contracted);
  return contracted_first ? shaped(value, {contracted, rest}) : shaped(value, {rest, contracted});
}

/// The gradient of a product as a matrix.
Value gradient_matrix(const Gradient& c, bool transpose_a, bool transpose_b) {
  const Shape first = c.shape(0), second = c.shape(1);
  const std::int64_t left = transpose_a ? first.front() : first.back();
  const std::int64_t right = transpose_b ? second.back() : second.front();
  return shaped(c.g, {element_count(first) / std::max<std::int64_t>(1, left),
                      element_count(second) / std::max<std::int64_t>(1, right)});
}

Value through_dot(Gradient& c, bool left, bool right) {
  const Shape shape = c.shape(c.index), beside = c.shape(1 - c.index);
  if (!element_count(shape) || !element_count(beside)) return zeros(c, c.index);
  const Value gradient = gradient_matrix(c, left, right);
  if (c.index == 0) {
    const Value factor = as_matrix(c[1], !right);
    return shaped(left ? dot(factor, gradient, right, true) : dot(gradient, factor, false, !right),
                  shape);
  }
  const Value factor = as_matrix(c[0], left);
  return shaped(right ? dot(gradient, factor, true, left) : dot(factor, gradient, !left, false),
                shape);
}

Value through_dot(Gradient& c) {
  const auto given = c.parameters<Dot>();
  return through_dot(c, given.transpose_a, given.transpose_b);
}

Value through_stacks(Gradient& c, bool left, bool right) {
  const Shape first = c.shape(0), second = c.shape(1);
  const auto matrices = [](const Value& value, Shape shape, bool is_row) {
    if (shape.size() == 1) shape.insert(is_row ? shape.begin() : shape.end(), 1);
    return shaped(value, shape);
  };
  Shape shape = c.output_shape();
  if (first.size() == 1) shape.insert(shape.end() - (second.size() == 1 ? 0 : 1), 1);
  if (second.size() == 1) shape.push_back(1);
  const Value g = shaped(c.g, shape);
  Value result;
  if (c.index == 0) {
    const Value factor = matrices(c[1], second, false);
    result = left ? matmul(factor, g, right, true) : matmul(g, factor, false, !right);
  } else {
    const Value factor = matrices(c[0], first, true);
    result = right ? matmul(g, factor, true, left) : matmul(factor, g, !left, false);
  }
  if (c.shape(c.index).size() == 1) {
    Shape vectors = shape_of(result);
    vectors.erase(vectors.end() - (c.index == 0 ? 2 : 1));
    result = shaped(result, vectors);
  }
  return fit(c, c.index, result);
}

Value through_batch_dot(Gradient& c) {
  const auto given = c.parameters<Dot>();
  return through_stacks(c, given.transpose_a, given.transpose_b);
}

Value through_matmul(Gradient& c) {
  const auto given = c.parameters<Matmul>();
  const bool is_one_product = c.shape(1).size() <= 2 && c.saved(0).layout->is_contiguous() &&
                              c.saved(1).layout->is_contiguous();
  if (is_one_product && !given.transpose_a && !given.transpose_b)
    return through_dot(c, false, false);
  return through_stacks(c, given.transpose_a, given.transpose_b);
}

// --- made of others ---

void check_types(const Composition& c) {
  if (c[0].array.dtype != c[1].array.dtype)
    c.refuse("inputs must have the same type; convert one with astype");
}

Value flat(const Value& x) {
  return shaped(x, {x.array.size()});
}

Value vdot(Composition& c) {
  return dot(flat(c[0]), flat(c[1]), false, false);
}

/// Some axes of an array, as one.
struct Merged {
  std::int64_t extent = 1, stride = 1;
};

/// Nothing where no axis walks through the same elements.
std::optional<Merged> merged(const Value& x, const Shape& axes) {
  std::optional<Merged> result;
  for (const std::int64_t axis : axes) {
    const std::int64_t extent = x.array.shape()[static_cast<std::size_t>(axis)];
    const std::int64_t stride = x.array.layout->strides()[static_cast<std::size_t>(axis)];
    if (extent == 1) continue;
    if (result && result->stride != extent * stride) return std::nullopt;
    result = {(result ? result->extent : 1) * extent, stride};
  }
  return result.value_or(Merged{});
}

/// A matrix whose rows are some axes and whose columns are the others: a view if rows or columns
/// can lie without gaps in it.
Value matrix_of(const Value& x, const Shape& rows, const Shape& columns) {
  const auto high = merged(x, rows), wide = merged(x, columns);
  if (high && wide &&
      (high->extent <= 1 || wide->extent <= 1 || high->stride == 1 || wide->stride == 1)) {
    const Shape shape = {high->extent, wide->extent}, strides = {high->stride, wide->stride};
    return view(x, {0, shape, strides});
  }
  Shape order = rows;
  order.insert(order.end(), columns.begin(), columns.end());
  const auto extent_of = [&](const Shape& axes) {
    std::int64_t extent = 1;
    for (const std::int64_t axis : axes) extent *= x.array.shape()[static_cast<std::size_t>(axis)];
    return extent;
  };
  return shaped(copy(reordered(x, order)), {extent_of(rows), extent_of(columns)});
}

/// Summed over pairs of axes; the result has those that are left, of the first and then of the
/// second.
Value summed_product(const Value& a, const Value& b, const Shape& left, const Shape& right) {
  Shape rows, columns, inner_a, inner_b, result;
  for (std::int64_t axis = 0; axis < rank_of(a); ++axis) {
    const auto found = std::ranges::find(left, axis);
    if (found == left.end()) {
      rows.push_back(axis);
      result.push_back(a.array.shape()[static_cast<std::size_t>(axis)]);
    } else {
      inner_a.push_back(axis);
      inner_b.push_back(right[static_cast<std::size_t>(found - left.begin())]);
    }
  }
  for (std::int64_t axis = 0; axis < rank_of(b); ++axis) {
    if (std::ranges::find(right, axis) != right.end()) continue;
    columns.push_back(axis);
    result.push_back(b.array.shape()[static_cast<std::size_t>(axis)]);
  }
  if (inner_a.empty()) {
    Shape apart = shape_of(a);
    apart.insert(apart.end(), columns.size(), 1);
    return shaped(a, apart) * b;
  }
  // A vector comes second: that way round nothing is transposed.
  if (rows.empty() || columns.empty())
    return shaped(matmul(matrix_of(b, columns, inner_b), matrix_of(a, inner_a, rows)), result);
  return shaped(matmul(matrix_of(a, rows, inner_a), matrix_of(b, inner_b, columns)), result);
}

struct Tensordot {
  Shape a_axes_summed, b_axes_summed;
  static constexpr auto fields = std::tuple{
      lazy::required("a_axes_summed", &Tensordot::a_axes_summed, "axes of the first to sum over"),
      lazy::required("b_axes_summed", &Tensordot::b_axes_summed,
                     "those of the second, one for each")};
};

struct TensordotOfEnds {
  std::int64_t axes = 2;
  static constexpr auto fields =
      std::tuple{field("axes", &TensordotOfEnds::axes,
                       "how many of the last of the first, and of the first of the second")};
};

Value tensordot(Composition& c, const Tensordot& given) {
  check_types(c);
  Shape left, right;
  for (const std::int64_t axis : given.a_axes_summed)
    left.push_back(normal_axis(c, axis, rank_of(c[0])));
  for (const std::int64_t axis : given.b_axes_summed)
    right.push_back(normal_axis(c, axis, rank_of(c[1])));
  const auto are_different = [](Shape axes) {
    std::ranges::sort(axes);
    return std::ranges::adjacent_find(axes) == axes.end();
  };
  if (left.size() != right.size() || !are_different(left) || !are_different(right))
    c.refuse("axes " + to_string(given.a_axes_summed) + " and " + to_string(given.b_axes_summed) +
             " must name as many of one as of the other, each once");
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (c[0].array.shape()[static_cast<std::size_t>(left[i])] !=
        c[1].array.shape()[static_cast<std::size_t>(right[i])])
      c.refuse("axis " + std::to_string(left[i]) + " of the first and axis " +
               std::to_string(right[i]) + " of the second differ");
  }
  return summed_product(c[0], c[1], left, right);
}

Value tensordot_of_ends(Composition& c, const TensordotOfEnds& given) {
  const std::int64_t rank = rank_of(c[0]);
  if (given.axes < 0 || given.axes > std::min<std::int64_t>(rank, rank_of(c[1])))
    c.refuse("the arrays do not both have " + std::to_string(given.axes) + " axes to sum over");
  Tensordot axes;
  for (std::int64_t i = 0; i < given.axes; ++i) {
    axes.a_axes_summed.push_back(rank - given.axes + i);
    axes.b_axes_summed.push_back(i);
  }
  return tensordot(c, axes);
}

Value inner(Composition& c) {
  if (!rank_of(c[0]) || !rank_of(c[1])) return c[0] * c[1];
  return tensordot(c, {{-1}, {-1}});
}

/// Axes of both in turns, then each pair as one.
Value kron(Composition& c) {
  const auto rank = static_cast<std::size_t>(std::max(rank_of(c[0]), rank_of(c[1])));
  Shape apart[2], result(rank, 1);
  for (const std::size_t i : {0, 1}) {
    const Shape shape = shape_of(c[i]);
    const std::size_t missing = rank - shape.size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t extent = axis < missing ? 1 : shape[axis - missing];
      apart[i].push_back(i == 0 ? extent : 1);
      apart[i].push_back(i == 0 ? 1 : extent);
      result[axis] = extent_product(result[axis], extent);
    }
  }
  return shaped(shaped(c[0], apart[0]) * shaped(c[1], apart[1]), result);
}

struct Trace {
  std::int64_t offset = 0, axis1 = 0, axis2 = 1;
  static constexpr auto fields =
      std::tuple{field("offset", &Trace::offset, "how far above the main diagonal"),
                 field("axis1", &Trace::axis1, "of the rows"),
                 field("axis2", &Trace::axis2, "of the columns")};
};

Value trace(Composition& c, const Trace& given) {
  const Value& x = c[0];
  if (rank_of(x) < 2) c.refuse("needs at least two dimensions");
  const auto first = static_cast<std::size_t>(normal_axis(c, given.axis1, rank_of(x)));
  const auto second = static_cast<std::size_t>(normal_axis(c, given.axis2, rank_of(x)));
  if (first == second) c.refuse("axis1 and axis2 are the same axis: " + std::to_string(first));
  const auto shape = x.array.shape(), strides = x.array.layout->strides();
  const std::int64_t offset =
      std::clamp(given.offset, -shape[first], shape[second]);  // nothing lies further out
  const std::int64_t length =
      std::max<std::int64_t>(0, std::min(shape[first] + std::min<std::int64_t>(offset, 0),
                                         shape[second] - std::max<std::int64_t>(offset, 0)));
  Part diagonal;
  if (length) diagonal.offset = offset > 0 ? offset * strides[second] : -offset * strides[first];
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis == first || axis == second) continue;
    diagonal.shape.push_back(shape[axis]);
    diagonal.strides.push_back(strides[axis]);
  }
  const Shape last = {static_cast<std::int64_t>(diagonal.shape.size())};
  diagonal.shape.push_back(length);
  diagonal.strides.push_back(strides[first] + strides[second]);
  const DType dtype = x.array.dtype == DType::boolean ? DType::int64 : x.array.dtype;
  const lazy::Argument arguments[] = {last, false, false, static_cast<std::int64_t>(dtype)};
  return apply(the_op<"sum">(), arguments, Value(view(x, diagonal)));
}

struct Cross {
  std::int64_t axisa = -1, axisb = -1, axisc = -1;
  std::optional<std::int64_t> axis;
  static constexpr auto fields =
      std::tuple{field("axisa", &Cross::axisa, "of the vectors in the first"),
                 field("axisb", &Cross::axisb, "of those in the second"),
                 field("axisc", &Cross::axisc, "of those in the result"),
                 field("axis", &Cross::axis, "instead of all three")};
};

/// Views of the elements of vectors along an axis.
std::vector<Value> components(const Composition& c, const Value& x, std::int64_t axis) {
  const std::int64_t place = normal_axis(c, axis, rank_of(x));
  const std::int64_t count = x.array.shape()[static_cast<std::size_t>(place)];
  if (count < 2 || count > 3) c.refuse("needs vectors of 2 or 3 elements");
  return views_along(x, place);
}

/// left[i] * right[j] - left[j] * right[i], where a third element may be missing.
Value area(const std::vector<Value>& left, const std::vector<Value>& right, std::size_t i,
           std::size_t j) {
  if (std::max(i, j) < std::min(left.size(), right.size()))
    return left[i] * right[j] - left[j] * right[i];
  // One term is zero: the one with the element that is not there.
  return i < left.size() && j < right.size() ? left[i] * right[j] : -(left[j] * right[i]);
}

Value cross(Composition& c, const Cross& given) {
  const std::vector<Value> left = components(c, c[0], given.axis.value_or(given.axisa));
  const std::vector<Value> right = components(c, c[1], given.axis.value_or(given.axisb));
  if (left.size() == 2 && right.size() == 2) return area(left, right, 0, 1);
  const Value parts[] = {area(left, right, 1, 2), area(left, right, 2, 0), area(left, right, 0, 1)};
  const std::int64_t place =
      normal_axis(c, given.axis.value_or(given.axisc), rank_of(parts[0]) + 1);
  Shape shape = shape_of(parts[0]);
  shape.insert(shape.begin() + place, 1);
  const Value rows[] = {shaped(parts[0], shape), shaped(parts[1], shape), shaped(parts[2], shape)};
  return concat(rows, place);
}

void complete_khatri_rao(lazy::Completion& completion) {
  std::int64_t rows = 1, columns = -1;
  for (const auto& matrix : completion.shapes) {
    if (!matrix) return;
    if (matrix->size() != 2) completion.refuse("needs matrices");
    rows = rows < 0 || (*matrix)[0] < 0 ? -1 : extent_product(rows, (*matrix)[0]);
    columns = std::max(columns, (*matrix)[1]);
  }
  completion.results = {{rows, columns}};
}

Value khatri_rao(Composition& c) {
  if (c.inputs().empty()) c.refuse("needs at least one matrix");
  for (const Value& matrix : c.inputs()) {
    if (matrix.array.dtype != c[0].array.dtype)
      c.refuse("inputs must have the same type; convert one with astype");
    if (matrix.array.dtype == DType::boolean)
      c.refuse("is not defined for booleans", ErrorKind::type);
    if (rank_of(matrix) != 2 || matrix.array.shape()[1] != c[0].array.shape()[1])
      c.refuse("needs matrices with equally many columns");
  }
  Value result = copy(c[0]);
  for (const Value& matrix : c.inputs().subspan(1)) {
    const std::int64_t high = result.array.shape()[0], rows = matrix.array.shape()[0],
                       columns = matrix.array.shape()[1];
    result = shaped(shaped(result, {high, 1, columns}) * shaped(matrix, {1, rows, columns}),
                    {high * rows, columns});
  }
  return result;
}

/// Every element of one array times every element of the other.
Value outer(Composition& c) {
  const Value &left = c[0], &right = c[1];
  if (left.array.dtype != right.array.dtype)
    c.refuse("inputs must have the same type; convert one with astype");
  return shaped(left, {left.array.size(), 1}) * shaped(right, {1, right.array.size()});
}

}  // namespace

void declare_products(Table& table) {
  table.add({.name = "outer",
             .spellings = {"np.outer(a, b)"},
             .doc = R"(Return the products of every element of ``a`` with every element of ``b``.

>>> np.outer(np.array([1, 2]), np.array([1, 10]))
array([[ 1., 10.],
       [ 2., 20.]]))",
             .inputs = {"a", "b"},
             .compose = outer});
  table.add<Dot>(
      {.name = "dot",
       .mxnet_names = {"dot", "_np_dot"},
       .spellings = {"np.dot(a, b, out=None)"},
       .doc = R"(Return the product over the last axis of the first array and an axis of the second.

In nd that is the first axis; ``transpose_a`` takes the first axis of ``lhs`` instead, and
``transpose_b`` the last of ``rhs``. In np it is the last but one.

>>> nd.dot(nd.array([[1, 2], [3, 4]]), nd.array([1, 10])).asnumpy()
array([21., 43.], dtype=float32)
>>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 10]))
array([21., 43.]))",
       .inputs = {"lhs", "rhs"},
       .infer =
           [](Inference& inference, const Dot& given) {
             check_factors(inference);
             dot_infer(inference, given.transpose_a, given.transpose_b);
           },
       .kernel = product_kernel,
       .kernel_then = product_kernel_then,
       .gradients = {reading({1}, through_dot), reading({0}, through_dot)},
       .is_plain =
           [](const Call& call) {
             const int left = call.inputs[0].layout->rank(), right = call.inputs[1].layout->rank();
             return left > 0 && right > 0 && right <= 2;
           },
       .complete = complete_dot});
  table.add<Dot>(
      {.name = "batch_dot",
       .mxnet_names = {"batch_dot", "_npx_batch_dot"},
       .doc = R"(Return the matrix products of two stacks: ``lhs[i] x rhs[i]`` for every ``i``.

>>> nd.batch_dot(nd.ones((5, 2, 3)), nd.ones((5, 4, 3)), transpose_b=True).shape
(5, 2, 4))",
       .inputs = {"lhs", "rhs"},
       .infer = batch_infer,
       .kernel = product_kernel,
       .kernel_then = product_kernel_then,
       .row_form = product_form,
       .row_kernel = product_of_rows,
       .gradients = {reading({1}, through_batch_dot), reading({0}, through_batch_dot)}});
  table.add<Matmul>(
      {.name = "matmul",
       .mxnet_names = {"_npi_matmul"},
       .spellings = {"np.matmul(a, b, out=None, **kwargs)"},
       .doc =
           R"(Return the matrix product; axes in front of the last two are a stack and are broadcast.

>>> np.matmul(np.ones((4, 1, 2, 3)), np.ones((5, 3, 2))).shape
(4, 5, 2, 2))",
       .inputs = {"a", "b"},
       .infer = matmul_infer,
       .kernel = product_kernel,
       .kernel_then = product_kernel_then,
       .row_form = product_form,
       .row_kernel = product_of_rows,
       .gradients = {reading({1}, through_matmul), reading({0}, through_matmul)},
       .node = [](lazy::NodeForm& node, const Matmul&) { node.outputs = {"out"}; }});
  table.add(
      {.name = "vdot",
       .spellings = {"np.vdot(a, b)"},
       .doc = R"(Return the product of all elements of one array with those of another, summed.

>>> np.vdot(np.array([[1, 2], [3, 4]]), np.array([1, 10, 100, 1000]))
array(4321.))",
       .inputs = {"a", "b"},
       .compose = vdot});
  table.add({.name = "inner",
             .spellings = {"np.inner(a, b)"},
             .doc = R"(Return the product over the last axes of both arrays.

>>> np.inner(np.array([[1, 2], [3, 4]]), np.array([1, 10]))
array([21., 43.]))",
             .inputs = {"a", "b"},
             .compose = inner});
  table.compose<Tensordot>({.name = "tensordot",
                            .mxnet_names = {"_npi_tensordot"},
                            .inputs = {"a", "b"},
                            .compose = tensordot});
  table.compose<TensordotOfEnds>({.name = "tensordot_int_axes",
                                  .mxnet_names = {"_npi_tensordot_int_axes"},
                                  .inputs = {"a", "b"},
                                  .compose = tensordot_of_ends});
  table.add({.name = "kron",
             .spellings = {"np.kron(a, b)"},
             .doc = R"(Return blocks of ``b``, each times an element of ``a``.

>>> np.kron(np.array([1, 10]), np.array([1, 2]))
array([ 1.,  2., 10., 20.]))",
             .inputs = {"a", "b"},
             .compose = kron});
  table.compose<Trace>({.name = "trace",
                        .mxnet_names = {"_np_trace"},
                        .spellings = {"np.trace(a, offset=0, axis1=0, axis2=1, out=None)"},
                        .doc = R"(Return the sum of the diagonal, ``offset`` above the main one.

>>> np.trace(np.eye(3))
array(3.))",
                        .inputs = {"data"},
                        .compose = trace});
  table.compose<Cross>(
      {.name = "cross",
       .spellings = {"np.cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)"},
       .doc =
           R"(Return the vectors at right angles to two vectors of three (or two) elements.

>>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
array([0., 0., 1.]))",
       .inputs = {"a", "b"},
       .compose = cross});
  table.add({.name = "khatri_rao",
             .mxnet_names = {"khatri_rao"},
             .doc = R"(Return the Kronecker products of the columns of matrices.

>>> nd.khatri_rao(nd.array([[1, 2], [3, 4]]), nd.array([[1, 10]])).asnumpy()
array([[ 1., 20.],
       [ 3., 40.]], dtype=float32))",
             .inputs = {"args"},
             .variadic = true,
             .compose = khatri_rao,
             .complete = complete_khatri_rao});
}

}  // namespace afterglow::ops
