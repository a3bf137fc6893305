// SPDX-License-Identifier: Apache-2.0
// Parts of arrays: blocks, and all parts that an axis is cut into. All of these copy.
#include <algorithm>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

// --- one part ---

struct SliceAxis {
  std::int64_t axis = 0, begin = 0;
  std::optional<std::int64_t> end;
  static constexpr auto fields =
      std::tuple{required("axis", &SliceAxis::axis, "that is cut"),
                 required("begin", &SliceAxis::begin, "the first place; negative from the end"),
                 field("end", &SliceAxis::end, "the place behind the last; none for all")};
};

Value slice_axis(Composition& c, const SliceAxis& given) {
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(c[0]));
  const std::int64_t extent = c[0].array.shape()[static_cast<std::size_t>(axis)];
  const std::int64_t end = given.end.value_or(extent);
  const std::int64_t first = given.begin < 0 ? given.begin + extent : given.begin;
  const std::int64_t last = end < 0 ? end + extent : end;
  if (first < 0 || first >= last || last > extent)
    c.refuse("begin " + std::to_string(given.begin) + " and end " + std::to_string(end) +
             " name nothing of axis " + std::to_string(given.axis));
  return copy(between(c[0], axis, first, last));
}

struct SliceLike {
  std::optional<Shape> axes;
  static constexpr auto fields =
      std::tuple{field("axes", &SliceLike::axes, "those that are cut; all where none is given")};
};

/// The beginning of an array, as long as another one.
Value slice_like(Composition& c, const SliceLike& given) {
  const Shape like = shape_of(c[1]);
  Part part = whole(c[0].array);
  Shape axes = given.axes.value_or(Shape{});
  if (axes.empty()) {
    if (part.shape.size() != like.size()) c.refuse("the arrays must have equally many dimensions");
    for (std::size_t axis = 0; axis < like.size(); ++axis)
      axes.push_back(static_cast<std::int64_t>(axis));
  }
  for (const std::int64_t one : axes) {
    const auto axis = static_cast<std::size_t>(normal_axis(c, one, rank_of(c[0])));
    if (axis >= like.size() || like[axis] > part.shape[axis])
      c.refuse("shape_like must lie within data");
    part.shape[axis] = like[axis];
  }
  return copy(view(c[0], part));
}

struct Crop {
  std::optional<std::int64_t> num_args;
  Shape offset = {0, 0}, h_w = {0, 0};
  bool center_crop = false;
  static constexpr auto fields =
      std::tuple{field("num_args", &Crop::num_args, "how many arrays there are: 1 or 2"),
                 field("offset", &Crop::offset, "the first row and column"),
                 field("h_w", &Crop::h_w, "rows and columns, without a second array"),
                 field("center_crop", &Crop::center_crop, "whether the window is in the middle")};
};

/// A window of images, as high and wide as a second array or as `h_w`.
Value crop(Composition& c, const Crop& given) {
  if (c.inputs().empty()) c.refuse("needs an array", ErrorKind::argument);
  Shape size = given.h_w;
  if (c.inputs().size() > 1) {
    const Shape like = shape_of(c[1]);
    size = Shape(like.begin() + std::min<std::ptrdiff_t>(2, like.end() - like.begin()), like.end());
  }
  if (rank_of(c[0]) != 4 || size.size() != 2 || given.offset.size() != 2)
    c.refuse("needs images of 4 dimensions, and two numbers for a window");
  Value result = c[0];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t space = c[0].array.shape()[i + 2] - size[i];
    const std::int64_t start = given.center_crop ? space / 2 : given.offset[i];
    if (size[i] < 1 || start < 0 || start > space)
      c.refuse("a window of " + to_string(size) + " at " + to_string(given.offset) +
               " must lie within the images");
    result = between(result, static_cast<std::int64_t>(i) + 2, start, start + size[i]);
  }
  return copy(result);
}

// --- all parts of an axis ---

/// More parts cannot be made of an extent that has fewer places.
void need_few_parts(const Composition& c, std::int64_t parts, std::int64_t extent) {
  constexpr std::int64_t most_parts_of_nothing = 1 << 16;
  if (parts > std::max(extent, most_parts_of_nothing))
    c.refuse(
        std::to_string(parts) + " parts were asked for, of an extent of " + std::to_string(extent),
        ErrorKind::memory);
}

/// The bounds of equal parts.
Shape equal_parts(const Composition& c, std::int64_t extent, std::int64_t parts) {
  need_few_parts(c, parts, extent);
  if (parts < 1 || extent % parts)
    c.refuse("array split does not result in an equal division: " + std::to_string(extent) +
             " into " + std::to_string(parts));
  Shape bounds;
  for (std::int64_t part = 0; part <= parts; ++part) bounds.push_back(extent / parts * part);
  return bounds;
}

