// SPDX-License-Identifier: Apache-2.0
// Images as files have them: height, width and channels, alone or with a batch in front.
#include "ops/images.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "kernels/colours.h"
#include "kernels/rescale.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/seen.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

constexpr std::string_view needs_images =
    "needs an image of height, width and channels, or a batch of them";

/// Where the height of such images stands.
std::size_t height_axis(const auto& call, int rank) {
  if (rank != 3 && rank != 4) call.refuse(std::string(needs_images));
  return static_cast<std::size_t>(rank - 3);
}

struct Nothing {
  static constexpr std::tuple<> fields = {};
};

// --- tensors: channels first, from 0 to 1 ---

Value to_tensor(Composition& c, const Nothing&) {
  const Value& x = c[0];
  const auto height = static_cast<std::int64_t>(height_axis(c, rank_of(x)));
  Shape order = {height + 2, height, height + 1};
  if (height) order.insert(order.begin(), 0);
  const bool is_wide = is_floating(x.array.dtype) && x.array.dtype != DType::float32;
  return reordered(is_wide ? copy(x, DType::float32) : x, order) / 255.0;
}

struct Normalize {
  std::vector<double> mean = {0}, std = {1};
  static constexpr auto fields =
      std::tuple{field("mean", &Normalize::mean, "is taken away: one number, or one per channel"),
                 field("std", &Normalize::std, "divides the rest: one number, or one per channel")};
};

