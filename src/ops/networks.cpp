// SPDX-License-Identifier: Apache-2.0
// Layers as ops, made of others. Chains of elementwise calls and reductions of rows are fused into
// one pass, and gradients come from the ops that they are made of.
#include <algorithm>
#include <string>

#include "ops/channels.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

/// Refuses a parameter of a layer that has not one number for each place of an axis of the data.
std::int64_t need_vector(const Composition& c, const Value& vector, const Value& x,
                         std::int64_t axis) {
  const std::int64_t extent = x.array.shape()[static_cast<std::size_t>(axis)];
  if (shape_of(vector) != Shape{extent})
    c.refuse("got a parameter of shape " + to_string(vector.array.shape()) + " for axis " +
             std::to_string(axis) + " of data of shape " + to_string(x.array.shape()) +
             "; needs shape " + to_string(Shape{extent}));
  return extent;
}

/// A parameter of a layer as it lies along an axis of the data.
Value along(const Composition& c, const Value& vector, const Value& x, std::int64_t axis) {
  const std::int64_t extent = need_vector(c, vector, x, axis);
  Shape shape(static_cast<std::size_t>(rank_of(x)), 1);
  shape[static_cast<std::size_t>(axis)] = extent;
  return shaped(vector, shape);
}

Shape all_axes_but(const Value& x, std::initializer_list<std::int64_t> kept) {
  Shape axes;
  for (std::int64_t axis = 0; axis < rank_of(x); ++axis) {
    if (std::ranges::find(kept, axis) == kept.end()) axes.push_back(axis);
  }
  return axes;
}

Value mean_over(const Value& x, const Shape& axes) {
  return axes.empty() ? x : mean(x, axes, true);
}

/// Over some axes, which are kept.
struct Moments {
  Value distance, mean, variance;

  Moments(const Value& x, const Shape& axes) : distance(), mean(mean_over(x, axes)), variance() {
    distance = x - mean;
    variance = mean_over(distance * distance, axes);
  }
};

/// The elements minus their mean, by their deviation: the square root of the variance plus epsilon.
struct Standardised {
  Value result, mean, deviation;

  Standardised(const Value& x, const Shape& axes, double epsilon) {
    const Moments moments(x, axes);
    mean = moments.mean;
    deviation = sqrt(moments.variance + epsilon);
    result = moments.distance / deviation;
  }
};

// --- shapes of weights ---

/// The extent of an axis of the data, or -1.
std::int64_t extent_of(const Shape& data, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(data.size());
  const std::int64_t position = axis < 0 ? axis + rank : axis;
  return position >= 0 && position < rank ? data[static_cast<std::size_t>(position)] : -1;
}

/// All inputs but the first are vectors, with a number for each place of an axis of the data.
void complete_vectors(Completion& completion, std::int64_t axis) {
  if (!completion.shapes[0]) return;
  const Shape vector = {extent_of(*completion.shapes[0], axis)};
  for (std::size_t i = 1; i < completion.shapes.size(); ++i) completion.shapes[i] = vector;
}

// --- products ---

struct FullyConnected {
  std::int64_t num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;
  static constexpr auto fields = std::tuple{
      required("num_hidden", &FullyConnected::num_hidden, "units of the result"),
      field("no_bias", &FullyConnected::no_bias, "whether nothing is added to the product"),
      field("flatten", &FullyConnected::flatten,
            "whether a row is all of a sample, or the last axis")};
};

/// Of all axes together; -1 if one is not known.
std::int64_t known_product(std::span<const std::int64_t> extents) {
  return std::ranges::find(extents, -1) == extents.end() ? element_count(extents) : -1;
}

void complete_fully_connected(Completion& completion, const FullyConnected& given) {
  if (!completion.shapes[0] || completion.shapes[0]->empty()) return;
  completion.shapes[2] = Shape{given.num_hidden};
  const Shape& data = *completion.shapes[0];
  const std::int64_t width =
      given.flatten ? known_product(std::span(data).subspan(1)) : data.back();
  completion.shapes[1] = Shape{given.num_hidden, width};
  Shape result(data.begin(), given.flatten ? data.begin() + 1 : data.end() - 1);
  result.push_back(given.num_hidden);
  completion.results = {result};
}

