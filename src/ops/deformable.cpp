// SPDX-License-Identifier: Apache-2.0
// Convolution of images whose windows see places that an array of offsets moves: what they see is
// gathered between pixels, and multiplied with the weights.
#include <array>
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

enum class ChannelsFirst { ncdhw, nchw, ncw };

constexpr auto choices(ChannelsFirst) {
  return std::array{Choice{"NCDHW", ChannelsFirst::ncdhw}, Choice{"NCHW", ChannelsFirst::nchw},
                    Choice{"NCW", ChannelsFirst::ncw}};
}

template <bool is_masked>
struct Deformable {
  static constexpr bool masked = is_masked;
  Shape kernel, stride, dilate, pad;
  std::int64_t num_filter = 0, num_group = 1, num_deformable_group = 1, workspace = 1024;
  bool no_bias = false;
  std::int64_t im2col_step = 64;  ///< of masked ones
  std::optional<ChannelsFirst> layout;
  static constexpr auto fields = [] {
    using Own = Deformable;
    const std::tuple windows{
        required("kernel", &Own::kernel, "height and width of the window"),
        field("stride", &Own::stride, "by which the window moves; 1"),
        field("dilate", &Own::dilate, "distance of its places; 1"),
        field("pad", &Own::pad, "zeros on both sides of the data; none"),
        required("num_filter", &Own::num_filter, "channels of the result"),
        field("num_group", &Own::num_group, "that the channels are divided into"),
        field("num_deformable_group", &Own::num_deformable_group,
              "of channels that have offsets of their own"),
        field("workspace", &Own::workspace, "is taken and has no effect"),
        field("no_bias", &Own::no_bias, "whether nothing is added")};
    const std::tuple step{field("im2col_step", &Own::im2col_step, "is taken and has no effect")};
    const std::tuple layout{
        field("layout", &Own::layout, "the order of the axes: channels behind the batch")};
    if constexpr (is_masked) {
      return std::tuple_cat(windows, step, layout);
    } else {
      return std::tuple_cat(windows, layout);
    }
  }();
};
using DeformableConvolution = Deformable<false>;
using ModulatedDeformableConvolution = Deformable<true>;

/// Windows over images, moved by offsets.
struct Moved {
  Shape kernel, stride, dilate, pad;
  bool masked;  ///< what they see is multiplied by a mask

  template <class Parameters>
  Moved(const Completion& completion, const Parameters& given)
      : kernel(given.kernel),
        stride(for_each_axis(completion, "stride", given.stride, kernel, 1)),
        dilate(for_each_axis(completion, "dilate", given.dilate, kernel, 1)),
        pad(for_each_axis(completion, "pad", given.pad, kernel, 0)),
        masked(given.masked) {
    if (kernel.size() != 2 || (given.layout && *given.layout != ChannelsFirst::nchw))
      completion.refuse("kernel is " + to_string(kernel) +
                        "; images with the layout NCHW need two numbers");
    need_positive(completion, "kernel", kernel);
    need_positive(completion, "stride", stride);
    need_positive(completion, "dilate", dilate);
    need_positive(completion, "num_filter", given.num_filter);
    need_positive(completion, "num_group", given.num_group);
    need_positive(completion, "num_deformable_group", given.num_deformable_group);
  }

  std::int64_t taps() const { return kernel[0] * kernel[1]; }
};

template <class Parameters>
void complete_moved(Completion& completion, const Parameters& given) {
  const Moved moved(completion, given);
  const std::size_t weight = given.masked ? 3 : 2;
  Image image(completion, given.kernel, false);
  for (const std::int64_t groups : {given.num_group, given.num_deformable_group}) {
    if (image.channels >= 0 && image.channels % groups)
      completion.refuse("data of shape " + to_string(*completion.shapes[0]) +
                        " has channels that " + std::to_string(groups) + " does not divide");
  }
  if (given.num_filter % given.num_group)
    completion.refuse("num_filter is " + std::to_string(given.num_filter) +
                      "; it must be a multiple of num_group, " + std::to_string(given.num_group));
  const std::int64_t inner = image.channels < 0 ? -1 : image.channels / given.num_group;
  completion.shapes[weight] = image.shape_of(given.num_filter, inner, given.kernel);
  completion.shapes[weight + 1] = Shape{given.num_filter};
  if (!completion.shapes[0]) return;
  for (std::size_t i = 0; i < 2; ++i) {
    if (image.space[i] < 0) continue;
    const std::int64_t left =
        image.space[i] + 2 * moved.pad[i] - moved.dilate[i] * (given.kernel[i] - 1) - 1;
    if (left < 0)
      completion.refuse("the kernel " + to_string(given.kernel) + " exceeds data of shape " +
                        to_string(*completion.shapes[0]));
    image.space[i] = left / moved.stride[i] + 1;
  }
  const std::int64_t places = given.num_deformable_group * moved.taps();
  completion.shapes[1] = image.shape(2 * places);
  if (given.masked) completion.shapes[2] = image.shape(places);
  completion.results = {image.shape(given.num_filter)};
}

