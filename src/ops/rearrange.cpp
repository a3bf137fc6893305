// SPDX-License-Identifier: Apache-2.0
// Elements in another order, or several times over. All of these copy: a view with strides of any
// sign, where one exists, in one pass.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/compositions.h"
#include "ops/seen.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

/// Counted from the front, each once.
Shape different_axes(const Viewed& x, const Shape& axes, std::string_view name) {
  Shape result;
  for (const std::int64_t axis : axes) {
    result.push_back(normal_axis(x, axis, x.layout.rank()));
    if (std::ranges::count(result, result.back()) > 1)
      x.refuse(std::string(name) + " " + to_string(axes) + " must not repeat an axis");
  }
  return result;
}

// --- axes in another order ---

struct Transpose {
  std::optional<Shape> axes;
  static constexpr auto fields =
      std::tuple{field("axes", &Transpose::axes, "their order; reversed where none is given")};
};

Part transpose(const Viewed& x, const Transpose& given) {
  const int rank = x.layout.rank();
  Shape order(static_cast<std::size_t>(rank));
  if (!given.axes || given.axes->empty()) {
    std::iota(order.rbegin(), order.rend(), 0);
    return reordered(x.layout, order);
  }
  bool fits = static_cast<int>(given.axes->size()) == rank;
  for (std::size_t i = 0; fits && i < order.size(); ++i) {
    const std::int64_t axis = (*given.axes)[i];
    order[i] = axis < 0 ? axis + rank : axis;
    fits = order[i] >= 0 && order[i] < rank &&
           std::ranges::count(order.begin(), &order[i], order[i]) == 0;
  }
  if (!fits) x.refuse("axes " + to_string(*given.axes) + " must name every axis once");
  return reordered(x.layout, order);
}

void swap_axes(Part& part, std::int64_t first, std::int64_t second) {
  const auto one = static_cast<std::size_t>(first), other = static_cast<std::size_t>(second);
  std::swap(part.shape[one], part.shape[other]);
  std::swap(part.strides[one], part.strides[other]);
}

struct Swapaxes {
  std::int64_t dim1 = 0, dim2 = 0;
  static constexpr auto fields = std::tuple{field("dim1", &Swapaxes::dim1, "the first axis"),
                                            field("dim2", &Swapaxes::dim2, "the second axis")};
};

Part swapaxes(const Viewed& x, const Swapaxes& given) {
  const int rank = x.layout.rank();
  Part part = whole(x.layout);
  swap_axes(part, normal_axis(x, given.dim1, rank), normal_axis(x, given.dim2, rank));
  return part;
}

struct Moveaxis {
  Shape source, destination;
  static constexpr auto fields =
      std::tuple{required("source", &Moveaxis::source, "where the axes are"),
                 required("destination", &Moveaxis::destination, "where they come to stand")};
};

/// Axes moved to other places; the others keep their order.
Part moved(const Viewed& x, const Shape& source, const Shape& destination) {
  if (source.size() != destination.size())
    x.refuse("source " + to_string(source) + " and destination " + to_string(destination) +
             " must be equally long");
  const Shape origins = different_axes(x, source, "source");
  const Shape places = different_axes(x, destination, "destination");
  Shape order(static_cast<std::size_t>(x.layout.rank()), -1);
  for (std::size_t i = 0; i < places.size(); ++i)
    order[static_cast<std::size_t>(places[i])] = origins[i];
  std::int64_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::find(origins, next) != origins.end()) ++next;
    axis = next++;
  }
  return reordered(x.layout, order);
}

Part moveaxis(const Viewed& x, const Moveaxis& given) {
  return moved(x, given.source, given.destination);
}

struct Rollaxis {
  std::int64_t axis = 0, start = 0;
  static constexpr auto fields =
      std::tuple{required("axis", &Rollaxis::axis, "the axis that moves"),
                 field("start", &Rollaxis::start, "the axis that it comes to stand before")};
};

Part rollaxis(const Viewed& x, const Rollaxis& given) {
  const int rank = x.layout.rank();
  const std::int64_t origin = normal_axis(x, given.axis, rank);
  const std::int64_t place = normal_axis(x, given.start, given.start >= 0 ? rank + 1 : rank);
  return moved(x, {origin}, {origin < place ? place - 1 : place});
}