Value fully_connected(Composition& c, const FullyConnected& given) {
  const Value &x = c[0], &weight = c[1], &bias = c[2];
  const Shape shape = shape_of(x), weights = shape_of(weight);
  if (shape.empty() || weights.size() != 2)
    c.refuse("needs data of at least one dimension and a matrix of weights");
  if (weights[0] != given.num_hidden)
    c.refuse("num_hidden is " + std::to_string(given.num_hidden) +
             "; the weight needs as many rows");
  Shape leading(shape.begin(), given.flatten ? shape.begin() + 1 : shape.end() - 1);
  const std::int64_t rows = element_count(leading);
  const std::int64_t width =
      given.flatten ? element_count(Shape(shape.begin() + 1, shape.end())) : shape.back();
  if (weights[1] != width)
    c.refuse("the data has " + std::to_string(width) + " values per row; the weight needs " +
             std::to_string(weights[1]));
  Value result = dot(shaped(x, {rows, width}), weight, false, true);
  if (!given.no_bias) {
    if (!bias) c.refuse("needs a bias, or no_bias", ErrorKind::type);
    result = result + bias;
  }
  if (leading.size() == 1) return result;
  leading.push_back(given.num_hidden);
  return shaped(result, leading);
}

struct Embedding {
  std::int64_t input_dim = 0, output_dim = 0;
  DType dtype = DType::float32;
  bool sparse_grad = false;
  static constexpr auto fields = std::tuple{
      required("input_dim", &Embedding::input_dim, "rows of the weight"),
      required("output_dim", &Embedding::output_dim, "columns of the weight"),
      field("dtype", &Embedding::dtype, "of the weight"),
      field("sparse_grad", &Embedding::sparse_grad, "whether the gradient is row_sparse")};
};

/// The rows of the weight that the indices name; those outside mean the nearest row.
Value embedding(Composition& c, const Embedding& given) {
  const Shape asked = {given.input_dim, given.output_dim};
  if (shape_of(c[1]) != asked)
    c.refuse("input_dim and output_dim ask for a weight of shape " + to_string(asked));
  if (given.dtype != DType::float32 && given.dtype != c[1].array.dtype)
    c.refuse("dtype is " + std::string(name_of(given.dtype)) + "; the weight has another type",
             ErrorKind::type);
  const lazy::Argument arguments[] = {std::int64_t{0}, std::string("clip")};
  const lazy::Op& op = given.sparse_grad ? op_named("take_rows") : op_named("take");
  return apply(op, arguments, c[1], c[0]);
}

struct SparseEmbedding {
  std::int64_t input_dim = 0, output_dim = 0;
  DType dtype = DType::float32;
  bool deterministic = false;
  static constexpr auto fields =
      std::tuple{required("input_dim", &SparseEmbedding::input_dim, "rows of the weight"),
                 required("output_dim", &SparseEmbedding::output_dim, "columns of the weight"),
                 field("dtype", &SparseEmbedding::dtype, "of the weight"),
                 field("deterministic", &SparseEmbedding::deterministic, "gradients always are")};
};

// --- noise ---

enum class DropoutMode { training, always };

constexpr auto choices(DropoutMode) {
  return in_order<DropoutMode>("training", "always");
}

struct Dropout {
  double p = 0.5;
  DropoutMode mode = DropoutMode::training;
  Shape axes;
  bool cudnn_off = false;
  static constexpr auto fields =
      std::tuple{field("p", &Dropout::p, "the share of elements that become 0"),
                 field("mode", &Dropout::mode, "'training', or 'always'"),
                 field("axes", &Dropout::axes, "along which all elements share one fate"),
                 field("cudnn_off", &Dropout::cudnn_off, "is taken and has no effect")};
};

Value dropout(Composition& c, const Dropout& given) {
  const Value& x = c[0];
  if (!(given.p >= 0 && given.p <= 1))
    c.refuse("p is " + std::to_string(given.p) + "; it must lie between 0 and 1");
  const bool drops =
      given.p > 0 && (given.mode == DropoutMode::always || autograd::state().training);
  if (!drops) return copy(x);  // what is written to the result must not reach the input
  Shape shape = shape_of(x);
  for (const std::int64_t axis : given.axes)
    shape[static_cast<std::size_t>(normal_axis(c, axis, rank_of(x)))] = 1;
  const double kept = 1 - given.p;
  const lazy::Argument arguments[] = {0.0, 1.0, shape, static_cast<std::int64_t>(x.array.dtype)};
  autograd::CallBuilder builder(op_named("fill_uniform"), false);
  const Value drawn = builder.issue({arguments, x.array.context(), nullptr});
  return where(drawn < kept, x * (kept > 0 ? 1 / kept : 0.0), 0);
}

// --- normalisation ---

