// SPDX-License-Identifier: Apache-2.0
#include "ops/channels.h"

#include <array>

#include "kernels/channels.h"
#include "ops/common.h"
#include "ops/elementwise_infer.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Normalisation {
  std::int64_t axis = 1;
  double epsilon = 1e-3;
  bool fix_gamma = false;
  static constexpr auto fields =
      std::tuple{field("axis", &Normalisation::axis, "of the channels"),
                 field("epsilon", &Normalisation::epsilon, "is added to the variance"),
                 field("fix_gamma", &Normalisation::fix_gamma, "whether gamma counts as 1")};
};

/// What the kernels need to know.
struct Settled {
  kernels::Channels channels;
  double epsilon;
  bool fix_gamma;
};

kernels::Channels channels_of(std::span<const std::int64_t> shape, std::int64_t axis) {
  kernels::Channels channels{1, 1, 1};
  for (std::int64_t i = 0; i < std::ssize(shape); ++i)
    (i < axis    ? channels.outer
     : i == axis ? channels.count
                 : channels.inner) *= shape[static_cast<std::size_t>(i)];
  return channels;
}

/// The results have the shape of an input, and two rows with a number for each channel.
void infer_normalised(Inference& inference, const Normalisation& given, std::size_t data_input,
                      double work) {
  Call& call = inference.call;
  const Operand& data = call.inputs[data_input];
  if (data.is_immediate() || !has_channels(data, given.axis))
    inference.refuse("needs a contiguous array of float32 or float64");
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || input.dtype != data.dtype || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays of one type", ErrorKind::type);
  }
  const kernels::Channels channels = channels_of(data.shape(), given.axis);
  call.settled.set(Settled{channels, given.epsilon, given.fix_gamma});
  call.cost = 150 + work * static_cast<double>(data.size());
  const DType dtype = data.dtype;
  const Reference<Layout> layout = data.layout;
  const std::int64_t rows[] = {2, channels.count};
  inference.add_output(layout, dtype);
  inference.add_output(rows, dtype);
}

void normalise_infer(Inference& inference, const Normalisation& given) {
  infer_normalised(inference, given, 0, 0.3);
  Call& call = inference.call;
  const std::int64_t count = call.settled.get<Settled>().channels.count;
  if (call.inputs[1].size() != count || call.inputs[2].size() != count)
    inference.refuse("needs a number of gamma and shift for each channel");
  call.row_axes = static_cast<int>(given.axis);
}

void gradient_infer(Inference& inference, const Normalisation& given) {
  infer_normalised(inference, given, 1, 0.4);
  const auto& inputs = inference.call.inputs;
  const std::int64_t count = inference.call.settled.get<Settled>().channels.count;
  if (!same_shape(*inputs[0].layout, *inputs[1].layout) || inputs[2].size() != count ||
      inputs[3].size() != 2 * count)
    inference.refuse("needs values like the data, and gamma and moments for each channel");
}

const void* gamma_of(const Call& call, std::size_t input) {
  return call.settled.get<Settled>().fix_gamma ? nullptr : call.inputs[input].data();
}

std::unique_ptr<lazy::Pass> normalise_kernel_then(const Call& call, lazy::Epilogue epilogue) {
  const auto settled = call.settled.get<Settled>();
  const kernels::NormalisePass::Arrays arrays = {call.inputs[0].data(), gamma_of(call, 1),
                                                 call.inputs[2].data(), call.outputs[0].data(),
                                                 call.outputs[1].data()};
  return kernel_pass<kernels::NormalisePass>(settled.channels, call.inputs[0].dtype,
                                             settled.epsilon, arrays, std::move(epilogue));
}

std::unique_ptr<lazy::Pass> normalise_kernel(const Call& call) {
  return normalise_kernel_then(call, {});
}

std::unique_ptr<lazy::Pass> gradient_kernel(const Call& call) {
  const auto settled = call.settled.get<Settled>();
  const kernels::NormaliseGradientPass::Arrays arrays = {
      call.inputs[0].data(), call.inputs[1].data(),  gamma_of(call, 2),
      call.inputs[3].data(), call.outputs[0].data(), call.outputs[1].data()};
  return kernel_pass<kernels::NormaliseGradientPass>(settled.channels, call.inputs[1].dtype,
                                                     settled.epsilon, arrays);
}

/// One of two rows, by itself.
Value row_of(const Value& rows, std::int64_t row) {
  const std::int64_t count = rows.array.shape()[1];
  return contiguous_view(rows, row * count, {count});
}

// --- gradients ---

/// How a recorded call normalised its channels, as ops that can be recorded in turn.
struct Recorded {
  Shape shape, others;  ///< of the data; its axes but that of the channels
  Shape numbers;        ///< what has one number for each channel, along the data
  double places = 1;
  Normalisation given;
  Value distance;

