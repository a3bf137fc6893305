// SPDX-License-Identifier: Apache-2.0
#include "ops/table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "lazy/host.h"

namespace afterglow::ops {
namespace {

/// The formula that is named like the op.
std::optional<kernels::Formula> formula_of(std::string_view op) {
  static constexpr std::string_view names[] = {
#define FORMULA(name, ...) #name,
#include "kernels/formulas.def"
  };
  const auto found = std::ranges::find(names, op);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<kernels::Formula>(found - names);
}

/// In place of what a composition does not have: a draft of it would find nothing to infer.
void refuse_draft(Inference& inference) {
  inference.refuse("is made of other ops, which ops::call issues", ErrorKind::mxnet);
}

Table& the_table() {
  static Table* const instance = [] {
    auto* all = new Table;
    for (void (*declare)(Table&) :
         {declare_elementwise, declare_pairs,         declare_elementwise_made, declare_creation,
          declare_random,      declare_distributions, declare_reduce,           declare_products,
          declare_shape,       declare_rearrange,     declare_reshape,          declare_pad,
          declare_parts,       declare_statistics,    declare_softmax,          declare_indexing,
          declare_picking,     declare_sorting,       declare_linalg,           declare_channels,
          declare_device_sum,  declare_networks,      declare_outputs,          declare_along_axis,
          declare_convolution, declare_deformable,    declare_pooling,          declare_sampling,
          declare_recurrence,  declare_detection,     declare_attention,        declare_ctc,
          declare_images,      declare_descent,       declare_adaptive,         declare_layerwise,
          declare_columns,     declare_densities,     declare_contributed,      declare_sparse})
      declare(*all);
    return all;
  }();
  return *instance;
}

}  // namespace

void Table::add(lazy::Op op) {
  const std::string name(op.name);
  const bool is_elementwise = !op.compose && !op.kernel && !op.copies_view;
  if (is_elementwise && !op.formula) op.formula = formula_of(op.name);
  if (name.empty() || (!op.compose && !op.infer) || (is_elementwise && !op.formula)) {
    throw std::logic_error("op '" + name +
                           "' needs a name, and infer and a kernel or a composition");
  }
  if (op.compose) op.infer = refuse_draft;
  if (op.formula && op.inputs.size() == 1) op.in_graphs.alike = true;
  for (const lazy::Parameter& parameter : op.parameters)
    op.defaults.push_back(parameter.default_value);
  if (!ops_.emplace(op.name, op).second) throw std::logic_error("op '" + name + "' declared twice");
}

void Table::add_host(lazy::Op op) {
  const auto known = ops_.find(op.name);
  const bool is_imported_again =
      known != ops_.end() && known->second.is_host && known->second.doc == op.doc;
  if (is_imported_again) return;
  lazy::compute_on_host(op);
  add(std::move(op));
}

const lazy::Op* Table::find(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

const Table& table() {
  return the_table();
}

void declare_host(lazy::Op op) {
  the_table().add_host(std::move(op));
}

}  // namespace afterglow::ops
