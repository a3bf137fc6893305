// SPDX-License-Identifier: Apache-2.0
// What becomes of the elements of a window: announced, without a kernel yet.
#include <array>
#include <string>

#include "ops/table.h"
#include "ops/windows.h"

namespace afterglow::ops {
namespace {

using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::required;

enum class PoolType { avg, lp, max, sum };

constexpr auto choices(PoolType) {
  return std::array{Choice{"avg", PoolType::avg}, Choice{"lp", PoolType::lp},
                    Choice{"max", PoolType::max}, Choice{"sum", PoolType::sum}};
}

enum class Convention { full, same, valid };

constexpr auto choices(Convention) {
  return std::array{Choice{"full", Convention::full}, Choice{"same", Convention::same},
                    Choice{"valid", Convention::valid}};
}

struct Pooling {
  Shape kernel;
  PoolType pool_type = PoolType::max;
  bool global_pool = false, cudnn_off = false;
  Convention pooling_convention = Convention::valid;
  Shape stride, pad;
  std::optional<std::int64_t> p_value;
  std::optional<bool> count_include_pad;
  std::optional<Axes> layout;
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

struct ROIPooling {
  Shape pooled_size;
  double spatial_scale = 1;
  static constexpr auto fields = std::tuple{
      required("pooled_size", &ROIPooling::pooled_size, "height and width of the result"),
      required("spatial_scale", &ROIPooling::spatial_scale, "of the data to the image")};
};

}  // namespace

void declare_pooling(Table& table) {
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
}

}  // namespace afterglow::ops
