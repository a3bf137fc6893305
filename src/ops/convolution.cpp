// SPDX-License-Identifier: Apache-2.0
// Convolution and its transpose. Each is the gradient of the other, and that of the weights is an
// op too, so there are gradients of any order. Ops with kernels take channels behind the batch,
// float32 and float64; the public ones bring everything else into that form.
#include "kernels/convolution.h"
#include "kernels/pixels.h"
#include "lazy/prediction.h"

#include <string>
#include <utility>

#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"
#include "ops/windows.h"

namespace afterglow::ops {
namespace {

using kernels::Space;
using kernels::Windows;

// --- ops with kernels ---

/// How windows slide: what kernels::Windows has beside the shapes.
struct Sliding {
  Shape stride, dilate, pad, extents;
  std::int64_t num_group = 1;
  static constexpr auto fields =
      std::tuple{required("stride", &Sliding::stride, "by which the window moves"),
                 required("dilate", &Sliding::dilate, "distance of its places"),
                 required("pad", &Sliding::pad, "how far the first window begins before the image"),
                 required("extents", &Sliding::extents, "of the axes of space of the result"),
                 required("num_group", &Sliding::num_group, "that the channels are divided into")};
};

/// The same, as the kernel takes it.
struct Settled {
  Space stride, dilate, pad;
  std::int64_t groups;
};

/// The axes of space of an array.
std::span<const std::int64_t> space_of(std::span<const std::int64_t> shape) {
  return shape.subspan(2);
}

Space as_space(std::span<const std::int64_t> numbers, std::int64_t missing) {
  Space space = {missing, missing, missing};
  std::ranges::copy(numbers, space.end() - std::ssize(numbers));
  return space;
}

Windows windows_of(const Settled& settled, std::span<const std::int64_t> images,
                   std::span<const std::int64_t> weights, std::span<const std::int64_t> results) {
  Windows windows;
  windows.count = images[0];
  windows.groups = settled.groups;
  windows.channels = weights[1];
  windows.filters = weights[0] / settled.groups;
  windows.image = as_space(space_of(images), 1);
  windows.result = as_space(space_of(results), 1);
  windows.kernel = as_space(space_of(weights), 1);
  windows.stride = settled.stride;
  windows.dilate = settled.dilate;
  windows.pad = settled.pad;
  return windows;
}

/// Refuses what the kernels do not take, and returns what they do.
Settled settle(const Inference& inference, const Sliding& given) {
  const Operand& first = inference.call.inputs[0];
  const std::size_t rank = given.extents.size();
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
    if (input.dtype != first.dtype) inference.refuse("needs arrays of one type", ErrorKind::type);
  }
  if (first.dtype != DType::float32 && first.dtype != DType::float64)
    inference.refuse("needs float32 or float64", ErrorKind::type);
  if (rank < 1 || rank > 3 || given.stride.size() != rank || given.dilate.size() != rank ||
      given.pad.size() != rank)
    inference.refuse("needs a number for each of one to three axes of space");
  for (const std::size_t input : {0, 1}) {
    if (inference.call.inputs[input].shape().size() != rank + 2)
      inference.refuse("needs arrays with two axes and those of space");
  }
  if (inference.call.inputs.size() > 2 && inference.call.inputs[2].shape().size() != 1)
    inference.refuse("needs a vector as bias");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (given.stride[axis] < 1 || given.dilate[axis] < 1 || given.extents[axis] < 0)
      inference.refuse("needs positive numbers");
  }
  if (given.num_group < 1) inference.refuse("needs groups");
  return {as_space(given.stride, 1), as_space(given.dilate, 1), as_space(given.pad, 0),
          given.num_group};
}

double cost_of(const Windows& windows) {
  return 500 + windows.operations() / 60;
}

/// Of the last steps, which are the same for all.
void finish(Inference& inference, const Settled& settled, const Windows& windows) {
  inference.call.settled.set(settled);
  inference.call.cost = cost_of(windows);
}

void need(const Inference& inference, bool holds) {
  if (!holds) inference.refuse("the shapes do not fit each other");
}

Shape with_space(std::int64_t batch, std::int64_t channels, std::span<const std::int64_t> space) {
  Shape shape = {batch, channels};
  shape.insert(shape.end(), space.begin(), space.end());
  return shape;
}

void convolve_infer(Inference& inference, const Sliding& given) {
  const Settled settled = settle(inference, given);
  const auto& inputs = inference.call.inputs;
  const auto images = inputs[0].shape(), weights = inputs[1].shape();
  need(inference, images[1] == settled.groups * weights[1] && weights[0] % settled.groups == 0 &&
                      (inputs.size() < 3 || inputs[2].shape()[0] == weights[0]));
  const Shape result = with_space(images[0], weights[0], given.extents);
  finish(inference, settled, windows_of(settled, images, weights, result));
  inference.call.row_axes = 2;
  inference.add_output(result, inputs[0].dtype);
}