/// Where windows see an image along one axis, [images, groups, taps, height, width]: the pixels
/// before and behind, how far it is from the first to the place, and how much each pixel counts.
struct Seen {
  Value low, high, distance;
  Value low_counts, high_counts;
};

/// `axis` 0 is the height. Without a mask a place beyond the last pixel is that pixel, and one
/// outside of the image is zero; with one, all pixels outside are.
Seen see(const Moved& moved, const Value& offset, std::size_t axis, std::int64_t extent) {
  const Context context = offset.array.context();
  const DType dtype = offset.array.dtype;
  const Shape shape = shape_of(offset);
  Shape taps(5, 1), places(5, 1);
  taps[2] = moved.taps();
  places[3 + axis] = shape[3 + axis];
  Shape line(2, 1);
  line[axis] = moved.kernel[axis];
  const Value tap = shaped(
      stretch(shaped(count_up(line[axis], DType::int64, context), line), moved.kernel), taps);
  const Value first = count_up(shape[3 + axis], DType::int64, context) * moved.stride[axis];
  const Value base = shaped(first, places) + tap * moved.dilate[axis] - moved.pad[axis];
  const Value place = copy(base, dtype) + offset;
  const Value before = apply(op_named("floor"), {}, place);
  const Value pixel = copy(before, DType::int64);
  Seen seen = {clip(pixel, 0, extent - 1), clip(pixel + 1, 0, extent - 1), place - before, {}, {}};
  const auto inside = [&](const Value& x, const Value& least, const Value& end) {
    return in_type(x >= least, dtype) * in_type(x < end, dtype);
  };
  if (moved.masked) {
    seen.low_counts = inside(before, 0, extent);
    seen.high_counts = inside(before, -1, extent - 1);
  } else {
    seen.low_counts = seen.high_counts = inside(place, 0, extent);
  }
  return seen;
}

template <class Parameters>
Value deformable(Composition& c, const Parameters& given) {
  constexpr bool masked = Parameters::masked;
  const std::size_t weights = masked ? 3 : 2;
  const Value &weight_given = c[weights], &bias = c[weights + 1];
  if (static_cast<bool>(bias) == given.no_bias)
    c.refuse(given.no_bias ? "takes no bias with no_bias" : "needs a bias, or no_bias",
             ErrorKind::type);
  Completion completion{c.op(), {}, {}};
  completion.shapes.resize(weights + 2);
  completion.shapes[0] = shape_of(c[0]);
  complete_moved(completion, given);
  for (std::size_t i = 0; i < weights + (given.no_bias ? 1 : 2); ++i) {
    if (shape_of(c[i]) != *completion.shapes[i])
      c.refuse(std::string(c.op().inputs[i]) + " needs shape " + to_string(*completion.shapes[i]));
    if (c[i].array.dtype != c[0].array.dtype)
      c.refuse("inputs must have the same type; convert one with astype");
  }
  if (!is_floating(c[0].array.dtype)) c.refuse("is defined for floats", ErrorKind::type);

  const DType dtype = compute_type(c[0].array.dtype);
  const Moved moved(completion, given);
  const Shape image = shape_of(c[0]), result = completion.results[0];
  const std::int64_t groups = given.num_deformable_group, taps = moved.taps();
  const std::int64_t count = image[0], channels = image[1] / groups, high = image[2],
                     wide = image[3], places = result[2] * result[3];
  if (!element_count(image) || !element_count(result))
    c.refuse("needs images with places and channels");
  // Pixels as rows of the channels that move together.
  const Value data = in_type(c[0], dtype);
  const Value pixels =
      shaped(copy(reordered(shaped(data, {count, groups, channels, high * wide}), {0, 1, 3, 2})),
             {count * groups * high * wide, channels});
  const Value offset = shaped(in_type(c[1], dtype), {count, groups, taps, 2, result[2], result[3]});
  const auto half = [&](std::int64_t which) {
    return shaped(copy(between(offset, 3, which, which + 1)),
                  {count, groups, taps, result[2], result[3]});
  };
  const Seen y = see(moved, half(0), 0, high), x = see(moved, half(1), 1, wide);
  const Value start =
      shaped(count_up(count * groups, DType::int64, data.array.context()) * (high * wide),
             {count, groups, 1, 1, 1});
  Shape rows = {count, groups, taps, places, 1};
  const auto corner = [&](const Value& line, const Value& column, const Value& share) {
    const Value index[] = {start + line * wide + column};
    return shaped(gather(pixels, index), {count, groups, taps, places, channels}) *
           shaped(share, rows);
  };
  const Value top = (1 - y.distance) * y.low_counts, bottom = y.distance * y.high_counts;
  const Value left = (1 - x.distance) * x.low_counts, right = x.distance * x.high_counts;
  Value seen = corner(y.low, x.low, top * left) + corner(y.low, x.high, top * right) +
               corner(y.high, x.low, bottom * left) + corner(y.high, x.high, bottom * right);
  if (masked) seen = seen * shaped(in_type(c[2], dtype), rows);
  const std::int64_t inner = image[1] / given.num_group * taps;
  const Value columns =
      shaped(copy(reordered(seen, {0, 1, 4, 2, 3})), {count, given.num_group, inner, places});
  const Value weight = shaped(in_type(weight_given, dtype),
                              {given.num_group, given.num_filter / given.num_group, inner});
  Value sums = shaped(matmul(weight, columns), result);
  if (bias) sums = sums + shaped(in_type(bias, dtype), {given.num_filter, 1, 1});
  return in_type(sums, c[0].array.dtype);
}

}  // namespace

