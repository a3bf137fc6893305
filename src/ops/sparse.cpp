// SPDX-License-Identifier: Apache-2.0
// What sparse arrays need beyond the ops of dense ones: their parts are arrays like all others.
#include "kernels/sparse.h"

#include <string>

#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;
using lazy::Operand;

struct CompressedDot {
  std::int64_t rows = 0;
  bool transposed = false;
  static constexpr auto fields =
      std::tuple{field("rows", &CompressedDot::rows, "of the result of a transposed matrix"),
                 field("transposed", &CompressedDot::transposed, "whether the matrix is")};
};

/// Inputs: values, columns and starts of compressed rows, and the rows that they are multiplied by.
void compressed_dot_infer(Inference& inference, const CompressedDot& given) {
  Call& call = inference.call;
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs arrays without gaps", ErrorKind::type);
  }
  const Operand &values = call.inputs[0], &columns = call.inputs[1], &starts = call.inputs[2],
                &lines = call.inputs[3];
  if (columns.dtype != DType::int64 || starts.dtype != DType::int64)
    inference.refuse("needs indices of int64", ErrorKind::type);
  const DType dtype = values.dtype;
  if (dtype != lines.dtype || (dtype != DType::float32 && dtype != DType::float64 &&
                               dtype != DType::int32 && dtype != DType::int64))
    inference.refuse("needs values and rows of one type, float32, float64, int32 or int64",
                     ErrorKind::type);
  if (values.layout->rank() != 1 || columns.size() != values.size() || starts.layout->rank() != 1 ||
      starts.size() < 1 || lines.layout->rank() != 2 ||
      (given.transposed && lines.shape()[0] != starts.size() - 1))
    inference.refuse("the shapes do not fit");
  const std::int64_t width = lines.shape()[1];
  const Shape shape = {given.transposed ? given.rows : starts.size() - 1, width};
  inference.add_output(shape, dtype);
  call.settled.set(given.transposed);
  const double products = static_cast<double>(values.size() * width);
  call.cost = 200 + 0.5 * products + 0.2 * static_cast<double>(call.outputs[0].size());
}

std::unique_ptr<lazy::Pass> compressed_dot_kernel(const Call& call) {
  const Operand &values = call.inputs[0], &columns = call.inputs[1], &starts = call.inputs[2],
                &lines = call.inputs[3];
  const bool transposed = call.settled.get<bool>();
  const kernels::CompressedRows matrix = {
      values.data(), reinterpret_cast<const std::int64_t*>(columns.data()),
      reinterpret_cast<const std::int64_t*>(starts.data()), starts.size() - 1, values.size()};
  const std::int64_t extent = transposed ? call.outputs[0].shape()[0] : lines.shape()[0];
  return kernel_pass<kernels::CompressedProductPass>(matrix, lines.data(), call.outputs[0].data(),
                                                     values.dtype, lines.shape()[1], extent,
                                                     transposed);
}

}  // namespace

void declare_sparse(Table& table) {
  table.add<CompressedDot>({.name = "compressed_dot",
                            .inputs = {"values", "columns", "starts", "lines"},
                            .infer = compressed_dot_infer,
                            .kernel = compressed_dot_kernel,
                            .may_fail = true,
                            .gradients = {no_gradient, no_gradient, no_gradient, no_gradient}});
}

}  // namespace afterglow::ops
