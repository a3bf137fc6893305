// SPDX-License-Identifier: Apache-2.0
// The walk backwards over the tape. It calls the gradient rules, which are Python's, and adds up
// what they return; so everything computed here is issued like any statement.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/functions.h"
#include "bindings/tape.h"
#include "lazy/layer.h"

namespace afterglow::bindings {
namespace {

using autograd::Node;
using autograd::Origin;
using autograd::Request;

[[noreturn]] void refuse_unrecorded(const ArrayObject& head) {
  const std::string what =
      "Cannot differentiate node because it is not in a computational graph: the value of shape " +
      to_string(head.array.shape());
  if (head.origin.output == Origin::constant)
    throw Error(ErrorKind::mxnet,
                what +
                    " was computed under autograd.record(), but no array that it was computed "
                    "from has a gradient; call attach_grad() on those whose gradients are "
                    "wanted, before they are used (what was detached does not count, nor what "
                    "comes from a function without derivative such as argmax)");
  throw Error(ErrorKind::mxnet,
              what +
                  " was not computed under autograd.record(); compute it inside of `with "
                  "autograd.record():`, from arrays that have attach_grad()");
}

/// What the front end told: never given back, since walks may come until the process ends.
struct FrontEnd {
  nb::dict rules;         ///< by op name: a rule or None per input
  nb::callable special;   ///< the rules of a node that has its own, or None
  nb::callable recorded;  ///< makes what rules see of a node
};
FrontEnd* front_end = nullptr;

/// The same array as nd (legacy) or np knows it.
nb::object in_world(nb::object array, bool legacy) {
  if (need_array(array.ptr()).legacy == legacy) return array;
  return array.attr("_as_class")(legacy);
}

/// Whoever holds the one reference to this memory is the only one who can reach it, but for
/// unfinished calls, which all later statements wait for.
bool is_held_once(const Storage& storage) {
  return storage.count() == 1 + storage.slots.all.load(std::memory_order_relaxed) &&
         !storage.is_shared();
}

/// The same for the memory of an array that one reference to the object leads to.
bool is_held_once(nb::handle array) {
  return Py_REFCNT(array.ptr()) == 1 && is_held_once(*as_array(array.ptr()).array.storage);
}

/// By giving the variable the memory of `total` where nobody else holds that, nor the memory of the
/// old gradient (true); else the caller copies.
bool replace_gradient(Node& node, nb::handle total) {
  Array& old = node.gradient;
  const Array& made = as_array(total.ptr()).array;
  if (!is_held_once(*old.storage) || !is_held_once(total) || !made.layout->is_contiguous() ||
      !made.covers_storage() || made.dtype != old.dtype || !same_shape(*made.layout, *old.layout) ||
      made.context() != old.context())
    return false;
  old = made;
  return true;
}

/// Writes, or adds, to the gradient of a variable.
void deliver(Node& node, nb::object total) {
  node.fresh = true;
  if (!node.gradient.storage || node.request == Request::none) return;
  const auto target = [&] { return nb::steal(wrap(node.gradient, node.legacy)); };
  if (!total.is_valid()) {
    if (node.request == Request::write) target().attr("_assign")(0);
    return;
  }
  total = in_world(std::move(total), node.legacy);
  if (node.request == Request::add) {
    nb::object sum = nb::steal(PyNumber_InPlaceAdd(target().ptr(), total.ptr()));
    if (!sum.is_valid()) throw nb::python_error();
  } else if (!replace_gradient(node, total)) {
    target().attr("_assign")(total);
  }
}

/// Calls are issued for the layers of the nodes; afterwards everything is as before.
class LayerScope {
 public:
  ~LayerScope() { lazy::current_layer = outer_; }

