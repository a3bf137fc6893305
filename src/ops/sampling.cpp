// SPDX-License-Identifier: Apache-2.0
// Images taken at other places than their elements.
#include "kernels/sampling.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ops/common.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/images.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

/// Of gradients that have none themselves.
const lazy::GradientRule first_order_only = reading_nothing([](Gradient&) -> Value {
  throw Error(ErrorKind::not_implemented,
              "grids of BilinearSampler and Correlation have no gradients of second order");
});

enum class Resize { like, odd_scale, size, to_even_down, to_even_up, to_odd_down, to_odd_up };

constexpr auto choices(Resize) {
  return std::array{Choice{"like", Resize::like},
                    Choice{"odd_scale", Resize::odd_scale},
                    Choice{"size", Resize::size},
                    Choice{"to_even_down", Resize::to_even_down},
                    Choice{"to_even_up", Resize::to_even_up},
                    Choice{"to_odd_down", Resize::to_odd_down},
                    Choice{"to_odd_up", Resize::to_odd_up}};
}

struct BilinearResize2D {
  std::int64_t height = 1, width = 1;
  std::optional<double> scale_height, scale_width;
  Resize mode = Resize::size;
  bool align_corners = true;
  static constexpr auto fields = std::tuple{
      field("height", &BilinearResize2D::height, "of the result"),
      field("width", &BilinearResize2D::width, "of the result"),
      field("scale_height", &BilinearResize2D::scale_height, "times which the height is taken"),
      field("scale_width", &BilinearResize2D::scale_width, "times which the width is taken"),
      field("mode", &BilinearResize2D::mode, "what says the size of the result"),
      field("align_corners", &BilinearResize2D::align_corners, "whether corners stay corners")};
};

std::int64_t resized(std::int64_t extent, Resize mode, std::int64_t asked,
                     const std::optional<double>& scale) {
  const auto scaled = [&](std::int64_t places) {
    return static_cast<std::int64_t>(static_cast<double>(places) * scale.value_or(1));
  };
  if (mode == Resize::size && !scale) return asked;
  if (extent < 0) return -1;
  const std::int64_t odd = extent % 2;
  switch (mode) {
    case Resize::odd_scale:
      return odd ? scaled(extent - 1) + 1 : scaled(extent);
    case Resize::to_even_down:
      return extent - odd;
    case Resize::to_even_up:
      return extent + odd;
    case Resize::to_odd_down:
      return extent - (1 - odd);
    case Resize::to_odd_up:
      return extent + (1 - odd);
    default:
      return scaled(extent);
  }
}

void complete_resize(Completion& completion, const BilinearResize2D& given) {
  const auto &data = completion.shapes[0], &like = completion.shapes[1];
  need_rank(completion, 0, 4);
  if (!data) return;
  if (given.mode == Resize::like) {
    need_rank(completion, 1, 4);
    completion.results = {{(*data)[0], (*data)[1], extent_of(like, 2), extent_of(like, 3)}};
    return;
  }
  completion.results = {{(*data)[0], (*data)[1],
                         resized((*data)[2], given.mode, given.height, given.scale_height),
                         resized((*data)[3], given.mode, given.width, given.scale_width)}};
}

/// Another size, by a kernel.
struct Resizing {
  Shape sizes;
  bool aligns_corners = true;
  static constexpr auto fields = std::tuple{
      required("sizes", &Resizing::sizes, "height and width of the result"),
      field("aligns_corners", &Resizing::aligns_corners, "whether corners stay corners")};
};

void resize_infer(Inference& inference, const Resizing& given) {
  Call& call = inference.call;
  need_images(inference, 4, 4);
  const Operand data = call.inputs[0];
  if (given.sizes.size() != 2 || given.sizes[0] < 1 || given.sizes[1] < 1 || !data.shape()[2] ||
      !data.shape()[3])
    inference.refuse("sizes is " + to_string(given.sizes) +
                     "; images and results need a height and a width");
  inference.add_output(Shape{data.shape()[0], data.shape()[1], given.sizes[0], given.sizes[1]},
                       data.dtype);
  call.settled.set(given.aligns_corners);
  call.cost = 300 + 2 * static_cast<double>(call.outputs[0].size() + data.size());
}

