// SPDX-License-Identifier: Apache-2.0
// Products of attention whose factors lie interleaved: of each head its queries, keys and values
// one behind the other. They are views, which products take as they lie.
#include <cmath>
#include <string>

#include "ops/completing.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Heads {
  std::int64_t heads = 0;
  static constexpr auto fields =
      std::tuple{required("heads", &Heads::heads, "that a position is divided into")};
};

/// One of several parts that lie interleaved in an array of shape (time, batch, heads * parts *
/// width), as stacks of matrices: (batch, heads, time, width).
Value part_of(const Composition& c, std::size_t input, const Heads& given, std::int64_t parts,
              std::int64_t number) {
  const Value& x = c[input];
  const Shape shape = shape_of(x);
  const std::string name(c.op().inputs[input]);
  if (shape.size() != 3)
    c.refuse(name + " has shape " + to_string(shape) + "; it must be (time, batch, features)");
  if (given.heads < 1 || shape[2] % (given.heads * parts))
    c.refuse("heads is " + std::to_string(given.heads) + "; the features of " + name +
             " must be a multiple of " + std::to_string(parts) + " times that");
  const std::int64_t width = shape[2] / (given.heads * parts);
  const Value laid = shaped(x, {shape[0], shape[1], given.heads, parts, width});
  Part part = whole(laid.array);
  part.offset = number * width;
  const Shape strides = part.strides;
  part.shape = {shape[1], given.heads, shape[0], width};
  part.strides = {strides[1], strides[2], strides[0], strides[4]};
  return view(laid, part);
}

/// Products of queries and keys by the root of their width: (batch * heads, queries, keys).
Value scores(const Value& queries, const Value& keys) {
  const Shape shape = shape_of(queries);
  const double scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, shape[3])));
  const Value products = matmul(queries * scale, keys, false, true);
  return shaped(products, {shape[0] * shape[1], shape[2], shape_of(keys)[2]});
}

/// Of each position the values, weighted: (time, batch, features).
Value weighted(const Composition& c, const Value& values, const Value& weights) {
  const Shape shape = shape_of(values), given = shape_of(weights);
  if (given.size() != 3 || given[0] != shape[0] * shape[1] || given[2] != shape[2])
    c.refuse("attention has shape " + to_string(given) + "; it must be " +
             to_string(Shape{shape[0] * shape[1], -1, shape[2]}) +
             ": (batch times heads, queries, keys)");
  const Value products = matmul(shaped(weights, {shape[0], shape[1], given[1], given[2]}), values);
  return shaped(copy(reordered(products, {2, 0, 1, 3})), {given[1], shape[0], shape[1] * shape[3]});
}

Value selfatt_qk(Composition& c, const Heads& given) {
  return scores(part_of(c, 0, given, 3, 0), part_of(c, 0, given, 3, 1));
}

Value selfatt_valatt(Composition& c, const Heads& given) {
  const Value values = part_of(c, 0, given, 3, 2);
  if (rank_of(c[1]) == 3 && c[1].array.shape()[1] != c[0].array.shape()[0])
    c.refuse("attention has shape " + to_string(c[1].array.shape()) +
             "; it needs as many queries as queries_keys_values has positions");
  return weighted(c, values, c[1]);
}

Value encdec_qk(Composition& c, const Heads& given) {
  const Value queries = part_of(c, 0, given, 1, 0), keys = part_of(c, 1, given, 2, 0);
  const Shape one = shape_of(queries), other = shape_of(keys);
  if (one[0] != other[0] || one[3] != other[3])
    c.refuse("keys_values must have the batch of queries and twice their features");
  return scores(queries, keys);
}

Value encdec_valatt(Composition& c, const Heads& given) {
  return weighted(c, part_of(c, 0, given, 2, 1), c[1]);
}

Value div_sqrt_dim(Composition& c) {
  if (!rank_of(c[0])) c.refuse("needs an array with a last axis");
  const Value quotients = c[0] / std::sqrt(static_cast<double>(c[0].array.shape().back()));
  return in_type(quotients, c[0].array.dtype);
}

void complete_scores(Completion& completion, const Heads& given) {
  need_rank(completion, 0, 3);
  const std::size_t keys = completion.shapes.size() - 1;
  need_rank(completion, keys, 3);
  if (!completion.shapes[0] || !completion.shapes[keys]) return;
  const Shape& queries = *completion.shapes[0];
  completion.results = {
      {product(queries[1], given.heads), queries[0], (*completion.shapes[keys])[0]}};
}