void deconvolve_infer(Inference& inference, const Sliding& given) {
  const Settled settled = settle(inference, given);
  const auto& inputs = inference.call.inputs;
  const auto results = inputs[0].shape(), weights = inputs[1].shape();
  const std::int64_t channels = settled.groups * weights[1];
  need(inference, results[1] == weights[0] && weights[0] % settled.groups == 0 &&
                      (inputs.size() < 3 || inputs[2].shape()[0] == channels));
  const Shape images = with_space(results[0], channels, given.extents);
  finish(inference, settled, windows_of(settled, images, weights, results));
  inference.add_output(images, inputs[0].dtype);
}

void filter_gradient_infer(Inference& inference, const Sliding& given) {
  const Settled settled = settle(inference, given);
  const auto images = inference.call.inputs[0].shape(), results = inference.call.inputs[1].shape();
  need(inference, images[0] == results[0] && images[1] % settled.groups == 0 &&
                      results[1] % settled.groups == 0);
  const Shape weights = with_space(results[1], images[1] / settled.groups, given.extents);
  finish(inference, settled, windows_of(settled, images, weights, results));
  inference.add_output(weights, inference.call.inputs[0].dtype);
}

const void* bias_of(const Call& call) {
  return call.inputs.size() > 2 ? call.inputs[2].data() : nullptr;
}

std::unique_ptr<lazy::Pass> convolve_kernel_then(const Call& call, lazy::Epilogue epilogue) {
  const Operand &images = call.inputs[0], &weights = call.inputs[1], &results = call.outputs[0];
  return kernel_pass<kernels::ConvolutionPass>(
      windows_of(call.settled.get<Settled>(), images.shape(), weights.shape(), results.shape()),
      results.dtype, images.data(), weights.data(), bias_of(call), results.data(),
      std::move(epilogue));
}

std::unique_ptr<lazy::Pass> convolve_kernel(const Call& call) {
  return convolve_kernel_then(call, {});
}

std::unique_ptr<lazy::Pass> deconvolve_kernel(const Call& call) {
  const Operand &results = call.inputs[0], &weights = call.inputs[1], &images = call.outputs[0];
  return kernel_pass<kernels::TransposedConvolutionPass>(
      windows_of(call.settled.get<Settled>(), images.shape(), weights.shape(), results.shape()),
      images.dtype, results.data(), weights.data(), bias_of(call), images.data());
}

std::unique_ptr<lazy::Pass> filter_gradient_kernel(const Call& call) {
  const Operand &images = call.inputs[0], &results = call.inputs[1], &weights = call.outputs[0];
  return kernel_pass<kernels::WeightGradientPass>(
      windows_of(call.settled.get<Settled>(), images.shape(), weights.shape(), results.shape()),
      weights.dtype, images.data(), results.data(), weights.data());
}

// --- gradients ---

/// A call of one of the ops above, whose result has these axes of space.
template <class... Inputs>
Value slide(const lazy::Op& op, const Sliding& given, std::span<const std::int64_t> extents,
            const Inputs&... inputs) {
  const lazy::Argument arguments[] = {given.stride, given.dilate, given.pad,
                                      Shape(extents.begin(), extents.end()), given.num_group};
  return apply(op, arguments, contiguous(inputs)...);
}

Value convolve(const Sliding& given, const Shape& like, const Value& images, const Value& weights) {
  return slide(the_op<"convolve_images">(), given, space_of(like), images, weights);
}