// --- elements in another order ---

struct Flip {
  std::optional<Shape> axis;
  static constexpr auto fields =
      std::tuple{field("axis", &Flip::axis, "one or several; all where none is given")};
};

Part flip(const Viewed& x, const Flip& given) {
  const int rank = x.layout.rank();
  Shape axes;
  if (given.axis) {
    for (const std::int64_t one : *given.axis) {
      const std::int64_t axis = normal_axis(x, one, rank);
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    }
  } else {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return reversed(x.layout, axes);
}

struct Nothing {
  static constexpr std::tuple<> fields = {};
};

template <std::int64_t axis>
Part flip_along(const Viewed& x, const Nothing&) {
  return flip(x, {Shape{axis}});
}

struct Rot90 {
  std::int64_t k = 1;
  Shape axes = {0, 1};
  static constexpr auto fields =
      std::tuple{field("k", &Rot90::k, "right angles"),
                 field("axes", &Rot90::axes, "the plane: from the first axis to the second")};
};

Part rot90(const Viewed& x, const Rot90& given) {
  Shape plane;
  for (const std::int64_t axis : given.axes) plane.push_back(normal_axis(x, axis, x.layout.rank()));
  if (plane.size() != 2 || plane[0] == plane[1])
    x.refuse("needs two different axes, but got " + to_string(given.axes));
  const Shape backwards[] = {{}, {plane[1]}, plane, {plane[0]}};  // for so many right angles
  const std::int64_t turns = given.k % 4 + (given.k % 4 < 0 ? 4 : 0);
  Part part = reversed(x.layout, backwards[turns]);
  if (turns % 2) swap_axes(part, plane[0], plane[1]);
  return part;
}

struct Roll {
  Shape shift;
  std::optional<Shape> axis;
  static constexpr auto fields = std::tuple{
      required("shift", &Roll::shift, "by how many places; one number or one for each axis"),
      field("axis", &Roll::axis, "one or several; all elements in a row where none is given")};
};

/// From 0 on.
std::int64_t remainder(std::int64_t number, std::int64_t divisor) {
  const std::int64_t rest = number % divisor;
  return rest < 0 ? rest + divisor : rest;
}

/// What leaves at the end of an axis comes in at its beginning.
Value rolled(const Value& x, std::int64_t axis, std::int64_t distance) {
  const std::int64_t extent = x.array.shape()[static_cast<std::size_t>(axis)];
  const Value ends[] = {between(x, axis, extent - distance, extent),
                        between(x, axis, 0, extent - distance)};
  return concat(ends, axis);
}

Value roll(Composition& c, const Roll& given) {
  const Value& x = c[0];
  if (!x.array.size()) {
    for (const std::int64_t axis : given.axis.value_or(Shape{})) normal_axis(c, axis, rank_of(x));
    return copy(x);
  }
  if (!given.axis) {
    std::int64_t distance = 0;
    for (const std::int64_t shift : given.shift)
      distance = (distance + remainder(shift, x.array.size())) % x.array.size();
    if (!distance) return copy(x);
    if (rank_of(x) == 1) return rolled(x, 0, distance);
    return shaped(rolled(shaped(x, {x.array.size()}), 0, distance), shape_of(x));
  }
  const Shape &shifts = given.shift, &axes = *given.axis;
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    c.refuse("shift " + to_string(shifts) + " and axis " + to_string(axes) +
             " must be equally long");
  const bool is_nothing = shifts.empty() || axes.empty();
  Shape distances(static_cast<std::size_t>(rank_of(x)), 0);
  for (std::size_t i = 0; !is_nothing && i < std::max(shifts.size(), axes.size()); ++i) {
    const auto axis = static_cast<std::size_t>(normal_axis(c, axes[i % axes.size()], rank_of(x)));
    const std::int64_t extent = x.array.shape()[axis];
    distances[axis] = (distances[axis] + remainder(shifts[i % shifts.size()], extent)) % extent;
  }
  Value result;
  for (std::size_t axis = 0; axis < distances.size(); ++axis) {
    if (distances[axis])
      result = rolled(result ? result : x, static_cast<std::int64_t>(axis), distances[axis]);
  }
  return result ? result : copy(x);
}

// --- more elements ---

/// The axis along which a view repeats runs that are too short for a loop over them: a pass for
/// every repetition, which writes elements at larger distances, then takes less time.
std::optional<int> short_repetition(const Array& view) {
  constexpr std::int64_t tiny = 256;  // up to so many any loop costs less than a call
  std::int64_t run = 1;
  for (int axis = view.layout->rank() - 1; axis >= 0 && view.size() >= tiny; --axis) {
    const std::int64_t extent = view.shape()[static_cast<std::size_t>(axis)];
    run *= extent;
    if (run <= 0 || run > 3) break;
    if (extent > 1 && view.layout->strides()[static_cast<std::size_t>(axis)] == 0) return axis;
  }
  return {};
}

/// Copies a view that repeats elements into an array of another shape with as many.
Value stored(const Value& view, const Shape& shape) {
  const std::optional<int> axis = short_repetition(view.array);
  if (!axis) return shaped(copy(view), shape);
  const auto count = static_cast<std::size_t>(view.array.shape()[static_cast<std::size_t>(*axis)]);
  return shaped(concat(std::vector<Value>(count, between(view, *axis, 0, 1)), *axis), shape);
}

/// The whole array several times along its axes.
Value tiled(const Value& x, const Shape& counts) {
  const auto extents = x.array.shape(), strides = x.array.layout->strides();
  const std::size_t rank = std::max(extents.size(), counts.size());
  const std::size_t new_axes = rank - extents.size(), uncounted = rank - counts.size();
  Part repeated;
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t count = axis < uncounted ? 1 : counts[axis - uncounted];
    const std::int64_t extent = axis < new_axes ? 1 : extents[axis - new_axes];
    if (count != 1) {
      repeated.shape.push_back(count);
      repeated.strides.push_back(0);
    }
    repeated.shape.push_back(extent);
    repeated.strides.push_back(axis < new_axes ? 0 : strides[axis - new_axes]);
    shape.push_back(extent_product(count, extent));
  }
  return stored(view(x, repeated), shape);
}

