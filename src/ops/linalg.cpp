// SPDX-License-Identifier: Apache-2.0
// Inverses, equations and decompositions of stacks of matrices, in float32 and float64.
#include <algorithm>

#include "kernels/matrices.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;
using lazy::Operand;

/// Inputs are stacks of matrices without gaps, of one type and one stack.
void need_matrices(const Inference& inference) {
  const Operand& first = inference.call.inputs[0];
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate() || input.layout->rank() < 2) inference.refuse("needs matrices");
    if (!input.layout->is_contiguous()) inference.refuse("needs contiguous arrays");
    if (input.dtype != DType::float32 && input.dtype != DType::float64) {
      inference.refuse("needs float32 or float64", ErrorKind::type);
    }
    const auto stack = input.shape().first(input.shape().size() - 2);
    if (input.dtype != first.dtype ||
        !std::ranges::equal(stack, first.shape().first(first.shape().size() - 2))) {
      inference.refuse("needs stacks of one shape and one type");
    }
  }
  need_maths_library(inference);
}

void need_square(const Inference& inference) {
  need_matrices(inference);
  const auto shape = inference.call.inputs[0].shape();
  if (shape.back() != shape[shape.size() - 2]) inference.refuse("needs square matrices");
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
        dtype_(call.inputs[0].dtype),
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

/// The memory of one matrix in a stack; `size` is that of each.
template <class T>
T* matrix_of(const Operand& operand, std::int64_t size, std::int64_t number) {
  return reinterpret_cast<T*>(operand.data()) + number * size;
}

void square_infer(Inference& inference) {
  need_square(inference);
  const Operand& a = inference.call.inputs[0];
  inference.add_output(a.shape(), a.dtype);
  set_cost(inference, 0.3);
}

std::unique_ptr<lazy::Pass> inverse_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    kernels::invert<T>(matrix_of<T>(call.inputs[0], n * n, i), n,
                       matrix_of<T>(call.outputs[0], n * n, i));
  });
}

std::unique_ptr<lazy::Pass> cholesky_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    kernels::cholesky<T>(matrix_of<T>(call.inputs[0], n * n, i), n,
                         matrix_of<T>(call.outputs[0], n * n, i));
  });
}

void determinant_infer(Inference& inference) {
  need_square(inference);
  const Operand& a = inference.call.inputs[0];
  inference.add_output(a.shape().first(a.shape().size() - 2), a.dtype);
  set_cost(inference, 0.15);
}

std::unique_ptr<lazy::Pass> determinant_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0])]<class T>(T, std::int64_t i) {
    *matrix_of<T>(call.outputs[0], 1, i) =
        kernels::determinant<T>(matrix_of<T>(call.inputs[0], n * n, i), n);
  });
}

void solve_infer(Inference& inference) {
  need_square(inference);
  const Operand& b = inference.call.inputs[1];
  if (rows_of(b) != rows_of(inference.call.inputs[0])) {
    inference.refuse("the matrices must have as many rows");
  }
  inference.add_output(b.shape(), b.dtype);
  set_cost(inference, 0.5);
}

std::unique_ptr<lazy::Pass> solve_kernel(const Call& call) {
  return pass_of(call, [&call, n = rows_of(call.inputs[0]),
                        columns = columns_of(call.inputs[1])]<class T>(T, std::int64_t i) {
    kernels::solve<T>(matrix_of<T>(call.inputs[0], n * n, i), n,
                      matrix_of<T>(call.inputs[1], n * columns, i), columns,
                      matrix_of<T>(call.outputs[0], n * columns, i));
  });
}

void singular_infer(Inference& inference) {
  need_matrices(inference);
  const Operand& a = inference.call.inputs[0];
  const std::int64_t rows = rows_of(a), columns = columns_of(a), least = std::min(rows, columns);
  const DType dtype = a.dtype;
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
    kernels::singular<T>(matrix_of<T>(call.inputs[0], rows * columns, i), rows, columns,
                         matrix_of<T>(call.outputs[0], rows * least, i),
                         matrix_of<T>(call.outputs[1], least, i),
                         matrix_of<T>(call.outputs[2], least * columns, i));
  });
}

}  // namespace

void declare_linalg(Table& table) {
  const auto add = [&](std::string_view name, std::vector<std::string_view> inputs,
                       void (*infer)(Inference&), auto kernel) {
    table.add({.name = name,
               .inputs = std::move(inputs),
               .infer = infer,
               .kernel = kernel,
               .may_fail = true});
  };
  add("inverse", {"a"}, square_infer, inverse_kernel);
  add("cholesky", {"a"}, square_infer, cholesky_kernel);
  add("det", {"a"}, determinant_infer, determinant_kernel);
  add("solve", {"a", "b"}, solve_infer, solve_kernel);
  add("svd", {"a"}, singular_infer, singular_kernel);
}

}  // namespace afterglow::ops
