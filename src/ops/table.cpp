// SPDX-License-Identifier: Apache-2.0
#include "ops/table.h"

#include <stdexcept>
#include <string>

#include "lazy/host.h"

namespace afterglow::ops {

void Table::add(lazy::Op op) {
  const std::string name(op.name);
  if (name.empty() || (!op.compose && (!op.infer || (!op.formula && !op.kernel)))) {
    throw std::logic_error("op '" + name +
                           "' needs a name, and infer and a kernel or a composition");
  }
  if (op.formula && op.inputs.size() == 1) op.in_graphs.alike = true;
  for (const lazy::Parameter& parameter : op.parameters)
    op.defaults.push_back(parameter.default_value);
  if (!ops_.emplace(op.name, op).second) throw std::logic_error("op '" + name + "' declared twice");
}

void Table::announce(lazy::Op op) {
  op.is_announced = true;
  op.compose = [](autograd::Composition& composition) -> autograd::Value {
    throw Error(ErrorKind::not_implemented,
                "[" + std::string(composition.op().name) + "] the op is not implemented");
  };
  add(std::move(op));
}

void Table::add_host(lazy::Op op) {
  const auto known = ops_.find(op.name);
  const bool is_imported_again =
      known != ops_.end() && known->second.is_host && known->second.doc == op.doc;
  if (is_imported_again) return;
  if (known == ops_.end() || !known->second.is_announced) {
    lazy::compute_on_host(op);
    return add(std::move(op));
  }
  known->second.doc = op.doc;
  lazy::compute_on_host(known->second);
}

const lazy::Op* Table::find(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

namespace {

Table& the_table() {
  static Table* const instance = [] {
    auto* all = new Table;
    declare_elementwise(*all);
    declare_pairs(*all);
    declare_elementwise_made(*all);
    declare_creation(*all);
    declare_random(*all);
    declare_distributions(*all);
    declare_reduce(*all);
    declare_products(*all);
    declare_shape(*all);
    declare_rearrange(*all);
    declare_reshape(*all);
    declare_pad(*all);
    declare_parts(*all);
    declare_statistics(*all);
    declare_softmax(*all);
    declare_indexing(*all);
    declare_picking(*all);
    declare_sorting(*all);
    declare_linalg(*all);
    declare_channels(*all);
    declare_networks(*all);
    declare_outputs(*all);
    declare_along_axis(*all);
    declare_convolution(*all);
    declare_pooling(*all);
    declare_sampling(*all);
    declare_recurrence(*all);
    declare_detection(*all);
    declare_attention(*all);
    declare_ctc(*all);
    declare_announced(*all);
    return all;
  }();
  return *instance;
}

}  // namespace

const Table& table() {
  return the_table();
}

void declare_host(lazy::Op op) {
  the_table().add_host(std::move(op));
}

}  // namespace afterglow::ops