struct BatchNorm {
  double eps = 1e-3, momentum = 0.9;
  bool fix_gamma = true, use_global_stats = false, output_mean_var = false;
  std::int64_t axis = 1;
  bool cudnn_off = false;
  std::optional<double> min_calib_range, max_calib_range;
  static constexpr auto fields = std::tuple{
      field("eps", &BatchNorm::eps, "is added to the variance"),
      field("momentum", &BatchNorm::momentum, "the weight of the average of earlier batches"),
      field("fix_gamma", &BatchNorm::fix_gamma, "whether gamma counts as 1"),
      field("use_global_stats", &BatchNorm::use_global_stats,
            "whether the averages are used in training too"),
      field("output_mean_var", &BatchNorm::output_mean_var,
            "whether the mean and one by the deviation come too"),
      field("axis", &BatchNorm::axis, "of the channels"),
      field("cudnn_off", &BatchNorm::cudnn_off, "is taken and has no effect"),
      field("min_calib_range", &BatchNorm::min_calib_range, "is taken and has no effect"),
      field("max_calib_range", &BatchNorm::max_calib_range, "is taken and has no effect")};
};

/// Moves an average of all batches towards the latest one.
void move_average(Value& average, const Value& batch, double momentum) {
  const autograd::Unrecorded pause;
  const Value latest = shaped(batch, shape_of(average));
  assign(average, average * momentum + latest * (1 - momentum));
}

/// The devices whose batches are parts of one.
struct Together {
  std::string key;
  std::int64_t devices;
};

/// Over the parts of a batch on all devices, which may be of different sizes.
struct MomentsTogether {
  Value distance, mean, variance;

  MomentsTogether(const Value& x, std::int64_t axis, const Together& together) {
    const Shape axes = all_axes_but(x, {axis});
    const std::int64_t channels = x.array.shape()[static_cast<std::size_t>(axis)];
    Shape column(static_cast<std::size_t>(rank_of(x)), 1);
    column[static_cast<std::size_t>(axis)] = channels;
    const std::int64_t count = channels ? x.array.size() / channels : 0;
    const Value parts[] = {shaped(sum(x, axes, false), {channels}),
                           full(count, {1}, x.array.dtype, x.array.context())};
    const Value sums = sum_over_devices(concat(parts, 0), together.key, together.devices);
    const Value counts = between(sums, 0, channels, channels + 1);
    mean = shaped(Value(between(sums, 0, 0, channels)) / counts, column);
    distance = x - mean;
    const Value squares =
        sum_over_devices(shaped(sum(distance * distance, axes, false), {channels}),
                         together.key + ", squares", together.devices);
    variance = shaped(squares / counts, column);
  }
};

/// With the moments of the batch in training, and with the averages of earlier batches otherwise.
/// The averages move when a training pass is recorded.
Value batch_norm(Composition& c, const BatchNorm& given, const Together* together = nullptr) {
  const bool narrow = c[0].array.dtype == DType::float16;
  const Value x = narrow ? copy(c[0], DType::float32) : c[0];
  const Value& gamma = c[1];
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(x));
  for (std::size_t i = 1; i < c.inputs().size(); ++i) need_vector(c, c[i], x, axis);
  const autograd::State state = autograd::state();
  const bool is_training = state.training && !given.use_global_stats;
  const auto is_like_data = [&](const Value& vector) {
    return vector.array.dtype == x.array.dtype;
  };
  Value mean, variance, result;
  if (is_training && !together && has_channels(x.array, axis) && is_like_data(gamma) &&
      is_like_data(c[2])) {
    NormalisedChannels normalised =
        normalise_channels(x, gamma, c[2], axis, given.eps, given.fix_gamma);
    mean = std::move(normalised.mean);
    variance = std::move(normalised.variance);
    result = std::move(normalised.result);
  } else {
    // The gradient of a gamma that is fixed is 0, not missing.
    const bool is_variable = given.fix_gamma && state.recording && gamma.origin.leads_on();
    const Value scale = along(c, gamma, x, axis);
    const Value shift = along(c, is_variable ? c[2] + gamma * 0 : c[2], x, axis);
    if (is_training) {
      const auto normalise = [&](const auto& moments) {
        mean = moments.mean;
        variance = moments.variance;
        result = moments.distance / sqrt(variance + given.eps);
      };
      together ? normalise(MomentsTogether(x, axis, *together))
               : normalise(Moments(x, all_axes_but(x, {axis})));
      if (!given.fix_gamma) result = result * scale;
      result = result + shift;
    } else {
      mean = along(c, c[3], x, axis);
      variance = along(c, c[4], x, axis);
      const Value deviation = sqrt(variance + given.eps);
      const Value factor = given.fix_gamma ? 1 / deviation : scale / deviation;
      result = multiply_add(x, factor, shift - mean * factor);
    }
  }
  if (narrow) result = copy(result, DType::float16);
  if (is_training && state.recording) {
    move_average(c.written(3), mean, given.momentum);
    move_average(c.written(4), variance, given.momentum);
  }
  if (given.output_mean_var) {
    c.add_output(shaped(mean, shape_of(gamma)));
    c.add_output(shaped(1 / sqrt(variance + given.eps), shape_of(gamma)));
  }
  return result;
}

