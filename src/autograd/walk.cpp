// SPDX-License-Identifier: Apache-2.0
#include "autograd/walk.h"

#include <algorithm>
#include <utility>

#include "array/sparse.h"
#include "autograd/anomaly.h"
#include "autograd/front_end.h"
#include "autograd/gradient.h"
#include "lazy/layer.h"
#include "lazy/run_ahead.h"

namespace afterglow::autograd {
namespace {

bool is_sparse(const Handle& handle) {
  return sparse_parts(handle.array) != nullptr;
}

std::vector<Node*> nodes_of(std::span<const Origin> origins) {
  std::vector<Node*> nodes;
  for (const Origin& origin : origins) nodes.push_back(origin.node.get());
  return nodes;
}

/// Gives the variable the memory of `total` where nobody else holds that, nor the memory of the old
/// gradient (true); else the caller copies.
bool replace_gradient(Node& node, const Handle& total) {
  Array& old = node.gradient;
  const Array& made = total.array;
  if (!is_held_once(*old.storage) || !is_held_once(*made.storage) ||
      !made.layout->is_contiguous() || !made.covers_storage() || made.dtype != old.dtype ||
      !same_shape(*made.layout, *old.layout) || made.context() != old.context())
    return false;
  old = made;
  return true;
}

/// Calls are issued for the nodes and their layers; afterwards everything is as before.
class NodeScope {
 public:
  ~NodeScope() {
    lazy::current_layer = outer_layer_;
    differentiated = outer_node_;
  }

 private:
  const std::int32_t outer_layer_ = lazy::current_layer;
  const Node* const outer_node_ = differentiated;
};

}  // namespace

bool is_held_once(const Storage& storage) {
  return storage.count() == 1 + storage.slots.all.load(std::memory_order_relaxed) &&
         !storage.is_shared();
}

WalkedNodes::WalkedNodes(std::span<const Origin> heads, std::span<const Origin> wanted,
                         bool uses_up)
    : nodes_(collect(heads, nodes_of(wanted))), uses_up_(uses_up) {
  for (const Reference<Node>& node : nodes_) node->begin_walk(uses_up);
}

WalkedNodes::~WalkedNodes() {
  for (const Reference<Node>& node : nodes_) node->end_walk();
}

void WalkedNodes::finish() {
  if (!uses_up_) return;
  for (const Reference<Node>& node : nodes_) {
    if (!node->is_variable()) node->release();
  }
}

std::ptrdiff_t WalkedNodes::place_of(const Origin& origin) const {
  if (!origin) return -1;
  const auto found =
      std::ranges::lower_bound(nodes_, origin.node->sequence, std::ranges::greater(),
                               [](const Reference<Node>& node) { return node->sequence; });
  return found != nodes_.end() && found->get() == origin.node.get() ? found - nodes_.begin() : -1;
}

Walk::Walk(std::span<const Origin> heads, std::vector<Handle> gradients, std::vector<Origin> wanted,
           bool uses_up, Held held, const Accumulation& accumulation, OtherRules& other_rules)
    : wanted_(std::move(wanted)),
      nodes_(heads, wanted_, uses_up),
      held_(std::move(held)),
      accumulation_(accumulation),
      other_rules_(other_rules) {
  begins_.reserve(nodes_.size() + 1);
  begins_.push_back(0);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    begins_.push_back(begins_.back() + std::max<std::size_t>(1, nodes_[i]->outputs.size()));
  sums_.resize(begins_.back());
  for (std::size_t i = 0; i < heads.size(); ++i) add(heads[i], std::move(gradients[i]));
}

void Walk::run() {
  const NodeScope scope;
  const lazy::HalfWay half_way;  // nodes keep what they saved until the walk ends
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    lazy::current_layer = node.layer;
    differentiated = &node;
    take(i);
    if (node.is_variable()) {
      if (wanted_.empty()) deliver(node, std::move(totals_[0]));
    } else if (std::ranges::any_of(totals_, [](const Handle& total) { return bool(total); })) {
      call_rules(nodes_[i], totals_);
    }
  }
  totals_.clear();
  nodes_.finish();
}

std::vector<Handle> Walk::results() {
  std::vector<Handle> result;
  for (const Origin& origin : wanted_) {
    const Handle* const sum = sum_of(origin);
    result.push_back(sum ? *sum : Handle());
  }
  sums_.clear();
  return result;
}