struct Tile {
  Shape reps;
  static constexpr auto fields =
      std::tuple{required("reps", &Tile::reps, "how often along each axis; new axes come first")};
};

Value tile(Composition& c, const Tile& given) {
  if (std::ranges::any_of(given.reps, [](std::int64_t count) { return count < 0; }))
    c.refuse("reps must not be negative, but got " + to_string(given.reps));
  return tiled(c[0], given.reps);
}

struct Repeat {
  Shape repeats;
  std::optional<std::int64_t> axis;
  static constexpr auto fields = std::tuple{
      required("repeats", &Repeat::repeats, "how often: one number, or one for each element"),
      field("axis", &Repeat::axis, "along which; all elements in a row where none is given")};
};

/// Of mx.nd.
struct RepeatAll {
  std::int64_t repeats = 1;
  std::optional<std::int64_t> axis;
  static constexpr auto fields = std::tuple{
      required("repeats", &RepeatAll::repeats, "how often each element comes"),
      field("axis", &RepeatAll::axis, "along which; all elements in a row where none is given")};
};

Value repeat(Composition& c, const Repeat& given) {
  const bool is_row = given.axis || rank_of(c[0]) == 1;
  const Value x = is_row ? c[0] : Value(shaped(c[0], {c[0].array.size()}));
  const std::int64_t axis = given.axis ? normal_axis(c, *given.axis, rank_of(x)) : 0;
  const auto position = static_cast<std::size_t>(axis);
  Shape shape = shape_of(x);
  const Shape& counts = given.repeats;
  if (std::ranges::any_of(counts, [](std::int64_t count) { return count < 0; }))
    c.refuse("repeats must not be negative, but got " + to_string(counts));
  Part part = whole(x.array);
  if (counts.size() == 1) {
    part.shape.insert(part.shape.begin() + axis + 1, counts[0]);
    part.strides.insert(part.strides.begin() + axis + 1, 0);
    shape[position] = extent_product(shape[position], counts[0]);
    return stored(view(x, part), shape);
  }
  if (static_cast<std::int64_t>(counts.size()) != shape[position])
    c.refuse("repeats must hold " + std::to_string(shape[position]) + " numbers, but is " +
             to_string(counts));
  if (counts.empty()) return copy(x);
  std::vector<Value> pieces;
  const std::int64_t step = part.strides[position];
  part.strides[position] = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    part.offset = x.array.size() ? static_cast<std::int64_t>(i) * step : 0;
    part.shape[position] = counts[i];
    pieces.push_back(view(x, part));
  }
  return concat(pieces, axis);
}

