// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "kernels/product.h"

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;
using lazy::Operand;

class Dot : public lazy::Pass {
 public:
  explicit Dot(const Call& call, lazy::Epilogue epilogue = {})
      : pass_(shape_of(call), call.outputs[0].dtype, call.inputs[0].data(), call.inputs[1].data(),
              call.outputs[0].data(), static_cast<int>(call.attributes[5].integer),
              std::move(epilogue)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }
  void finish() override { pass_.finish(); }

 private:
  static kernels::ProductShape shape_of(const Call& call) {
    kernels::ProductShape shape;
    shape.m = call.attributes[0].integer;
    shape.n = call.attributes[1].integer;
    shape.k = call.attributes[2].integer;
    shape.transpose_a = call.attributes[3].integer;
    shape.transpose_b = call.attributes[4].integer;
    shape.lda = shape.transpose_a ? shape.m : shape.k;
    shape.ldb = shape.transpose_b ? shape.k : shape.n;
    return shape;
  }
  kernels::ProductPass pass_;
};

/// mx.nd: the last axis of a with the first of b, after the transposes (which reverse all axes).
/// NumPy: the last axis of a with the last but one of b; the front end moves that axis first.
void infer(Inference& inference) {
  Call& call = inference.call;
  const Operand& a = call.inputs[0];
  const Operand& b = call.inputs[1];
  if (a.is_immediate() || b.is_immediate()) {
    inference.refuse("needs two arrays", ErrorKind::type);
  }
  if (a.dtype != b.dtype) {
    inference.refuse("inputs must have the same type; convert one with astype");
  }
  if (!a.layout->rank() || !b.layout->rank()) {
    inference.refuse("needs arrays of at least one dimension");
  }
  const bool transpose_a = inference.boolean("transpose_a") && a.layout->rank() > 1;
  const bool transpose_b = inference.boolean("transpose_b") && b.layout->rank() > 1;
  const auto shape_a = a.shape();
  const auto shape_b = b.shape();
  const std::int64_t inner_a = transpose_a ? shape_a.front() : shape_a.back();
  const std::int64_t inner_b = transpose_b ? shape_b.back() : shape_b.front();
  if (inner_a != inner_b) {
    inference.refuse("the inner dimensions " + std::to_string(inner_a) + " and " +
                     std::to_string(inner_b) + " differ");
  }
  Shape result;
  if (transpose_a) {
    result.assign(shape_a.begin() + 1, shape_a.end());
  } else {
    result.assign(shape_a.begin(), shape_a.end() - 1);
  }
  call.row_axes = static_cast<int>(result.size());
  std::int64_t m = 1, n = 1;
  for (std::int64_t extent : result) m *= extent;
  const auto rest = transpose_b ? shape_b.first(shape_b.size() - 1) : shape_b.subspan(1);
  for (std::int64_t extent : rest) n *= extent;
  result.insert(result.end(), rest.begin(), rest.end());
  if (result.empty() && inference.legacy) result.push_back(1);
  inference.add_output(result, a.dtype);
  call.attributes[0].integer = m;
  call.attributes[1].integer = n;
  call.attributes[2].integer = inner_a;
  call.attributes[3].integer = transpose_a;
  call.attributes[4].integer = transpose_b;
  call.attributes[5].integer = lazy::window().configured_threads();
  // Nanoseconds at about 60 billion operations a second; integers have no library.
  const double operations =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(inner_a);
  call.cost = 200 + operations / (is_floating(a.dtype) ? 60 : 4);
}

}  // namespace

void declare_products(Table& table) {
  table.add(
      {.name = "dot",
       .mxnet_names = {"dot", "_np_dot"},
       .inputs = {"lhs", "rhs"},
       .parameters = {{"transpose_a", false}, {"transpose_b", false}},
       .infer = infer,
       .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<Dot>(call);
       },
       .kernel_then = [](const Call& call, lazy::Epilogue epilogue) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<Dot>(call, std::move(epilogue));
       }});
}

}  // namespace afterglow::ops
