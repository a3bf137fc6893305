// SPDX-License-Identifier: Apache-2.0
#include "ops/channels.h"

#include <algorithm>
#include <array>

#include "kernels/channels.h"
#include "ops/common.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/elementwise_infer.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Along {
  std::int64_t axis = 1;
  static constexpr auto fields = std::tuple{field("axis", &Along::axis, "of the channels")};
};

kernels::Channels channels_of(std::span<const std::int64_t> shape, std::int64_t axis) {
  kernels::Channels channels{1, 1, 1};
  for (std::int64_t i = 0; i < std::ssize(shape); ++i)
    (i < axis    ? channels.outer
     : i == axis ? channels.count
                 : channels.inner) *= shape[static_cast<std::size_t>(i)];
  return channels;
}

/// The result has two rows with a number for each channel.
void infer_rows(Inference& inference, const Along& given, double work) {
  Call& call = inference.call;
  const Operand& data = call.inputs[0];
  if (data.is_immediate() || !has_channels(data, given.axis))
    inference.refuse("needs a contiguous array of float32 or float64 with rows of channels");
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || input.dtype != data.dtype || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays of one type", ErrorKind::type);
  }
  const kernels::Channels channels = channels_of(data.shape(), given.axis);
  if (call.inputs.size() > 1 && (!same_shape(*data.layout, *call.inputs[1].layout) ||
                                 call.inputs[2].size() != channels.count))
    inference.refuse("needs data of the same shape, and a mean for each channel");
  call.settled.set(channels);
  call.cost = 150 + work * static_cast<double>(data.size());
  const std::int64_t rows[] = {2, channels.count};
  inference.add_output(rows, data.dtype);
}

std::unique_ptr<lazy::Pass> moments_kernel(const Call& call) {
  const Operand& data = call.inputs[0];
  return kernel_pass<kernels::ChannelMomentsPass>(call.settled.get<kernels::Channels>(), data.dtype,
                                                  data.data(), call.outputs[0].data());
}

std::unique_ptr<lazy::Pass> sums_kernel(const Call& call) {
  const Operand& data = call.inputs[0];
  return kernel_pass<kernels::ChannelSumsPass>(call.settled.get<kernels::Channels>(), data.dtype,
                                               data.data(), call.inputs[1].data(),
                                               call.inputs[2].data(), call.outputs[0].data());
}

/// One of two rows, by itself.
Value row_of(const Value& rows, std::int64_t row) {
  const std::int64_t count = rows.array.shape()[1];
  return contiguous_view(rows, row * count, {count});
}

/// Numbers of channels as they lie along the data.
Value along(const Value& numbers, const Shape& data, std::int64_t axis) {
  Shape shape(data.size(), 1);
  shape[static_cast<std::size_t>(axis)] = data[static_cast<std::size_t>(axis)];
  return shaped(numbers, shape);
}

/// Of values, and of values * (x - mean).
Value channel_sums(const Value& values, const Value& x, const Value& mean, std::int64_t axis) {
  const lazy::Argument arguments[] = {axis};
  return apply(the_op<"channel_sums">(), arguments, contiguous(values), contiguous(x),
               contiguous(mean));
}

// --- gradients ---

Value through_moments(Gradient& c) {
  const std::int64_t axis = c.parameters<Along>().axis;
  const Shape shape = c.shape(0);
  const kernels::Channels channels = channels_of(shape, axis);
  const auto count = static_cast<double>(channels.outer * channels.inner);
  const auto each = [&](const Value& rows, std::int64_t row) {
    return along(row_of(rows, row), shape, axis);
  };
  const Value gradient = contiguous(c.g), moments = c.output();
  return (c[0] - each(moments, 0)) * (each(gradient, 1) * (2 / count)) +
         each(gradient, 0) * (1 / count);
}

Value through_sums_of_values(Gradient& c) {
  const std::int64_t axis = c.parameters<Along>().axis;
  const Shape shape = c.shape(0);
  const Value gradient = contiguous(c.g);
  return (c[1] - along(c[2], shape, axis)) * along(row_of(gradient, 1), shape, axis) +
         along(row_of(gradient, 0), shape, axis);
}