 private:
  const std::int32_t outer_ = lazy::current_layer;
};

/// The nodes between heads and wanted arrays, latest first. They stay what they are as long as this
/// exists, whatever other threads do.
class WalkedNodes {
 public:
  WalkedNodes(std::span<const Origin> heads, std::span<const Origin> wanted, bool uses_up)
      : nodes_(autograd::collect(heads, nodes_of(wanted))), uses_up_(uses_up) {
    for (const Reference<Node>& node : nodes_) node->begin_walk(uses_up);
  }
  ~WalkedNodes() {
    for (const Reference<Node>& node : nodes_) node->end_walk();
  }
  WalkedNodes(const WalkedNodes&) = delete;
  WalkedNodes& operator=(const WalkedNodes&) = delete;

  /// The walk was completed.
  void finish() {
    if (!uses_up_) return;
    for (const Reference<Node>& node : nodes_) {
      if (!node->is_variable()) node->release();
    }
  }

  std::size_t size() const { return nodes_.size(); }
  const Reference<Node>& operator[](std::size_t i) const { return nodes_[i]; }

 private:
  static std::vector<Node*> nodes_of(std::span<const Origin> origins) {
    std::vector<Node*> nodes;
    for (const Origin& origin : origins) nodes.push_back(origin.node.get());
    return nodes;
  }

  const std::vector<Reference<Node>> nodes_;
  const bool uses_up_;
};

class Walk {
 public:
  /// `held`: what the heads own of Python's, if anything.
  Walk(const std::vector<Origin>& heads, nb::list gradients, std::vector<Origin> wanted,
       bool uses_up, nb::object held)
      : wanted_(std::move(wanted)),
        nodes_(heads, wanted_, uses_up),
        sums_(nodes_.size()),
        held_(std::move(held)) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      places_[nodes_[i].get()] = i;
      sums_[i].resize(std::max<std::size_t>(1, nodes_[i]->outputs.size()));
    }
    for (std::size_t i = 0; i < heads.size(); ++i) add(heads[i], nb::object(gradients[i]));
    gradients.clear();
  }

