// SPDX-License-Identifier: Apache-2.0
// Ops that can be written down in graphs, read from files and asked for shapes, and that have no
// kernel yet. Their parameters are MXNet's.
#include <array>
#include <string>

#include "ops/table.h"

namespace afterglow::ops {
namespace {

/// Refuses data of another rank than `rank`.
void need_rank(const Completion& completion, std::size_t input, std::size_t rank) {
  const auto& shape = completion.shapes[input];
  if (shape && shape->size() != rank)
    completion.refuse(std::string(completion.op.inputs[input]) + " has shape " + to_string(*shape) +
                      "; it needs " + std::to_string(rank) + " dimensions");
}

/// The extent of an axis, or -1.
std::int64_t extent_of(const std::optional<Shape>& shape, std::size_t axis) {
  return shape ? shape->at(axis) : -1;
}

std::int64_t product(std::int64_t one, std::int64_t other) {
  return one < 0 || other < 0 ? -1 : one * other;
}

// --- windows that slide ---

enum class Tuning { fastest, limited_workspace, off };

constexpr auto choices(Tuning) {
  return in_order<Tuning>("fastest", "limited_workspace", "off");
}

/// The order of axes: batch, channels, then or between them space.
enum class Axes { ncdhw, nchw, ncw, ndhwc, nhwc };

constexpr auto choices(Axes) {
  return in_order<Axes>("NCDHW", "NCHW", "NCW", "NDHWC", "NHWC");
}

enum class PoolingAxes { ncdhw, nchw, ncw, ndhwc, nhwc, nwc };

constexpr auto choices(PoolingAxes) {
  return in_order<PoolingAxes>("NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC");
}

template <class Order>
bool channels_last(const std::optional<Order>& layout) {
  return layout && *layout >= Order::ndhwc;
}

/// A number for each axis of space: those given, or the same for all.
Shape for_each_axis(const Completion& completion, std::string_view name, const Shape& given,
                    const Shape& kernel, std::int64_t otherwise) {
  if (given.empty()) return Shape(kernel.size(), otherwise);
  if (given.size() != kernel.size())
    completion.refuse(std::string(name) + " is " + to_string(given) + "; the kernel " +
                      to_string(kernel) + " needs as many numbers");
  return given;
}

/// Batch, channels and extents of space in the order of the data; those of the data are replaced.
struct Image {
  Shape space;
  std::int64_t batch = -1, channels = -1;
  bool last = false;

  /// Without data nothing is known but the rank.
  Image(const Completion& completion, const Shape& kernel, bool is_last)
      : space(kernel.size(), -1), last(is_last) {
    const auto& data = completion.shapes[0];
    if (!data) return;
    if (data->size() != kernel.size() + 2)
      completion.refuse("data of shape " + to_string(*data) + " does not fit the kernel " +
                        to_string(kernel));
    batch = data->front();
    channels = (*data)[last ? data->size() - 1 : 1];
    space.assign(data->begin() + (last ? 1 : 2), data->end() - (last ? 1 : 0));
  }

  Shape shape(std::int64_t filters) const { return shape_of(batch, filters, space); }