struct Resize {
  Shape new_shape;
  static constexpr auto fields =
      std::tuple{required("new_shape", &Resize::new_shape, "of the result")};
};

/// The elements in another shape of any size, from the start again where they run out.
Value resize(Composition& c, const Resize& given) {
  const Value& x = c[0];
  const std::int64_t total = element_count(given.new_shape), own = x.array.size();
  if (!own) return full(0, given.new_shape, x.array.dtype, x.array.context());
  const Value everything = tiled(shaped(x, {own}), {total / own + (total % own != 0)});
  return shaped(between(everything, 0, 0, total), given.new_shape);
}

// --- blocks of images ---

struct BlockSize {
  std::int64_t block_size = 0;
  static constexpr auto fields =
      std::tuple{required("block_size", &BlockSize::block_size, "rows and columns of a block")};
};

void need_images(const Composition& c, std::int64_t block) {
  if (rank_of(c[0]) != 4 || block < 1)
    c.refuse("needs an array of 4 dimensions and a positive block_size, but that is " +
             std::to_string(block));
  const Shape shape = shape_of(c[0]);
  if (std::find(shape.begin() + 1, shape.end(), 0) != shape.end())
    c.refuse("needs images with elements");
}

Value depth_to_space(Composition& c, const BlockSize& given) {
  const std::int64_t block = given.block_size;
  need_images(c, block);
  const Shape shape = shape_of(c[0]);
  const std::int64_t area = extent_product(block, block);
  if (shape[1] % area) c.refuse("axis 1 must be a multiple of " + std::to_string(area));
  const std::int64_t depth = shape[1] / area;
  const Value blocks = shaped(c[0], {shape[0], block, block, depth, shape[2], shape[3]});
  return shaped(
      copy(reordered(blocks, {0, 3, 4, 1, 5, 2})),
      {shape[0], depth, extent_product(shape[2], block), extent_product(shape[3], block)});
}

Value space_to_depth(Composition& c, const BlockSize& given) {
  const std::int64_t block = given.block_size;
  need_images(c, block);
  const Shape shape = shape_of(c[0]);
  if (shape[2] % block || shape[3] % block)
    c.refuse("axes 2 and 3 must be multiples of " + std::to_string(block));
  const std::int64_t rows = shape[2] / block, columns = shape[3] / block;
  const Value blocks = shaped(c[0], {shape[0], shape[1], rows, block, columns, block});
  return shaped(copy(reordered(blocks, {0, 3, 5, 1, 2, 4})),
                {shape[0], extent_product(shape[1], extent_product(block, block)), rows, columns});
}

// --- diagonals ---

/// The other axes come first, the diagonal is the last one.
template <class Refusing>
Part diagonal_part(const Refusing& c, const Layout& layout, std::int64_t offset, std::int64_t axis1,
                   std::int64_t axis2) {
  const int rank = layout.rank();
  const auto first = static_cast<std::size_t>(normal_axis(c, axis1, rank));
  const auto second = static_cast<std::size_t>(normal_axis(c, axis2, rank));
  if (first == second)
    c.refuse("axis1 and axis2 must be different, but both are " + std::to_string(first));
  Part part = whole(layout);
  const std::int64_t rows = part.shape[first], columns = part.shape[second];
  const std::int64_t length = offset >= 0 ? std::min(rows, columns - std::min(offset, columns))
                                          : std::min(rows + std::max(offset, -rows), columns);
  const std::int64_t step = part.strides[first] + part.strides[second];
  if (length && layout.size())
    part.offset = offset >= 0 ? offset * part.strides[second] : -offset * part.strides[first];
  for (const std::size_t axis : {std::max(first, second), std::min(first, second)}) {
    part.shape.erase(part.shape.begin() + axis);
    part.strides.erase(part.strides.begin() + axis);
  }
  part.shape.push_back(length);
  part.strides.push_back(step);
  return part;
}