Value through_sums_of_data(Gradient& c) {
  return c[0] * along(row_of(contiguous(c.g), 1), c.shape(0), c.parameters<Along>().axis);
}

Value through_sums_of_means(Gradient& c) {
  return -(row_of(contiguous(c.g), 1) * row_of(c.output(), 0));
}

/// What the gradients of mean, factor and shift have in common.
Value sums_of_scaled(Gradient& c) {
  if (!c.memo) c.memo = channel_sums(c.g, c[0], c[1], c.parameters<Along>().axis);
  return c.memo;
}

const std::vector<lazy::GradientRule> through_scaling = {
    reading({2},
            [](Gradient& c) { return c.g * along(c[2], c.shape(0), c.parameters<Along>().axis); }),
    reading({0, 1, 2}, [](Gradient& c) { return -(row_of(sums_of_scaled(c), 0) * c[2]); }),
    reading({0, 1}, [](Gradient& c) { return row_of(sums_of_scaled(c), 1); }),
    reading({0, 1}, [](Gradient& c) { return row_of(sums_of_scaled(c), 0); })};

}  // namespace

bool has_channels(const Array& array, std::int64_t axis) {
  // Shorter rows are left to ops that look at all channels at once.
  constexpr std::int64_t shortest_row = 8;
  return (array.dtype == DType::float32 || array.dtype == DType::float64) &&
         array.layout->is_contiguous() && array.size() && axis >= 0 &&
         axis < array.layout->rank() && channels_of(array.shape(), axis).inner >= shortest_row;
}

Value channel_moments(const Value& x, std::int64_t axis) {
  const lazy::Argument arguments[] = {axis};
  return apply(the_op<"channel_moments">(), arguments, x);
}

Value scale_channels(const Value& x, const Value& mean, const Value& factor, const Value& shift,
                     std::int64_t axis) {
  const lazy::Argument arguments[] = {axis};
  std::array<Value, 4> inputs = {x, mean, factor, shift};
  return call(the_op<"scale_channels">(), inputs, {arguments, {}, nullptr}, false);
}

Value multiply_add(const Value& x, const Value& factor, const Value& shift) {
  return apply(the_op<"multiply_add">(), {}, x, factor, shift);
}

void declare_channels(Table& table) {
  table.add({.name = "multiply_add",
             .inputs = {"data", "factor", "shift"},
             .infer =
                 [](Inference& inference) {
                   const DType type = common_type(inference);
                   if (!is_floating(type)) inference.refuse("needs reals", ErrorKind::type);
                   add_result(inference, type, type);
                 },
             .gradients = {reading({1}, [](Gradient& c) { return fit(c, 0, c.g * c[1]); }),
                           reading({0}, [](Gradient& c) { return fit(c, 1, c.g * c[0]); }),
                           reading_nothing([](Gradient& c) { return fit(c, 2, c.g); })}});
  table.add<Along>(
      {.name = "channel_moments",
       .inputs = {"data"},
       .infer = [](Inference& inference, const Along& given) { infer_rows(inference, given, 0.4); },
       .kernel = moments_kernel,
       .gradients = {reading_output_and({0}, through_moments)}});
  table.add<Along>(
      {.name = "channel_sums",
       .inputs = {"values", "data", "mean"},
       .infer = [](Inference& inference, const Along& given) { infer_rows(inference, given, 0.5); },
       .kernel = sums_kernel,
       .gradients = {reading({1, 2}, through_sums_of_values), reading({0}, through_sums_of_data),
                     reading_output(through_sums_of_means)}});
  table.compose<Along>({.name = "scale_channels",
                        .inputs = {"data", "mean", "factor", "shift"},
                        .gradients = through_scaling,
                        .compose = [](Composition& c, const Along& given) {
                          const Shape shape = shape_of(c[0]);
                          return (c[0] - along(c[1], shape, given.axis)) *
                                     along(c[2], shape, given.axis) +
                                 along(c[3], shape, given.axis);
                        }});
}

}  // namespace afterglow::ops
