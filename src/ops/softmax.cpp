// SPDX-License-Identifier: Apache-2.0
// Kernels of rows and sequences: what softmax, layer norm and their kin use where it pays.
#include "kernels/softmax.h"

#include <algorithm>

#include "kernels/sequence.h"
#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

std::unique_ptr<lazy::Pass> reverse_kernel(const Call& call) {
  const Operand &data = call.inputs[0], &lengths = call.inputs[1];
  const auto shape = data.shape();
  const std::int64_t bytes_of_step =
      static_cast<std::int64_t>(size_of(data.dtype)) * element_count(shape.subspan(2));
  return kernel_pass<kernels::ReversePass>(data.data(), call.outputs[0].data(), shape[0], shape[1],
                                           bytes_of_step, lengths.data(), lengths.dtype);
}

void reverse_infer(Inference& inference) {
  const Operand& data = inference.call.inputs[0];
  const Operand& lengths = inference.call.inputs[1];
  if (data.layout->rank() < 2) inference.refuse("data must have two axes or more");
  if (lengths.layout->rank() != 1 || lengths.shape()[0] != data.shape()[1]) {
    inference.refuse("sequence_length must have one entry for each sequence, along axis 1");
  }
  if (!data.layout->is_contiguous() || !lengths.layout->is_contiguous()) {
    inference.refuse("needs contiguous arrays");
  }
  inference.call.cost = 150 + 0.3 * static_cast<double>(data.size());
  inference.add_output(data.shape(), data.dtype);
}

std::int64_t rows_of(const Operand& data) {
  return data.size() / std::max<std::int64_t>(1, data.shape().back());
}

template <bool logarithm>
std::unique_ptr<lazy::Pass> softmax_kernel(const Call& call) {
  const Operand& data = call.inputs[0];
  return kernel_pass<kernels::SoftmaxPass>(data.data(), call.outputs[0].data(), data.dtype,
                                           rows_of(data), data.shape().back(), logarithm);
}

lazy::RowForm softmax_form(const Call& call) {
  const Operand& data = call.inputs[0];
  return {.rows = rows_of(data), .length = data.shape().back(), .results = data.shape().back()};
}

template <bool logarithm>
class SoftmaxOfRows : public lazy::RowKernel {
 public:
  explicit SoftmaxOfRows(const Operand& data) : data_(data) {}
  void run(std::int64_t begin, std::int64_t end, const void* source, void* target) override {
    kernels::softmax_of_rows(source, target, data_.dtype, end - begin, data_.shape().back(),
                             logarithm);
  }

 private:
  const Operand& data_;
};

template <bool logarithm>
std::unique_ptr<lazy::RowKernel> softmax_of_rows(const Call& call) {
  return std::make_unique<SoftmaxOfRows<logarithm>>(call.inputs[0]);
}

void softmax_infer(Inference& inference) {
  Call& call = inference.call;
  const Operand& data = call.inputs[0];
  if (data.is_immediate() || !data.layout->rank()) inference.refuse("needs an array of rows");
  if (data.dtype != DType::float32 && data.dtype != DType::float64) {
    inference.refuse("needs float32 or float64", ErrorKind::type);
  }
  if (!data.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  inference.add_output(data.shape(), data.dtype);
  call.cost = 150 + 0.8 * static_cast<double>(data.size());
}

struct LayerNorm {
  double epsilon = 1e-5;
  static constexpr auto fields =
      std::tuple{field("epsilon", &LayerNorm::epsilon, "added to the variance")};
};

std::unique_ptr<lazy::Pass> layer_norm_kernel(const Call& call) {
  const Operand& data = call.inputs[0];
  return kernel_pass<kernels::LayerNormPass>(
      data.data(), call.inputs[1].data(), call.inputs[2].data(), data.dtype, rows_of(data),
      data.shape().back(), call.settled.get<LayerNorm>().epsilon, call.outputs[0].data(),
      call.outputs[1].data(), call.outputs[2].data());
}

void layer_norm_infer(Inference& inference, const LayerNorm& given) {
  Call& call = inference.call;
  const Operand& data = call.inputs[0];
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous()) {
      inference.refuse("needs contiguous arrays");
    }
    if (input.dtype != data.dtype) inference.refuse("needs arrays of one type", ErrorKind::type);
  }
  if (data.dtype != DType::float32 && data.dtype != DType::float64) {
    inference.refuse("needs float32 or float64", ErrorKind::type);
  }
  if (!data.layout->rank() || !data.shape().back()) inference.refuse("needs an array of rows");
  for (const Operand* vector : {&call.inputs[1], &call.inputs[2]}) {
    if (vector->layout->rank() != 1 || vector->size() != data.shape().back()) {
      inference.refuse("gamma and beta must have one entry for each column");
    }
  }
  Shape kept(data.shape().begin(), data.shape().end());
  kept.back() = 1;
  const DType dtype = data.dtype;
  inference.add_output(data.shape(), dtype);
  inference.add_output(kept, dtype);
  inference.add_output(kept, dtype);
  call.settled.set(given);
  call.cost = 150 + 0.6 * static_cast<double>(call.inputs[0].size());
}