/// Zeros with all elements of an array on a diagonal.
Value diagonal_matrix(const Composition& c, const Value& x, std::int64_t offset) {
  if (offset == std::numeric_limits<std::int64_t>::min()) c.refuse("k is out of reach");
  const std::int64_t extent = extent_sum(x.array.size(), std::abs(offset));
  Value result = full(0, {extent, extent}, x.array.dtype, x.array.context());
  write(result, shaped(x, {x.array.size()}), diagonal_part(c, *result.array.layout, offset, 0, 1));
  return result;
}

struct Diagonal {
  std::int64_t offset = 0, axis1 = 0, axis2 = 1;
  static constexpr auto fields = std::tuple{
      field("offset", &Diagonal::offset, "of the diagonal, to the right of the main one"),
      field("axis1", &Diagonal::axis1, "of the rows"),
      field("axis2", &Diagonal::axis2, "of the columns")};
};

Part diagonal(const Viewed& x, const Diagonal& given) {
  if (x.layout.rank() < 2) x.refuse("needs two axes");
  return diagonal_part(x, x.layout, given.offset, given.axis1, given.axis2);
}

struct Diag {
  std::int64_t k = 0, axis1 = 0, axis2 = 1;
  static constexpr auto fields = std::tuple{
      field("k", &Diag::k, "the diagonal, to the right of the main one"),
      field("axis1", &Diag::axis1, "of the rows"), field("axis2", &Diag::axis2, "of the columns")};
};

/// Of a vector the matrix with it on a diagonal.
Value any_diag(const Composition& c, const Diag& given) {
  if (rank_of(c[0]) == 1) return diagonal_matrix(c, c[0], given.k);
  return copy(view(c[0], diagonal_part(c, *c[0].array.layout, given.k, given.axis1, given.axis2)));
}

/// MXNet has an empty diagonal just beside a matrix and none further out; NumPy has empty ones.
Value diag(Composition& c, const Diag& given) {
  const Value found = any_diag(c, given);
  if (rank_of(c[0]) > 1 && c[0].array.size() && !found.array.size()) {
    const Part nearer = diagonal_part(c, *c[0].array.layout, given.k + (given.k > 0 ? -1 : 1),
                                      given.axis1, given.axis2);
    if (!nearer.shape.back()) c.refuse("there is no diagonal " + std::to_string(given.k));
  }
  return found;
}

struct DiagonalNumber {
  std::int64_t k = 0;
  static constexpr auto fields =
      std::tuple{field("k", &DiagonalNumber::k, "the diagonal, to the right of the main one")};
};

Value numpy_diag(Composition& c, const DiagonalNumber& given) {
  if (rank_of(c[0]) != 1 && rank_of(c[0]) != 2) c.refuse("Input must be 1- or 2-d");
  return any_diag(c, {.k = given.k});
}

}  // namespace