/// The bias is optional. Along axes of which a window sees all at once, an image has one result: to
/// gather it at every place takes as many steps as there are places and weights. So places of such
/// axes are channels.
Value deconvolve(const Sliding& given, const Shape& like, const Value& results,
                 const Value& weights, const Value& bias = {}) {
  const Shape filters = shape_of(weights), seen = shape_of(results);
  Sliding others;
  others.num_group = 1;
  Shape order = {0, 1}, rest, images = {like[0]}, kernels = {filters[0]}, sums = {seen[0], seen[1]};
  std::int64_t together = 1;
  for (std::int64_t axis = 2; axis < std::ssize(like); ++axis) {
    const std::int64_t pad = given.pad[axis - 2];
    if (filters[axis] == like[axis] && seen[axis] == 1 && pad == 0) {
      order.push_back(axis);
      together *= like[axis];
      continue;
    }
    rest.push_back(axis);
    others.stride.push_back(given.stride[axis - 2]);
    others.dilate.push_back(given.dilate[axis - 2]);
    others.pad.push_back(pad);
  }
  if (together == 1 || given.num_group != 1) {
    if (bias)
      return slide(op_named("deconvolve_images_biased"), given, space_of(like), results, weights,
                   bias);
    return slide(the_op<"deconvolve_images">(), given, space_of(like), results, weights);
  }
  order.insert(order.end(), rest.begin(), rest.end());
  images.push_back(like[1] * together);
  kernels.push_back(filters[1] * together);
  for (const std::int64_t axis : rest) {
    images.push_back(like[axis]);
    kernels.push_back(filters[axis]);
    sums.push_back(seen[axis]);
  }
  if (rest.empty()) {
    for (Shape* shape : {&others.stride, &others.dilate, &images, &kernels, &sums})
      shape->push_back(1);
    others.pad.push_back(0);
  }
  const Value turned = shaped(contiguous(reordered(weights, order)), kernels);
  const Value found = slide(the_op<"deconvolve_images">(), others, space_of(images),
                            shaped(contiguous(results), sums), turned);
  Shape apart, back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    apart.push_back(like[order[i]]);
    back[order[i]] = static_cast<std::int64_t>(i);
  }
  Value images_apart = shaped(found, apart);
  if (bias) {
    Shape along_channels(apart.size() - 1, 1);
    along_channels[0] = apart[1];
    images_apart = images_apart + shaped(bias, along_channels);
  }
  return contiguous(reordered(images_apart, back));
}

Value filter_gradient(const Sliding& given, const Shape& like, const Value& images,
                      const Value& results) {
  return slide(the_op<"filter_gradient">(), given, space_of(like), images, results);
}

const lazy::GradientRule through_bias = reading_nothing([](Gradient& c) {
  Shape axes = {0};
  for (std::int64_t axis = 2; axis < std::ssize(c.output_shape()); ++axis) axes.push_back(axis);
  return sum(c.g, axes, false);
});

const std::vector<lazy::GradientRule> through_convolve = {
    reading({1},
            [](Gradient& c) { return deconvolve(c.parameters<Sliding>(), c.shape(0), c.g, c[1]); }),
    reading({0}, [](Gradient& c) {
      return filter_gradient(c.parameters<Sliding>(), c.shape(1), c[0], c.g);
    })};

const std::vector<lazy::GradientRule> through_deconvolve = {
    reading({1},
            [](Gradient& c) { return convolve(c.parameters<Sliding>(), c.shape(0), c.g, c[1]); }),
    reading({0}, [](Gradient& c) {
      return filter_gradient(c.parameters<Sliding>(), c.shape(1), c.g, c[0]);
    })};

const std::vector<lazy::GradientRule> through_filter_gradient = {
    reading({1},
            [](Gradient& c) { return deconvolve(c.parameters<Sliding>(), c.shape(0), c[1], c.g); }),
    reading({0},
            [](Gradient& c) { return convolve(c.parameters<Sliding>(), c.shape(1), c[0], c.g); })};

std::vector<lazy::GradientRule> and_bias(std::vector<lazy::GradientRule> rules) {
  rules.push_back(through_bias);
  return rules;
}

// --- prediction: channels last, and weights that are packed ahead ---

/// As the kernel takes shapes: channels behind the batch.
Shape channels_behind_batch(std::span<const std::int64_t> shape) {
  Shape first = {shape.front(), shape.back()};
  first.insert(first.end(), shape.begin() + 1, shape.end() - 1);
  return first;
}

Windows pixel_windows(const Settled& settled, std::span<const std::int64_t> images,
                      std::span<const std::int64_t> weights,
                      std::span<const std::int64_t> results) {
  return windows_of(settled, channels_behind_batch(images), weights,
                    channels_behind_batch(results));
}

/// What weights alone tell.
Windows filters_of(std::span<const std::int64_t> weights, std::int64_t groups) {
  Windows windows;
  windows.groups = groups;
  windows.channels = weights[1];
  windows.filters = weights[0] / groups;
  windows.kernel = as_space(space_of(weights), 1);
  return windows;
}

struct Packed {
  std::int64_t num_group = 1;
  bool winograd = false;
  static constexpr auto fields =
      std::tuple{required("num_group", &Packed::num_group, "that the channels are divided into"),
                 required("winograd", &Packed::winograd, "whether weights are spread out")};

  kernels::Packing packing() const {
    return winograd ? kernels::Packing::winograd : kernels::Packing::panels;
  }
};