/// The bounds of parts of which the first ones may be longer by one.
Shape uneven_parts(const Composition& c, std::int64_t extent, std::int64_t parts) {
  if (parts < 1) c.refuse("cannot make " + std::to_string(parts) + " parts");
  need_few_parts(c, parts, extent);
  Shape bounds;
  for (std::int64_t part = 0; part <= parts; ++part)
    bounds.push_back(extent / parts * part + std::min(part, extent % parts));
  return bounds;
}

Shape parts_at(std::int64_t extent, const Shape& indices) {
  Shape bounds = {0};
  for (const std::int64_t index : indices)
    bounds.push_back(index < 0 ? std::max<std::int64_t>(0, index + extent)
                               : std::min(index, extent));
  bounds.push_back(extent);
  return bounds;
}

/// A result for every two bounds; with `squeeze` without the axis.
Value split_at(Composition& c, std::int64_t axis, const Shape& bounds, bool squeeze) {
  const Value& x = c[0];
  Value first;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    Part part = part_between(x.array, axis, bounds[i], bounds[i + 1]);
    if (squeeze) {
      if (part.shape[static_cast<std::size_t>(axis)] != 1)
        c.refuse("squeeze_axis needs parts of extent 1");
      part.shape.erase(part.shape.begin() + axis);
      part.strides.erase(part.strides.begin() + axis);
    }
    const Value result = copy(view(x, part));
    if (i) {
      c.add_output(result);
    } else {
      first = result;
    }
  }
  return first;
}

std::int64_t extent_along(const Composition& c, std::int64_t axis) {
  return c[0].array.shape()[static_cast<std::size_t>(axis)];
}

struct SliceChannel {
  std::int64_t num_outputs = 0, axis = 1;
  bool squeeze_axis = false;
  static constexpr auto fields =
      std::tuple{required("num_outputs", &SliceChannel::num_outputs, "how many equal parts"),
                 field("axis", &SliceChannel::axis, "that is cut"),
                 field("squeeze_axis", &SliceChannel::squeeze_axis,
                       "whether the axis, of extent 1 then, is left out")};
};

Value slice_channel(Composition& c, const SliceChannel& given) {
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(c[0]));
  const Shape bounds = equal_parts(c, extent_along(c, axis), given.num_outputs);
  return split_at(c, axis, bounds, given.squeeze_axis);
}

struct SplitV2 {
  lazy::Integers indices_or_sections;
  std::int64_t axis = 0;
  bool squeeze_axis = false;
  static constexpr auto fields =
      std::tuple{required("indices_or_sections", &SplitV2::indices_or_sections,
                          "how many equal parts, or the places where they begin"),
                 field("axis", &SplitV2::axis, "that is cut"),
                 field("squeeze_axis", &SplitV2::squeeze_axis,
                       "whether the axis, of extent 1 then, is left out")};
};

using EqualParts = Shape (*)(const Composition&, std::int64_t, std::int64_t);

Shape bounds_of(const Composition& c, const lazy::Integers& given, std::int64_t axis,
                EqualParts parts) {
  const std::int64_t extent = extent_along(c, axis);
  if (const auto* count = std::get_if<std::int64_t>(&given)) return parts(c, extent, *count);
  return parts_at(extent, std::get<Shape>(given));
}

Value split_v2(Composition& c, const SplitV2& given) {
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(c[0]));
  return split_at(c, axis, bounds_of(c, given.indices_or_sections, axis, equal_parts),
                  given.squeeze_axis);
}

struct Split {
  lazy::Integers indices_or_sections;
  std::int64_t axis = 0;
  static constexpr auto fields =
      std::tuple{required("indices_or_sections", &Split::indices_or_sections,
                          "how many parts, or the places where they begin"),
                 field("axis", &Split::axis, "that is cut")};
};

template <EqualParts parts>
Value split(Composition& c, const Split& given) {
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(c[0]));
  return split_at(c, axis, bounds_of(c, given.indices_or_sections, axis, parts), false);
}

/// The gradients of the parts one behind the other: one pass over memory however many there are.
template <class Parameters>
Value joined(Gradient& c) {
  const Shape shape = c.shape(0);
  std::int64_t axis = c.parameters<Parameters>().axis;
  if (axis < 0) axis += std::ssize(shape);
  const auto place = static_cast<std::size_t>(axis);
  std::vector<Value> parts;
  for (std::int64_t covered = 0; covered < shape[place];) {
    Shape part = shape;
    const Shape given = c.output_shape(parts.size());
    part[place] = given.size() == shape.size() ? given[place] : 1;  // else it was squeezed
    covered += part[place];
    const Value head = c.head(parts.size());
    parts.push_back(head ? Value(shaped(head, part))
                         : full(0, part, c.saved(0).dtype, c.saved(0).context));
  }
  if (parts.empty()) return zeros(c, 0);
  return parts.size() == 1 ? parts[0] : concat(parts, axis);
}