void declare_deformable(Table& table) {
  table.compose<DeformableConvolution>(
      {.name = "DeformableConvolution",
       .mxnet_names = {"_contrib_DeformableConvolution"},
       .doc = R"(Return the convolution of images with windows whose places ``offset`` moves.

There is an offset along both axes for each place of each window, and for each of
``num_deformable_group`` groups of channels. Between pixels they are weighted by their distance.

>>> from afterglow import nd
>>> x, weight = nd.array([[[[1, 2, 4]]]]), nd.ones((1, 1, 1, 1))
>>> offset = nd.array([[[[0, 0, 0]], [[0.5, 0, -0.5]]]])
>>> nd.contrib.DeformableConvolution(
...     x, offset, weight, kernel=(1, 1), num_filter=1, no_bias=True).asnumpy()
array([[[[1.5, 2. , 3. ]]]], dtype=float32))",
       .inputs = {"data", "offset", "weight", "bias"},
       .optional_inputs = 1,
       .compose = deformable<DeformableConvolution>,
       .complete = complete_moved<DeformableConvolution>,
       .node = [](NodeForm& node, const DeformableConvolution& given) {
         node.inputs[3] = !given.no_bias;
       }});
  table.compose<ModulatedDeformableConvolution>(
      {.name = "ModulatedDeformableConvolution",
       .mxnet_names = {"_contrib_ModulatedDeformableConvolution"},
       .doc =
           R"(Return the convolution of images with windows that ``offset`` moves and ``mask`` scales.

What a place of a window sees is multiplied by its number in ``mask``. Pixels outside are zero.

>>> from afterglow import nd
>>> x, weight = nd.array([[[[1, 2, 4]]]]), nd.ones((1, 1, 1, 1))
>>> offset, mask = nd.array([[[[0, 0, 0]], [[0.5, 0, 0.5]]]]), nd.array([[[[1, 3, 1]]]])
>>> nd.contrib.ModulatedDeformableConvolution(
...     x, offset, mask, weight, kernel=(1, 1), num_filter=1, no_bias=True).asnumpy()
array([[[[1.5, 6. , 2. ]]]], dtype=float32))",
       .inputs = {"data", "offset", "mask", "weight", "bias"},
       .optional_inputs = 1,
       .compose = deformable<ModulatedDeformableConvolution>,
       .complete = complete_moved<ModulatedDeformableConvolution>,
       .node = [](NodeForm& node, const ModulatedDeformableConvolution& given) {
         node.inputs[4] = !given.no_bias;
       }});
}

}  // namespace afterglow::ops
