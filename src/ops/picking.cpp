// SPDX-License-Identifier: Apache-2.0
// Elements picked or put where columns of an index array point, and places in flat arrays: made of
// the ops that take index arrays one by one.
#include <string>
#include <vector>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

// --- columns of an index array ---

/// One for each of the first axes of an array that has so many.
std::vector<Value> index_arrays(const Composition& c, const Value& indices, std::size_t rank) {
  if (rank_of(indices) < 2) c.refuse("indices must have two axes or more");
  const auto count = static_cast<std::size_t>(indices.array.shape()[0]);
  if (count > rank)
    c.refuse(std::to_string(count) + " indices per element are too many for " +
             std::to_string(rank) + " dimensions");
  return views_along(indices, 0);
}

/// A copy with values where the index arrays point.
Value scattered(const Value& data, std::span<const Value> indices, const Value& values,
                bool add = false) {
  return scatter(copy(data), in_type(values, data.array.dtype), indices, add);
}

Value gather_nd(Composition& c) {
  return gather(c[0], index_arrays(c, c[1], static_cast<std::size_t>(rank_of(c[0]))));
}

struct ScatterNd {
  Shape shape;
  static constexpr auto fields = std::tuple{required("shape", &ScatterNd::shape, "of the result")};
};

Value scatter_nd(Composition& c, const ScatterNd& given) {
  const Value &data = c[0], &indices = c[1];
  const std::vector<Value> rows = index_arrays(c, indices, given.shape.size());
  Shape needed(indices.array.shape().begin() + 1, indices.array.shape().end());
  needed.insert(needed.end(), given.shape.begin() + static_cast<std::ptrdiff_t>(rows.size()),
                given.shape.end());
  if (shape_of(data) != needed)
    c.refuse("data has shape " + to_string(shape_of(data)) + "; the indices ask for " +
             to_string(needed));
  const Value zeros = full(0, given.shape, data.array.dtype, data.array.context());
  return scatter(zeros, data, rows, false);
}

template <bool add>
Value index_update(Composition& c) {
  const std::vector<Value> rows = index_arrays(c, c[1], static_cast<std::size_t>(rank_of(c[0])));
  return scattered(c[0], rows, c[2], add);
}

// --- rows ---

Value index_copy(Composition& c) {
  const Value &old = c[0], &index = c[1], &rows = c[2];
  if (!rank_of(old)) c.refuse("needs an array with rows");
  Shape needed = shape_of(index);
  needed.insert(needed.end(), old.array.shape().begin() + 1, old.array.shape().end());
  if (shape_of(rows) != needed) c.refuse("the indices need rows of shape " + to_string(needed));
  return scattered(old, {&index, 1}, rows);
}

Value batch_take(Composition& c) {
  const Value &rows = c[0], &indices = c[1];
  if (rank_of(rows) != 2 || indices.array.size() != rows.array.shape()[0])
    c.refuse("needs two dimensions and an index per row");
  const lazy::Argument arguments[] = {std::int64_t{1}, false, std::string("clip")};
  const Value picked =
      apply(the_op<"pick">(), arguments, rows, shaped(indices, {indices.array.size()}));
  return shaped(picked, shape_of(indices));
}

Value fill_element_0index(Composition& c) {
  const Value &rows = c[0], &values = c[1], &columns = c[2];
  if (!rank_of(rows)) c.refuse("lhs must have rows");
  const Value indices[] = {
      count_up(rows.array.shape()[0], columns.array.dtype, columns.array.context()), columns};
  return scattered(rows, indices, values);
}

// --- places in flat arrays ---

struct FlatShape {
  Shape shape;
  static constexpr auto fields = std::tuple{
      required("shape", &FlatShape::shape, "of the array; the first extent plays no part")};
};

void check_extents(const Composition& c, const Shape& shape) {
  if (shape.empty()) c.refuse("shape must name one extent at least");
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) c.refuse("negative dimensions are not allowed");
  }
}