template <bool is_gradient>
class ResizePass : public lazy::Pass {
 public:
  explicit ResizePass(const Call& call)
      : pass_(resizing(call), call.inputs[0].dtype, call.inputs[0].data(), call.outputs[0].data()) {
  }
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static kernels::Resizing resizing(const Call& call) {
    auto from = call.inputs[0].shape(), to = call.outputs[0].shape();
    if (is_gradient) std::swap(from, to);
    return {from[0] * from[1],        from[2],    from[3], to[2], to[3],
            call.settled.get<bool>(), is_gradient};
  }
  kernels::ResizePass pass_;
};

template <bool is_gradient>
std::unique_ptr<lazy::Pass> resize_kernel(const Call& call) {
  return std::make_unique<ResizePass<is_gradient>>(call);
}

/// Both ways are linear, so each is the gradient of the other.
template <const lazy::Op& (*other)()>
Value through_resize(Gradient& c) {
  auto given = c.parameters<Resizing>();
  given.sizes = {c.shape(0)[2], c.shape(0)[3]};
  return apply(other(), lazy::write_arguments(given), contiguous(c.g));
}

Value bilinear_resize(Composition& c, const BilinearResize2D& given) {
  const Shape result = completed(c, complete_resize, given);
  need_real(c);
  const bool needs_scales = given.mode == Resize::odd_scale;
  if (needs_scales && (!given.scale_height || !given.scale_width))
    c.refuse("needs scale_height and scale_width, for mode 'odd_scale'");
  if (given.mode == Resize::like && !c[1]) c.refuse("needs like, for mode 'like'");
  const Resizing resizing = {{result[2], result[3]}, given.align_corners};
  return apply(the_op<"resize_images">(), lazy::write_arguments(resizing), contiguous(c[0]));
}

enum class Sampling { bilinear, nearest };

constexpr auto choices(Sampling) {
  return std::array{Choice{"bilinear", Sampling::bilinear}, Choice{"nearest", Sampling::nearest}};
}

enum class Joining { concat, sum };

constexpr auto choices(Joining) {
  return std::array{Choice{"concat", Joining::concat}, Choice{"sum", Joining::sum}};
}

struct UpSampling {
  std::int64_t scale = 1, num_filter = 0;
  Sampling sample_type = Sampling::nearest;
  Joining multi_input_mode = Joining::concat;
  std::optional<std::int64_t> num_args;
  std::int64_t workspace = 512;
  static constexpr auto fields = std::tuple{
      required("scale", &UpSampling::scale, "times which extents are taken"),
      field("num_filter", &UpSampling::num_filter, "channels of the result, for 'bilinear'"),
      required("sample_type", &UpSampling::sample_type, "how places in between are found"),
      field("multi_input_mode", &UpSampling::multi_input_mode, "what becomes of several inputs"),
      field("num_args", &UpSampling::num_args,
            "how many arrays there are: is taken and has no effect"),
      field("workspace", &UpSampling::workspace, "is taken and has no effect")};
};

void complete_upsampling(Completion& completion, const UpSampling& given) {
  if (completion.shapes.empty() || !completion.shapes[0]) return;
  Shape result = *completion.shapes[0];
  if (result.size() < 3) completion.refuse("needs data of at least 3 dimensions");
  for (std::size_t i = 2; i < result.size(); ++i) result[i] = product(result[i], given.scale);
  if (given.sample_type == Sampling::bilinear) {
    const std::int64_t window = 2 * given.scale - given.scale % 2;
    if (completion.shapes.size() > 1) completion.shapes[1] = Shape{result[1], 1, window, window};
  } else if (given.multi_input_mode == Joining::concat) {
    for (std::size_t i = 1; i < completion.shapes.size(); ++i) {
      const auto& other = completion.shapes[i];
      const std::int64_t channels = other && other->size() > 1 ? (*other)[1] : -1;
      result[1] = result[1] < 0 || channels < 0 ? -1 : result[1] + channels;
    }
  }
  completion.results = {result};
}

/// Every element as often as it takes to get to a height and a width.
Value repeated(const Composition& c, const Value& x, std::int64_t height, std::int64_t width) {
  const Shape shape = shape_of(x);
  if (shape.size() != 4) c.refuse("needs data of 4 dimensions");
  if (!shape[2] || !shape[3] || height % shape[2] || width % shape[3])
    c.refuse("an input of shape " + to_string(shape) + " does not divide a result of height " +
             std::to_string(height) + " and width " + std::to_string(width));
  const std::int64_t images = shape[0] * shape[1];
  const Value each = shaped(contiguous(x), {images, shape[2], 1, shape[3], 1});
  const Value all =
      stretch(each, {images, shape[2], height / shape[2], shape[3], width / shape[3]});
  return shaped(all, {shape[0], shape[1], height, width});
}

