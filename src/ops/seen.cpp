// SPDX-License-Identifier: Apache-2.0
#include "ops/seen.h"

#include "ops/common.h"

namespace afterglow::ops {

void infer_view(Inference& inference, const Part& part) {
  lazy::Operand& input = inference.call.inputs[0];
  // nd makes nothing without dimensions of what has some.
  const bool is_one = inference.legacy && part.shape.empty() && input.layout->rank();
  static const Shape one = {1};
  const Shape &shape = is_one ? one : part.shape, &strides = is_one ? one : part.strides;
  input.given = std::exchange(input.layout, Layout::strided(shape, strides));
  input.offset += part.offset;
  const bool in_order = input.layout->is_contiguous();
  inference.add_output(in_order ? input.layout : Layout::contiguous(shape), input.dtype);
  finish_elementwise(inference, compute_type(input.dtype), kernels::Formula::copy);
}

}  // namespace afterglow::ops
