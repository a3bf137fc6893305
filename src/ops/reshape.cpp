// SPDX-License-Identifier: Apache-2.0
// The same elements in another shape, and elements repeated along axes. All of these copy.
#include "ops/reshape.h"

#include <algorithm>
#include <vector>

#include "ops/compositions.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

[[noreturn]] void refuse_shape(const std::string& what) {
  throw Error(ErrorKind::value, "[reshape] " + what);
}

// --- codes ---

/// The product, or nothing where it is beyond any array.
std::optional<std::int64_t> product_of(const Shape& extents) {
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product)) return {};
  }
  return product;
}

/// Replaces -1 by what is left of the size, and checks that the sizes agree.
Shape filled_in(const Shape& shape, Shape extents, const Shape& wanted) {
  const std::int64_t size = element_count(shape);
  const auto unknown = std::ranges::find(extents, -1);
  bool fits = true;
  if (unknown != extents.end()) {
    *unknown = 1;
    const std::optional<std::int64_t> known = product_of(extents);
    fits = known && *known && size % *known == 0;
    if (fits) *unknown = size / *known;
  }
  if (!fits || product_of(extents) != size)
    throw Error(ErrorKind::value, "Cannot reshape array of size " + std::to_string(size) +
                                      " into shape " + to_string(wanted));
  return extents;
}

/// What the codes of both kinds do, one after another.
class Decoder {
 public:
  Decoder(const Shape& shape, const Shape& wanted) : shape_(shape), wanted_(wanted) {}

  Shape decode(bool is_legacy) {
    while (position_ < wanted_.size()) {
      const std::int64_t code = wanted_[position_++];
      if (is_legacy) {
        apply_legacy(code);
      } else {
        apply_extended(code);
      }
    }
    if (std::ranges::count(result_, -1) > 1)
      refuse_shape("one extent can be inferred, not several: " + to_string(wanted_));
    return filled_in(shape_, std::move(result_), wanted_);
  }

 private:
  void apply_legacy(std::int64_t code) {
    switch (code) {
      case 0:
        return result_.push_back(take());
      case -2:
        return take_rest();
      case -3:
        return merge();
      case -4:
        return split();
      default:
        set(code);
    }
  }

  void apply_extended(std::int64_t code) {
    switch (code) {
      case -2:
        return result_.push_back(take());
      case -3:
        if (take() != 1)
          refuse_shape("-3 must stand at an extent of 1; " + to_string(shape_) + " to " +
                       to_string(wanted_));
        return;
      case -4:
        return take_rest();
      case -5:
        return merge();
      case -6:
        return split();
      default:
        set(code);
    }
  }

  void set(std::int64_t extent) {
    if (extent < -1)
      refuse_shape("there is no code " + std::to_string(extent) + ", in " + to_string(wanted_));
    ++used_;
    result_.push_back(extent);
  }

  std::int64_t take() {
    if (used_ >= shape_.size())
      refuse_shape(to_string(wanted_) + " uses more dimensions than shape " + to_string(shape_) +
                   " has");
    return shape_[used_++];
  }

  void take_rest() {
    for (; used_ < shape_.size(); ++used_) result_.push_back(shape_[used_]);
  }

  void merge() {
    const std::int64_t first = take();
    result_.push_back(extent_product(first, take()));
  }

  void split() {
    const std::int64_t extent = take();
    const bool is_complete = position_ + 1 < wanted_.size();
    std::int64_t left = is_complete ? wanted_[position_] : -1;
    std::int64_t right = is_complete ? wanted_[position_ + 1] : -1;
    position_ += 2;
    if (left == -1 && right == -1)
      refuse_shape("the code for splitting needs two extents behind it, one may be -1: " +
                   to_string(wanted_));
    if (left == -1) left = right ? extent / right : 0;
    if (right == -1) right = left ? extent / left : 0;
    if (left < 0 || right < 0 || product_of({left, right}) != extent)
      refuse_shape(std::to_string(extent) + " cannot be split into " + std::to_string(left) +
                   " and " + std::to_string(right));
    result_.push_back(left);
    result_.push_back(right);
  }

  const Shape& shape_;
  const Shape& wanted_;
  std::size_t used_ = 0;      ///< of the shape
  std::size_t position_ = 0;  ///< in what is wanted
  Shape result_;
};

Shape backwards(const Shape& shape) {
  return Shape(shape.rbegin(), shape.rend());
}

}  // namespace

