// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "kernels/product.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::field;
using lazy::Inference;
using lazy::Operand;

struct Dot {
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto fields =
      std::tuple{field("transpose_a", &Dot::transpose_a, "whether the first factor is transposed"),
                 field("transpose_b", &Dot::transpose_b, "whether the second one is")};
};

/// The second factor has as many rows as the first has columns.
void complete_dot(lazy::Completion& completion, const Dot& given) {
  const auto& left = completion.shapes[0];
  auto& right = completion.shapes[1];
  if (!left || left->empty() || !right || right->empty()) return;
  (given.transpose_b ? right->back() : right->front()) =
      given.transpose_a ? left->front() : left->back();
}

/// An m by k matrix times a k by n matrix, once the factors are transposed.
struct Product {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  int threads;
};

class DotPass : public lazy::Pass {
 public:
  explicit DotPass(const Call& call, lazy::Epilogue epilogue = {})
      : pass_(shape_of(call), call.outputs[0].dtype, call.inputs[0].data(), call.inputs[1].data(),
              call.outputs[0].data(), call.settled.get<Product>().threads, std::move(epilogue)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }
  void finish() override { pass_.finish(); }

 private:
  static kernels::ProductShape shape_of(const Call& call) {
    const auto product = call.settled.get<Product>();
    kernels::ProductShape shape;
    shape.m = product.m;
    shape.n = product.n;
    shape.k = product.k;
    shape.transpose_a = product.transpose_a;
    shape.transpose_b = product.transpose_b;
    shape.lda = shape.transpose_a ? shape.m : shape.k;
    shape.ldb = shape.transpose_b ? shape.k : shape.n;
    return shape;
  }
  kernels::ProductPass pass_;
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

class BatchDotPass : public lazy::Pass {
 public:
  explicit BatchDotPass(const Call& call, lazy::Epilogue epilogue = {})
      : pass_(shape_of(call), call.outputs[0].dtype, call.inputs[0].data(), call.inputs[1].data(),
              call.outputs[0].data(), call.settled.get<Product>().threads, std::move(epilogue),
              stack_places(*call.inputs[0].layout, *call.inputs[1].layout)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }
  void finish() override { pass_.finish(); }