void normalize_infer(Inference& inference, const Normalize& given) {
  Call& call = inference.call;
  const Operand data = call.inputs[0];
  if (data.is_immediate() || (data.layout->rank() != 3 && data.layout->rank() != 4))
    inference.refuse("needs channels, height and width, or a batch of them");
  if (!data.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  if (data.dtype == DType::boolean) inference.refuse("needs numbers", ErrorKind::type);
  const auto shape = data.shape();
  const std::int64_t channels = shape[shape.size() - 3];
  kernels::Normalizing settled = {};
  settled.channels = channels;
  settled.length = shape[shape.size() - 2] * shape[shape.size() - 1];
  settled.planes = settled.length ? data.size() / settled.length : 0;
  const auto settle = [&](const char* name, const std::vector<double>& numbers, double* into) {
    if (numbers.size() != 1 && std::ssize(numbers) != channels)
      inference.refuse(std::string(name) + " has " + std::to_string(numbers.size()) +
                       " numbers; it needs one, or one for each of " + std::to_string(channels) +
                       " channels");
    if (std::ssize(numbers) > kernels::Normalizing::most_channels)
      inference.refuse(std::string(name) + " must not have more than " +
                       std::to_string(kernels::Normalizing::most_channels) + " numbers");
    for (std::size_t i = 0; i < kernels::Normalizing::most_channels; ++i)
      into[i] = numbers[std::min(i, numbers.size() - 1)];
  };
  settle("mean", given.mean, settled.means);
  settle("std", given.std, settled.deviations);
  // One number for all channels, however many there are.
  if (given.mean.size() == 1 && given.std.size() == 1) settled.channels = 1;
  inference.add_output(shape, data.dtype);
  call.settled.set(settled);
  call.cost = 200 + 0.3 * static_cast<double>(data.size());
}

std::unique_ptr<lazy::Pass> normalize_kernel(const Call& call) {
  return kernel_pass<kernels::NormalizePass>(call.settled.get<kernels::Normalizing>(),
                                             call.inputs[0].dtype, call.inputs[0].data(),
                                             call.outputs[0].data());
}

Value normalize_gradient(Gradient& c) {
  const Normalize through = {{0}, c.parameters<Normalize>().std};
  return apply(the_op<"image_normalize">(), lazy::write_arguments(through), contiguous(c.g));
}

// --- parts and sizes ---

struct Crop {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  static constexpr auto fields = std::tuple{required("x", &Crop::x, "the first column"),
                                            required("y", &Crop::y, "the first row"),
                                            required("width", &Crop::width, "of the part"),
                                            required("height", &Crop::height, "of the part")};
};

Part crop(const Viewed& x, const Crop& given) {
  const std::size_t axis = height_axis(x, x.layout.rank());
  Part part = whole(x.layout);
  const std::int64_t begins[] = {given.y, given.x}, extents[] = {given.height, given.width};
  for (std::size_t i = 0; i < 2; ++i) {
    if (extents[i] <= 0 || begins[i] < 0 || begins[i] > part.shape[axis + i] - extents[i])
      x.refuse("the part from (" + std::to_string(given.x) + ", " + std::to_string(given.y) +
               "), " + std::to_string(given.width) + " wide and " + std::to_string(given.height) +
               " high, must lie within the image");
    part.offset += begins[i] * part.strides[axis + i];
    part.shape[axis + i] = extents[i];
  }
  return part;
}

struct Resize {
  Shape size;
  bool keep_ratio = false;
  std::int64_t interp = 1;
  static constexpr auto fields = std::tuple{
      field("size", &Resize::size, "(width, height), or one number for both"),
      field("keep_ratio", &Resize::keep_ratio,
            "whether one number is for the shorter side, and the other keeps its ratio to it"),
      field("interp", &Resize::interp,
            "0: the nearest pixel, 1: bilinear, 2: bicubic, 3: the mean of an area, 4: Lanczos")};
};

void resize_infer(Inference& inference, const Resize& given) {
  Call& call = inference.call;
  const Operand data = call.inputs[0];
  if (data.is_immediate()) inference.refuse(std::string(needs_images), ErrorKind::type);
  const std::size_t axis = height_axis(inference, data.layout->rank());
  if (!data.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  if (given.interp < 0 || given.interp > 4)
    inference.refuse("interp is " + std::to_string(given.interp) + "; it must be 0 to 4");
  const auto interpolation = static_cast<kernels::Interpolation>(given.interp);
  const bool has_kernel =
      data.dtype == DType::uint8 || data.dtype == DType::float32 || data.dtype == DType::float64;
  if (!has_kernel && interpolation != kernels::Interpolation::nearest)
    inference.refuse("needs uint8, float32 or float64", ErrorKind::type);
  const std::int64_t height = data.shape()[axis], width = data.shape()[axis + 1];
  if (!height || !width) inference.refuse("needs images with a height and a width");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const bool is_size = given.size.size() == 1 || given.size.size() == 2;
  for (std::size_t i = 0; i < given.size.size() || !is_size; ++i)
    if (!is_size || given.size[i] < 1 || given.size[i] > most)
      inference.refuse("size is " + to_string(given.size) +
                       "; it must be one or two positive numbers, width and height");
  Shape result(data.shape().begin(), data.shape().end());
  std::int64_t &rows = result[axis], &columns = result[axis + 1];
  rows = given.size.back();
  columns = given.size.front();
  if (given.size.size() == 1 && given.keep_ratio)
    (height > width ? rows : columns) =
        std::max(height, width) * given.size[0] / std::min(height, width);
  inference.add_output(result, data.dtype);
  call.settled.set(interpolation);
  call.cost = 500 + 2 * static_cast<double>(call.outputs[0].size() + data.size());
}

std::unique_ptr<lazy::Pass> resize_kernel(const Call& call) {
  const auto from = call.inputs[0].shape(), to = call.outputs[0].shape();
  const std::size_t axis = from.size() - 3;
  const kernels::Rescaling rescaling = {axis ? from[0] : 1,
                                        from[axis],
                                        from[axis + 1],
                                        from[axis + 2],
                                        to[axis],
                                        to[axis + 1],
                                        call.settled.get<kernels::Interpolation>()};
  return kernel_pass<kernels::RescalePass>(rescaling, call.inputs[0].dtype, call.inputs[0].data(),
                                           call.outputs[0].data());
}

// --- left and right, top and bottom ---

enum class Side { top, left };

template <Side side>
Part flip(const Viewed& x, const Nothing&) {
  const auto axis = static_cast<std::int64_t>(height_axis(x, x.layout.rank()));
  return reversed(x.layout, {axis + static_cast<std::int64_t>(side)});
}

/// So many numbers from 0 to 1 for each image, after the others of the program.
Value drawn(const char* op, const Value& x, Shape shape, double first, double second) {
  const lazy::Argument arguments[] = {first, second, std::move(shape),
                                      static_cast<std::int64_t>(DType::float32)};
  autograd::CallBuilder builder(op_named(op), false);
  return builder.issue({arguments, x.array.context(), nullptr});
}

std::int64_t count_images(const Value& x) {
  return rank_of(x) == 4 ? x.array.shape()[0] : 1;
}

/// Half of the images.
template <Side side>
Value random_flip(Composition& c, const Nothing&) {
  const auto axis = static_cast<std::int64_t>(height_axis(c, rank_of(c[0])));
  Shape shape(static_cast<std::size_t>(rank_of(c[0])), 1);
  shape[0] = count_images(c[0]);
  const Value numbers = drawn("fill_uniform", c[0], shape, 0.0, 1.0);
  return where(numbers < 0.5, reversed(c[0], {axis + static_cast<std::int64_t>(side)}), c[0]);
}

// --- colours ---

kernels::ColourImages colours_of(const Operand& data) {
  const auto channels = static_cast<int>(data.shape().back());
  const std::int64_t images = data.layout->rank() == 4 ? data.shape()[0] : 1;
  return {images, images ? data.size() / channels / images : 0, channels, data.dtype};
}

/// Of changes and light: images and, for each of them, a row of numbers.
void colours_infer(Inference& inference, std::int64_t numbers, double cost) {
  Call& call = inference.call;
  const Operand data = call.inputs[0];
  inference.add_output(data.shape(), data.dtype);
  const kernels::ColourImages images = colours_of(data);
  if (call.inputs[1].size() != images.images * numbers)
    inference.refuse("needs " + std::to_string(numbers) + " numbers for each image");
  call.cost = 300 + cost * static_cast<double>(data.size());
}

struct ChangeColours {
  Shape changes;
  std::vector<double> lows, highs;
  bool shuffles = false;
  static constexpr auto fields = std::tuple{
      required("changes", &ChangeColours::changes, "by their numbers"),
      required("lows", &ChangeColours::lows, "the least factors"),
      required("highs", &ChangeColours::highs, "the greatest factors"),
      field("shuffles", &ChangeColours::shuffles, "whether their order is drawn as well")};
};

void change_colours_infer(Inference& inference, const ChangeColours& given) {
  kernels::ColourPlan plan = {};
  plan.count = static_cast<int>(given.changes.size());
  plan.is_shuffled = given.shuffles;
  for (std::size_t i = 0; i < given.changes.size(); ++i) {
    plan.changes[i] = static_cast<kernels::ColourChange>(given.changes[i]);
    plan.lows[i] = static_cast<float>(given.lows[i]);
    plan.highs[i] = static_cast<float>(given.highs[i]);
  }
  colours_infer(inference, plan.draws(), 1.5 * plan.count);
  inference.call.settled.set(plan);
}

std::unique_ptr<lazy::Pass> change_colours_kernel(const Call& call) {
  return kernel_pass<kernels::ColourPass>(
      call.settled.get<kernels::ColourPlan>(), colours_of(call.inputs[0]), call.inputs[0].data(),
      reinterpret_cast<const float*>(call.inputs[1].data()), call.outputs[0].data());
}

void add_light_infer(Inference& inference, const Nothing&) {
  colours_infer(inference, 3, 1);
}

std::unique_ptr<lazy::Pass> add_light_kernel(const Call& call) {
  return kernel_pass<kernels::LightPass>(colours_of(call.inputs[0]), call.inputs[0].data(),
                                         reinterpret_cast<const float*>(call.inputs[1].data()),
                                         call.outputs[0].data());
}

/// As in MXNet the gradient passes through: what is drawn is noise, not part of what is learned.
const std::vector<lazy::GradientRule> passes_through = {
    reading_nothing([](Gradient& c) { return c.g; }), no_gradient};

/// An image, or several, of one or three colours without gaps.
Value need_colours(const Composition& c) {
  height_axis(c, rank_of(c[0]));
  const std::int64_t channels = c[0].array.shape().back();
  if (channels != 1 && channels != 3) c.refuse(std::string(needs_images) + ", of 1 or 3 channels");
  if (c[0].array.dtype == DType::boolean) c.refuse("needs numbers", ErrorKind::type);
  return contiguous(c[0]);
}

Value changed(const Composition& c, const ChangeColours& changes) {
  const Value x = need_colours(c);
  const auto count = std::ssize(changes.changes);
  if (!count) return copy(x);
  const std::int64_t draws = changes.shuffles ? 2 * count : count;
  const Value numbers = drawn("fill_uniform", x, {count_images(x), draws}, 0.0, 1.0);
  return apply(the_op<"change_colours">(), lazy::write_arguments(changes), x, numbers);
}

struct RandomFactor {
  double min_factor = 0, max_factor = 0;
  static constexpr auto fields =
      std::tuple{required("min_factor", &RandomFactor::min_factor, "the least factor"),
                 required("max_factor", &RandomFactor::max_factor, "the greatest factor")};
};

template <kernels::ColourChange change>
Value random_change(Composition& c, const RandomFactor& given) {
  if (!(given.min_factor >= 0 && given.max_factor >= 0))
    c.refuse("the factors are " + std::to_string(given.min_factor) + " and " +
             std::to_string(given.max_factor) + "; they must not be negative");
  return changed(c, {{static_cast<std::int64_t>(change)}, {given.min_factor}, {given.max_factor}});
}

struct Jitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
  static constexpr auto fields =
      std::tuple{required("brightness", &Jitter::brightness, "how far its factor may be from 1"),
                 required("contrast", &Jitter::contrast, "how far its factor may be from 1"),
                 required("saturation", &Jitter::saturation, "how far its factor may be from 1"),
                 required("hue", &Jitter::hue, "how far it may be turned, in parts of the circle")};
};

Value random_colour_jitter(Composition& c, const Jitter& given) {
  const double reaches[] = {given.brightness, given.contrast, given.saturation, given.hue};
  ChangeColours changes = {.changes = {}, .lows = {}, .highs = {}, .shuffles = true};
  for (std::int64_t change = 0; change < kernels::colour_changes; ++change) {
    const double reach = reaches[change];
    if (!(reach > 0)) continue;
    const double middle = change == static_cast<int>(kernels::ColourChange::hue) ? 0 : 1;
    changes.changes.push_back(change);
    changes.lows.push_back(middle - reach);
    changes.highs.push_back(middle + reach);
  }
  return changed(c, changes);
}

Value lit(const Composition& c, const auto& strengths) {
  const Value x = need_colours(c);
  if (x.array.shape().back() == 1) return copy(x);
  return apply(the_op<"add_light">(), {}, x, strengths(x));
}

struct AdjustLighting {
  std::vector<double> alpha;
  static constexpr auto fields = std::tuple{
      required("alpha", &AdjustLighting::alpha, "three strengths, one for each direction")};
};

Value adjust_lighting(Composition& c, const AdjustLighting& given) {
  if (given.alpha.size() < 3)
    c.refuse("alpha has " + std::to_string(given.alpha.size()) + " numbers; 3 are needed");
  return lit(c, [&](const Value& x) {
    const std::int64_t images = count_images(x);
    std::vector<Value> columns;
    for (std::size_t i = 0; i < 3; ++i)
      columns.push_back(full(given.alpha[i], {images, 1}, DType::float32, x.array.context()));
    return concat(columns, 1);
  });
}

struct RandomLighting {
  double alpha_std = 0.05;
  static constexpr auto fields = std::tuple{
      field("alpha_std", &RandomLighting::alpha_std, "the standard deviation of the strengths")};
};

Value random_lighting(Composition& c, const RandomLighting& given) {
  return lit(c, [&](const Value& x) {
    return drawn("fill_normal", x, {count_images(x), 3}, 0.0, std::abs(given.alpha_std));
  });
}

}  // namespace