Shape reshaped(const Shape& shape, const Shape& wanted, ShapeCodes codes, bool reverse) {
  if (reverse) return backwards(reshaped(backwards(shape), backwards(wanted), codes, false));
  if (codes != ShapeCodes::numpy) return Decoder(shape, wanted).decode(codes == ShapeCodes::legacy);
  if (std::ranges::any_of(wanted, [](std::int64_t extent) { return extent < -1; }) ||
      std::ranges::count(wanted, -1) > 1)
    refuse_shape(to_string(wanted) + " may hold one -1 and no other negative extent");
  return filled_in(shape, wanted, wanted);
}

namespace {

// --- other shapes ---

void need_row_major(const Composition& c, const std::string& order) {
  if (order != "C")
    c.refuse("reads elements in order 'C', not '" + order + "'", ErrorKind::not_implemented);
}

struct NumpyReshape {
  Shape newshape;
  std::string order = "C";
  static constexpr auto fields =
      std::tuple{required("newshape", &NumpyReshape::newshape, "of the result"),
                 field("order", &NumpyReshape::order, "of the elements: 'C'")};
};

Value numpy_reshape(Composition& c, const NumpyReshape& given) {
  need_row_major(c, given.order);
  const Shape shape = reshaped(shape_of(c[0]), given.newshape, ShapeCodes::numpy, false);
  return copy(shaped(c[0], shape));
}

struct Ravel {
  std::string order = "C";
  static constexpr auto fields = std::tuple{field("order", &Ravel::order, "of the elements: 'C'")};
};

Value ravel(Composition& c, const Ravel& given) {
  need_row_major(c, given.order);
  return copy(shaped(c[0], {c[0].array.size()}));
}

struct ExtendedReshape {
  Shape newshape;
  bool reverse = false;
  std::string order = "C";
  static constexpr auto fields =
      std::tuple{required("newshape", &ExtendedReshape::newshape, "of the result, or codes"),
                 field("reverse", &ExtendedReshape::reverse, "whether codes count from the right"),
                 field("order", &ExtendedReshape::order, "of the elements: 'C'")};
};

Value extended_reshape(Composition& c, const ExtendedReshape& given) {
  need_row_major(c, given.order);
  const Shape shape = reshaped(shape_of(c[0]), given.newshape, ShapeCodes::extended, given.reverse);
  return copy(shaped(c[0], shape));
}

struct Reshape {
  std::optional<Shape> shape;
  bool reverse = false;
  std::optional<Shape> target_shape;
  bool keep_highest = false;
  static constexpr auto fields = std::tuple{
      field("shape", &Reshape::shape, "of the result, or codes"),
      field("reverse", &Reshape::reverse, "whether codes count from the right"),
      field("target_shape", &Reshape::target_shape, "an older form: 0 is found from the others"),
      field("keep_highest", &Reshape::keep_highest,
            "whether the first extent stays, in the older form")};
};

Value reshape(Composition& c, const Reshape& given) {
  if (!given.shape && !given.target_shape) c.refuse("Shape must be provided.", ErrorKind::argument);
  const Shape own = shape_of(c[0]);
  Shape wanted = given.shape ? *given.shape : *given.target_shape;
  if (!given.shape) {
    if (given.keep_highest && !own.empty()) {
      if (wanted.empty()) wanted.push_back(0);
      wanted[0] = own[0];
    }
    std::ranges::replace(wanted, 0, -1);
  }
  return copy(shaped(c[0], reshaped(own, wanted, ShapeCodes::legacy, given.reverse)));
}

struct ReshapeLike {
  std::optional<std::int64_t> lhs_begin, lhs_end, rhs_begin, rhs_end;
  static constexpr auto fields = std::tuple{
      field("lhs_begin", &ReshapeLike::lhs_begin, "the first axis of lhs that is replaced"),
      field("lhs_end", &ReshapeLike::lhs_end, "the axis behind the last"),
      field("rhs_begin", &ReshapeLike::rhs_begin, "the first axis of rhs that is taken"),
      field("rhs_end", &ReshapeLike::rhs_end, "the axis behind the last")};
};

/// Bounds of axes, counted from the front.
std::pair<std::int64_t, std::int64_t> axes_between(const Composition& c,
                                                   std::optional<std::int64_t> begin,
                                                   std::optional<std::int64_t> end,
                                                   const Shape& shape, const char* side) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [&](std::int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const std::int64_t first = place(begin.value_or(0)), last = place(end.value_or(rank));
  if (first < 0 || first > last || last > rank)
    c.refuse(std::string(side) + "_begin and " + side + "_end must name axes of shape " +
             to_string(shape) + ", but are " + std::to_string(begin.value_or(0)) + " and " +
             std::to_string(end.value_or(rank)));
  return {first, last};
}

Value reshape_like(Composition& c, const ReshapeLike& given) {
  Shape shape = shape_of(c[0]);
  const Shape like = shape_of(c[1]), own = shape;
  const auto [first, last] = axes_between(c, given.lhs_begin, given.lhs_end, shape, "lhs");
  const auto [from, to] = axes_between(c, given.rhs_begin, given.rhs_end, like, "rhs");
  shape.erase(shape.begin() + first, shape.begin() + last);
  shape.insert(shape.begin() + first, like.begin() + from, like.begin() + to);
  if (product_of(shape) != c[0].array.size())
    c.refuse("shape " + to_string(own) + " cannot become " + to_string(shape));
  return copy(shaped(c[0], shape));
}

struct ExpandDims {
  Shape axis;
  static constexpr auto fields =
      std::tuple{required("axis", &ExpandDims::axis, "where axes of extent 1 come in")};
};

Value expand_dims(Composition& c, const ExpandDims& given) {
  const int rank = rank_of(c[0]) + static_cast<int>(given.axis.size());
  Shape shape(static_cast<std::size_t>(rank), -1);
  for (const std::int64_t one : given.axis) {
    std::int64_t& extent = shape[static_cast<std::size_t>(normal_axis(c, one, rank))];
    if (extent == 1) c.refuse("the axes " + to_string(given.axis) + " must be different");
    extent = 1;
  }
  std::size_t next = 0;
  for (std::int64_t& extent : shape) {
    if (extent < 0) extent = c[0].array.shape()[next++];
  }
  return copy(shaped(c[0], shape));
}

struct Squeeze {
  std::optional<Shape> axis;
  static constexpr auto fields =
      std::tuple{field("axis", &Squeeze::axis, "which; all of extent 1 where none is given")};
};

Value squeeze(Composition& c, const Squeeze& given) {
  Shape extents = shape_of(c[0]);
  if (given.axis) {
    // One number has one axis to be asked for, as in NumPy.
    if (extents.empty() && !given.axis->empty()) extents = {1};
    const int rank = static_cast<int>(extents.size());
    for (const std::int64_t one : *given.axis) {
      const std::int64_t axis = normal_axis(c, one, rank);
      std::int64_t& extent = extents[static_cast<std::size_t>(axis)];
      if (extent != 1 && extent != -1)
        c.refuse("axis " + std::to_string(axis) + " is not of extent 1");
      extent = -1;
    }
  } else {
    std::ranges::replace(extents, 1, -1);
  }
  Shape shape;
  for (const std::int64_t extent : extents) {
    if (extent >= 0) shape.push_back(extent);
  }
  return copy(shaped(c[0], shape));
}

// --- at least so many axes ---

Shape two_axes(Shape shape) {
  while (shape.size() < 2) shape.insert(shape.begin(), 1);
  return shape;
}

/// A vector becomes the middle one.
Shape three_axes(Shape shape) {
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  while (shape.size() < 3) shape.push_back(1);
  return shape;
}

Shape one_axis(Shape shape) {
  if (shape.empty()) shape.push_back(1);
  return shape;
}

template <Shape (*new_shape)(Shape)>
Value at_least(Composition& c) {
  if (c.inputs().empty()) c.refuse("needs at least one array");
  for (const Value& array : c.inputs().subspan(1))
    c.add_output(copy(shaped(array, new_shape(shape_of(array)))));
  return copy(shaped(c[0], new_shape(shape_of(c[0]))));
}

// --- one behind the other ---

/// Each in a shape of its own, along an axis.
template <Shape (*new_shape)(Shape)>
Value concat_as(const Composition& c, std::int64_t axis) {
  std::vector<Value> rows;
  for (const Value& array : c.inputs()) {
    const Shape own = shape_of(array), shape = new_shape(own);
    rows.push_back(own == shape ? array : Value(shaped(array, shape)));
  }
  return concat(rows, axis);
}

Value hstack(Composition& c) {
  const bool is_vector = !c.inputs().empty() && rank_of(c[0]) <= 1;
  return concat_as<one_axis>(c, is_vector ? 0 : 1);
}

Shape column(Shape shape) {
  return shape.size() < 2 ? Shape{element_count(shape), 1} : shape;
}

// --- along axes of extent 1 ---

struct BroadcastTo {
  Shape shape;
  static constexpr auto fields =
      std::tuple{required("shape", &BroadcastTo::shape, "of the result")};
};

/// 0 keeps the extent of the array.
Value broadcast_to(Composition& c, const BroadcastTo& given) {
  Shape shape = given.shape;
  if (static_cast<int>(shape.size()) == rank_of(c[0])) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!shape[axis]) shape[axis] = c[0].array.shape()[axis];
    }
  }
  return stretch(c[0], shape);
}