Value ravel_multi_index(Composition& c, const FlatShape& given) {
  check_extents(c, given.shape);
  const Value& data = c[0];
  if (!rank_of(data) || data.array.shape()[0] != static_cast<std::int64_t>(given.shape.size()))
    c.refuse("data must have a row for each axis of " + to_string(given.shape));
  const std::vector<Value> rows = views_along(copy(data, DType::int64), 0);
  Value flat = rows[0];
  for (std::size_t axis = 1; axis < rows.size(); ++axis)
    flat = flat * given.shape[axis] + rows[axis];
  return copy(flat, data.array.dtype);
}

/// Of integers an integer, which is what mx.nd answers.
Value quotient(const Value& left, std::int64_t right) {
  autograd::CallBuilder builder(the_op<"divide">(), true);
  builder.add(left);
  builder.add(Value(right));
  return builder.issue();
}

Value unravel_index(Composition& c, const FlatShape& given) {
  check_extents(c, given.shape);
  const Value& data = c[0];
  const std::size_t rank = given.shape.size();
  Shape shape = shape_of(data);
  shape.insert(shape.begin(), static_cast<std::int64_t>(rank));
  Value result = full(0, shape, data.array.dtype, data.array.context());
  const std::vector<Value> rows = views_along(result, 0);
  Value rest = copy(data, DType::int64);
  for (std::size_t axis = rank; axis-- > 0;) {
    Value row = rows[axis];
    const Value place = axis ? modulo(rest, given.shape[axis]) : rest;
    assign(row, place);
    if (axis) rest = quotient(rest - place, given.shape[axis]);
  }
  return result;
}

struct IndexArray {
  std::optional<Shape> axes;
  static constexpr auto fields =
      std::tuple{field("axes", &IndexArray::axes, "whose indices are wanted; none: all")};
};

Value index_array(Composition& c, const IndexArray& given) {
  const Shape shape = shape_of(c[0]);
  const auto rank = static_cast<int>(shape.size());
  Shape axes;
  for (std::int64_t axis = 0; axis < rank && !given.axes; ++axis) axes.push_back(axis);
  for (const std::int64_t axis : given.axes.value_or(Shape{}))
    axes.push_back(normal_axis(c, axis, rank));
  if (axes.empty() && rank) c.refuse("there are no axes to index");
  Shape all = shape;
  all.push_back(static_cast<std::int64_t>(axes.size()));
  const Context context = c[0].array.context();
  Value result = full(0, all, DType::int64, context);
  Part part = whole(result.array);
  part.shape.pop_back();
  part.strides.pop_back();
  for (const std::int64_t axis : axes) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
    Shape along(shape.size() - static_cast<std::size_t>(axis), 1);
    along[0] = extent;
    if (result.array.size())
      write(result, shaped(count_up(extent, DType::int64, context), along), part);
    ++part.offset;
  }
  return result;
}

}  // namespace