void pack_infer(Inference& inference, const Packed& given) {
  const Operand& weights = inference.call.inputs[0];
  const Shape size = {kernels::packed_filters_size(filters_of(weights.shape(), given.num_group),
                                                   weights.dtype, given.packing())};
  inference.call.settled.set(given);
  inference.call.cost = 500 + static_cast<double>(weights.size());
  inference.add_output(size, weights.dtype);
}

std::unique_ptr<lazy::Pass> pack_kernel(const Call& call) {
  const Operand& weights = call.inputs[0];
  const auto settled = call.settled.get<Packed>();
  return kernel_pass<kernels::PackFiltersPass>(
      filters_of(weights.shape(), settled.num_group), weights.dtype, settled.packing(),
      weights.data(), call.inputs.size() > 1 ? call.inputs[1].data() : nullptr,
      call.outputs[0].data());
}

struct PixelSliding {
  Shape stride, dilate, pad, extents;
  std::int64_t num_group = 1;
  double low = 0, high = 0;
  static constexpr auto fields = std::tuple{
      required("stride", &PixelSliding::stride, "by which the window moves"),
      required("dilate", &PixelSliding::dilate, "distance of its places"),
      required("pad", &PixelSliding::pad, "how far the first window begins before the image"),
      required("extents", &PixelSliding::extents, "of the axes of space of the result"),
      required("num_group", &PixelSliding::num_group, "that the channels are divided into"),
      required("low", &PixelSliding::low, "than which no result is less"),
      required("high", &PixelSliding::high, "than which no result is more")};
};

struct SettledPixels {
  Settled windows;
  double low, high;
};

/// The weights themselves are there for their shape. What follows the packed ones is the bias, if
/// it is a vector, and what is added to the result, if not.
void convolve_pixels_infer(Inference& inference, const PixelSliding& given) {
  const Operand &images = inference.call.inputs[0], &weights = inference.call.inputs[1];
  const Settled settled = {as_space(given.stride, 1), as_space(given.dilate, 1),
                           as_space(given.pad, 0), given.num_group};
  Shape result = {images.shape()[0]};
  result.insert(result.end(), given.extents.begin(), given.extents.end());
  result.push_back(weights.shape()[0]);
  const Windows windows = pixel_windows(settled, images.shape(), weights.shape(), result);
  inference.call.settled.set(SettledPixels{settled, given.low, given.high});
  inference.call.cost = cost_of(windows);
  inference.call.row_axes = static_cast<int>(result.size()) - 1;
  inference.add_output(result, images.dtype);
}

std::unique_ptr<lazy::Pass> convolve_pixels_kernel_then(const Call& call, lazy::Epilogue epilogue) {
  const Operand &images = call.inputs[0], &results = call.outputs[0];
  const auto settled = call.settled.get<SettledPixels>();
  const void *bias = nullptr, *addend = nullptr;
  for (std::size_t i = 3; i < call.inputs.size(); ++i)
    (call.inputs[i].layout->rank() == 1 ? bias : addend) = call.inputs[i].data();
  return kernel_pass<kernels::PixelConvolutionPass>(
      kernels::PixelConvolution{.windows = pixel_windows(settled.windows, images.shape(),
                                                         call.inputs[1].shape(), results.shape()),
                                .dtype = results.dtype,
                                .images = images.data(),
                                .packed = call.inputs[2].data(),
                                .bias = bias,
                                .addend = addend,
                                .results = results.data(),
                                .low = settled.low,
                                .high = settled.high},
      std::move(epilogue));
}

std::unique_ptr<lazy::Pass> convolve_pixels_kernel(const Call& call) {
  return convolve_pixels_kernel_then(call, {});
}

Array predict_convolution(lazy::Prediction& prediction) {
  const Call& call = prediction.call;
  const auto settled = call.settled.get<Settled>();
  const Operand& weights = call.inputs[1];
  const Windows windows =
      windows_of(settled, call.inputs[0].shape(), weights.shape(), call.outputs[0].shape());
  // Small groups do not fill vectors.
  constexpr std::int64_t smallest_group = 8;
  if (settled.groups > 1 && !kernels::is_depthwise(windows) &&
      std::min(windows.channels, windows.filters) < smallest_group)
    return {};
  const auto axes = static_cast<std::ptrdiff_t>(weights.shape().size()) - 2;
  const auto numbers = [&](const Space& space) { return Shape(space.end() - axes, space.end()); };
  const auto extents = space_of(call.outputs[0].shape());
  const lazy::Argument sliding[] = {numbers(settled.stride), numbers(settled.dilate),
                                    numbers(settled.pad),    Shape(extents.begin(), extents.end()),
                                    settled.groups,          prediction.low,
                                    prediction.high};
  const lazy::Argument packing[] = {
      settled.groups, kernels::packing_for(windows, weights.dtype) == kernels::Packing::winograd};
  const Array &factor = prediction.factor, &shift = prediction.shift;
  const Array packed =
      factor.storage ? prediction.add(the_op<"pack_scaled_filters">(), {{weights, factor}}, packing)
                     : prediction.add(the_op<"pack_filters">(), {{weights}}, packing);
  Array bias = shift;
  if (call.inputs.size() > 2)
    bias = factor.storage
               ? prediction.add(the_op<"multiply_add">(), {{call.inputs[2], factor, shift}})
               : Array(call.inputs[2]);
  std::vector<Array> inputs = {prediction.images, weights, packed};
  for (const Array& more : {bias, prediction.addend})
    if (more.storage) inputs.push_back(more);
  return prediction.add(the_op<"convolve_pixels">(), inputs, sliding);
}