void declare_rearrange(Table& table) {
  table.add(seen<Transpose, transpose>(
      {.name = "transpose",
       .mxnet_names = {"transpose", "_np_transpose"},
       .spellings = {"np.transpose(a, axes=None)",
                     "nd.transpose(data, axes=None, out=None, name=None)"},
       .doc = R"(Return a copy with the axes in another order; reversed if none is given.

>>> from afterglow import np
>>> np.transpose(np.zeros((2, 3, 4)), (1, 0, 2)).shape
(3, 2, 4)

>>> from afterglow import nd
>>> nd.transpose(nd.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
(3, 2, 4))",

       .inputs = {"data"}}));
  table.add(seen<Swapaxes, swapaxes>(
      {.name = "swapaxes",
       .mxnet_names = {"SwapAxis", "swapaxes", "_npi_swapaxes"},
       .spellings = {"np.swapaxes(a, axis1:dim1, axis2:dim2)",
                     "nd.swapaxes|SwapAxis(data, dim1=0, dim2=0, out=None, name=None)"},
       .doc = R"(Return a copy with two axes exchanged.

>>> from afterglow import np
>>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
(4, 3, 2)

>>> from afterglow import nd
>>> nd.swapaxes(nd.zeros((2, 3, 4)), 0, 2).shape
(4, 3, 2))",

       .inputs = {"data"}}));
  table.add(seen<Moveaxis, moveaxis>(
      {.name = "moveaxis",
       .mxnet_names = {"_np_moveaxis"},
       .spellings = {"np.moveaxis(a, source, destination)",
                     "nd.moveaxis(tensor, source, destination)"},
       .doc = R"(Return a copy with axes moved to other places; the others keep their order.

>>> from afterglow import np
>>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
(3, 4, 2)

>>> from afterglow import nd
>>> nd.moveaxis(nd.zeros((2, 3, 4)), 0, 2).shape
(3, 4, 2))",
       .inputs = {"a"}}));
  table.add(
      seen<Rollaxis, rollaxis>({.name = "rollaxis",
                                .spellings = {"np.rollaxis(a, axis, start=0)"},
                                .doc = R"(Return a copy with one axis moved before another one.

>>> from afterglow import np
>>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
(4, 2, 3))",
                                .inputs = {"a"}}));
  table.add(seen<Flip, flip>(
      {.name = "flip",
       .mxnet_names = {"reverse", "flip", "_npi_flip"},
       .spellings = {"np.flip(m, axis=None, out=None)",
                     "nd.flip|reverse(data, axis, out=None, name=None)"},
       .doc = R"(Return the elements in reverse order along axes; along all of them by default.

>>> from afterglow import np
>>> np.flip(np.array([[1, 2], [3, 4]]), 1)
array([[2., 1.],
       [4., 3.]])

>>> from afterglow import nd
>>> nd.flip(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
array([[2., 1.],
       [4., 3.]], dtype=float32))",

       .inputs = {"data"}}));
  table.add(seen<Nothing, flip_along<1>>({.name = "fliplr",
                                          .spellings = {"np.fliplr(m)"},
                                          .doc = R"(Return the columns in reverse order.

>>> from afterglow import np
>>> np.fliplr(np.array([[1, 2], [3, 4]]))
array([[2., 1.],
       [4., 3.]]))",
                                          .inputs = {"m"}}));
  table.add(seen<Nothing, flip_along<0>>({.name = "flipud",
                                          .spellings = {"np.flipud(m)"},
                                          .doc = R"(Return the rows in reverse order.

>>> from afterglow import np
>>> np.flipud(np.array([1, 2, 3]))
array([3., 2., 1.]))",
                                          .inputs = {"m"}}));
  table.add(seen<Rot90, rot90>(
      {.name = "rot90",
       .mxnet_names = {"_npi_rot90"},
       .spellings = {"np.rot90(m, k=1, axes=(0, 1))"},
       .doc =
           R"(Return the array turned by ``k`` right angles, from the first of two axes to the second.

>>> from afterglow import np
>>> np.rot90(np.array([[1, 2], [3, 4]]))
array([[2., 4.],
       [1., 3.]]))",
       .inputs = {"m"}}));
  table.compose<Roll>(
      {.name = "roll",
       .mxnet_names = {"_np_roll"},
       .spellings = {"np.roll(a, shift, axis=None)"},
       .doc = R"(Return the elements moved along axes; what leaves at one end comes in at the other.

>>> from afterglow import np
>>> np.roll(np.array([1, 2, 3]), 1)
array([3., 1., 2.]))",
       .inputs = {"a"},
       .compose = roll});
  table.compose<Tile>(
      {.name = "tile",
       .mxnet_names = {"tile", "_npi_tile"},
       .spellings = {"np.tile(A, reps)", "nd.tile(data, reps, out=None, name=None)"},
       .doc = R"(Return the whole array several times along its axes.

>>> from afterglow import np
>>> np.tile(np.array([1, 2]), (2, 2))
array([[1., 2., 1., 2.],
       [1., 2., 1., 2.]])

>>> from afterglow import nd
>>> nd.tile(nd.array([1, 2]), reps=(2, 2)).asnumpy()
array([[1., 2., 1., 2.],
       [1., 2., 1., 2.]], dtype=float32))",
       .inputs = {"data"},
       .compose = tile});
  table.compose<RepeatAll>(
      {.name = "repeat",
       .mxnet_names = {"repeat"},
       .spellings = {"nd.repeat(data, repeats, axis=None, out=None, name=None)"},
       .doc = R"(Return every element several times in a row, along an axis or in one dimension.

>>> from afterglow import nd
>>> nd.repeat(nd.array([[1, 2]]), 2, axis=1).asnumpy()
array([[1., 1., 2., 2.]], dtype=float32))",

       .inputs = {"data"},
       .compose = [](Composition& c, const RepeatAll& given) {
         return repeat(c, {{given.repeats}, given.axis});
       }});
  table.compose<Repeat>(
      {.name = "np_repeat",
       .mxnet_names = {"_np_repeat"},
       .spellings = {"np.repeat(a, repeats, axis=None)"},
       .doc =
           R"(Return every element several times in a row; ``repeats`` is a number or one per element.

>>> from afterglow import np
>>> np.repeat(np.array([1, 2]), 2)
array([1., 1., 2., 2.])
>>> np.repeat(np.array([1, 2]), [3, 1])
array([1., 1., 1., 2.]))",
       .inputs = {"a"},
       .compose = repeat});
  table.compose<Resize>(
      {.name = "resize",
       .spellings = {"np.resize(a, new_shape)"},
       .doc =
           R"(Return the elements in another shape of any size, from the start again where they run out.

>>> from afterglow import np
>>> np.resize(np.array([1, 2, 3]), (2, 2))
array([[1., 2.],
       [3., 1.]]))",
       .inputs = {"a"},
       .compose = resize});
  table.compose<BlockSize>(
      {.name = "depth_to_space",
       .mxnet_names = {"depth_to_space"},
       .spellings = {"nd.depth_to_space(data, block_size, out=None, name=None)"},
       .doc =
           R"(Return blocks of pixels that were spread over the channels, as an image of fewer channels.

>>> from afterglow import nd
>>> nd.depth_to_space(nd.zeros((1, 8, 2, 3)), 2).shape
(1, 2, 4, 6))",

       .inputs = {"data"},
       .compose = depth_to_space});
  table.compose<BlockSize>(
      {.name = "space_to_depth",
       .mxnet_names = {"space_to_depth"},
       .spellings = {"nd.space_to_depth(data, block_size, out=None, name=None)"},
       .doc =
           R"(Return the pixels of every block as channels: the inverse of :func:`depth_to_space`.

>>> from afterglow import nd
>>> nd.space_to_depth(nd.zeros((1, 2, 4, 6)), 2).shape
(1, 8, 2, 3))",

       .inputs = {"data"},
       .compose = space_to_depth});
  table.add(seen<Diagonal, diagonal>(
      {.name = "diagonal",
       .mxnet_names = {"_np_diagonal"},
       .spellings = {"np.diagonal(a, offset=0, axis1=0, axis2=1)"},
       .doc = R"(Return a copy of the diagonals of two axes, as the last axis of the result.

>>> from afterglow import np
>>> np.diagonal(np.array([[1, 2], [3, 4]]))
array([1., 4.]))",
       .inputs = {"a"}}));
  table.compose<Diag>(
      {.name = "diag",
       .mxnet_names = {"diag"},
       .spellings = {"nd.diag(data, k=0, axis1=0, axis2=1, out=None, name=None)"},
       .doc = R"(Return a diagonal as the last axis of the result, or a matrix with a vector on one.

>>> from afterglow import nd
>>> nd.diag(nd.array([[1, 2], [3, 4]])).asnumpy()
array([1., 4.], dtype=float32)
>>> nd.diag(nd.array([1, 2]), k=1).shape
(3, 3))",
       .inputs = {"data"},
       .compose = diag});
  table.compose<DiagonalNumber>(
      {.name = "np_diag",
       .mxnet_names = {"_np_diag"},
       .spellings = {"np.diag(array, k=0)"},
       .doc = R"(Return a diagonal of a matrix, or a matrix with a vector on a diagonal.

>>> from afterglow import np
>>> np.diag(np.array([[1, 2], [3, 4]]), k=1)
array([2.])
>>> np.diag(np.array([1, 2]))
array([[1., 0.],
       [0., 2.]]))",
       .inputs = {"array"},
       .compose = numpy_diag});
  table.compose<DiagonalNumber>(
      {.name = "diagflat",
       .mxnet_names = {"_np_diagflat"},
       .spellings = {"np.diagflat(array, k=0)"},
       .doc = R"(Return a matrix with all elements of an array on a diagonal.

>>> from afterglow import np
>>> np.diagflat(np.array([[1, 2]]))
array([[1., 0.],
       [0., 2.]]))",

       .inputs = {"array"},
       .compose = [](Composition& c, const DiagonalNumber& given) {
         return diagonal_matrix(c, c[0], given.k);
       }});
}

}  // namespace afterglow::ops