void declare_picking(Table& table) {
  table.add({.name = "gather_nd",
             .mxnet_names = {"gather_nd", "_npi_gather_nd", "_npx_gather_nd"},
             .doc = R"(Return the elements, or rows, that the columns of ``indices`` name.

>>> nd.gather_nd(nd.array([[1, 2], [3, 4]]), nd.array([[1, 0], [0, 1]]))
<BLANKLINE>
[3. 2.]
<NDArray 2 @cpu(0)>

>>> npx.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1]]))
array([3., 2.]))",
             .inputs = {"data", "indices"},
             .compose = gather_nd});
  table.compose<ScatterNd>(
      {.name = "scatter_nd",
       .mxnet_names = {"scatter_nd"},
       .spellings = {"nd.scatter_nd(data, indices, shape, out=None, name=None)"},
       .doc =
           R"(Return zeros with ``data`` where the columns of ``indices`` point; the last one wins.

>>> nd.scatter_nd(nd.array([2, 3]), nd.array([[1, 0], [0, 1]]), shape=(2, 2))
<BLANKLINE>
[[0. 3.]
 [2. 0.]]
<NDArray 2x2 @cpu(0)>)",
       .inputs = {"data", "indices"},
       .compose = scatter_nd});
  table.add(
      {.name = "index_update",
       .mxnet_names = {"_npx_index_update"},
       .spellings = {"npx.index_update(a, ind, val)"},
       .doc = R"(Return a copy with ``val`` where the columns of ``ind`` point; the last one wins.

>>> npx.index_update(np.zeros((2, 2)), np.array([[1, 0], [0, 1]]), np.array([5, 6]))
array([[0., 6.],
       [5., 0.]]))",
       .inputs = {"a", "ind", "val"},
       .compose = index_update<false>});
  table.add(
      {.name = "index_add",
       .mxnet_names = {"_npx_index_add"},
       .spellings = {"npx.index_add(a, ind, val)"},
       .doc =
           R"(Return a copy with ``val`` added where the columns of ``ind`` point, each time they do.

>>> npx.index_add(np.zeros((2, 2)), np.array([[1, 1], [0, 0]]), np.array([5, 6]))
array([[ 0.,  0.],
       [11.,  0.]]))",
       .inputs = {"a", "ind", "val"},
       .compose = index_update<true>});
  table.add({.name = "index_copy",
             .mxnet_names = {"_contrib_index_copy"},
             .doc = R"(Return a copy of the old array with new rows at the indices.

>>> nd.contrib.index_copy(nd.zeros((3, 2)), nd.array([2, 0]), nd.array([[1, 2], [3, 4]]))
<BLANKLINE>
[[3. 4.]
 [0. 0.]
 [1. 2.]]
<NDArray 3x2 @cpu(0)>)",
             .inputs = {"old_tensor", "index_vector", "new_tensor"},
             .compose = index_copy});
  table.add({.name = "batch_take",
             .mxnet_names = {"batch_take"},
             .doc = R"(Return one element of each row; the result has the shape of the indices.

>>> nd.batch_take(nd.array([[1, 2], [3, 4]]), nd.array([1, 0], dtype="int32"))
<BLANKLINE>
[2. 3.]
<NDArray 2 @cpu(0)>)",
             .inputs = {"a", "indices"},
             .compose = batch_take});
  table.add({.name = "fill_element_0index",
             .mxnet_names = {"fill_element_0index"},
             .doc = R"(Return a copy of ``lhs`` with ``mhs[i]`` at row i, column ``rhs[i]``.

>>> nd.fill_element_0index(nd.zeros((2, 3)), nd.array([7, 8]), nd.array([2, 0]))
<BLANKLINE>
[[0. 0. 7.]
 [8. 0. 0.]]
<NDArray 2x3 @cpu(0)>)",
             .inputs = {"lhs", "mhs", "rhs"},
             .compose = fill_element_0index});
  table.compose<FlatShape>(
      {.name = "ravel_multi_index",
       .mxnet_names = {"_ravel_multi_index", "ravel_multi_index"},
       .spellings = {"nd.ravel_multi_index(data, shape, out=None, name=None)"},
       .doc =
           R"(Return where in a flat array the elements lie that the columns of ``data`` name.

>>> nd.ravel_multi_index(nd.array([[3, 6], [4, 5]]), shape=(7, 6))
<BLANKLINE>
[22. 41.]
<NDArray 2 @cpu(0)>)",
       .inputs = {"data"},
       .gradients = {no_gradient},
       .compose = ravel_multi_index});
  table.compose<FlatShape>(
      {.name = "unravel_index",
       .mxnet_names = {"_unravel_index", "unravel_index"},
       .spellings = {"nd.unravel_index(data, shape, out=None, name=None)"},
       .doc = R"(Return the index along each axis, one per row, of places in a flat array.

>>> nd.unravel_index(nd.array([22, 41]), shape=(7, 6))
<BLANKLINE>
[[3. 6.]
 [4. 5.]]
<NDArray 2x2 @cpu(0)>)",
       .inputs = {"data"},
       .gradients = {no_gradient},
       .compose = unravel_index});
  table.compose<IndexArray>(
      {.name = "index_array",
       .mxnet_names = {"_contrib_index_array"},
       .doc = R"(Return the indices of every element of an array, along a new last axis.

>>> nd.contrib.index_array(nd.zeros((1, 2)))
<BLANKLINE>
[[[0 0]
  [0 1]]]
<NDArray 1x2x2 @cpu(0)>)",
       .inputs = {"data"},
       .gradients = {no_gradient},
       .compose = index_array});
}

}  // namespace afterglow::ops