void declare_images(Table& table) {
  using kernels::ColourChange;
  table.compose<Nothing>(
      {.name = "image_to_tensor",
       .mxnet_names = {"_image_to_tensor", "_npx__image_to_tensor"},
       .doc = R"(Return images as float32 with channels first, from 0 to 1 where bytes go to 255.

>>> nd.image.to_tensor(nd.full((4, 2, 3), 51, dtype='uint8')).shape
(3, 4, 2)
>>> npx.image.to_tensor(np.full((1, 1, 1), 51, dtype='uint8'))
array([[[0.2]]]))",
       .inputs = {"data"},
       .compose = to_tensor,
       .in_graphs = {.nd_type = DType::float32, .np_type = DType::float32}});
  table.add<Normalize>(
      {.name = "image_normalize",
       .mxnet_names = {"_image_normalize", "_npx__image_normalize"},
       .doc =
           R"(Return tensors with channels first, less the means and by the deviations of channels.

>>> nd.image.normalize(nd.ones((3, 1, 1)), mean=(0, 1, 2), std=(1, 2, 4)).asnumpy().ravel()
array([ 1.  ,  0.  , -0.25], dtype=float32))",
       .inputs = {"data"},
       .infer = normalize_infer,
       .kernel = normalize_kernel,
       .gradients = {reading_nothing(normalize_gradient)},
       .in_graphs = {.alike = true}});
  table.add(seen<Crop, crop>({.name = "image_crop",
                              .mxnet_names = {"_image_crop", "_npx__image_crop"},
                              .doc = R"(Return a part of images.

>>> nd.image.crop(nd.zeros((4, 6, 3)), x=1, y=0, width=5, height=2).shape
(2, 5, 3))",
                              .inputs = {"data"}}));
  table.add<Resize>({.name = "image_resize",
                     .mxnet_names = {"_image_resize", "_npx__image_resize"},
                     .doc = R"(Return images in another size, with the pixels that OpenCV finds.

>>> nd.image.resize(nd.zeros((4, 6, 3)), size=(3, 2)).shape
(2, 3, 3)
>>> nd.image.resize(nd.zeros((4, 6, 3)), size=8, keep_ratio=True).shape
(8, 12, 3))",
                     .inputs = {"data"},
                     .infer = resize_infer,
                     .kernel = resize_kernel});
  table.add(seen<Nothing, flip<Side::left>>(
      {.name = "image_flip_left_right",
       .mxnet_names = {"_image_flip_left_right", "_npx__image_flip_left_right"},
       .doc = R"(Return images mirrored, so that left is right.

>>> nd.image.flip_left_right(nd.arange(3).reshape((1, 3, 1))).asnumpy().ravel()
array([2., 1., 0.], dtype=float32))",
       .inputs = {"data"}}));
  table.add(seen<Nothing, flip<Side::top>>(
      {.name = "image_flip_top_bottom",
       .mxnet_names = {"_image_flip_top_bottom", "_npx__image_flip_top_bottom"},
       .doc = R"(Return images mirrored, so that top is bottom.

>>> nd.image.flip_top_bottom(nd.arange(3).reshape((3, 1, 1))).asnumpy().ravel()
array([2., 1., 0.], dtype=float32))",
       .inputs = {"data"}}));
  table.compose<Nothing>(
      {.name = "image_random_flip_left_right",
       .mxnet_names = {"_image_random_flip_left_right", "_npx__image_random_flip_left_right"},
       .doc = R"(Return images of which half are mirrored, so that left is right.

>>> nd.image.random_flip_left_right(nd.zeros((8, 4, 5, 3))).shape
(8, 4, 5, 3))",
       .inputs = {"data"},
       .compose = random_flip<Side::left>,
       .in_graphs = {.alike = true}});
  table.compose<Nothing>(
      {.name = "image_random_flip_top_bottom",
       .mxnet_names = {"_image_random_flip_top_bottom", "_npx__image_random_flip_top_bottom"},
       .doc = R"(Return images of which half are mirrored, so that top is bottom.

>>> nd.image.random_flip_top_bottom(nd.zeros((8, 4, 5, 3))).shape
(8, 4, 5, 3))",
       .inputs = {"data"},
       .compose = random_flip<Side::top>,
       .in_graphs = {.alike = true}});

  table.add<ChangeColours>({.name = "change_colours",
                            .inputs = {"data", "draws"},
                            .infer = change_colours_infer,
                            .kernel = change_colours_kernel,
                            .gradients = passes_through});
  table.add<Nothing>({.name = "add_light",
                      .inputs = {"data", "strengths"},
                      .infer = add_light_infer,
                      .kernel = add_light_kernel,
                      .gradients = passes_through});
  table.compose<RandomFactor>(
      {.name = "image_random_brightness",
       .mxnet_names = {"_image_random_brightness", "_npx__image_random_brightness"},
       .doc = R"(Return images that are brighter or darker by a factor, drawn for each.

>>> nd.image.random_brightness(nd.ones((1, 1, 3)), 2, 2).asnumpy().ravel()
array([2., 2., 2.], dtype=float32))",
       .inputs = {"data"},
       .compose = random_change<ColourChange::brightness>,
       .in_graphs = {.alike = true}});
  table.compose<RandomFactor>(
      {.name = "image_random_contrast",
       .mxnet_names = {"_image_random_contrast", "_npx__image_random_contrast"},
       .doc =
           R"(Return images whose colours differ from their mean grey by a factor, drawn for each.

>>> nd.image.random_contrast(nd.arange(3).reshape((3, 1, 1)), 2, 2).asnumpy().ravel()
array([-1.,  1.,  3.], dtype=float32))",
       .inputs = {"data"},
       .compose = random_change<ColourChange::contrast>,
       .in_graphs = {.alike = true}});
  table.compose<RandomFactor>(
      {.name = "image_random_saturation",
       .mxnet_names = {"_image_random_saturation", "_npx__image_random_saturation"},
       .doc = R"(Return images whose pixels differ from their own grey by a factor, drawn for each.

>>> nd.image.random_saturation(nd.ones((1, 1, 3)), 2, 2).asnumpy().ravel()
array([1., 1., 1.], dtype=float32))",
       .inputs = {"data"},
       .compose = random_change<ColourChange::saturation>,
       .in_graphs = {.alike = true}});
  table.compose<RandomFactor>(
      {.name = "image_random_hue",
       .mxnet_names = {"_image_random_hue", "_npx__image_random_hue"},
       .doc = R"(Return images whose hues are turned by a part of the circle, drawn for each.

>>> red = nd.array([[[255, 0, 0]]], dtype='uint8')
>>> nd.image.random_hue(red, 0.5, 0.5).asnumpy().ravel()
array([  0, 255, 255], dtype=uint8))",
       .inputs = {"data"},
       .compose = random_change<ColourChange::hue>,
       .in_graphs = {.alike = true}});
  table.compose<Jitter>(
      {.name = "image_random_color_jitter",
       .mxnet_names = {"_image_random_color_jitter", "_npx__image_random_color_jitter"},
       .doc = R"(Return images with other brightness, contrast, saturation and hue, in any order.

>>> nd.image.random_color_jitter(nd.zeros((8, 4, 5, 3)), 0.4, 0.4, 0.4, 0.1).shape
(8, 4, 5, 3))",
       .inputs = {"data"},
       .compose = random_colour_jitter,
       .in_graphs = {.alike = true}});
  table.compose<AdjustLighting>(
      {.name = "image_adjust_lighting",
       .mxnet_names = {"_image_adjust_lighting", "_npx__image_adjust_lighting"},
       .doc =
           R"(Return images with more light in the three main directions of the colours of photographs.

>>> nd.image.adjust_lighting(nd.zeros((1, 1, 3)), (0, 0, 0)).asnumpy().ravel()
array([0., 0., 0.], dtype=float32))",
       .inputs = {"data"},
       .compose = adjust_lighting,
       .in_graphs = {.alike = true}});
  table.compose<RandomLighting>(
      {.name = "image_random_lighting",
       .mxnet_names = {"_image_random_lighting", "_npx__image_random_lighting"},
       .doc =
           R"(Return images with more or less light, as ``adjust_lighting`` does, by drawn strengths.

>>> nd.image.random_lighting(nd.zeros((8, 4, 5, 3)), 0.1).shape
(8, 4, 5, 3))",
       .inputs = {"data"},
       .compose = random_lighting,
       .in_graphs = {.alike = true}});
}

}  // namespace afterglow::ops