/// Of all devices together.
struct SyncBatchNorm {
  double eps = 1e-3, momentum = 0.9;
  bool fix_gamma = true, use_global_stats = false, output_mean_var = false;
  std::int64_t ndev = 1;
  std::string key;
  static constexpr auto fields = std::tuple{
      field("eps", &SyncBatchNorm::eps, "is added to the variance"),
      field("momentum", &SyncBatchNorm::momentum, "the weight of the average of earlier batches"),
      field("fix_gamma", &SyncBatchNorm::fix_gamma, "whether gamma counts as 1"),
      field("use_global_stats", &SyncBatchNorm::use_global_stats,
            "whether the averages are used in training too"),
      field("output_mean_var", &SyncBatchNorm::output_mean_var,
            "whether the mean and the variance come too"),
      field("ndev", &SyncBatchNorm::ndev, "how many devices have parts of the batch"),
      field("key", &SyncBatchNorm::key, "by which their calls find each other")};
};

Value sync_batch_norm(Composition& c, const SyncBatchNorm& given) {
  if (given.ndev < 1) c.refuse("got ndev = " + std::to_string(given.ndev) + "; 1 is the least");
  const Together together{given.key, given.ndev};
  Value result = batch_norm(c,
                            {.eps = given.eps,
                             .momentum = given.momentum,
                             .fix_gamma = given.fix_gamma,
                             .use_global_stats = given.use_global_stats,
                             .output_mean_var = given.output_mean_var},
                            given.ndev > 1 ? &together : nullptr);
  if (given.output_mean_var) {
    Value& second = c.more_outputs()[1];  // the variance, not one by the deviation
    second = 1 / square(second) - given.eps;
  }
  return result;
}

struct LayerNorm {
  std::int64_t axis = -1;
  double eps = 1e-5;
  bool output_mean_var = false;
  static constexpr auto fields =
      std::tuple{field("axis", &LayerNorm::axis, "along which elements are normalised"),
                 field("eps", &LayerNorm::eps, "is added to the variance"),
                 field("output_mean_var", &LayerNorm::output_mean_var,
                       "whether the means and deviations come too")};
};

bool has_kernel(const Value& x, const Value& gamma, const Value& beta, std::int64_t axis) {
  const Shape columns = {x.array.shape()[static_cast<std::size_t>(axis)]};
  const DType dtype = x.array.dtype;
  return axis == rank_of(x) - 1 && has_rows(x.array) && gamma.array.dtype == dtype &&
         beta.array.dtype == dtype && shape_of(gamma) == columns && shape_of(beta) == columns;
}

Value layer_norm(Composition& c, const LayerNorm& given) {
  const Value &x = c[0], &gamma = c[1], &beta = c[2];
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(x));
  if (has_kernel(x, gamma, beta, axis)) {
    const lazy::Argument arguments[] = {given.eps};
    autograd::CallBuilder builder(the_op<"layer_norm">(), false);
    for (const Value* input : {&x, &gamma, &beta}) builder.add(*input);
    std::vector<autograd::Handle> others;
    Value result = builder.issue({arguments, {}, nullptr}, &others);
    for (autograd::Handle& other : others) {
      if (given.output_mean_var) c.add_output(std::move(other));
    }
    return result;
  }
  const Standardised found(x, {axis}, given.eps);
  if (given.output_mean_var) {
    c.add_output(found.mean);
    c.add_output(found.deviation);
  }
  return found.result * along(c, gamma, x, axis) + along(c, beta, x, axis);
}

struct InstanceNorm {
  double eps = 1e-3;
  static constexpr auto fields =
      std::tuple{field("eps", &InstanceNorm::eps, "is added to the variance")};
};

Value instance_norm(Composition& c, const InstanceNorm& given) {
  const Value& x = c[0];
  if (rank_of(x) < 3) c.refuse("needs data of at least 3 axes");
  const Standardised found(x, all_axes_but(x, {0, 1}), given.eps);
  return found.result * along(c, c[1], x, 1) + along(c, c[2], x, 1);
}

struct GroupNorm {
  std::int64_t num_groups = 1;
  double eps = 1e-5;
  bool output_mean_var = false;
  static constexpr auto fields =
      std::tuple{field("num_groups", &GroupNorm::num_groups, "that the channels are divided into"),
                 field("eps", &GroupNorm::eps, "is added to the variance"),
                 field("output_mean_var", &GroupNorm::output_mean_var,
                       "whether the means and deviations come too")};
};

