// SPDX-License-Identifier: Apache-2.0
// The one table of ops. Each family declares its own in the file of its name.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "autograd/composition.h"
#include "lazy/op.h"

namespace afterglow::ops {

// What declarations are written with.
using lazy::Argument;
using lazy::Call;
using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::Inference;
using lazy::NodeForm;
using lazy::Operand;
using lazy::required;

/// The choices of an enumeration that counts up from 0, by their names in its order.
template <class Enumeration, class... Names>
constexpr auto in_order(Names... names) {
  int number = 0;
  return std::array{Choice<Enumeration>{names, static_cast<Enumeration>(number++)}...};
}

/// For `node`: so many results without names of their own, of which programs can use the first.
template <std::size_t count>
void number_outputs(NodeForm& node) {
  node.outputs = lazy::numbered_outputs(count);
  node.usable = 1;
}

class Table {
 public:
  /// Refuses an op that lacks a name, an infer function or a kernel, and a name taken twice.
  void add(lazy::Op op);
  /// An op with parameters.
  template <class Parameters>
  void add(lazy::Op op) {
    op.parameters = lazy::parameters_of<Parameters>();
    add(std::move(op));
  }
  /// An op that is made of others.
  template <class Parameters>
  void compose(lazy::Op op) {
    add<Parameters>(std::move(op));
  }
  /// An op that the host language computes.
  void add_host(lazy::Op op);
  const lazy::Op* find(std::string_view name) const;
  const std::map<std::string_view, lazy::Op>& all() const { return ops_; }

 private:
  std::map<std::string_view, lazy::Op> ops_;
};

const Table& table();

/// Adds an op that the host language computes, whose texts must live for good. Needs the issuing
/// right.
void declare_host(lazy::Op op);

void declare_elementwise(Table& table);
void declare_pairs(Table& table);
void declare_elementwise_made(Table& table);
void declare_creation(Table& table);
void declare_random(Table& table);
void declare_distributions(Table& table);
void declare_reduce(Table& table);
void declare_products(Table& table);
void declare_shape(Table& table);
void declare_rearrange(Table& table);
void declare_reshape(Table& table);
void declare_pad(Table& table);
void declare_parts(Table& table);
void declare_statistics(Table& table);
void declare_softmax(Table& table);
void declare_indexing(Table& table);
void declare_picking(Table& table);
void declare_sorting(Table& table);
void declare_linalg(Table& table);
void declare_channels(Table& table);
void declare_device_sum(Table& table);
void declare_networks(Table& table);
void declare_outputs(Table& table);
void declare_along_axis(Table& table);
void declare_convolution(Table& table);
void declare_deformable(Table& table);
void declare_pooling(Table& table);
void declare_sampling(Table& table);
void declare_recurrence(Table& table);
void declare_detection(Table& table);
void declare_attention(Table& table);
void declare_ctc(Table& table);
void declare_images(Table& table);
void declare_sparse(Table& table);
void declare_descent(Table& table);
void declare_adaptive(Table& table);
void declare_layerwise(Table& table);
void declare_columns(Table& table);
void declare_densities(Table& table);
void declare_contributed(Table& table);

}  // namespace afterglow::ops
