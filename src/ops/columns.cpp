// SPDX-License-Identifier: Apache-2.0
// What windows see of images as columns of a matrix, and such columns added up to images again:
// each is what the other's gradient is made of.
#include <string>
#include <tuple>
#include <vector>

#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Im2col {
  Shape kernel, stride, dilate, pad;
  static constexpr auto fields =
      std::tuple{required("kernel", &Im2col::kernel, "extents of the window"),
                 field("stride", &Im2col::stride, "by which the window moves; 1"),
                 field("dilate", &Im2col::dilate, "distance of its places; 1"),
                 field("pad", &Im2col::pad, "zeros on both sides of the data; none")};
};

struct Col2im {
  Shape output_size, kernel, stride, dilate, pad;
  static constexpr auto fields =
      std::tuple{required("output_size", &Col2im::output_size, "extents of the images"),
                 required("kernel", &Col2im::kernel, "extents of the window"),
                 field("stride", &Col2im::stride, "by which the window moves; 1"),
                 field("dilate", &Col2im::dilate, "distance of its places; 1"),
                 field("pad", &Col2im::pad, "zeros on both sides of the data; none")};
};

/// Windows over the space of images, axis by axis.
struct Windows {
  Shape kernel, stride, dilate, pad;
  Shape padded;  ///< extents of space with zeros on both sides
  Shape places;  ///< of windows

  template <class Given>
  Windows(const Composition& c, const Given& given, const Shape& space)
      : kernel(given.kernel),
        stride(each(c, "stride", given.stride, 1)),
        dilate(each(c, "dilate", given.dilate, 1)),
        pad(each(c, "pad", given.pad, 0)) {
    if (kernel.empty() || kernel.size() > 3 || space.size() != kernel.size())
      c.refuse("the kernel " + to_string(kernel) + " does not fit images of " + to_string(space));
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      if (kernel[i] < 1 || stride[i] < 1 || dilate[i] < 1 || pad[i] < 0)
        c.refuse("kernel, stride and dilate must be positive");
      padded.push_back(space[i] + 2 * pad[i]);
      const std::int64_t left = padded[i] - dilate[i] * (kernel[i] - 1) - 1;
      if (left < 0) c.refuse("the kernel " + to_string(kernel) + " exceeds " + to_string(space));
      places.push_back(left / stride[i] + 1);
    }
  }

  std::int64_t taps() const { return element_count(kernel); }
  std::int64_t count() const { return element_count(places); }

  /// The index of each image and channel, and for each tap and window the place in padded space.
  std::vector<Value> indices(std::int64_t planes, Context context) const {
    const std::size_t axes = kernel.size();
    Value at = 0.0;
    for (std::size_t i = 0; i < axes; ++i) {
      const auto along = [&](std::size_t axis, std::int64_t extent, std::int64_t step) {
        Shape shape(2 * axes, 1);
        shape[axis] = extent;
        return shaped(count_up(extent, DType::int64, context) * step, shape);
      };
      const Value here = along(i, kernel[i], dilate[i]) + along(axes + i, places[i], stride[i]);
      at = i ? at * padded[i] + here : here;
    }
    return {shaped(count_up(planes, DType::int64, context), {planes, 1}),
            shaped(at, {1, taps() * count()})};
  }

 private:
  Shape each(const Composition& c, std::string_view name, const Shape& given,
             std::int64_t otherwise) const {
    if (given.empty()) return Shape(kernel.size(), otherwise);
    if (given.size() != kernel.size())
      c.refuse(std::string(name) + " is " + to_string(given) + "; the kernel " + to_string(kernel) +
               " needs as many numbers");
    return given;
  }
};

Shape joined(std::int64_t first, std::int64_t second, const Shape& rest) {
  Shape result = {first, second};
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

Value im2col(Composition& c, const Im2col& given) {
  const Shape shape = shape_of(c[0]);
  if (shape.size() < 3) c.refuse("needs images: batch, channels and space");
  const Windows windows(c, given, Shape(shape.begin() + 2, shape.end()));
  Shape widths(4, 0);
  for (const std::int64_t width : windows.pad) widths.insert(widths.end(), 2, width);
  const Argument around[] = {std::string("constant"), widths, std::int64_t{0}};
  Value inputs[] = {c[0]};
  const Value padded = call(the_op<"pad">(), inputs, {around, {}, nullptr}, false);
  const std::int64_t planes = shape[0] * shape[1];
  const Value seen = gather(shaped(padded, {planes, element_count(windows.padded)}),
                            windows.indices(planes, c[0].array.context()));
  return shaped(seen, {shape[0], shape[1] * windows.taps(), windows.count()});
}

Value col2im(Composition& c, const Col2im& given) {
  const Windows windows(c, given, given.output_size);
  const Shape shape = shape_of(c[0]);
  if (shape.size() != 3 || shape[1] % windows.taps() || shape[2] != windows.count())
    c.refuse("needs columns of shape (batch, channels * " + std::to_string(windows.taps()) + ", " +
             std::to_string(windows.count()) + ")");
  const std::int64_t channels = shape[1] / windows.taps(), planes = shape[0] * channels;
  const Value nothing =
      full(0.0, {planes, element_count(windows.padded)}, c[0].array.dtype, c[0].array.context());
  Value images = scatter(nothing, shaped(c[0], {planes, windows.taps() * windows.count()}),
                         windows.indices(planes, c[0].array.context()), true);
  images = shaped(images, joined(shape[0], channels, windows.padded));
  for (std::size_t i = 0; i < windows.pad.size(); ++i)
    images = between(images, static_cast<std::int64_t>(i) + 2, windows.pad[i],
                     windows.padded[i] - windows.pad[i]);
  return copy(images);
}

}  // namespace

void declare_columns(Table& table) {
  table.compose<Im2col>({.name = "im2col",
                         .mxnet_names = {"im2col"},
                         .doc = R"(Return what windows see of images: a column for each window.

>>> x = nd.arange(9).reshape((1, 1, 3, 3))
>>> print(nd.im2col(x, kernel=(2, 2)).asnumpy())
[[[0. 1. 3. 4.]
  [1. 2. 4. 5.]
  [3. 4. 6. 7.]
  [4. 5. 7. 8.]]])",
                         .inputs = {"data"},
                         .compose = im2col});
  table.compose<Col2im>({.name = "col2im",
                         .mxnet_names = {"col2im"},
                         .doc = R"(Return images in which the columns of windows are added up.

>>> columns = nd.ones((1, 4, 4))
>>> print(nd.col2im(columns, output_size=(3, 3), kernel=(2, 2)).asnumpy())
[[[[1. 2. 1.]
   [2. 4. 2.]
   [1. 2. 1.]]]])",
                         .inputs = {"data"},
                         .compose = col2im});
}

}  // namespace afterglow::ops