// --- gradients ---

Value through_log_softmax(Gradient& c) {
  const Shape last = {c.output().array.layout->rank() - 1};
  return c.g - exp(c.output()) * sum(c.g, last, true);
}

Value through_softmax(Gradient& c) {
  const Shape last = {c.output().array.layout->rank() - 1};
  const Value weighted = c.g * c.output();
  return weighted - c.output() * sum(weighted, last, true);
}

/// The rows of a layer norm minus their means, by their deviations.
Value standardised(Gradient& c) {
  if (!c.memo) c.memo = (c[0] - c.output(1)) / c.output(2);
  return c.memo;
}

Value through_layer_norm(Gradient& c) {
  const Value unit = standardised(c);
  const Shape shape = c.shape(0), last = {static_cast<std::int64_t>(shape.size()) - 1};
  Value gradient;
  const auto add = [&](const Value& part) { gradient = gradient ? gradient + part : part; };
  if (c.head(0)) {
    const Value scaled = c.head(0) * c[1];
    add((scaled - mean(scaled, last, true) - unit * mean(scaled * unit, last, true)) / c.output(2));
  }
  const auto length = static_cast<double>(shape.back());
  if (c.head(1)) add(c.head(1) / length);
  if (c.head(2)) add(unit * c.head(2) / length);
  return widened(gradient, shape);
}

Value through_scale(Gradient& c) {
  return c.head(0) ? fit(c, 1, c.head(0) * standardised(c)) : zeros(c, 1);
}

Value through_shift(Gradient& c) {
  return c.head(0) ? fit(c, 2, c.head(0)) : zeros(c, 2);
}

}  // namespace

void declare_softmax(Table& table) {
  table.add({.name = "softmax_of_rows",
             .inputs = {"data"},
             .infer = softmax_infer,
             .kernel = softmax_kernel<false>,
             .row_form = softmax_form,
             .row_kernel = softmax_of_rows<false>,
             .gradients = {reading_output(through_softmax)}});
  table.add({.name = "log_softmax_of_rows",
             .inputs = {"data"},
             .infer = softmax_infer,
             .kernel = softmax_kernel<true>,
             .row_form = softmax_form,
             .row_kernel = softmax_of_rows<true>,
             .gradients = {reading_output(through_log_softmax)}});
  table.add<LayerNorm>(
      {.name = "layer_norm",
       .inputs = {"data", "gamma", "beta"},
       .infer = layer_norm_infer,
       .kernel = layer_norm_kernel,
       .gradients = {reading({0, 1}, {1, 2}, through_layer_norm),
                     reading({0}, {1, 2}, through_scale), reading_nothing(through_shift)}});
  table.add({.name = "reverse_sequences",
             .inputs = {"data", "sequence_length"},
             .infer = reverse_infer,
             .kernel = reverse_kernel,
             .gradients = {reading({1},
                                   [](Gradient& c) {
                                     return apply(op_named("reverse_sequences"), {}, c.g, c[1]);
                                   }),
                           no_gradient}});
}

}  // namespace afterglow::ops
