// SPDX-License-Identifier: Apache-2.0
// Images taken at other places than their elements: announced, without a kernel yet.
#include <array>
#include <string>

#include "ops/completing.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::NodeForm;
using lazy::required;

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

}  // namespace

void declare_sampling(Table& table) {
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
}

}  // namespace afterglow::ops