struct SplitAlong {
  lazy::Integers indices_or_sections;
  static constexpr auto fields =
      std::tuple{required("indices_or_sections", &SplitAlong::indices_or_sections,
                          "how many parts, or the places where they begin")};
};

/// Along one of the first axes, of an array that has so many.
template <int axis, int fewest>
Value split_along(Composition& c, const SplitAlong& given) {
  const int rank = rank_of(c[0]);
  if (rank < fewest)
    c.refuse("only works on arrays of " + std::to_string(fewest) + " or more dimensions");
  return split<equal_parts>(c, {given.indices_or_sections, std::min(axis, rank - 1)});
}

}  // namespace

void declare_parts(Table& table) {
  table.compose<SliceAxis>(
      {.name = "slice_axis",
       .mxnet_names = {"slice_axis"},
       .spellings = {"nd.slice_axis(data, axis, begin, end, out=None, name=None)"},
       .doc = R"(Return a copy of what lies from begin to end along one axis.

>>> nd.slice_axis(nd.zeros((4, 6)), axis=-1, begin=-3, end=None).shape
(4, 3))",

       .inputs = {"data"},
       .compose = slice_axis});
  table.compose<SliceLike>(
      {.name = "slice_like",
       .mxnet_names = {"slice_like"},
       .spellings = {"nd.slice_like(data, shape_like, axes=(), out=None, name=None)"},
       .doc =
           R"(Return the beginning of the array, as long as another one along the axes (all by default).

>>> nd.slice_like(nd.zeros((4, 6)), nd.zeros((2, 3)), axes=(1,)).shape
(4, 3))",

       .inputs = {"data", "shape_like"},
       .compose = slice_like});
  table.compose<Crop>(
      {.name = "Crop",
       .mxnet_names = {"Crop"},
       .spellings = {"nd.Crop(*data, num_args=None, offset=(0, 0), h_w=(0, 0), center_crop=False, "
                     "out=None, name=None)"},
       .doc = R"(Return a window of images: as high and wide as a second array, or as ``h_w`` says.

>>> nd.Crop(nd.zeros((1, 3, 6, 6)), h_w=(2, 4), offset=(1, 1)).shape
(1, 3, 2, 4))",

       .inputs = {"data"},
       .variadic = true,
       .compose = crop});
  table.compose<SliceChannel>(
      {.name = "SliceChannel",
       .mxnet_names = {"SliceChannel", "split"},
       .spellings = {"nd.split|SliceChannel(data, num_outputs, axis=1, "
                     "squeeze_axis=False, out=None, name=None)"},
       .doc = R"(Return a list of equal parts along an axis; the array itself, copied, for one part.

>>> [part.shape for part in nd.split(nd.zeros((2, 6)), 3)]
[(2, 2), (2, 2), (2, 2)]
>>> [part.shape for part in nd.split(nd.zeros((2, 3)), 3, squeeze_axis=True)]
[(2,), (2,), (2,)])",
       .inputs = {"data"},
       .gradients = {reading_nothing(joined<SliceChannel>)},
       .compose = slice_channel,
       .node = [](lazy::NodeForm& node, const SliceChannel& given) {
         node.outputs = lazy::numbered_outputs(given.num_outputs);
       }});
  table.compose<SplitV2>({.name = "split_v2",
                          .mxnet_names = {"_split_v2"},
                          .inputs = {"ary"},
                          .gradients = {reading_nothing(joined<SplitV2>)},
                          .compose = split_v2});
  table.compose<Split>({.name = "split",
                        .mxnet_names = {"_npi_split"},
                        .inputs = {"ary"},
                        .gradients = {reading_nothing(joined<Split>)},
                        .compose = split<equal_parts>});
  table.compose<Split>({.name = "array_split",
                        .inputs = {"ary"},
                        .gradients = {reading_nothing(joined<Split>)},
                        .compose = split<uneven_parts>});
  table.compose<SplitAlong>({.name = "hsplit",
                             .mxnet_names = {"_npi_hsplit"},
                             .inputs = {"ary"},
                             .compose = split_along<1, 1>});
  table.compose<SplitAlong>({.name = "vsplit", .inputs = {"ary"}, .compose = split_along<0, 2>});
  table.compose<SplitAlong>({.name = "dsplit",
                             .mxnet_names = {"_npi_dsplit"},
                             .inputs = {"ary"},
                             .compose = split_along<2, 3>});
}

}  // namespace afterglow::ops