 private:
  static kernels::ProductShape shape_of(const Call& call) {
    const MatrixView a = *matrix_view(*call.inputs[0].layout);
    const MatrixView b = *matrix_view(*call.inputs[1].layout);
    const auto product = call.settled.get<Product>();
    kernels::ProductShape shape;
    shape.m = product.m;
    shape.n = product.n;
    shape.k = product.k;
    shape.transpose_a = a.transposed != product.transpose_a;
    shape.transpose_b = b.transposed != product.transpose_b;
    shape.lda = a.stride;
    shape.ldb = b.stride;
    return shape;
  }
  kernels::ProductPass pass_;
};

void set_product(const Inference& inference, std::int64_t m, std::int64_t n, std::int64_t k,
                 bool transpose_a, bool transpose_b) {
  Call& call = inference.call;
  call.settled.set(Product{m, n, k, transpose_a, transpose_b, lazy::window().configured_threads()});
  const bool library = is_floating(call.inputs[0].dtype);
  if (library) need_maths_library(inference);
  // Nanoseconds at about 60 billion operations a second; integers have no library.
  const double operations =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  call.cost = 200 + operations / (library ? 60 : 4);
}

void check_factors(const Inference& inference) {
  const Operand& a = inference.call.inputs[0];
  const Operand& b = inference.call.inputs[1];
  if (a.is_immediate() || b.is_immediate()) {
    inference.refuse("needs two arrays", ErrorKind::type);
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

/// Matrices in the last two axes, stacks of the same shape in front of them. Views are taken as
/// they are, so a transposed or repeated matrix costs no copy.
void batch_infer(Inference& inference, const Dot& given) {
  check_factors(inference);
  Call& call = inference.call;
  const auto shape_a = call.inputs[0].shape();
  const auto shape_b = call.inputs[1].shape();
  const std::size_t rank = shape_a.size();
  if (rank < 2 || shape_b.size() != rank ||
      !std::equal(shape_a.begin(), shape_a.end() - 2, shape_b.begin())) {
    inference.refuse("needs two stacks of matrices with the same leading dimensions");
  }
  if (!matrix_view(*call.inputs[0].layout) || !matrix_view(*call.inputs[1].layout)) {
    inference.refuse("needs matrices whose rows or columns lie without gaps");
  }
  const auto [transpose_a, transpose_b] = given;
  const std::int64_t inner = shape_a[transpose_a ? rank - 2 : rank - 1];
  check_inner(inference, inner, shape_b[transpose_b ? rank - 1 : rank - 2]);
  Shape result(shape_a.begin(), shape_a.end() - 2);
  const std::int64_t height = element_count(result);
  const std::int64_t m = shape_a[transpose_a ? rank - 1 : rank - 2];
  const std::int64_t n = shape_b[transpose_b ? rank - 2 : rank - 1];
  result.insert(result.end(), {m, n});
  call.row_axes = static_cast<int>(rank) - 1;
  inference.add_output(result, call.inputs[0].dtype);
  set_product(inference, m, n, inner, transpose_a, transpose_b);
  call.cost *= static_cast<double>(height);
}

/// mx.nd: the last axis of a with the first of b, after the transposes (which reverse all axes).
/// NumPy: the last axis of a with the last but one of b; the front end moves that axis first.
void infer(Inference& inference, const Dot& given) {
  check_factors(inference);
  Call& call = inference.call;
  const Operand& a = call.inputs[0];
  const Operand& b = call.inputs[1];
  if (!a.layout->rank() || !b.layout->rank()) {
    inference.refuse("needs arrays of at least one dimension");
  }
  const bool transpose_a = given.transpose_a && a.layout->rank() > 1;
  const bool transpose_b = given.transpose_b && b.layout->rank() > 1;
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
  set_product(inference, m, n, inner_a, transpose_a, transpose_b);
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
Value gradient_matrix(const Gradient& c, const Dot& given) {
  const Shape first = c.shape(0), second = c.shape(1);
  const std::int64_t left = given.transpose_a ? first.front() : first.back();
  const std::int64_t right = given.transpose_b ? second.back() : second.front();
  return shaped(c.g, {element_count(first) / std::max<std::int64_t>(1, left),
                      element_count(second) / std::max<std::int64_t>(1, right)});
}

Value through_dot(Gradient& c) {
  const std::size_t other = 1 - c.index;
  const Shape shape = c.shape(c.index), beside = c.shape(other);
  if (!element_count(shape) || !element_count(beside)) return zeros(c, c.index);
  if (shape.empty() || beside.empty()) return fit(c, c.index, c.g * c[other]);
  const auto given = c.parameters<Dot>();
  const bool left = given.transpose_a, right = given.transpose_b;
  const Value gradient = gradient_matrix(c, given);
  if (c.index == 0) {
    const Value factor = as_matrix(c[1], !right);
    return shaped(left ? dot(factor, gradient, right, true) : dot(gradient, factor, false, !right),
                  shape);
  }
  const Value factor = as_matrix(c[0], left);
  return shaped(right ? dot(gradient, factor, true, left) : dot(factor, gradient, !left, false),
                shape);
}

Value through_batch_dot(Gradient& c) {
  const auto given = c.parameters<Dot>();
  const bool left = given.transpose_a, right = given.transpose_b;
  if (c.index == 0)
    return left ? batch_dot(c[1], c.g, right, true) : batch_dot(c.g, c[1], false, !right);
  return right ? batch_dot(c.g, c[0], true, left) : batch_dot(c[0], c.g, !left, false);
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

>>> from afterglow import np
>>> np.outer(np.array([1, 2]), np.array([1, 10]))
array([[ 1., 10.],
       [ 2., 20.]]))",
             .inputs = {"a", "b"},
             .compose = outer});
  table.add<Dot>(
      {.name = "dot",
       .mxnet_names = {"dot", "_np_dot"},
       .inputs = {"lhs", "rhs"},
       .infer = infer,
       .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<DotPass>(call);
       },
       .kernel_then = [](const Call& call, lazy::Epilogue epilogue) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<DotPass>(call, std::move(epilogue));
       },
       .gradients = {reading({1}, through_dot), reading({0}, through_dot)},
       .complete = complete_dot});
  table.add<Dot>(
      {.name = "batch_dot",
       .mxnet_names = {"batch_dot", "_npx_batch_dot"},
       .inputs = {"lhs", "rhs"},
       .infer = batch_infer,
       .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<BatchDotPass>(call);
       },
       .kernel_then = [](const Call& call, lazy::Epilogue epilogue) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<BatchDotPass>(call, std::move(epilogue));
       },
       .gradients = {reading({1}, through_batch_dot), reading({0}, through_batch_dot)}});
}

}  // namespace afterglow::ops