/// By a transposed convolution, with a weight that begins as the bilinear one.
Value interpolated(const Composition& c, const UpSampling& given) {
  if (c.inputs().size() != 2) c.refuse("needs data and a weight, for sample_type 'bilinear'");
  const lazy::Op& op = the_op<"Deconvolution">();
  const std::int64_t window = 2 * given.scale - given.scale % 2,
                     pad = (given.scale - 1) / 2 + (given.scale - 1) % 2;
  const Shape needed = {shape_of(c[0]).at(1), 1, window, window};
  if (shape_of(c[1]) != needed) c.refuse("weight needs shape " + to_string(needed));
  std::vector<lazy::Argument> arguments = op.defaults;
  const auto set = [&](std::string_view name, lazy::Argument value) {
    const auto at = std::ranges::find(op.parameters, name, &lazy::Parameter::name);
    arguments[static_cast<std::size_t>(at - op.parameters.begin())] = std::move(value);
  };
  set("kernel", Shape{window, window});
  set("stride", Shape{given.scale, given.scale});
  set("pad", Shape{pad, pad});
  set("num_filter", shape_of(c[0]).at(1));
  set("num_group", shape_of(c[0]).at(1));
  set("no_bias", true);
  Value inputs[] = {c[0], c[1], {}};
  return call(op, inputs, {arguments, {}, nullptr}, false);
}

Value upsampling(Composition& c, const UpSampling& given) {
  if (c.inputs().empty()) c.refuse("needs an array", ErrorKind::argument);
  need_real(c);
  if (given.scale < 1)
    c.refuse("scale is " + std::to_string(given.scale) + "; it must be positive");
  const Shape shape = shape_of(c[0]);
  if (shape.size() != 4) c.refuse("needs data of 4 dimensions");
  if (given.sample_type == Sampling::bilinear) return interpolated(c, given);
  std::vector<Value> parts;
  for (const Value& input : c.inputs())
    parts.push_back(repeated(c, input, shape[2] * given.scale, shape[3] * given.scale));
  if (parts.size() == 1) return parts[0];
  for (const Value& part : parts) {
    const Shape own = shape_of(part);
    if (own[0] != shape[0] || (given.multi_input_mode == Joining::sum && own[1] != shape[1]))
      c.refuse("inputs need the same batch, and for a sum the same channels");
  }
  if (given.multi_input_mode == Joining::concat) return concat(parts, 1);
  Value sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}

enum class Transform { affine, warp };

constexpr auto choices(Transform) {
  return std::array{Choice{"affine", Transform::affine}, Choice{"warp", Transform::warp}};
}

enum class AffineOnly { affine };

constexpr auto choices(AffineOnly) {
  return std::array{Choice{"affine", AffineOnly::affine}};
}

enum class BilinearOnly { bilinear };

constexpr auto choices(BilinearOnly) {
  return std::array{Choice{"bilinear", BilinearOnly::bilinear}};
}

struct SpatialTransformer {
  Shape target_shape = {0, 0};
  AffineOnly transform_type = AffineOnly::affine;
  BilinearOnly sampler_type = BilinearOnly::bilinear;
  std::optional<bool> cudnn_off;
  static constexpr auto fields = std::tuple{
      field("target_shape", &SpatialTransformer::target_shape, "height and width of the result"),
      required("transform_type", &SpatialTransformer::transform_type, "what loc describes"),
      required("sampler_type", &SpatialTransformer::sampler_type, "how elements are taken"),
      field("cudnn_off", &SpatialTransformer::cudnn_off, "is taken and has no effect")};
};

struct GridGenerator {
  Transform transform_type = Transform::affine;
  Shape target_shape = {0, 0};
  static constexpr auto fields =
      std::tuple{required("transform_type", &GridGenerator::transform_type, "what data describes"),
                 field("target_shape", &GridGenerator::target_shape,
                       "height and width of the result, for 'affine'")};
};

struct BilinearSampler {
  std::optional<bool> cudnn_off;
  static constexpr auto fields =
      std::tuple{field("cudnn_off", &BilinearSampler::cudnn_off, "is taken and has no effect")};
};