// --- public ops ---

enum class Tuning { fastest, limited_workspace, off };

constexpr auto choices(Tuning) {
  return in_order<Tuning>("fastest", "limited_workspace", "off");
}

struct Convolution {
  Shape kernel, stride, dilate, pad;
  std::int64_t num_filter = 0, num_group = 1, workspace = 1024;
  bool no_bias = false;
  std::optional<Tuning> cudnn_tune;
  bool cudnn_off = false;
  std::optional<Axes> layout;
  static constexpr auto fields = std::tuple{
      required("kernel", &Convolution::kernel, "extents of the window"),
      field("stride", &Convolution::stride, "by which the window moves; 1"),
      field("dilate", &Convolution::dilate, "distance of its places; 1"),
      field("pad", &Convolution::pad, "zeros on both sides of the data; none"),
      required("num_filter", &Convolution::num_filter, "channels of the result"),
      field("num_group", &Convolution::num_group, "that the channels are divided into"),
      field("workspace", &Convolution::workspace, "is taken and has no effect"),
      field("no_bias", &Convolution::no_bias, "whether nothing is added"),
      field("cudnn_tune", &Convolution::cudnn_tune, "is taken and has no effect"),
      field("cudnn_off", &Convolution::cudnn_off, "is taken and has no effect"),
      field("layout", &Convolution::layout, "the order of the axes; channels behind the batch")};
};

/// Refuses what is wrong of any windows, whatever the data.
template <class Parameters>
void check_windows(const Completion& completion, const Parameters& given, const Shape& stride,
                   const Shape& dilate) {
  const std::size_t rank = given.kernel.size();
  if (rank < 1 || rank > 3)
    completion.refuse("kernel is " + to_string(given.kernel) + "; it needs one to three numbers");
  if (given.layout && space_axes(*given.layout) != rank)
    completion.refuse("the layout has " + std::to_string(space_axes(*given.layout)) +
                      " axes of space; the kernel " + to_string(given.kernel) + " needs " +
                      std::to_string(rank));
  need_positive(completion, "kernel", given.kernel);
  need_positive(completion, "stride", stride);
  need_positive(completion, "dilate", dilate);
  need_positive(completion, "num_filter", given.num_filter);
  need_positive(completion, "num_group", given.num_group);
  if (given.num_filter % given.num_group)
    completion.refuse("num_filter is " + std::to_string(given.num_filter) +
                      "; it must be a multiple of num_group, " + std::to_string(given.num_group));
}

/// The channels of a group; -1 where they are not known.
std::int64_t channels_of_group(const Completion& completion, const Image& image,
                               std::int64_t groups) {
  if (image.channels < 0) return -1;
  if (image.channels % groups)
    completion.refuse("data of shape " + to_string(*completion.shapes[0]) + " has " +
                      std::to_string(image.channels) +
                      " channels; they must be a multiple of num_group, " + std::to_string(groups));
  return image.channels / groups;
}

void complete_convolution(Completion& completion, const Convolution& given) {
  const Shape &kernel = given.kernel,
              stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
              dilate = for_each_axis(completion, "dilate", given.dilate, kernel, 1),
              pad = for_each_axis(completion, "pad", given.pad, kernel, 0);
  check_windows(completion, given, stride, dilate);
  Image image(completion, kernel, channels_last(given.layout));
  const std::int64_t inner = channels_of_group(completion, image, given.num_group);
  completion.shapes[1] = image.shape_of(given.num_filter, inner, kernel);
  completion.shapes[2] = Shape{given.num_filter};
  if (!completion.shapes[0]) return;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (image.space[i] < 0) continue;
    const std::int64_t left = image.space[i] + 2 * pad[i] - dilate[i] * (kernel[i] - 1) - 1;
    if (left < 0)
      completion.refuse("the kernel " + to_string(kernel) + " with dilate " + to_string(dilate) +
                        " and pad " + to_string(pad) + " exceeds data of shape " +
                        to_string(*completion.shapes[0]));
    image.space[i] = left / stride[i] + 1;
  }
  completion.results = {image.shape(given.num_filter)};
}