Value group_norm(Composition& c, const GroupNorm& given) {
  const Value& x = c[0];
  const Shape shape = shape_of(x);
  if (shape.size() < 3 || given.num_groups < 1 || shape[1] % given.num_groups)
    c.refuse("needs data of at least 3 axes, with channels that num_groups, " +
             std::to_string(given.num_groups) + ", divides");
  const std::int64_t groups = shape[0] * given.num_groups;
  const Value grouped =
      shaped(x, {shape[0], given.num_groups, x.array.size() / std::max<std::int64_t>(1, groups)});
  const Standardised found(grouped, {2}, given.eps);
  if (given.output_mean_var) {
    c.add_output(shaped(found.mean, {shape[0], given.num_groups}));
    c.add_output(shaped(found.deviation, {shape[0], given.num_groups}));
  }
  return shaped(found.result * along(c, c[1], grouped, 1) + along(c, c[2], grouped, 1), shape);
}

/// The averages of BatchNorm, in graphs.
const lazy::InGraphs moving_averages = {
    .auxiliary = 2,
    .beginnings = {{"moving_mean", R"(["zero", {}])"}, {"moving_var", R"(["one", {}])"}}};

/// Beside the result the moments, if they are asked for.
template <class Parameters>
void form_with_variance(NodeForm& node, const Parameters& given) {
  node.outputs = {"output", "mean", "var"};
  node.usable = given.output_mean_var ? 3 : 1;
}

template <class Parameters>
void form_with_deviation(NodeForm& node, const Parameters& given) {
  node.outputs = {"output", "mean", "std"};
  node.usable = given.output_mean_var ? 3 : 1;
}

// --- activations ---

enum class Kind { relu, sigmoid, softrelu, softsign, tanh };

constexpr auto choices(Kind) {
  return in_order<Kind>("relu", "sigmoid", "softrelu", "softsign", "tanh");
}

struct Activation {
  Kind act_type = Kind::relu;
  static constexpr auto fields =
      std::tuple{required("act_type", &Activation::act_type, "which one")};
};

Value activation(Composition& c, const Activation& given) {
  const Value& x = c[0];
  switch (given.act_type) {
    case Kind::relu:
      return relu(x);
    case Kind::sigmoid:
      return sigmoid(x);
    case Kind::softrelu:
      return softrelu(x);
    case Kind::softsign:
      return apply(op_named("softsign"), {}, x);
    case Kind::tanh:
      return tanh(x);
  }
  c.refuse("there is no such activation");
}

enum class Leak { elu, gelu, leaky, prelu, rrelu, selu };

constexpr auto choices(Leak) {
  return in_order<Leak>("elu", "gelu", "leaky", "prelu", "rrelu", "selu");
}

struct LeakyReLU {
  Leak act_type = Leak::leaky;
  double slope = 0.25, lower_bound = 0.125, upper_bound = 0.334;
  static constexpr auto fields =
      std::tuple{field("act_type", &LeakyReLU::act_type, "which one"),
                 field("slope", &LeakyReLU::slope, "of negative elements, for 'leaky' and 'elu'"),
                 field("lower_bound", &LeakyReLU::lower_bound, "of the slope, for 'rrelu'"),
                 field("upper_bound", &LeakyReLU::upper_bound, "of the slope, for 'rrelu'")};
};

/// Of the scaled exponential linear unit: it keeps mean 0 and variance 1.
constexpr double selu_slope = 1.6732632423543772, selu_scale = 1.0507009873554805;

/// One slope for all, or a view with one for each place of axis 1 or of the leading axes.
Value slopes_along(const Composition& c, const Value& x, const Value& gamma) {
  const Shape shape = shape_of(x);
  Shape slopes = shape_of(gamma);
  if (gamma.array.size() == 1) return shaped(gamma, Shape(shape.size(), 1));
  const std::int64_t axis = std::min<std::int64_t>(1, rank_of(x) - 1);
  if (slopes == Shape{extent_of(shape, axis)}) return along(c, gamma, x, axis);
  const bool fits =
      slopes.size() <= shape.size() &&
      std::ranges::equal(slopes, std::span(shape).first(slopes.size()),
                         [](auto own, auto extent) { return own == 1 || own == extent; });
  if (!fits)
    c.refuse("gamma needs one element, as many as axis " + std::to_string(axis) +
             ", or the extents of the leading axes");
  slopes.resize(shape.size(), 1);
  return shaped(gamma, slopes);
}

void complete_leaky_relu(Completion& completion, const LeakyReLU& given) {
  const auto& [data, gamma] = std::tie(completion.shapes[0], completion.shapes[1]);
  const bool is_known = gamma && !gamma->empty() && std::ranges::min(*gamma) >= 0;
  if (given.act_type != Leak::prelu || !data || is_known) return;
  completion.shapes[1] = Shape{data->size() > 1 ? (*data)[1] : 1};
}