template <int parts>
void complete_weighted(Completion& completion, const Heads&) {
  need_rank(completion, 0, 3);
  need_rank(completion, 1, 3);
  if (!completion.shapes[0] || !completion.shapes[1]) return;
  const Shape& values = *completion.shapes[0];
  const std::int64_t features = values[2] < 0 ? -1 : values[2] / parts;
  completion.results = {{(*completion.shapes[1])[1], values[1], features}};
}

}  // namespace

void declare_attention(Table& table) {
  table.compose<Heads>(
      {.name = "interleaved_matmul_selfatt_qk",
       .mxnet_names = {"_contrib_interleaved_matmul_selfatt_qk"},
       .doc = R"(Return the products of queries and keys by the root of their width.

The array has the shape (time, batch, features), in which queries, keys and values of a head lie
one behind the other. The result has the shape (batch times heads, time, time).

>>> from afterglow import nd
>>> nd.contrib.interleaved_matmul_selfatt_qk(nd.ones((2, 1, 12)), heads=1).asnumpy()
array([[[2., 2.],
        [2., 2.]]], dtype=float32))",
       .inputs = {"queries_keys_values"},
       .compose = selfatt_qk,
       .complete = complete_scores});
  table.compose<Heads>({.name = "interleaved_matmul_selfatt_valatt",
                        .mxnet_names = {"_contrib_interleaved_matmul_selfatt_valatt"},
                        .doc = R"(Return the values of all positions, weighted by ``attention``.

The first array has the shape (time, batch, features), in which queries, keys and values of a head
lie one behind the other; ``attention`` has (batch times heads, time, time).

>>> from afterglow import nd
>>> x = nd.ones((2, 1, 6))
>>> nd.contrib.interleaved_matmul_selfatt_valatt(x, nd.ones((2, 2, 2)), heads=2).asnumpy()
array([[[2., 2.]],
<BLANKLINE>
       [[2., 2.]]], dtype=float32))",
                        .inputs = {"queries_keys_values", "attention"},
                        .compose = selfatt_valatt,
                        .complete = complete_weighted<3>});
  table.compose<Heads>(
      {.name = "interleaved_matmul_encdec_qk",
       .mxnet_names = {"_contrib_interleaved_matmul_encdec_qk"},
       .doc = R"(Return the products of queries and keys by the root of their width.

``queries`` has the shape (time, batch, features), ``keys_values`` twice as many features, in which
keys and values of a head lie one behind the other.

>>> from afterglow import nd
>>> queries, keys_values = nd.ones((1, 1, 4)), nd.ones((2, 1, 8))
>>> nd.contrib.interleaved_matmul_encdec_qk(queries, keys_values, heads=1).asnumpy()
array([[[2., 2.]]], dtype=float32))",
       .inputs = {"queries", "keys_values"},
       .compose = encdec_qk,
       .complete = complete_scores});
  table.compose<Heads>({.name = "interleaved_matmul_encdec_valatt",
                        .mxnet_names = {"_contrib_interleaved_matmul_encdec_valatt"},
                        .doc = R"(Return the values of all positions, weighted by ``attention``.

``keys_values`` has the shape (time, batch, features), in which keys and values of a head lie one
behind the other; ``attention`` has (batch times heads, queries, time).

>>> from afterglow import nd
>>> x = nd.ones((3, 1, 2))
>>> nd.contrib.interleaved_matmul_encdec_valatt(x, nd.ones((1, 2, 3)), heads=1).asnumpy()
array([[[3.]],
<BLANKLINE>
       [[3.]]], dtype=float32))",
                        .inputs = {"keys_values", "attention"},
                        .compose = encdec_valatt,
                        .complete = complete_weighted<2>});
  table.add({.name = "div_sqrt_dim",
             .mxnet_names = {"_contrib_div_sqrt_dim"},
             .doc = R"(Return the array by the root of the length of its last axis.

>>> from afterglow import nd
>>> nd.contrib.div_sqrt_dim(nd.ones((1, 4))).asnumpy().tolist()
[[0.5, 0.5, 0.5, 0.5]])",
             .inputs = {"data"},
             .compose = div_sqrt_dim});
}

}  // namespace afterglow::ops
