// SPDX-License-Identifier: Apache-2.0
// Rules that several families share: type promotion, broadcasting, axes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "kernels/lines.h"
#include "lazy/call.h"
#include "lazy/op.h"

namespace afterglow::ops {

/// NumPy-like promotion as MXNet does it: any float beats any integer, wider beats narrower,
/// boolean loses to all. uint8 with int8 gives int32, as there is no int16.
DType promote(DType left, DType right);

/// The type in which elements of `dtype` are computed: itself, float32 for float16.
constexpr DType compute_type(DType dtype) {
  return dtype == DType::float16 ? DType::float32 : dtype;
}

/// Gives a number the type of the elements that it meets. Refuses one that an integer type does not
/// have; the fraction is cut off. Arrays are left alone.
void settle(const lazy::Inference& inference, lazy::Operand& operand, DType dtype);

/// The shape, which ops that cannot do without it refuse to miss.
const Shape& need_shape(const lazy::Inference& inference, const std::optional<Shape>& shape);

/// `layout` seen as an array of shape `shape`, with zero strides where it repeats; nothing where it
/// does not broadcast to it.
Reference<Layout> stretched(const Layout& layout, std::span<const std::int64_t> shape);

/// The shape that both broadcast to; none where they do not.
std::optional<Shape> common_shape(std::span<const std::int64_t> left,
                                  std::span<const std::int64_t> right);

/// Gives every input of an elementwise call the shape of the result (zero strides where it repeats)
/// and returns the result's layout.
Reference<Layout> broadcast_inputs(lazy::Inference& inference);
/// The same with the result's shape given.
Reference<Layout> broadcast_inputs_to(lazy::Inference& inference,
                                      std::span<const std::int64_t> shape);

/// `axis` in 0..rank-1, or an error that names both.
int checked_axis(const lazy::Inference& inference, std::int64_t axis, int rank);

/// The same for the first input, which must have a dimension and be no strided view.
int axis_of_lines(const lazy::Inference& inference, std::int64_t axis);
/// The first input of a call seen along such an axis.
kernels::Lines lines_of(const lazy::Call& call, int axis);

/// To be called by `infer` of whatever computes with the maths library. It is loaded here, by a
/// thread with the issuing right, and not by a worker: loading changes the environment for a
/// moment.
void need_maths_library(const lazy::Inference& inference);

/// A pass of src/kernels as the engine runs it.
template <class Kernel>
class KernelPass : public lazy::Pass {
 public:
  template <class... Arguments>
  explicit KernelPass(Arguments&&... arguments) : kernel_(std::forward<Arguments>(arguments)...) {}
  int shares() const override { return kernel_.shares(); }
  void run(int share) override { kernel_.run(share); }
  void finish() override {
    if constexpr (requires { kernel_.finish(); }) kernel_.finish();
  }

 private:
  Kernel kernel_;
};

template <class Kernel, class... Arguments>
std::unique_ptr<lazy::Pass> kernel_pass(Arguments&&... arguments) {
  return std::make_unique<KernelPass<Kernel>>(std::forward<Arguments>(arguments)...);
}

/// For `Op::kernel`: a pass that is made of the call.
template <class Pass>
std::unique_ptr<lazy::Pass> pass_of_call(const lazy::Call& call) {
  return std::make_unique<Pass>(call);
}

/// Sets kernel, compute type and cost of an elementwise call whose output is added.
void finish_elementwise(lazy::Inference& inference, DType compute);
/// The same where something cheaper than the op's own formula does it.
void finish_elementwise(lazy::Inference& inference, DType compute, kernels::Formula formula);

}  // namespace afterglow::ops