struct Deconvolution {
  Shape kernel, stride, dilate, pad, adj, target_shape;
  std::int64_t num_filter = 0, num_group = 1, workspace = 512;
  bool no_bias = true;
  std::optional<Tuning> cudnn_tune;
  bool cudnn_off = false;
  std::optional<Axes> layout;
  static constexpr auto fields = std::tuple{
      required("kernel", &Deconvolution::kernel, "extents of the window"),
      field("stride", &Deconvolution::stride, "by which the window moves; 1"),
      field("dilate", &Deconvolution::dilate, "distance of its places; 1"),
      field("pad", &Deconvolution::pad, "places cut from both sides of the result; none"),
      field("adj", &Deconvolution::adj, "places added to one side of it; none"),
      field("target_shape", &Deconvolution::target_shape, "of the result, instead of both"),
      required("num_filter", &Deconvolution::num_filter, "channels of the result"),
      field("num_group", &Deconvolution::num_group, "that the channels are divided into"),
      field("workspace", &Deconvolution::workspace, "is taken and has no effect"),
      field("no_bias", &Deconvolution::no_bias, "whether nothing is added"),
      field("cudnn_tune", &Deconvolution::cudnn_tune, "is taken and has no effect"),
      field("cudnn_off", &Deconvolution::cudnn_off, "is taken and has no effect"),
      field("layout", &Deconvolution::layout, "the order of the axes; channels behind the batch")};
};

/// The extents of the result of a transposed convolution, and what is cut from its first side.
struct Placement {
  Shape pad, extents;
};

Placement placement_of(const Completion& completion, const Deconvolution& given,
                       const Shape& space) {
  const Shape &kernel = given.kernel,
              stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
              dilate = for_each_axis(completion, "dilate", given.dilate, kernel, 1),
              adjust = for_each_axis(completion, "adj", given.adj, kernel, 0),
              target = for_each_axis(completion, "target_shape", given.target_shape, kernel, 0);
  Placement placement = {for_each_axis(completion, "pad", given.pad, kernel, 0), space};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::int64_t added = adjust[i];
    if (space[i] < 0) {
      if (target[i] > 0) placement.extents[i] = target[i];
      continue;
    }
    const std::int64_t all = stride[i] * (space[i] - 1) + dilate[i] * (kernel[i] - 1) + 1;
    if (target[i] > 0) {
      if (target[i] > all)
        completion.refuse("target_shape is " + to_string(target) + "; data of shape " +
                          to_string(*completion.shapes[0]) + " gives at most " +
                          std::to_string(all) + " places along axis " + std::to_string(i) +
                          " of space");
      const std::int64_t cut = all - target[i];
      added = cut % 2;
      placement.pad[i] = (cut + 1) / 2;
    }
    if (added < 0 || added >= stride[i])
      completion.refuse("the result would get " + std::to_string(added) +
                        " places more on one side; that must be less than the stride, " +
                        to_string(stride));
    placement.extents[i] = all - 2 * placement.pad[i] + added;
    if (placement.extents[i] < 1)
      completion.refuse("the pad " + to_string(placement.pad) +
                        " leaves nothing of data of shape " + to_string(*completion.shapes[0]));
  }
  return placement;
}

void complete_deconvolution(Completion& completion, const Deconvolution& given) {
  const Shape &kernel = given.kernel,
              stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
              dilate = for_each_axis(completion, "dilate", given.dilate, kernel, 1);
  check_windows(completion, given, stride, dilate);
  Image image(completion, kernel, channels_last(given.layout));
  channels_of_group(completion, image, given.num_group);
  completion.shapes[1] = image.shape_of(image.channels, given.num_filter / given.num_group, kernel);
  completion.shapes[2] = Shape{given.num_filter};
  if (!completion.shapes[0]) return;
  image.space = placement_of(completion, given, image.space).extents;
  completion.results = {image.shape(given.num_filter)};
}