/// What lets something of negative numbers through.
Value leaky_relu(Composition& c, const LeakyReLU& given) {
  const Value &x = c[0], &gamma = c[1];
  const lazy::Op &leaky = op_named("leaky_relu"), &elu = op_named("elu");
  if (static_cast<bool>(gamma) != (given.act_type == Leak::prelu))
    c.refuse("takes gamma with act_type 'prelu', and only then");
  switch (given.act_type) {
    case Leak::elu:
      return apply(elu, {}, x, given.slope);
    case Leak::gelu:
      return apply(op_named("gelu"), {}, x);
    case Leak::leaky:
      return apply(leaky, {}, x, given.slope);
    case Leak::prelu:
      return apply(leaky, {}, x, slopes_along(c, x, gamma));
    case Leak::rrelu:
      // The noise that it did not draw.
      c.add_output(full(0, shape_of(x), x.array.dtype, x.array.context()));
      return apply(leaky, {}, x, (given.lower_bound + given.upper_bound) / 2);
    case Leak::selu:
      return apply(elu, {}, x, selu_slope) * selu_scale;
  }
  c.refuse("there is no such activation");
}

// --- shape ---

/// One row of each sample. A copy first: in the shape of the input it runs in one pass with what
/// computes that.
Value flatten(Composition& c) {
  const Shape shape = shape_of(c[0]);
  Shape flat(shape.begin(), shape.begin() + (shape.empty() ? 0 : 1));
  flat.push_back(shape.empty() ? 1 : element_count(std::span(shape).subspan(1)));
  return shaped(copy(c[0]), flat);
}

}  // namespace