/// -2 keeps the extent of the array there, counted from the last axis.
Value numpy_broadcast_to(Composition& c, const BroadcastTo& given) {
  if (c[0].is_number()) return full(c[0], given.shape, DType::float32, {});
  Shape shape = given.shape;
  const Shape own = shape_of(c[0]);
  for (std::size_t back = 1; back <= std::min(shape.size(), own.size()); ++back) {
    std::int64_t& extent = shape[shape.size() - back];
    if (extent == -2) extent = own[own.size() - back];
  }
  return stretch(c[0], shape);
}

Value broadcast_along(Composition& c, const Shape& axes, const Shape& sizes) {
  if (axes.size() != sizes.size())
    c.refuse("axis " + to_string(axes) + " and size " + to_string(sizes) + " differ in length");
  Shape shape = shape_of(c[0]);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& extent = shape[static_cast<std::size_t>(normal_axis(c, axes[i], rank_of(c[0])))];
    if (extent != 1 && extent != sizes[i])
      c.refuse("axis " + std::to_string(axes[i]) + " must have extent 1");
    extent = sizes[i];
  }
  return stretch(c[0], shape);
}

struct BroadcastAxis {
  Shape axis, size;
  static constexpr auto fields =
      std::tuple{field("axis", &BroadcastAxis::axis, "those that are stretched, of extent 1"),
                 field("size", &BroadcastAxis::size, "their new extents")};
};