/// What `complete` says of the inputs given; refuses those that do not fit it.
template <class Parameters>
Completion checked(const Composition& c, const Parameters& given,
                   void (*complete)(Completion&, const Parameters&)) {
  if (static_cast<bool>(c[2]) == given.no_bias)
    c.refuse(given.no_bias ? "takes no bias with no_bias" : "needs a bias, or no_bias",
             ErrorKind::type);
  Completion completion{c.op(), {}, {shape_of(c[0]), {}, {}}};
  complete(completion, given);
  for (std::size_t i = 0; i < (given.no_bias ? 2 : 3); ++i) {
    if (shape_of(c[i]) != *completion.shapes[i])
      c.refuse(std::string(c.op().inputs[i]) + " needs shape " + to_string(*completion.shapes[i]));
    if (c[i].array.dtype != c[0].array.dtype)
      c.refuse("inputs must have the same type; convert one with astype");
  }
  if (!is_floating(c[0].array.dtype)) c.refuse("is defined for floats", ErrorKind::type);
  return completion;
}

Sliding sliding_of(const Completion& completion, const auto& given, Shape pad, Shape extents) {
  return {for_each_axis(completion, "stride", given.stride, given.kernel, 1),
          for_each_axis(completion, "dilate", given.dilate, given.kernel, 1), std::move(pad),
          std::move(extents), given.num_group};
}

/// What `make` makes of the inputs in the form that kernels take, back in the form of the inputs.
template <class Make>
Value in_form_of_kernels(const Composition& c, bool last, const Make& make) {
  const DType dtype = c[0].array.dtype;
  const auto channels = static_cast<std::int64_t>(shape_of(c[0]).size()) - 1;
  Shape first_order = {0, channels}, last_order = {0};
  for (std::int64_t axis = 1; axis < channels; ++axis) {
    first_order.push_back(axis);
    last_order.push_back(axis + 1);
  }
  last_order.push_back(1);
  const auto taken = [&](const Value& x) {
    const Value wide = in_type(x, compute_type(dtype));
    return last ? Value(copy(reordered(wide, first_order))) : wide;
  };
  const Value narrow = in_type(
      make(taken(c[0]), taken(c[1]), c[2] ? in_type(c[2], compute_type(dtype)) : Value()), dtype);
  return last ? Value(copy(reordered(narrow, last_order))) : narrow;
}

/// The axes of space of a result.
Shape space_of(const Shape& result, bool last) {
  return {result.begin() + (last ? 1 : 2), result.end() - (last ? 1 : 0)};
}

/// Whether large windows see all of an image, each once: a product of matrices, in any layout.
bool sees_everything(const Composition& c, const Convolution& given) {
  constexpr std::int64_t large = 64;
  const Shape data = shape_of(c[0]), weight = shape_of(c[1]);
  return given.num_group == 1 && element_count(given.kernel) >= large &&
         std::ranges::all_of(given.pad, [](std::int64_t pad) { return pad == 0; }) &&
         std::ranges::equal(data.begin() + 1, data.end(), weight.begin() + 1, weight.end());
}

Value product_of_all(const Composition& c, const Shape& result) {
  const DType dtype = c[0].array.dtype;
  const auto rows = [&](const Value& x) {
    const Shape shape = shape_of(x);
    const Value wide = in_type(x, compute_type(dtype));
    return shaped(wide, {shape[0], element_count(Shape(shape.begin() + 1, shape.end()))});
  };
  Value sums = dot(rows(c[0]), rows(c[1]), false, true);
  if (c[2]) sums = sums + in_type(c[2], compute_type(dtype));
  return shaped(in_type(sums, dtype), result);
}

Value convolution(Composition& c, const Convolution& given) {
  const Completion completion = checked(c, given, complete_convolution);
  if (sees_everything(c, given)) return product_of_all(c, completion.results[0]);
  const bool last = channels_last(given.layout);
  const Sliding sliding =
      sliding_of(completion, given, for_each_axis(completion, "pad", given.pad, given.kernel, 0),
                 space_of(completion.results[0], last));
  return in_form_of_kernels(
      c, last, [&](const Value& data, const Value& weight, const Value& bias) {
        if (bias)
          return slide(the_op<"convolve_images_biased">(), sliding, sliding.extents, data, weight,
                       bias);
        return slide(the_op<"convolve_images">(), sliding, sliding.extents, data, weight);
      });
}

Value deconvolution(Composition& c, const Deconvolution& given) {
  const Completion completion = checked(c, given, complete_deconvolution);
  const bool last = channels_last(given.layout);
  Placement placement = placement_of(completion, given, space_of(*completion.shapes[0], last));
  const Sliding sliding =
      sliding_of(completion, given, std::move(placement.pad), std::move(placement.extents));
  return in_form_of_kernels(
      c, last, [&](const Value& data, const Value& weight, const Value& bias) {
        const Shape images = with_space(shape_of(data)[0], given.num_filter, sliding.extents);
        return deconvolve(sliding, images, data, weight, bias);
      });
}

}  // namespace