  /// Calls the rules. Without wanted arrays, the sums of variables go to their gradients.
  void run() {
    const LayerScope scope;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[i];
      lazy::current_layer = node.layer;
      std::vector<nb::object> totals = take(node, sums_[i]);
      if (node.is_variable()) {
        if (wanted_.empty()) deliver(node, std::move(totals[0]));
      } else if (std::any_of(totals.begin(), totals.end(),
                             [](const nb::object& total) { return total.is_valid(); })) {
        call_rules(nodes_[i], totals);
      }
    }
    nodes_.finish();
  }

  /// The sum for each wanted array; None where the heads do not depend on it.
  nb::list results() const {
    nb::list result;
    for (const Origin& origin : wanted_) {
      const auto place = places_.find(origin.node.get());
      const bool known = place != places_.end();
      const nb::object sum =
          known ? sums_[place->second].at(static_cast<std::size_t>(origin.output)) : nb::object();
      result.append(sum.is_valid() ? sum : nb::none());
    }
    return result;
  }

 private:
  void add(const Origin& origin, nb::object gradient) {
    const auto place = places_.find(origin.node.get());
    if (place == places_.end()) return;
    nb::object& sum = sums_[place->second].at(static_cast<std::size_t>(origin.output));
    if (!sum.is_valid()) {
      sum = std::move(gradient);
      return;
    }
    gradient = in_world(std::move(gradient), need_array(sum.ptr()).legacy);
    sum = nb::steal(PyNumber_Add(sum.ptr(), gradient.ptr()));
    if (!sum.is_valid()) throw nb::python_error();
  }

  /// The sums of a node, in its world. Only those of wanted arrays are needed afterwards.
  std::vector<nb::object> take(const Node& node, std::vector<nb::object>& sums) const {
    std::vector<nb::object> totals(sums.size());
    for (std::size_t output = 0; output < sums.size(); ++output) {
      const bool keep = std::any_of(wanted_.begin(), wanted_.end(), [&](const Origin& origin) {
        return origin.node.get() == &node && origin.output == static_cast<int>(output);
      });
      nb::object& total = totals[output] = keep ? sums[output] : std::move(sums[output]);
      if (total.is_valid()) total = in_world(std::move(total), node.legacy);
    }
    return totals;
  }

  static nb::tuple rules_of(const Node& node, nb::handle tape_node) {
    nb::str name(node.op->name.data(), node.op->name.size());
    if (node.op->name == "write") {
      nb::object rules = front_end->special(tape_node);
      if (!rules.is_none()) return nb::cast<nb::tuple>(rules);
    }
    PyObject* const rules = PyDict_GetItemWithError(front_end->rules.ptr(), name.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    if (!rules)
      throw Error(ErrorKind::not_implemented,
                  "[" + std::string(node.op->name) + "] has no gradient");
    return nb::borrow<nb::tuple>(rules);
  }

  void call_rules(const Reference<Node>& node, const std::vector<nb::object>& totals) {
    if (const auto* own = dynamic_cast<const OwnGradients*>(node->keep.get())) {
      const std::vector<nb::object> gradients = own->gradients(*node, totals);
      for (std::size_t i = 0; i < gradients.size(); ++i) add(node->inputs[i].origin, gradients[i]);
      if (!gradients.empty()) return;
    }
    const nb::object tape_node = nb::cast(TapeNode{node, held_});
    const nb::tuple rules = rules_of(*node, tape_node);
    const nb::object call = front_end->recorded(tape_node, memory_);
    nb::object gradient = totals[0];
    if (totals.size() > 1) {
      nb::list all;
      for (const nb::object& total : totals) all.append(total.is_valid() ? total : nb::none());
      gradient = std::move(all);
    }
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const Origin origin = node->inputs[i].origin;
      if (!origin || !places_.contains(origin.node.get())) continue;
      const nb::handle rule = rules[std::min(i, rules.size() - 1)];
      if (rule.is_none()) continue;
      call.attr("index") = i;
      const nb::handle function = PyTuple_GET_ITEM(rule.ptr(), 0);
      add(origin, function(call, gradient));
    }
  }

  const std::vector<Origin> wanted_;
  WalkedNodes nodes_;
  std::unordered_map<const Node*, std::size_t> places_;
  std::vector<std::vector<nb::object>> sums_;  ///< of each node, for each of its outputs
  const nb::dict memory_;                      ///< what calls leave for each other
  const nb::object held_;
};

/// Takes the gradients out of their list, so that the walk alone holds those nobody else needs.
nb::list walk_tape(nb::list heads, nb::list gradients, nb::list wanted, bool release) {
  std::vector<Origin> from, to;
  nb::list held;
  for (nb::handle head : heads) {
    from.push_back(need_array(head.ptr()).origin);
    if (!from.back()) refuse_unrecorded(as_array(head.ptr()));
    if (PyObject* const one = as_array(head.ptr()).held) held.append(nb::handle(one));
  }
  for (nb::handle array : wanted) to.push_back(need_array(array.ptr()).origin);
  Walk walk(from, gradients, std::move(to), release,
            nb::len(held) ? nb::object(nb::tuple(held)) : nb::object());
  walk.run();
  return walk.results();
}

/// Replaces arrays whose memory can be reached in another way, as well, by copies.
void unshare(nb::list arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const nb::handle array = PyList_GET_ITEM(arrays.ptr(), static_cast<Py_ssize_t>(i));
    need_array(array.ptr());
    if (!is_held_once(array)) arrays[i] = array.attr("copy")();
  }
}

void set_gradient_rules(nb::dict rules, nb::callable special, nb::callable recorded) {
  front_end = new FrontEnd{std::move(rules), std::move(special), std::move(recorded)};
}

}  // namespace

void bind_walk(nb::module_& module) {
  module.def("set_gradient_rules", set_gradient_rules, nb::arg("rules"), nb::arg("special"),
             nb::arg("recorded"));
  module.def("walk_tape", walk_tape, nb::arg("heads"), nb::arg("gradients"), nb::arg("wanted"),
             nb::arg("release"));
  module.def("unshare", unshare, nb::arg("arrays"));
}

}  // namespace afterglow::bindings