  explicit Recorded(Gradient& c)
      : shape(c.shape(0)), numbers(shape.size(), 1), given(c.parameters<Normalisation>()) {
    for (std::int64_t i = 0; i < std::ssize(shape); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i == given.axis) {
        numbers[at] = shape[at];
      } else {
        others.push_back(i);
        places *= static_cast<double>(shape[at]);
      }
    }
    distance = c[0] - along(row_of(c.output(1), 0));
  }
  Value along(const Value& values) const { return shaped(values, numbers); }
  Value deviation(Gradient& c) const { return sqrt(along(row_of(c.output(1), 1)) + given.epsilon); }
  /// Over all elements of a channel.
  Value total(const Value& values) const {
    return others.empty() ? values : sum(values, others, true);
  }
};

/// The gradients by the kernel: that of the data; the sums are left for those of the others.
Value all_gradients(Gradient& c) {
  autograd::CallBuilder builder(the_op<"normalise_gradient">(), false);
  const std::array<Value, 4> inputs = {contiguous(c.head(0)), c[0], c[1], c.output(1)};
  for (const Value& input : inputs) builder.add(input);
  const auto arguments = lazy::write_arguments(c.parameters<Normalisation>());
  std::vector<autograd::Handle> more;
  const Value gradient = builder.issue({arguments, {}, nullptr}, &more);
  c.memo = more[0];
  return gradient;
}

Value through_data(Gradient& c) {
  const bool is_recorded = autograd::state().recording;
  Value gradient;
  if (c.head(0) && !is_recorded) gradient = all_gradients(c);
  if (!c.head(1) && gradient) return gradient;
  const Recorded recorded(c);
  if (c.head(0) && is_recorded) {
    const Value deviation = recorded.deviation(c), unit = recorded.distance / deviation;
    const Value scaled = recorded.given.fix_gamma ? c.head(0) : c.head(0) * recorded.along(c[1]);
    const Value mean = recorded.total(scaled) / recorded.places,
                product = recorded.total(scaled * unit) / recorded.places;
    gradient = (scaled - mean - unit * product) / deviation;
  }
  if (c.head(1)) {
    const auto along = [&](std::int64_t row) {
      return recorded.along(row_of(contiguous(c.head(1)), row));
    };
    const Value of_moments =
        (along(0) + recorded.distance * (along(1) * 2)) * (1 / recorded.places);
    gradient = gradient ? gradient + of_moments : of_moments;
  }
  return gradient;
}

Value through_gamma(Gradient& c) {
  if (!c.head(0) || c.parameters<Normalisation>().fix_gamma) return zeros(c, 1);
  if (autograd::state().recording) {
    const Recorded recorded(c);
    const Value unit = recorded.distance / recorded.deviation(c);
    return shaped(recorded.total(c.head(0) * unit), c.shape(1));
  }
  if (!c.memo) all_gradients(c);
  return row_of(c.memo, 1);
}

Value through_shift(Gradient& c) {
  if (!c.head(0)) return zeros(c, 2);
  if (autograd::state().recording) return shaped(Recorded(c).total(c.head(0)), c.shape(2));
  if (!c.memo) all_gradients(c);
  return row_of(c.memo, 0);
}

}  // namespace

bool has_channels(const Array& array, std::int64_t axis) {
  return (array.dtype == DType::float32 || array.dtype == DType::float64) &&
         array.layout->is_contiguous() && array.size() && axis >= 0 && axis < array.layout->rank();
}

NormalisedChannels normalise_channels(const Value& x, const Value& gamma, const Value& shift,
                                      std::int64_t axis, double epsilon, bool fix_gamma) {
  autograd::CallBuilder builder(the_op<"normalise_channels">(), false);
  const std::array<Value, 3> inputs = {x, contiguous(gamma), contiguous(shift)};
  for (const Value& input : inputs) builder.add(input);
  const lazy::Argument arguments[] = {axis, epsilon, fix_gamma};
  std::vector<autograd::Handle> more;
  Value result = builder.issue({arguments, {}, nullptr}, &more);
  const Value moments = std::move(more[0]);
  return {std::move(result), row_of(moments, 0), row_of(moments, 1)};
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
  table.add<Normalisation>(
      {.name = "normalise_channels",
       .inputs = {"data", "gamma", "shift"},
       .infer = normalise_infer,
       .kernel = normalise_kernel,
       .kernel_then = normalise_kernel_then,
       .gradients = {reading({0, 1}, {1}, through_data), reading({0, 1}, {1}, through_gamma),
                     reading({0, 1}, {1}, through_shift)}});
  table.add<Normalisation>({.name = "normalise_gradient",
                            .inputs = {"values", "data", "gamma", "moments"},
                            .infer = gradient_infer,
                            .kernel = gradient_kernel});
}

}  // namespace afterglow::ops