void complete_grid(Completion& completion, const GridGenerator& given) {
  const auto& data = completion.shapes[0];
  if (!data) return;
  const bool is_affine = given.transform_type == Transform::affine;
  need_rank(completion, 0, is_affine ? 2 : 4);
  const std::int64_t numbers = is_affine ? 6 : 2;
  if ((*data)[1] >= 0 && (*data)[1] != numbers)
    completion.refuse("data has shape " + to_string(*data) + "; its second axis needs " +
                      std::to_string(numbers) + " places");
  if (!is_affine) {
    completion.results = {*data};
    return;
  }
  need_size(completion, "target_shape", given.target_shape);
  completion.results = {{(*data)[0], 2, given.target_shape[0], given.target_shape[1]}};
}

/// From -1 to 1 in so many steps.
Value steps(std::int64_t count, DType dtype, Context context) {
  const Value numbers = count_up(count, dtype, context);
  return numbers * (2.0 / static_cast<double>(count - 1)) - 1;
}

/// Where the elements of an image of such a size come from, by a 2 x 3 matrix for each.
Value affine_grid(const Value& matrices, const Shape& size) {
  const std::int64_t height = size[0], width = size[1], images = shape_of(matrices)[0];
  const DType dtype = matrices.array.dtype;
  const Context context = matrices.array.context();
  const Value x = stretch(shaped(steps(width, dtype, context), {1, 1, width}), {1, height, width}),
              y = stretch(shaped(steps(height, dtype, context), {1, height, 1}),
                          {1, height, width}),
              one = full(1, {1, height, width}, dtype, context);
  const Value parts[] = {x, y, one};
  const Value places = shaped(concat(parts, 0), {3, height * width});
  const Value rows = shaped(contiguous(matrices), {2 * images, 3});
  return shaped(dot(rows, places, false, false), {images, 2, height, width});
}

Value warped_grid(const Value& flow) {
  const Shape shape = shape_of(flow);
  const DType dtype = flow.array.dtype;
  const Context context = flow.array.context();
  const std::int64_t height = shape[2], width = shape[3];
  const Shape plane = {1, 1, height, width};
  const auto half = [](std::int64_t extent) { return static_cast<double>(extent - 1) / 2; };
  const Value places[] = {
      stretch(shaped(count_up(width, dtype, context), {1, 1, 1, width}), plane),
      stretch(shaped(count_up(height, dtype, context), {1, 1, height, 1}), plane)};
  const Value halves[] = {full(half(width), {1, 1, 1, 1}, dtype, context),
                          full(half(height), {1, 1, 1, 1}, dtype, context)};
  return (flow + concat(places, 1)) / concat(halves, 1) - 1;
}

Value grid_generator(Composition& c, const GridGenerator& given) {
  completed(c, complete_grid, given);
  need_real(c);
  const Value x = in_type(c[0], compute_type(c[0].array.dtype));
  return in_type(given.transform_type == Transform::affine ? affine_grid(x, given.target_shape)
                                                           : warped_grid(x),
                 c[0].array.dtype);
}

// --- sampling at the places of a grid ---

using kernels::SamplerWork;

/// Refuses what does not fit together.
void need_grid(const Inference& inference, const Operand& data, const Operand& grid) {
  need_images(inference, 4, 4);
  if (grid.shape()[1] != 2 || grid.shape()[0] != data.shape()[0])
    inference.refuse("needs a grid of shape (batch, 2, height, width), with the batch of the data");
  if (!data.shape()[2] || !data.shape()[3]) inference.refuse("needs images with elements");
}

kernels::Grid grid_of(std::span<const std::int64_t> data, std::span<const std::int64_t> places) {
  return {data[0], data[1], data[2], data[3], places[2], places[3]};
}