void declare_networks(Table& table) {
  table.compose<FullyConnected>(
      {.name = "FullyConnected",
       .mxnet_names = {"FullyConnected", "_npx_fully_connected"},
       .doc = R"(Return the product of the rows of ``data`` and those of ``weight``, plus ``bias``.

A row is all of a sample, or with ``flatten=False`` the last axis.

>>> nd.FullyConnected(nd.array([[1, 2]]), nd.ones((3, 2)), nd.array([0, 1, 2]), num_hidden=3)
<BLANKLINE>
[[3. 4. 5.]]
<NDArray 1x3 @cpu(0)>

>>> npx.fully_connected(np.array([[1, 2]]), np.ones((3, 2)), np.array([0, 1, 2]), num_hidden=3)
array([[3., 4., 5.]]))",
       .inputs = {"data", "weight", "bias"},
       .optional_inputs = 1,
       .compose = fully_connected,
       .complete = complete_fully_connected,
       .node = [](NodeForm& node, const FullyConnected& given) {
         node.inputs[2] = !given.no_bias;
       }});
  table.compose<Embedding>(
      {.name = "Embedding",
       .mxnet_names = {"Embedding", "_npx_embedding"},
       .doc = R"(Return the row of ``weight`` for each index; one outside gives the nearest row.

>>> nd.Embedding(nd.array([1, 1]), nd.array([[1, 2], [3, 4]]), input_dim=2, output_dim=2)
<BLANKLINE>
[[3. 4.]
 [3. 4.]]
<NDArray 2x2 @cpu(0)>

>>> npx.embedding(np.array([1, 1]), np.array([[1, 2], [3, 4]]), input_dim=2, output_dim=2)
array([[3., 4.],
       [3., 4.]]))",
       .inputs = {"data", "weight"},
       .compose = embedding,
       .complete = [](Completion& completion, const Embedding& given) {
         completion.shapes[1] = Shape{given.input_dim, given.output_dim};
       }});
  table.compose<SparseEmbedding>(
      {.name = "SparseEmbedding",
       .mxnet_names = {"_contrib_SparseEmbedding"},
       .doc = R"(Return the row of ``weight`` for each index; its gradient is row_sparse.

>>> weight = nd.array([[1, 2], [3, 4]])
>>> nd.contrib.SparseEmbedding(nd.array([1, 1]), weight, input_dim=2, output_dim=2)
<BLANKLINE>
[[3. 4.]
 [3. 4.]]
<NDArray 2x2 @cpu(0)>)",
       .inputs = {"data", "weight"},
       .compose =
           [](Composition& c, const SparseEmbedding& given) {
             return embedding(c, {given.input_dim, given.output_dim, given.dtype, true});
           },
       .complete =
           [](Completion& completion, const SparseEmbedding& given) {
             completion.shapes[1] = Shape{given.input_dim, given.output_dim};
           }});
  table.compose<Dropout>(
      {.name = "Dropout",
       .mxnet_names = {"Dropout", "_npx_dropout"},
       .doc =
           R"(Return the array with a share ``p`` of its elements zeroed and the others made larger.

That is so in training, or with mode "always"; along ``axes`` all elements share one fate.

>>> nd.Dropout(nd.ones((3,)), p=0.5)
<BLANKLINE>
[1. 1. 1.]
<NDArray 3 @cpu(0)>

>>> npx.dropout(np.ones((3,)), p=0.5)
array([1., 1., 1.]))",
       .inputs = {"data"},
       .compose = dropout,
       // Nothing is drawn to find the shape.
       .complete =
           [](Completion& completion, const Dropout&) {
             if (completion.shapes[0]) completion.results = {*completion.shapes[0]};
           },
       .in_graphs = {.alike = true},
       .node =
           [](NodeForm& node, const Dropout&) {
             node.outputs = {"output", "mask"};
             node.usable = 1;
           }});
  table.compose<BatchNorm>(
      {.name = "BatchNorm",
       .mxnet_names = {"BatchNorm", "BatchNorm_v1", "_npx_batch_norm"},
       .doc =
           R"(Return the elements minus their mean per channel, by their deviation, scaled and shifted.

In training those are the mean and deviation of the batch, and the moving ones follow them while
a pass is recorded; else they are the moving ones. ``gamma`` counts unless ``fix_gamma``. With
``output_mean_var`` the mean and one by the deviation come too.

>>> x, one, zero = nd.array([[1], [3]]), nd.ones((1,)), nd.zeros((1,))
>>> nd.BatchNorm(x, one, zero, zero + 1, one * 4, eps=0)
<BLANKLINE>
[[0.]
 [1.]]
<NDArray 2x1 @cpu(0)>

>>> x, one, zero = np.array([[1], [3]]), np.ones((1,)), np.zeros((1,))
>>> npx.batch_norm(x, one, zero, zero + 1, one * 4, eps=0)
array([[0.],
       [1.]]))",
       .inputs = {"data", "gamma", "beta", "moving_mean", "moving_var"},
       .compose = [](Composition& c, const BatchNorm& given) { return batch_norm(c, given); },
       .complete = [](Completion& completion,
                      const BatchNorm& given) { complete_vectors(completion, given.axis); },
       .in_graphs = moving_averages,
       .node = form_with_variance<BatchNorm>});
  table.compose<BatchNorm>(
      {.name = "BatchNormWithReLU",
       .mxnet_names = {"_contrib_BatchNormWithReLU"},
       .doc = R"(Return what ``nd.BatchNorm`` does, with negative results replaced by 0.

>>> one, zero = nd.ones((1,)), nd.zeros((1,))
>>> nd.contrib.BatchNormWithReLU(nd.array([[-2], [3]]), one, zero, zero, one, eps=0).asnumpy()
array([[0.],
       [3.]], dtype=float32))",
       .inputs = {"data", "gamma", "beta", "moving_mean", "moving_var"},
       .compose = [](Composition& c, const BatchNorm& given) { return relu(batch_norm(c, given)); },
       .complete = [](Completion& completion,
                      const BatchNorm& given) { complete_vectors(completion, given.axis); },
       .in_graphs = moving_averages,
       .node =
           [](NodeForm& node, const BatchNorm& given) {
             node.outputs = {"output", "mean", "var", "mask"};
             node.usable = given.output_mean_var ? 3 : 1;
           }});
  table.compose<SyncBatchNorm>(
      {.name = "SyncBatchNorm",
       .mxnet_names = {"_contrib_SyncBatchNorm"},
       .doc =
           R"(Return what ``nd.BatchNorm`` does; the statistics are those of all devices together.

>>> one, zero = nd.ones((1,)), nd.zeros((1,))
>>> nd.contrib.SyncBatchNorm(nd.array([[-2], [3]]), one, zero, one, one, eps=0).asnumpy()
array([[-3.],
       [ 2.]], dtype=float32))",
       .inputs = {"data", "gamma", "beta", "moving_mean", "moving_var"},
       .compose = sync_batch_norm,
       .complete = [](Completion& completion,
                      const SyncBatchNorm&) { complete_vectors(completion, 1); },
       .in_graphs = moving_averages,
       .node = form_with_variance<SyncBatchNorm>});
  table.compose<LayerNorm>(
      {.name = "LayerNorm",
       .mxnet_names = {"LayerNorm", "_npx_layer_norm"},
       .doc =
           R"(Return the elements minus their mean along an axis, by their deviation, scaled and shifted.

With ``output_mean_var`` the means and deviations come too.

>>> nd.LayerNorm(nd.array([[1, 3]]), nd.ones((2,)), nd.zeros((2,)), eps=0)
<BLANKLINE>
[[-1.  1.]]
<NDArray 1x2 @cpu(0)>

>>> npx.layer_norm(np.array([[1, 3]]), np.ones((2,)), np.zeros((2,)), eps=0)
array([[-1.,  1.]]))",
       .inputs = {"data", "gamma", "beta"},
       .compose = layer_norm,
       .complete = [](Completion& completion,
                      const LayerNorm& given) { complete_vectors(completion, given.axis); },
       .node = form_with_deviation<LayerNorm>});
  table.compose<InstanceNorm>(
      {.name = "InstanceNorm",
       .mxnet_names = {"InstanceNorm"},
       .doc = R"(Return the elements minus their mean per sample and channel, by their deviation.

They are scaled and shifted per channel.

>>> nd.InstanceNorm(nd.array([[[1, 3]]]), nd.ones((1,)), nd.zeros((1,)), eps=0)
<BLANKLINE>
[[[-1.  1.]]]
<NDArray 1x1x2 @cpu(0)>)",
       .inputs = {"data", "gamma", "beta"},
       .compose = instance_norm,
       .complete = [](Completion& completion,
                      const InstanceNorm&) { complete_vectors(completion, 1); },
       .node =
           [](NodeForm& node, const InstanceNorm&) {
             node.outputs = {"output", "mean", "var"};
             node.usable = 1;
           }});
  table.compose<GroupNorm>(
      {.name = "GroupNorm",
       .mxnet_names = {"GroupNorm"},
       .doc =
           R"(Return the elements minus their mean per sample and group of channels, by their deviation.

They are scaled and shifted per group. With ``output_mean_var`` the means and deviations come
too.

>>> nd.GroupNorm(nd.array([[[1], [3]]]), nd.ones((1,)), nd.zeros((1,)), eps=0)
<BLANKLINE>
[[[-1.]
  [ 1.]]]
<NDArray 1x2x1 @cpu(0)>)",
       .inputs = {"data", "gamma", "beta"},
       .compose = group_norm,
       .complete =
           [](Completion& completion, const GroupNorm& given) {
             completion.shapes[1] = completion.shapes[2] = Shape{given.num_groups};
           },
       .node = form_with_deviation<GroupNorm>});
  table.compose<Activation>(
      {.name = "Activation",
       .mxnet_names = {"Activation", "_npx_activation"},
       .doc = R"(Return an activation: "relu", "sigmoid", "softrelu", "softsign" or "tanh".

>>> print(nd.Activation(nd.array([-1, 0, 1]), act_type="softrelu").asnumpy())
[0.3132617 0.6931472 1.3132617]

>>> npx.activation(np.array([-1, 0, 1]), act_type="softrelu")
array([0.3132617, 0.6931472, 1.3132617]))",
       .inputs = {"data"},
       .compose = activation,
       .in_graphs = {.alike = true}});
  table.compose<LeakyReLU>(
      {.name = "LeakyReLU",
       .mxnet_names = {"LeakyReLU", "_npx_leaky_relu"},
       .doc = R"(Return an activation: "leaky", "elu", "selu", "gelu", "prelu" or "rrelu".

"prelu" takes its slopes from ``gamma``, one for all or one for each index of axis 1. "rrelu"
uses the mean of the bounds and returns its result in a list, beside the noise that it did not
draw.

>>> print(nd.LeakyReLU(nd.array([-1, 0, 1]), slope=0.1).asnumpy())
[-0.1  0.   1. ]

>>> npx.leaky_relu(np.array([-1, 0, 1]), act_type="gelu")
array([-0.15865526,  0.        ,  0.8413447 ]))",
       .inputs = {"data", "gamma"},
       .optional_inputs = 1,
       .compose = leaky_relu,
       .complete = complete_leaky_relu,
       .in_graphs = {.beginnings = {{"gamma", R"(["Constant", {"value": 0.25}])"}}},
       .node = [](NodeForm& node, const LeakyReLU& given) {
         node.inputs[1] = given.act_type == Leak::prelu;
         if (given.act_type == Leak::rrelu) node.outputs = {"output", "mask"};
       }});
  table.add({.name = "Flatten",
             .mxnet_names = {"Flatten", "flatten", "_npx_batch_flatten"},
             .doc = R"(Return a copy with two axes: the first one, and all others in one.

>>> nd.flatten(nd.zeros((2, 3, 4))).shape
(2, 12)

>>> npx.batch_flatten(np.zeros((2, 3, 4))).shape
(2, 12))",
             .inputs = {"data"},
             .compose = flatten});
}

}  // namespace afterglow::ops