Handle* Walk::sum_of(const Origin& origin) {
  const std::ptrdiff_t place = nodes_.place_of(origin);
  if (place < 0) return nullptr;
  return &sums_.at(begins_[static_cast<std::size_t>(place)] +
                   static_cast<std::size_t>(origin.output));
}

void Walk::add(const Origin& origin, Handle gradient) {
  Handle* const sum = sum_of(origin);
  if (!sum) return;
  if (!*sum) {
    *sum = std::move(gradient);
  } else if (is_sparse(*sum) || is_sparse(gradient)) {
    *sum = front_end().sparse_sum(*sum, gradient);
  } else {
    *sum = accumulation_.sum(*sum, gradient);
  }
}

/// Makes the sums of a node the totals, in its world. Only those of wanted arrays are needed
/// afterwards.
void Walk::take(std::size_t place) {
  const Node& node = *nodes_[place];
  totals_.clear();
  for (std::size_t i = begins_[place]; i < begins_[place + 1]; ++i) {
    const bool keep = std::ranges::any_of(wanted_, [&](const Origin& origin) {
      return origin.node.get() == &node &&
             static_cast<std::size_t>(origin.output) == i - begins_[place];
    });
    Handle& total = totals_.emplace_back(keep ? sums_[i] : std::exchange(sums_[i], {}));
    total.legacy = node.legacy;
  }
}

/// Writes, or adds, to the gradient of a variable.
void Walk::deliver(Node& node, Handle total) const {
  node.fresh = true;
  if (!node.gradient.storage || node.request == Request::none) return;
  const auto target = [&] { return Handle{node.gradient, {}, {}, node.legacy}; };
  if (is_sparse(target()) || is_sparse(total)) {
    deliver_sparse(node, total);
  } else if (!total) {
    if (node.request != Request::write) return;
    Handle gradient = target();
    accumulation_.write(gradient, 0);
  } else if (node.request == Request::add) {
    Handle gradient = target();
    accumulation_.add_to(gradient, total);
  } else if (!replace_gradient(node, total)) {
    Handle gradient = target();
    accumulation_.write(gradient, std::move(total));
  }
}

/// The gradient of the variable keeps its kind, whatever that of the sum.
void Walk::deliver_sparse(Node& node, const Handle& total) const {
  const Handle gradient{node.gradient, {}, {}, node.legacy};
  const bool adds = node.request == Request::add;
  if (adds && !total) return;
  front_end().sparse_write(gradient, adds ? front_end().sparse_sum(gradient, total) : total);
}

void Walk::call_rules(const Reference<Node>& node, std::span<const Handle> given) {
  const auto* const own_rules = dynamic_cast<const OwnGradients*>(node->keep.get());
  std::vector<Handle> dense;
  std::span<const Handle> heads = given;
  if (SparseParts::any() && !(own_rules && own_rules->takes_sparse()) &&
      std::ranges::any_of(given, is_sparse)) {
    for (const Handle& head : given)
      dense.push_back(is_sparse(head) ? front_end().to_dense(head) : head);
    heads = dense;
  }
  if (own_rules) {
    std::vector<Handle> gradients = own_rules->gradients(*node, heads);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      add(node->inputs[i].origin, std::move(gradients[i]));
    if (!gradients.empty()) return;
  }
  if (!node->op->gradients.empty()) return call_own_rules(node, heads);
  std::vector<bool> wanted;
  for (const Saved& input : node->inputs)
    wanted.push_back(input.passes_gradients && is_walked(input.origin));
  std::vector<Handle> gradients = other_rules_.gradients(node, heads, wanted);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    // Meanwhile Python ran, and a walk within this one may have used up the node.
    if (gradients[i]) add(node->inputs.at(i).origin, std::move(gradients[i]));
  }
}

void Walk::call_own_rules(const Reference<Node>& node, std::span<const Handle> heads) {
  const std::vector<lazy::GradientRule>& rules = node->op->gradients;
  Gradient gradient(node, heads, held_);
  for (std::size_t i = 0; i < node->inputs.size(); ++i) {
    const Origin origin = node->inputs[i].origin;
    if (!node->inputs[i].passes_gradients || !is_walked(origin)) continue;
    const lazy::GradientRule& rule = rules[std::min(i, rules.size() - 1)];
    if (!rule.function) continue;
    gradient.index = i;
    add(origin, rule.function(gradient));
  }
}

}  // namespace afterglow::autograd