void declare_convolution(Table& table) {
  table.add<Sliding>({.name = "convolve_images",
                      .inputs = {"images", "weights"},
                      .infer = convolve_infer,
                      .kernel = convolve_kernel,
                      .kernel_then = convolve_kernel_then,
                      .predict = predict_convolution,
                      .gradients = through_convolve});
  table.add<Sliding>({.name = "convolve_images_biased",
                      .inputs = {"images", "weights", "bias"},
                      .infer = convolve_infer,
                      .kernel = convolve_kernel,
                      .kernel_then = convolve_kernel_then,
                      .predict = predict_convolution,
                      .gradients = and_bias(through_convolve)});
  table.add<Packed>(
      {.name = "pack_filters", .inputs = {"weights"}, .infer = pack_infer, .kernel = pack_kernel});
  table.add<Packed>({.name = "pack_scaled_filters",
                     .inputs = {"weights", "factor"},
                     .infer = pack_infer,
                     .kernel = pack_kernel});
  table.add<PixelSliding>({.name = "convolve_pixels",
                           .inputs = {"images", "weights", "packed", "added"},
                           .variadic = true,
                           .infer = convolve_pixels_infer,
                           .kernel = convolve_pixels_kernel,
                           .kernel_then = convolve_pixels_kernel_then});
  table.add<Sliding>({.name = "deconvolve_images",
                      .inputs = {"results", "weights"},
                      .infer = deconvolve_infer,
                      .kernel = deconvolve_kernel,
                      .gradients = through_deconvolve});
  table.add<Sliding>({.name = "deconvolve_images_biased",
                      .inputs = {"results", "weights", "bias"},
                      .infer = deconvolve_infer,
                      .kernel = deconvolve_kernel,
                      .gradients = and_bias(through_deconvolve)});
  table.add<Sliding>({.name = "filter_gradient",
                      .inputs = {"images", "results"},
                      .infer = filter_gradient_infer,
                      .kernel = filter_gradient_kernel,
                      .gradients = through_filter_gradient});
  table.compose<Convolution>(
      {.name = "Convolution",
       .mxnet_names = {"Convolution", "_npx_convolution"},
       .doc = R"(Return the sums of what a window sees of ``data`` times ``weight``, plus ``bias``.

The window, one for each filter, moves over one, two or three axes of space. ``data`` has the batch,
the channels and those axes, in the order of ``layout``; ``weight`` has a window for each channel of
its group.

>>> x = nd.array([[[1, 2, 4, 8]]])
>>> nd.Convolution(x, nd.array([[[1, 10]]]), nd.array([100]), kernel=(2,), num_filter=1)
<BLANKLINE>
[[[121. 142. 184.]]]
<NDArray 1x1x3 @cpu(0)>

>>> x, weight = np.ones((1, 3, 8, 8)), np.ones((6, 3, 3, 3))
>>> npx.convolution(x, weight, kernel=(3, 3), num_filter=6, pad=(1, 1), no_bias=True).shape
(1, 6, 8, 8))",
       .inputs = {"data", "weight", "bias"},
       .optional_inputs = 1,
       .compose = convolution,
       .complete = complete_convolution,
       .node = [](NodeForm& node, const Convolution& given) { node.inputs[2] = !given.no_bias; }});
  table.compose<Deconvolution>(
      {.name = "Deconvolution",
       .mxnet_names = {"Deconvolution", "_npx_deconvolution"},
       .doc = R"(Return the transpose of a convolution: each place spreads ``weight`` over a window.

The result is as large as the data of a convolution that gives ``data``: the windows side by side,
less ``pad`` on both sides, plus ``adj`` on one; or ``target_shape``.

>>> nd.Deconvolution(nd.array([[[1, 2]]]), nd.array([[[1, 10]]]), kernel=(2,), num_filter=1)
<BLANKLINE>
[[[ 1. 12. 20.]]]
<NDArray 1x1x3 @cpu(0)>

>>> x, weight = np.ones((1, 6, 4, 4)), np.ones((6, 3, 2, 2))
>>> npx.deconvolution(x, weight, kernel=(2, 2), num_filter=3, stride=(2, 2)).shape
(1, 3, 8, 8))",
       .inputs = {"data", "weight", "bias"},
       .optional_inputs = 1,
       .compose = deconvolution,
       .complete = complete_deconvolution,
       .node = [](NodeForm& node, const Deconvolution& given) {
         node.inputs[2] = !given.no_bias;
       }});
}

}  // namespace afterglow::ops