  /// In the same order.
  Shape shape_of(std::int64_t first, std::int64_t second, const Shape& extents) const {
    Shape result = {first};
    if (!last) result.push_back(second);
    result.insert(result.end(), extents.begin(), extents.end());
    if (last) result.push_back(second);
    return result;
  }
};

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

void need_positive(const Completion& completion, std::string_view name, std::int64_t value) {
  if (value < 1)
    completion.refuse(std::string(name) + " is " + std::to_string(value) + "; it must be positive");
}

void need_positive(const Completion& completion, std::string_view name, const Shape& values) {
  for (const std::int64_t value : values) need_positive(completion, name, value);
}

void complete_convolution(Completion& completion, const Convolution& given) {
  const Shape &kernel = given.kernel,
              stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
              dilate = for_each_axis(completion, "dilate", given.dilate, kernel, 1),
              pad = for_each_axis(completion, "pad", given.pad, kernel, 0);
  need_positive(completion, "stride", stride);
  need_positive(completion, "num_group", given.num_group);
  Image image(completion, kernel, channels_last(given.layout));
  const std::int64_t inner = image.channels < 0 ? -1 : image.channels / given.num_group;
  completion.shapes[1] = image.shape_of(given.num_filter, inner, kernel);
  completion.shapes[2] = Shape{given.num_filter};
  if (!completion.shapes[0]) return;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (image.space[i] < 0) continue;
    const std::int64_t left = image.space[i] + 2 * pad[i] - dilate[i] * (kernel[i] - 1) - 1;
    if (left < 0)
      completion.refuse("the kernel " + to_string(kernel) + " exceeds data of shape " +
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

void complete_deconvolution(Completion& completion, const Deconvolution& given) {
  const Shape &kernel = given.kernel,
              stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
              dilate = for_each_axis(completion, "dilate", given.dilate, kernel, 1),
              pad = for_each_axis(completion, "pad", given.pad, kernel, 0),
              adjust = for_each_axis(completion, "adj", given.adj, kernel, 0),
              target = for_each_axis(completion, "target_shape", given.target_shape, kernel, 0);
  need_positive(completion, "num_group", given.num_group);
  Image image(completion, kernel, channels_last(given.layout));
  completion.shapes[1] = image.shape_of(image.channels, given.num_filter / given.num_group, kernel);
  completion.shapes[2] = Shape{given.num_filter};
  if (!completion.shapes[0]) return;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (target[i] > 0) {
      image.space[i] = target[i];
    } else if (image.space[i] >= 0) {
      image.space[i] = stride[i] * (image.space[i] - 1) + dilate[i] * (kernel[i] - 1) + 1 -
                       2 * pad[i] + adjust[i];
    }
  }
  completion.results = {image.shape(given.num_filter)};
}

enum class PoolType { avg, lp, max, sum };

constexpr auto choices(PoolType) {
  return in_order<PoolType>("avg", "lp", "max", "sum");
}

enum class Convention { full, same, valid };

constexpr auto choices(Convention) {
  return in_order<Convention>("full", "same", "valid");
}

struct Pooling {
  Shape kernel;
  PoolType pool_type = PoolType::max;
  bool global_pool = false, cudnn_off = false;
  Convention pooling_convention = Convention::valid;
  Shape stride, pad;
  std::optional<std::int64_t> p_value;
  std::optional<bool> count_include_pad;
  std::optional<PoolingAxes> layout;
  static constexpr auto fields = std::tuple{
      field("kernel", &Pooling::kernel, "extents of the window"),
      field("pool_type", &Pooling::pool_type, "what becomes of it"),
      field("global_pool", &Pooling::global_pool, "whether the window is all of the data"),
      field("cudnn_off", &Pooling::cudnn_off, "is taken and has no effect"),
      field("pooling_convention", &Pooling::pooling_convention,
            "whether windows may end outside of the data"),
      field("stride", &Pooling::stride, "by which the window moves; 1"),
      field("pad", &Pooling::pad, "places on both sides of the data; none"),
      field("p_value", &Pooling::p_value, "the power, for 'lp'"),
      field("count_include_pad", &Pooling::count_include_pad, "whether padding counts, for 'avg'"),
      field("layout", &Pooling::layout, "the order of the axes; channels behind the batch")};
};

void complete_pooling(Completion& completion, const Pooling& given) {
  const auto& data = completion.shapes[0];
  if (!data) return;
  if (data->size() < 3) completion.refuse("needs data of at least 3 dimensions");
  const Shape kernel = given.global_pool ? Shape(data->size() - 2, 1) : given.kernel;
  Image image(completion, kernel, channels_last(given.layout));
  if (given.global_pool) {
    image.space = kernel;
  } else {
    const Shape stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
                pad = for_each_axis(completion, "pad", given.pad, kernel, 0);
    need_positive(completion, "stride", stride);
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      if (image.space[i] < 0) continue;
      const std::int64_t left = image.space[i] + 2 * pad[i] - kernel[i];
      if (left < 0)
        completion.refuse("the kernel " + to_string(kernel) + " exceeds data of shape " +
                          to_string(*data));
      switch (given.pooling_convention) {
        case Convention::valid:
          image.space[i] = left / stride[i] + 1;
          break;
        case Convention::full:
          image.space[i] = (left + stride[i] - 1) / stride[i] + 1;
          break;
        case Convention::same:
          image.space[i] = (image.space[i] + 2 * pad[i] + stride[i] - 1) / stride[i];
          break;
      }
    }
  }
  completion.results = {image.shape(image.channels)};
}

struct AdaptiveAvgPooling2D {
  Shape output_size;
  static constexpr auto fields =
      std::tuple{field("output_size", &AdaptiveAvgPooling2D::output_size,
                       "height and width of the result, or one number for both; 1")};
};

enum class Resize { like, odd_scale, size, to_even_down, to_even_up, to_odd_down, to_odd_up };

constexpr auto choices(Resize) {
  return in_order<Resize>("like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down",
                          "to_odd_up");
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
  std::int64_t workspace = 512;
  static constexpr auto fields = std::tuple{
      required("scale", &UpSampling::scale, "times which extents are taken"),
      field("num_filter", &UpSampling::num_filter, "channels of the result, for 'bilinear'"),
      required("sample_type", &UpSampling::sample_type, "how places in between are found"),
      field("multi_input_mode", &UpSampling::multi_input_mode, "what becomes of several inputs"),
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

// --- recurrent layers ---

enum class Cell { gru, lstm, rnn_relu, rnn_tanh };

constexpr auto choices(Cell) {
  return in_order<Cell>("gru", "lstm", "rnn_relu", "rnn_tanh");
}

struct RNN {
  std::int64_t state_size = 0, num_layers = 0;
  bool bidirectional = false;
  Cell mode = Cell::gru;
  double p = 0;
  bool state_outputs = false;
  std::optional<std::int64_t> projection_size;
  std::optional<double> lstm_state_clip_min, lstm_state_clip_max;
  bool lstm_state_clip_nan = false, use_sequence_length = false;
  static constexpr auto fields = std::tuple{
      required("state_size", &RNN::state_size, "units of a layer"),
      required("num_layers", &RNN::num_layers, "how many are stacked"),
      field("bidirectional", &RNN::bidirectional, "whether they run from the end too"),
      required("mode", &RNN::mode, "what a unit is"),
      field("p", &RNN::p, "the share of elements that become 0 between layers in training"),
      field("state_outputs", &RNN::state_outputs, "whether the last states come too"),
      field("projection_size", &RNN::projection_size, "that states are projected to, for 'lstm'"),
      field("lstm_state_clip_min", &RNN::lstm_state_clip_min, "the least state of a cell"),
      field("lstm_state_clip_max", &RNN::lstm_state_clip_max, "the greatest one"),
      field("lstm_state_clip_nan", &RNN::lstm_state_clip_nan, "whether these bound nan too"),
      field("use_sequence_length", &RNN::use_sequence_length,
            "whether sequences have lengths of their own")};
};

/// All weights in one vector, and the states.
void complete_rnn(Completion& completion, const RNN& given) {
  need_rank(completion, 0, 3);
  if (!completion.shapes[0]) return;
  const Shape data = *completion.shapes[0];
  const bool is_lstm = given.mode == Cell::lstm;
  const std::int64_t units = given.state_size, directions = given.bidirectional ? 2 : 1,
                     gates = is_lstm ? 4 : (given.mode == Cell::gru ? 3 : 1),
                     projected = given.projection_size.value_or(units),
                     rows = directions * gates * units;
  std::int64_t weights = rows * (data[2] + projected + 2) +
                         (given.num_layers - 1) * rows * (projected * directions + projected + 2);
  if (given.projection_size) weights += projected * units * given.num_layers * directions;
  const Shape state = {given.num_layers * directions, data[1], projected},
              cell = {given.num_layers * directions, data[1], units};
  completion.shapes[1] = Shape{data[2] < 0 ? -1 : weights};
  completion.shapes[2] = state;
  completion.shapes[3] = cell;
  completion.shapes[4] = Shape{data[1]};
  completion.results = {{data[0], data[1], projected * directions}};
  if (!given.state_outputs) return;
  completion.results.push_back(state);
  if (is_lstm) completion.results.push_back(cell);
}

void form_rnn(NodeForm& node, const RNN& given) {
  node.inputs[3] = given.mode == Cell::lstm;
  if (!given.state_outputs) return;
  node.outputs.push_back("state_output");
  if (given.mode == Cell::lstm) node.outputs.push_back("statecell_output");
}

// --- images ---

struct LRN {
  double alpha = 1e-4, beta = 0.75, knorm = 2;
  std::int64_t nsize = 0;
  static constexpr auto fields =
      std::tuple{field("alpha", &LRN::alpha, "times which the squares are taken"),
                 field("beta", &LRN::beta, "the power that divides"),
                 field("knorm", &LRN::knorm, "is added to the squares"),
                 required("nsize", &LRN::nsize, "channels that are taken together")};
};

struct ROIPooling {
  Shape pooled_size;
  double spatial_scale = 1;
  static constexpr auto fields = std::tuple{
      required("pooled_size", &ROIPooling::pooled_size, "height and width of the result"),
      required("spatial_scale", &ROIPooling::spatial_scale, "of the data to the image")};
};

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

/// Refuses what is no height and width.
void need_size(const Completion& completion, std::string_view name, const Shape& size) {
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    completion.refuse(std::string(name) + " is " + to_string(size) +
                      "; it must be a height and a width");
}

struct BilinearSampler {
  std::optional<bool> cudnn_off;
  static constexpr auto fields =
      std::tuple{field("cudnn_off", &BilinearSampler::cudnn_off, "is taken and has no effect")};
};

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

// --- boxes ---

using Numbers = std::vector<double>;

struct MultiBoxPrior {
  Numbers sizes = {1}, ratios = {1};
  bool clip = false;
  Numbers steps = {-1, -1}, offsets = {0.5, 0.5};
  static constexpr auto fields = std::tuple{
      field("sizes", &MultiBoxPrior::sizes, "of boxes, by that of the image"),
      field("ratios", &MultiBoxPrior::ratios, "of width and height"),
      field("clip", &MultiBoxPrior::clip, "whether boxes end with the image"),
      field("steps", &MultiBoxPrior::steps, "from box to box, down and right; -1: evenly"),
      field("offsets", &MultiBoxPrior::offsets, "of centres within a step, down and right")};
};

struct MultiBoxTarget {
  double overlap_threshold = 0.5, ignore_label = -1, negative_mining_ratio = -1,
         negative_mining_thresh = 0.5;
  std::int64_t minimum_negative_samples = 0;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};
  static constexpr auto fields = std::tuple{
      field("overlap_threshold", &MultiBoxTarget::overlap_threshold,
            "from which on an anchor matches a box"),
      field("ignore_label", &MultiBoxTarget::ignore_label, "of anchors that do not count"),
      field("negative_mining_ratio", &MultiBoxTarget::negative_mining_ratio,
            "the most negatives for each positive; -1: all"),
      field("negative_mining_thresh", &MultiBoxTarget::negative_mining_thresh,
            "the overlap up to which an anchor is negative"),
      field("minimum_negative_samples", &MultiBoxTarget::minimum_negative_samples,
            "the least number of negatives"),
      field("variances", &MultiBoxTarget::variances, "that places and sizes are divided by")};
};

struct MultiBoxDetection {
  bool clip = true;
  double threshold = 0.01;
  std::int64_t background_id = 0;
  double nms_threshold = 0.5;
  bool force_suppress = false;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};
  std::int64_t nms_topk = -1;
  static constexpr auto fields = std::tuple{
      field("clip", &MultiBoxDetection::clip, "whether boxes end with the image"),
      field("threshold", &MultiBoxDetection::threshold, "the least probability of a detection"),
      field("background_id", &MultiBoxDetection::background_id, "the class of nothing"),
      field("nms_threshold", &MultiBoxDetection::nms_threshold,
            "the overlap from which on the less probable box goes"),
      field("force_suppress", &MultiBoxDetection::force_suppress,
            "whether it goes also if it is of another class"),
      field("variances", &MultiBoxDetection::variances, "times which places and sizes are taken"),
      field("nms_topk", &MultiBoxDetection::nms_topk, "boxes that are looked at; -1: all")};
};

enum class BoxFormat { center, corner };

constexpr auto choices(BoxFormat) {
  return std::array{Choice{"center", BoxFormat::center}, Choice{"corner", BoxFormat::corner}};
}

struct BoxNms {
  double overlap_thresh = 0.5, valid_thresh = 0;
  std::int64_t topk = -1, coord_start = 2, score_index = 1, id_index = -1, background_id = -1;
  bool force_suppress = false;
  BoxFormat in_format = BoxFormat::corner, out_format = BoxFormat::corner;
  static constexpr auto fields = std::tuple{
      field("overlap_thresh", &BoxNms::overlap_thresh, "from which on the lesser box goes"),
      field("valid_thresh", &BoxNms::valid_thresh, "above which a score counts"),
      field("topk", &BoxNms::topk, "boxes that are looked at; -1: all"),
      field("coord_start", &BoxNms::coord_start, "the first column of coordinates"),
      field("score_index", &BoxNms::score_index, "the column of scores"),
      field("id_index", &BoxNms::id_index, "the column of classes; -1: there is none"),
      field("background_id", &BoxNms::background_id, "the class of nothing; -1: there is none"),
      field("force_suppress", &BoxNms::force_suppress,
            "whether a box goes also if it is of another class"),
      field("in_format", &BoxNms::in_format, "what coordinates are given"),
      field("out_format", &BoxNms::out_format, "what coordinates come")};
};

// --- others ---

enum class Blank { first, last };

constexpr auto choices(Blank) {
  return std::array{Choice{"first", Blank::first}, Choice{"last", Blank::last}};
}

struct CTCLoss {
  bool use_data_lengths = false, use_label_lengths = false;
  Blank blank_label = Blank::first;
  static constexpr auto fields =
      std::tuple{field("use_data_lengths", &CTCLoss::use_data_lengths,
                       "whether sequences have lengths of their own"),
                 field("use_label_lengths", &CTCLoss::use_label_lengths, "whether labels have"),
                 field("blank_label", &CTCLoss::blank_label, "which class is the blank")};
};

struct KLSparseReg {
  double sparseness_target = 0.1, penalty = 0.001, momentum = 0.9;
  static constexpr auto fields = std::tuple{
      field("sparseness_target", &KLSparseReg::sparseness_target, "the mean that is wanted"),
      field("penalty", &KLSparseReg::penalty, "times which the gradient is taken"),
      field("momentum", &KLSparseReg::momentum, "the weight of the average of earlier batches")};
};

template <class Parameters>
void complete_as_first(Completion& completion, const Parameters&) {
  if (completion.shapes[0]) completion.results = {*completion.shapes[0]};
}

/// One result that programs can use, and others for the gradient.
template <std::size_t count, class Parameters>
void hide_outputs(NodeForm& node, const Parameters&) {
  for (std::size_t i = 1; i < count; ++i) node.outputs.push_back("hidden" + std::to_string(i));
  node.usable = 1;
}

}  // namespace

void declare_announced(Table& table) {
  table.announce<Convolution>(
      {.name = "Convolution",
       .mxnet_names = {"Convolution", "_npx_convolution"},
       .inputs = {"data", "weight", "bias"},
       .optional_inputs = 1,
       .complete = complete_convolution,
       .node = [](NodeForm& node, const Convolution& given) { node.inputs[2] = !given.no_bias; }});
  table.announce<Deconvolution>({.name = "Deconvolution",
                                 .mxnet_names = {"Deconvolution", "_npx_deconvolution"},
                                 .inputs = {"data", "weight", "bias"},
                                 .optional_inputs = 1,
                                 .complete = complete_deconvolution,
                                 .node = [](NodeForm& node, const Deconvolution& given) {
                                   node.inputs[2] = !given.no_bias;
                                 }});
  table.announce<Pooling>({.name = "Pooling",
                           .mxnet_names = {"Pooling", "_npx_pooling"},
                           .inputs = {"data"},
                           .complete = complete_pooling});
  table.announce<AdaptiveAvgPooling2D>(
      {.name = "AdaptiveAvgPooling2D",
       .mxnet_names = {"_contrib_AdaptiveAvgPooling2D"},
       .inputs = {"data"},
       .complete = [](Completion& completion, const AdaptiveAvgPooling2D& given) {
         need_rank(completion, 0, 4);
         const auto& data = completion.shapes[0];
         const Shape size = given.output_size.empty() ? Shape{1} : given.output_size;
         need_size(completion, "output_size", {size.front(), size.back()});
         if (data) completion.results = {{(*data)[0], (*data)[1], size.front(), size.back()}};
       }});
  table.announce<BilinearResize2D>({.name = "BilinearResize2D",
                                    .mxnet_names = {"_contrib_BilinearResize2D"},
                                    .inputs = {"data", "like"},
                                    .optional_inputs = 1,
                                    .complete = complete_resize,
                                    .node = [](NodeForm& node, const BilinearResize2D& given) {
                                      node.inputs[1] = given.mode == Resize::like;
                                    }});
  table.announce<UpSampling>({.name = "UpSampling",
                              .mxnet_names = {"UpSampling"},
                              .inputs = {"data"},
                              .variadic = true,
                              .complete = complete_upsampling,
                              .in_graphs = {.beginnings = {{"arg1", R"(["bilinear", {}])"}}}});
  table.announce<RNN>({.name = "RNN",
                       .mxnet_names = {"RNN", "_npx_rnn"},
                       .inputs = {"data", "parameters", "state", "state_cell", "sequence_length"},
                       .optional_inputs = 2,
                       .complete = complete_rnn,
                       .node = form_rnn});
  table.announce<LRN>({.name = "LRN",
                       .mxnet_names = {"LRN"},
                       .inputs = {"data"},
                       .complete = complete_as_first,
                       .in_graphs = {.alike = true},
                       .node = hide_outputs<2>});
  table.announce<ROIPooling>({.name = "ROIPooling",
                              .mxnet_names = {"ROIPooling", "_npx_roi_pooling"},
                              .inputs = {"data", "rois"},
                              .complete =
                                  [](Completion& completion, const ROIPooling& given) {
                                    need_rank(completion, 0, 4);
                                    need_rank(completion, 1, 2);
                                    need_size(completion, "pooled_size", given.pooled_size);
                                    if (completion.shapes[0])
                                      completion.results = {{extent_of(completion.shapes[1], 0),
                                                             (*completion.shapes[0])[1],
                                                             given.pooled_size[0],
                                                             given.pooled_size[1]}};
                                  },
                              .node = hide_outputs<2>});
  table.announce<SpatialTransformer>(
      {.name = "SpatialTransformer",
       .mxnet_names = {"SpatialTransformer"},
       .inputs = {"data", "loc"},
       .complete =
           [](Completion& completion, const SpatialTransformer& given) {
             need_rank(completion, 0, 4);
             need_size(completion, "target_shape", given.target_shape);
             const auto& data = completion.shapes[0];
             if (data)
               completion.results = {
                   {(*data)[0], (*data)[1], given.target_shape[0], given.target_shape[1]}};
           },
       .node = hide_outputs<3>});
  table.announce<GridGenerator>(
      {.name = "GridGenerator",
       .mxnet_names = {"GridGenerator"},
       .inputs = {"data"},
       .complete =
           [](Completion& completion, const GridGenerator& given) {
             const auto& data = completion.shapes[0];
             if (!data) return;
             if (given.transform_type == Transform::warp) {
               completion.results = {*data};
               return;
             }
             need_rank(completion, 0, 2);
             need_size(completion, "target_shape", given.target_shape);
             completion.results = {{(*data)[0], 2, given.target_shape[0], given.target_shape[1]}};
           },
       .node = hide_outputs<2>});
  table.announce<BilinearSampler>(
      {.name = "BilinearSampler",
       .mxnet_names = {"BilinearSampler"},
       .inputs = {"data", "grid"},
       .complete =
           [](Completion& completion, const BilinearSampler&) {
             need_rank(completion, 0, 4);
             need_rank(completion, 1, 4);
             const auto &data = completion.shapes[0], &grid = completion.shapes[1];
             if (data)
               completion.results = {
                   {(*data)[0], (*data)[1], extent_of(grid, 2), extent_of(grid, 3)}};
           },
       .node = hide_outputs<2>});
  table.announce<Correlation>({.name = "Correlation",
                               .mxnet_names = {"Correlation"},
                               .inputs = {"data1", "data2"},
                               .complete = complete_correlation,
                               .node = hide_outputs<3>});
  table.announce<MultiBoxPrior>(
      {.name = "MultiBoxPrior",
       .mxnet_names = {"_contrib_MultiBoxPrior"},
       .inputs = {"data"},
       .complete = [](Completion& completion, const MultiBoxPrior& given) {
         const auto& data = completion.shapes[0];
         if (!data) return;
         if (data->size() < 4) completion.refuse("needs data of at least 4 dimensions");
         const auto boxes = static_cast<std::int64_t>(given.sizes.size() + given.ratios.size()) - 1;
         completion.results = {{1, product(product((*data)[2], (*data)[3]), boxes), 4}};
       }});
  table.announce<MultiBoxTarget>({.name = "MultiBoxTarget",
                                  .mxnet_names = {"_contrib_MultiBoxTarget"},
                                  .inputs = {"anchor", "label", "cls_pred"},
                                  .complete =
                                      [](Completion& completion, const MultiBoxTarget&) {
                                        need_rank(completion, 0, 3);
                                        need_rank(completion, 1, 3);
                                        if (!completion.shapes[0] || !completion.shapes[1]) return;
                                        const std::int64_t anchors = (*completion.shapes[0])[1],
                                                           batch = (*completion.shapes[1])[0];
                                        const Shape places = {batch, product(anchors, 4)};
                                        completion.results = {places, places, {batch, anchors}};
                                      },
                                  .node =
                                      [](NodeForm& node, const MultiBoxTarget&) {
                                        node.outputs = {"loc_target", "loc_mask", "cls_target"};
                                      }});
  table.announce<MultiBoxDetection>(
      {.name = "MultiBoxDetection",
       .mxnet_names = {"_contrib_MultiBoxDetection"},
       .inputs = {"cls_prob", "loc_pred", "anchor"},
       .complete = [](Completion& completion, const MultiBoxDetection&) {
         need_rank(completion, 0, 3);
         const auto& classes = completion.shapes[0];
         if (classes) completion.results = {{(*classes)[0], (*classes)[2], 6}};
       }});
  table.announce<BoxNms>({.name = "box_nms",
                          .mxnet_names = {"_contrib_box_nms"},
                          .inputs = {"data"},
                          .complete = complete_as_first,
                          .node = number_outputs<2>});
  table.announce<CTCLoss>(
      {.name = "CTCLoss",
       .mxnet_names = {"CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"},
       .inputs = {"data", "label", "data_lengths", "label_lengths"},
       .optional_inputs = 2,
       .complete =
           [](Completion& completion, const CTCLoss&) {
             need_rank(completion, 0, 3);
             if (completion.shapes[0]) completion.results = {{(*completion.shapes[0])[1]}};
           },
       .node = number_outputs<2>});
  table.announce<KLSparseReg>(
      {.name = "IdentityAttachKLSparseReg",
       .mxnet_names = {"IdentityAttachKLSparseReg"},
       .inputs = {"data", "moving_avg"},
       .complete =
           [](Completion& completion, const KLSparseReg&) {
             const auto& data = completion.shapes[0];
             if (!data) return;
             if (data->size() < 2) completion.refuse("needs data of at least 2 dimensions");
             completion.shapes[1] = Shape{(*data)[1]};
             completion.results = {*data};
           },
       .in_graphs = {
           .auxiliary = 1, .beginnings = {{"moving_avg", R"(["zero", {}])"}}, .is_loss = true}});
}

}  // namespace afterglow::ops