template <SamplerWork work>
class SamplerPass : public lazy::Pass {
 public:
  explicit SamplerPass(const Call& call) : pass_(make(call)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static kernels::SamplerPass make(const Call& call) {
    const auto& in = call.inputs;
    const Operand& out = call.outputs[0];
    if constexpr (work == SamplerWork::sample)
      return {work,         grid_of(in[0].shape(), in[1].shape()),
              out.dtype,    in[0].data(),
              in[1].data(), nullptr,
              out.data()};
    if constexpr (work == SamplerWork::data_gradient)
      return {work,         grid_of(out.shape(), in[1].shape()),
              out.dtype,    nullptr,
              in[1].data(), in[0].data(),
              out.data()};
    return {work,         grid_of(in[1].shape(), in[2].shape()),
            out.dtype,    in[1].data(),
            in[2].data(), in[0].data(),
            out.data()};
  }
  kernels::SamplerPass pass_;
};

template <SamplerWork work>
std::unique_ptr<lazy::Pass> sampler_kernel(const Call& call) {
  return std::make_unique<SamplerPass<work>>(call);
}

void set_cost(Call& call) {
  double size = 0;
  for (const Operand& input : call.inputs) size += static_cast<double>(input.size());
  call.cost = 500 + 5 * (size + static_cast<double>(call.outputs[0].size()));
}

void sample_infer(Inference& inference) {
  const Operand data = inference.call.inputs[0], grid = inference.call.inputs[1];
  need_grid(inference, data, grid);
  inference.add_output(Shape{data.shape()[0], data.shape()[1], grid.shape()[2], grid.shape()[3]},
                       data.dtype);
  set_cost(inference.call);
}

struct Sizes {
  Shape sizes;
  static constexpr auto fields =
      std::tuple{required("sizes", &Sizes::sizes, "height and width of the data")};
};

void sample_data_infer(Inference& inference, const Sizes& given) {
  const Operand values = inference.call.inputs[0], grid = inference.call.inputs[1];
  need_grid(inference, values, grid);
  if (given.sizes.size() != 2 || given.sizes[0] < 1 || given.sizes[1] < 1 ||
      values.shape()[2] != grid.shape()[2] || values.shape()[3] != grid.shape()[3])
    inference.refuse("needs values for each place of the grid, and a height and a width");
  inference.add_output(Shape{values.shape()[0], values.shape()[1], given.sizes[0], given.sizes[1]},
                       values.dtype);
  set_cost(inference.call);
}

void sample_grid_infer(Inference& inference) {
  const Operand values = inference.call.inputs[0], data = inference.call.inputs[1],
                grid = inference.call.inputs[2];
  need_grid(inference, data, grid);
  if (!std::ranges::equal(values.shape(), Shape{data.shape()[0], data.shape()[1], grid.shape()[2],
                                                grid.shape()[3]}))
    inference.refuse("needs values of the shape of the result");
  inference.add_output(grid.shape(), grid.dtype);
  set_cost(inference.call);
}

Value sample(const Value& data, const Value& grid) {
  return apply(the_op<"sample_images">(), {}, contiguous(data), contiguous(grid));
}

Value given_to_data(const Value& values, const Value& grid, const Shape& data) {
  const lazy::Argument arguments[] = {Shape{data[2], data[3]}};
  return apply(the_op<"sample_data_gradient">(), arguments, contiguous(values), grid);
}

Value given_to_grid(const Value& values, const Value& data, const Value& grid) {
  return apply(the_op<"sample_grid_gradient">(), {}, contiguous(values), contiguous(data), grid);
}

void complete_sampler(Completion& completion, const BilinearSampler&) {
  need_rank(completion, 0, 4);
  need_rank(completion, 1, 4);
  const auto &data = completion.shapes[0], &grid = completion.shapes[1];
  if (grid && (*grid)[1] >= 0 && (*grid)[1] != 2)
    completion.refuse("grid has shape " + to_string(*grid) + "; its second axis needs x and y");
  if (data) completion.results = {{(*data)[0], (*data)[1], extent_of(grid, 2), extent_of(grid, 3)}};
}

Value bilinear_sampler(Composition& c, const BilinearSampler& given) {
  completed(c, complete_sampler, given);
  need_real(c);
  return sample(c[0], in_type(c[1], c[0].array.dtype));
}

void complete_transformer(Completion& completion, const SpatialTransformer& given) {
  need_rank(completion, 0, 4);
  need_rank(completion, 1, 2);
  need_size(completion, "target_shape", given.target_shape);
  const auto& data = completion.shapes[0];
  if (!data) return;
  completion.shapes[1] = Shape{(*data)[0], 6};
  completion.results = {{(*data)[0], (*data)[1], given.target_shape[0], given.target_shape[1]}};
}

Value spatial_transformer(Composition& c, const SpatialTransformer& given) {
  completed(c, complete_transformer, given);
  need_real(c);
  const Shape wanted = {shape_of(c[0])[0], 6};
  if (shape_of(c[1]) != wanted) c.refuse("loc needs shape " + to_string(wanted));
  const DType dtype = c[0].array.dtype;
  const Value grid = affine_grid(in_type(c[1], compute_type(dtype)), given.target_shape);
  return sample(c[0], in_type(grid, dtype));
}

void declare_samplers(Table& table) {
  table.add(
      {.name = "sample_images",
       .inputs = {"data", "grid"},
       .infer = sample_infer,
       .kernel = sampler_kernel<SamplerWork::sample>,
       .gradients = {reading({1}, [](Gradient& c) { return given_to_data(c.g, c[1], c.shape(0)); }),
                     reading({0, 1}, [](Gradient& c) { return given_to_grid(c.g, c[0], c[1]); })}});
  table.add<Sizes>(
      {.name = "sample_data_gradient",
       .inputs = {"values", "grid"},
       .infer = sample_data_infer,
       .kernel = sampler_kernel<SamplerWork::data_gradient>,
       .gradients = {reading({1}, [](Gradient& c) { return sample(c.g, c[1]); }),
                     reading({0, 1}, [](Gradient& c) { return given_to_grid(c[0], c.g, c[1]); })}});
  table.add({.name = "sample_grid_gradient",
             .inputs = {"values", "data", "grid"},
             .infer = sample_grid_infer,
             .kernel = sampler_kernel<SamplerWork::grid_gradient>,
             .gradients = {first_order_only, first_order_only, first_order_only}});
}

// --- patches ---

struct Correlation {
  std::int64_t kernel_size = 1, max_displacement = 1, stride1 = 1, stride2 = 1, pad_size = 0;
  bool is_multiply = true;
  static constexpr auto fields = std::tuple{
      field("kernel_size", &Correlation::kernel_size, "extent of the patches"),
      field("max_displacement", &Correlation::max_displacement, "of the patches of data2"),
      field("stride1", &Correlation::stride1, "by which patches of data1 move"),
      field("stride2", &Correlation::stride2, "by which those of data2 move around them"),
      field("pad_size", &Correlation::pad_size, "zeros on all sides"),
      field("is_multiply", &Correlation::is_multiply, "products rather than differences")};
};

void complete_correlation(Completion& completion, const Correlation& given) {
  need_rank(completion, 0, 4);
  const auto& data = completion.shapes[0];
  if (!data) return;
  if (given.kernel_size < 1 || given.kernel_size % 2 == 0)
    completion.refuse("kernel_size is " + std::to_string(given.kernel_size) + "; it must be odd");
  if (given.max_displacement < 0 || given.pad_size < 0)
    completion.refuse("max_displacement and pad_size must not be negative");
  need_positive(completion, "stride1", given.stride1);
  need_positive(completion, "stride2", given.stride2);
  const std::int64_t border = given.max_displacement + (given.kernel_size - 1) / 2,
                     reach = given.max_displacement / given.stride2;
  const auto patches = [&](std::int64_t extent) {
    const std::int64_t places = extent + 2 * given.pad_size - 2 * border;
    if (extent < 0) return std::int64_t{-1};
    if (places < 1)
      completion.refuse("patches and their displacement exceed data of shape " + to_string(*data));
    return (places + given.stride1 - 1) / given.stride1;
  };
  completion.results = {
      {(*data)[0], (2 * reach + 1) * (2 * reach + 1), patches((*data)[2]), patches((*data)[3])}};
}

using PatchesWork = kernels::PatchesPass::Work;

template <PatchesWork work>
class PatchesPass : public lazy::Pass {
 public:
  explicit PatchesPass(const Call& call) : pass_(make(call)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static kernels::PatchesPass make(const Call& call) {
    constexpr bool compares = work == PatchesWork::compare;
    const Operand &first = call.inputs[compares ? 0 : 1], &second = call.inputs[compares ? 1 : 2],
                  &values = compares ? call.outputs[0] : call.inputs[0];
    const auto given = call.settled.get<Correlation>();
    const auto data = first.shape(), results = values.shape();
    return {
        work,
        {data[0], data[1], data[2], data[3], results[2], results[3], given.kernel_size,
         given.max_displacement, given.stride1, given.stride2, given.pad_size, given.is_multiply},
        first.dtype,
        first.data(),
        second.data(),
        compares ? nullptr : values.data(),
        call.outputs[0].data()};
  }
  kernels::PatchesPass pass_;
};

template <PatchesWork work>
std::unique_ptr<lazy::Pass> patches_kernel(const Call& call) {
  return std::make_unique<PatchesPass<work>>(call);
}

/// Refuses what does not fit; the shape of the result.
Shape patches_of(Inference& inference, const Correlation& given, const Operand& first,
                 const Operand& second) {
  need_images(inference, 4, 4);
  if (!std::ranges::equal(first.shape(), second.shape()))
    inference.refuse("needs images of one shape");
  Completion completion{inference.op, {}, {Shape(first.shape().begin(), first.shape().end())}};
  complete_correlation(completion, given);
  inference.call.settled.set(given);
  return completion.results[0];
}

void compare_infer(Inference& inference, const Correlation& given) {
  Call& call = inference.call;
  const Shape result = patches_of(inference, given, call.inputs[0], call.inputs[1]);
  const DType dtype = call.inputs[0].dtype;
  const auto channels = static_cast<double>(call.inputs[0].shape()[1]);
  inference.add_output(result, dtype);
  call.cost = 500 + channels * static_cast<double>(given.kernel_size * given.kernel_size) *
                        static_cast<double>(call.outputs[0].size());
}

void compare_gradient_infer(Inference& inference, const Correlation& given) {
  Call& call = inference.call;
  const Shape result = patches_of(inference, given, call.inputs[1], call.inputs[2]);
  if (!std::ranges::equal(call.inputs[0].shape(), result))
    inference.refuse("needs values of shape " + to_string(result));
  const Operand data = call.inputs[1];
  inference.add_output(data.shape(), data.dtype);
  call.cost = 500 + static_cast<double>(data.shape()[1] * given.kernel_size * given.kernel_size) *
                        static_cast<double>(call.inputs[0].size());
}

template <const lazy::Op& (*op)()>
Value through_correlation(Gradient& c) {
  const auto arguments = lazy::write_arguments(c.parameters<Correlation>());
  return apply(op(), arguments, contiguous(c.g), c[0], c[1]);
}

Value correlation(Composition& c, const Correlation& given) {
  completed(c, complete_correlation, given);
  need_real(c);
  return apply(the_op<"compare_patches">(), lazy::write_arguments(given), contiguous(c[0]),
               contiguous(c[1]));
}

void declare_patches(Table& table) {
  table.add<Correlation>(
      {.name = "compare_patches",
       .inputs = {"data1", "data2"},
       .infer = compare_infer,
       .kernel = patches_kernel<PatchesWork::compare>,
       .gradients = {reading({0, 1}, through_correlation<the_op<"patches_gradient1">>),
                     reading({0, 1}, through_correlation<the_op<"patches_gradient2">>)}});
  table.add<Correlation>({.name = "patches_gradient1",
                          .inputs = {"values", "data1", "data2"},
                          .infer = compare_gradient_infer,
                          .kernel = patches_kernel<PatchesWork::first_gradient>,
                          .gradients = {first_order_only, first_order_only, first_order_only}});
  table.add<Correlation>({.name = "patches_gradient2",
                          .inputs = {"values", "data1", "data2"},
                          .infer = compare_gradient_infer,
                          .kernel = patches_kernel<PatchesWork::second_gradient>,
                          .gradients = {first_order_only, first_order_only, first_order_only}});
}

}  // namespace

void declare_sampling(Table& table) {
  table.add<Resizing>({.name = "resize_images",
                       .inputs = {"data"},
                       .infer = resize_infer,
                       .kernel = resize_kernel<false>,
                       .gradients = {reading_nothing(through_resize<the_op<"resize_gradient">>)}});
  table.add<Resizing>({.name = "resize_gradient",
                       .inputs = {"values"},
                       .infer = resize_infer,
                       .kernel = resize_kernel<true>,
                       .gradients = {reading_nothing(through_resize<the_op<"resize_images">>)}});
  declare_samplers(table);
  declare_patches(table);
  table.compose<BilinearResize2D>(
      {.name = "BilinearResize2D",
       .mxnet_names = {"_contrib_BilinearResize2D"},
       .doc = R"(Return images of another height and width, interpolated between elements.

``mode`` says what the size is: that given ("size", where scales go before numbers), that of ``like``,
or the next even or odd one. With ``align_corners`` the corners of both are the same.

>>> from afterglow import nd
>>> x = nd.array([[[[0, 2], [4, 6]]]])
>>> print(nd.contrib.BilinearResize2D(x, height=2, width=3).asnumpy())
[[[[0. 1. 2.]
   [4. 5. 6.]]]])",
       .inputs = {"data", "like"},
       .optional_inputs = 1,
       .compose = bilinear_resize,
       .complete = complete_resize,
       .node = [](NodeForm& node, const BilinearResize2D& given) {
         node.inputs[1] = given.mode == Resize::like;
       }});
  table.compose<UpSampling>({.name = "UpSampling",
                             .mxnet_names = {"UpSampling"},
                             .doc = R"(Return images ``scale`` times as high and wide.

Elements are repeated ("nearest"), or a transposed convolution with a weight interpolates them
("bilinear"). Several inputs come to one size and are joined along the channels, or added up.

>>> from afterglow import nd
>>> print(nd.UpSampling(nd.array([[[[1, 2]]]]), scale=2, sample_type="nearest").asnumpy())
[[[[1. 1. 2. 2.]
   [1. 1. 2. 2.]]]])",
                             .inputs = {"data"},
                             .variadic = true,
                             .compose = upsampling,
                             .complete = complete_upsampling,
                             .in_graphs = {.beginnings = {{"arg1", R"(["bilinear", {}])"}}}});
  table.compose<SpatialTransformer>(
      {.name = "SpatialTransformer",
       .mxnet_names = {"SpatialTransformer"},
       .doc = R"(Return images seen through an affine map for each, six numbers of ``loc``.

The map takes places of the result, from -1 to 1, to those of the data.

>>> from afterglow import nd
>>> x = nd.array([[[[1, 2], [3, 4]]]])
>>> mirror = nd.array([[-1, 0, 0, 0, 1, 0]])
>>> print(nd.SpatialTransformer(x, mirror, target_shape=(2, 2), transform_type="affine",
...                             sampler_type="bilinear").asnumpy())
[[[[2. 1.]
   [4. 3.]]]])",
       .inputs = {"data", "loc"},
       .compose = spatial_transformer,
       .complete = complete_transformer,
       .node = hide_outputs<3>});
  table.compose<GridGenerator>({.name = "GridGenerator",
                                .mxnet_names = {"GridGenerator"},
                                .doc = R"(Return the places that samples are to be taken at.

Of a 2 x 3 matrix ("affine", six numbers for each image) or a field of distances ("warp"). Places go
from -1 to 1; BilinearSampler takes them.

>>> from afterglow import nd
>>> same = nd.array([[1, 0, 0, 0, 1, 0]])
>>> print(nd.GridGenerator(same, transform_type="affine", target_shape=(2, 2)).asnumpy())
[[[[-1.  1.]
   [-1.  1.]]
<BLANKLINE>
  [[-1. -1.]
   [ 1.  1.]]]])",
                                .inputs = {"data"},
                                .compose = grid_generator,
                                .complete = complete_grid,
                                .node = hide_outputs<2>});
  table.compose<BilinearSampler>({.name = "BilinearSampler",
                                  .mxnet_names = {"BilinearSampler"},
                                  .doc = R"(Return images at the places of a grid, interpolated.

``grid`` has x and y for each place of the result; -1 and 1 are the edges, and outside are zeros.

>>> from afterglow import nd
>>> x = nd.array([[[[1, 2], [3, 4]]]])
>>> middle = nd.zeros((1, 2, 1, 1))
>>> print(nd.BilinearSampler(x, middle).asnumpy())
[[[[2.5]]]])",
                                  .inputs = {"data", "grid"},
                                  .compose = bilinear_sampler,
                                  .complete = complete_sampler,
                                  .node = hide_outputs<2>});
  table.compose<Correlation>(
      {.name = "Correlation",
       .mxnet_names = {"Correlation"},
       .doc = R"(Return how patches of one image go with those of another around them.

The mean of products, or of absolute differences, with a channel for each displacement.

>>> from afterglow import nd
>>> x = nd.array([[[[1, 2, 3]]]])
>>> print(nd.Correlation(x, x, max_displacement=0).asnumpy())
[[[[1. 4. 9.]]]])",
       .inputs = {"data1", "data2"},
       .compose = correlation,
       .complete = complete_correlation,
       .node = hide_outputs<3>});
}

}  // namespace afterglow::ops
