// SPDX-License-Identifier: Apache-2.0
// Convolution and its transpose: announced, without a kernel yet.
#include <array>
#include <string>

#include "ops/table.h"
#include "ops/windows.h"

namespace afterglow::ops {
namespace {

using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::NodeForm;
using lazy::required;

enum class Tuning { fastest, limited_workspace, off };

constexpr auto choices(Tuning) {
  return std::array{Choice{"fastest", Tuning::fastest},
                    Choice{"limited_workspace", Tuning::limited_workspace},
                    Choice{"off", Tuning::off}};
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

}  // namespace

void declare_convolution(Table& table) {
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
}

}  // namespace afterglow::ops