Value broadcast_axis(Composition& c, const BroadcastAxis& given) {
  return broadcast_along(c, given.axis, given.size);
}

struct BroadcastLike {
  std::optional<Shape> lhs_axes, rhs_axes;
  static constexpr auto fields = std::tuple{
      field("lhs_axes", &BroadcastLike::lhs_axes, "those that are stretched; all without them"),
      field("rhs_axes", &BroadcastLike::rhs_axes, "those whose extents they get")};
};

Value broadcast_like(Composition& c, const BroadcastLike& given) {
  if (!given.lhs_axes && !given.rhs_axes) return broadcast_to(c, {shape_of(c[1])});
  if (!given.lhs_axes || !given.rhs_axes)
    c.refuse("needs both of lhs_axes and rhs_axes, or none", ErrorKind::type);
  if (given.lhs_axes->empty()) c.refuse("got no axes; lhs_axes and rhs_axes need at least one");
  Shape sizes;
  for (const std::int64_t axis : *given.rhs_axes)
    sizes.push_back(
        c[1].array.shape()[static_cast<std::size_t>(normal_axis(c, axis, rank_of(c[1])))]);
  return broadcast_along(c, *given.lhs_axes, sizes);
}

}  // namespace

void declare_reshape(Table& table) {
  table.compose<NumpyReshape>({.name = "reshape",
                               .mxnet_names = {"_np_reshape"},
                               .spellings = {"np.reshape(a, newshape, order='C', out=None)"},
                               .doc = R"(Return a copy in another shape; one extent may be -1.

>>> from afterglow import np
>>> np.reshape(np.zeros((2, 3)), (3, -1)).shape
(3, 2))",

                               .inputs = {"a"},
                               .compose = numpy_reshape});
  table.compose<Ravel>({.name = "ravel",
                        .spellings = {"np.ravel(x, order='C')"},
                        .doc = R"(Return a copy with one axis.

>>> from afterglow import np
>>> np.ravel(np.zeros((2, 3))).shape
(6,))",
                        .inputs = {"x"},
                        .compose = ravel});
  table.compose<ExtendedReshape>(
      {.name = "npx_reshape",
       .mxnet_names = {"_npx_reshape", "_npi_reshape"},
       .spellings = {"npx.reshape(a, newshape, reverse=False, order='C')"},
       .doc = R"(Return a copy in another shape.

-1 is found from the others, -2 keeps an extent, -3 leaves out a 1, -4 takes the rest, -5 merges
two and -6 splits one into the two that follow; with ``reverse`` they count from the right.

>>> from afterglow import np, npx
>>> npx.reshape(np.zeros((2, 3, 4)), (-5, -2)).shape
(6, 4)
>>> npx.reshape(np.zeros((8, 3)), (-6, 2, -1, -4)).shape
(2, 4, 3))",

       .inputs = {"a"},
       .compose = extended_reshape});
  table.compose<Reshape>(
      {.name = "Reshape",
       .mxnet_names = {"Reshape", "reshape"},
       .spellings = {"nd.reshape|Reshape(data, shape=None, reverse=False, target_shape=None, "
                     "keep_highest=False, out=None, name=None)"},
       .doc = R"(Return a copy in another shape; codes as for :meth:`NDArray.reshape`.

In ``target_shape``, the older form, 0 is found from the others, and ``keep_highest`` keeps the
first extent.

>>> from afterglow import nd
>>> nd.reshape(nd.zeros((2, 3, 4)), shape=(-3, 0)).shape
(6, 4))",

       .inputs = {"data"},
       .compose = reshape});
  table.compose<ReshapeLike>(
      {.name = "reshape_like",
       .mxnet_names = {"reshape_like", "_npx_reshape_like"},
       .doc =
           R"(Return a copy of ``lhs`` in the shape of ``rhs``, or with some axes replaced by those there.

>>> from afterglow import nd
>>> nd.reshape_like(nd.zeros((6, 7)), nd.zeros((2, 3, 4)), lhs_end=1, rhs_end=2).shape
(2, 3, 7)

>>> from afterglow import np, npx
>>> npx.reshape_like(np.zeros((6, 7)), np.zeros((2, 3, 4)), lhs_end=1, rhs_end=2).shape
(2, 3, 7))",

       .inputs = {"lhs", "rhs"},
       .compose = reshape_like});
  table.compose<ExpandDims>(
      {.name = "expand_dims",
       .mxnet_names = {"expand_dims", "_npi_expand_dims"},
       .spellings = {"np.expand_dims(a, axis)", "nd.expand_dims(data, axis, out=None, name=None)"},
       .doc = R"(Return a copy with one more axis of extent 1, or several.

>>> from afterglow import np
>>> np.expand_dims(np.zeros((2, 3)), -1).shape
(2, 3, 1)

>>> from afterglow import nd
>>> nd.expand_dims(nd.zeros((2, 3)), axis=-1).shape
(2, 3, 1))",

       .inputs = {"data"},
       .compose = expand_dims});
  table.compose<Squeeze>({.name = "squeeze",
                          .mxnet_names = {"squeeze", "_np_squeeze"},
                          .spellings = {"np.squeeze(a, axis=None, out=None)",
                                        "nd.squeeze(data, axis=None, out=None, name=None)"},
                          .doc = R"(Return a copy without axes of extent 1: all, or those named.

>>> from afterglow import np
>>> np.squeeze(np.zeros((1, 2, 1)), axis=0).shape
(2, 1)

>>> from afterglow import nd
>>> nd.squeeze(nd.zeros((1, 2, 1)), axis=0).shape
(2, 1))",

                          .inputs = {"data"},
                          .compose = squeeze});
  table.add({.name = "atleast_1d",
             .mxnet_names = {"_np_atleast_1d"},
             .spellings = {"np.atleast_1d(*arys)"},
             .doc = R"(Return copies with at least one axis.

>>> from afterglow import np
>>> np.atleast_1d(np.array(3))
array([3.]))",

             .inputs = {"arys"},
             .variadic = true,
             .compose = at_least<one_axis>});
  table.add({.name = "atleast_2d",
             .mxnet_names = {"_np_atleast_2d"},
             .spellings = {"np.atleast_2d(*arys)"},
             .doc = R"(Return copies with at least two axes; new ones come first.

>>> from afterglow import np
>>> np.atleast_2d(np.zeros((3,))).shape
(1, 3))",

             .inputs = {"arys"},
             .variadic = true,
             .compose = at_least<two_axes>});
  table.add({.name = "atleast_3d",
             .mxnet_names = {"_np_atleast_3d"},
             .spellings = {"np.atleast_3d(*arys)"},
             .doc = R"(Return copies with at least three axes; a vector becomes the middle one.

>>> from afterglow import np
>>> np.atleast_3d(np.zeros((3,))).shape, np.atleast_3d(np.zeros((2, 3))).shape
((1, 3, 1), (2, 3, 1)))",

             .inputs = {"arys"},
             .variadic = true,
             .compose = at_least<three_axes>});
  table.add({.name = "vstack",
             .mxnet_names = {"_npi_vstack"},
             .spellings = {"np.vstack|row_stack(arrays, out=None)"},
             .doc = R"(Return the arrays below each other; a vector is one row.

>>> from afterglow import np
>>> np.vstack([np.array([1, 2]), np.array([3, 4])])
array([[1., 2.],
       [3., 4.]]))",

             .inputs = {"arrays"},
             .variadic = true,
             .compose = [](Composition& c) { return concat_as<two_axes>(c, 0); }});
  table.add(
      {.name = "hstack",
       .mxnet_names = {"_npi_hstack"},
       .spellings = {"np.hstack(arrays)"},
       .doc =
           R"(Return the arrays side by side: along the second axis, vectors along their only one.

>>> from afterglow import np
>>> np.hstack([np.array([1, 2]), np.array([3])])
array([1., 2., 3.]))",

       .inputs = {"arrays"},
       .variadic = true,
       .compose = hstack,
       .node = [](lazy::NodeForm& node) { node.outputs = {"out"}; }});
  table.add({.name = "dstack",
             .mxnet_names = {"_npi_dstack"},
             .spellings = {"np.dstack(arrays)"},
             .doc = R"(Return the arrays behind each other along a third axis.

>>> from afterglow import np
>>> np.dstack([np.array([1, 2]), np.array([3, 4])]).shape
(1, 2, 2))",

             .inputs = {"arrays"},
             .variadic = true,
             .compose = [](Composition& c) { return concat_as<three_axes>(c, 2); },
             .node = [](lazy::NodeForm& node) { node.outputs = {"out"}; }});
  table.add({.name = "column_stack",
             .mxnet_names = {"_npi_column_stack"},
             .spellings = {"np.column_stack(tup)"},
             .doc = R"(Return vectors as the columns of a matrix; matrices side by side.

>>> from afterglow import np
>>> np.column_stack([np.array([1, 2]), np.array([3, 4])])
array([[1., 3.],
       [2., 4.]]))",

             .inputs = {"tup"},
             .variadic = true,
             .compose = [](Composition& c) { return concat_as<column>(c, 1); }});
  table.compose<BroadcastTo>(
      {.name = "broadcast_to",
       .mxnet_names = {"broadcast_to"},
       .spellings = {"nd.broadcast_to(data, shape, out=None, name=None)"},
       .doc = R"(Return a copy stretched to a shape; 0 keeps the extent of the array.

>>> from afterglow import nd
>>> nd.broadcast_to(nd.ones((1, 3)), shape=(2, 0)).shape
(2, 3))",

       .inputs = {"data"},
       .compose = broadcast_to});
  table.compose<BroadcastTo>(
      {.name = "np_broadcast_to",
       .mxnet_names = {"_npi_broadcast_to"},
       .spellings = {"np.broadcast_to(array, shape)"},
       .doc = R"(Return a copy stretched to a shape; also a number. -2 keeps an extent.

>>> from afterglow import np
>>> np.broadcast_to(np.array([1, 2]), (2, 2))
array([[1., 2.],
       [1., 2.]]))",

       .inputs = {"array"},
       .takes_numbers = true,
       .compose = numpy_broadcast_to});
  table.compose<BroadcastAxis>(
      {.name = "broadcast_axis",
       .mxnet_names = {"broadcast_axis", "broadcast_axes"},
       .spellings =
           {"nd.broadcast_axis|broadcast_axes(data, axis=(), size=(), out=None, name=None)"},
       .doc = R"(Return a copy with axes of extent 1 stretched to the sizes given.

>>> from afterglow import nd
>>> nd.broadcast_axis(nd.ones((1, 3, 1)), axis=(0, 2), size=(2, 4)).shape
(2, 3, 4))",

       .inputs = {"data"},
       .compose = broadcast_axis});
  table.compose<BroadcastLike>(
      {.name = "broadcast_like",
       .mxnet_names = {"broadcast_like"},
       .doc = R"(Return a copy stretched to the shape of another array, or along some axes only.

>>> from afterglow import nd
>>> nd.broadcast_like(nd.ones((1, 3)), nd.ones((5, 7)), lhs_axes=(0,), rhs_axes=(1,)).shape
(7, 3))",

       .inputs = {"lhs", "rhs"},
       .compose = broadcast_like});
}

}  // namespace afterglow::ops
