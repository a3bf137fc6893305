// SPDX-License-Identifier: Apache-2.0
// The walk backwards for Python, and the rules that are Python's.
#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/call_builder.h"
#include "autograd/walk.h"
#include "bindings/functions.h"
#include "bindings/sparse.h"
#include "bindings/tape.h"
#include "ops/gradients.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;
using autograd::Node;
using autograd::Origin;

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
                    "an earlier backward() has used up)");
  throw Error(ErrorKind::mxnet,
              what +
                  " was not computed under autograd.record(); compute it inside of `with "
                  "autograd.record():`, from arrays that have attach_grad()");
}

/// What the front end told: never given back, since walks may come until the process ends.
struct FrontEnd {
  nb::dict rules;         ///< by op name: a rule or None per input
  nb::callable recorded;  ///< makes what rules see of a node
};
FrontEnd* front_end = nullptr;

/// The rules that are Python's.
class PythonRules : public autograd::OtherRules {
 public:
  explicit PythonRules(const autograd::Held& held) : held_(held) {}

  std::vector<Handle> gradients(const Reference<Node>& node, std::span<const Handle> heads,
                                const std::vector<bool>& wanted) override {
    const nb::object tape_node = nb::cast(TapeNode{node, held_});
    const nb::tuple rules = rules_of(*node);
    const nb::object call = front_end->recorded(tape_node);
    nb::object gradient = to_python(heads[0]);
    if (heads.size() > 1) {
      nb::list all;
      for (const Handle& head : heads) all.append(to_python(head));
      gradient = std::move(all);
    }
    std::vector<Handle> result(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const nb::handle rule = rules[std::min(i, rules.size() - 1)];
      if (!wanted[i] || rule.is_none()) continue;
      call.attr("index") = i;
      const nb::handle function = PyTuple_GET_ITEM(rule.ptr(), 0);
      result[i] = need_array(nb::object(function(call, gradient)).ptr());
    }
    return result;
  }

 private:
  static nb::object to_python(const Handle& head) {
    return head ? nb::steal(wrap(autograd::Handle(head))) : nb::none();
  }

  static nb::tuple rules_of(const Node& node) {
    nb::str name(node.op->name.data(), node.op->name.size());
    PyObject* const rules = PyDict_GetItemWithError(front_end->rules.ptr(), name.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    if (!rules)
      throw Error(ErrorKind::not_implemented,
                  "[" + std::string(node.op->name) + "] has no gradient");
    return nb::borrow<nb::tuple>(rules);
  }

  const autograd::Held& held_;
};

Handle filled_like(const Handle& array, double number) {
  const auto shape = array.array.shape();
  Handle filled =
      ops::full(number, {shape.begin(), shape.end()}, array.array.dtype, array.array.context());
  filled.legacy = array.legacy;
  return filled;
}

/// Takes the gradients out of their list, so that the walk alone holds those nobody else needs.
/// None stands for ones.
nb::list walk_tape(nb::list heads, nb::list gradients, nb::list wanted, bool release) {
  std::vector<Origin> from, to;
  std::vector<Handle> given;
  autograd::Held held;
  for (nb::handle head : heads) {
    const ArrayObject& array = need_array(head.ptr());
    from.push_back(array.origin);
    if (!from.back()) refuse_unrecorded(array);
    held.share(array.held);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const nb::handle gradient = gradients[i];
    given.push_back(gradient.is_none() ? filled_like(as_array(nb::handle(heads[i]).ptr()), 1)
                                       : need_array(gradient.ptr()));
  }
  gradients.clear();
  for (nb::handle array : wanted) to.push_back(need_array(array.ptr()).origin);
  PythonRules rules(held);
  autograd::wait_while_full();
  autograd::Walk walk(from, std::move(given), to, release, held, ops::accumulation(), rules);
  // Where no gradient goes it is zero if the heads depend on the array all the same.
  std::vector<bool> is_zero;
  for (const Origin& origin : to)
    is_zero.push_back(origin && !walk.is_walked(origin) && autograd::depend_on(from, origin));
  walk.run();
  nb::list results;
  std::size_t index = 0;
  for (Handle& result : walk.results()) {
    if (is_zero[index]) result = filled_like(as_array(nb::handle(wanted[index]).ptr()), 0);
    ++index;
    results.append(result ? nb::steal(wrap_any(std::move(result))) : nb::none());
  }
  return results;
}

/// Replaces arrays whose memory can be reached in another way, as well, by copies.
void unshare(nb::list arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const nb::handle array = PyList_GET_ITEM(arrays.ptr(), static_cast<Py_ssize_t>(i));
    const Storage& storage = *need_array(array.ptr()).array.storage;
    if (Py_REFCNT(array.ptr()) == 1 && autograd::is_held_once(storage)) continue;
    arrays[i] = array.attr("copy")();
  }
}

void set_gradient_rules(nb::dict rules, nb::callable recorded) {
  front_end = new FrontEnd{std::move(rules), std::move(recorded)};
}

}  // namespace

void bind_walk(nb::module_& module) {
  module.def("set_gradient_rules", set_gradient_rules, nb::arg("rules"), nb::arg("recorded"));
  module.def("walk_tape", walk_tape, nb::arg("heads"), nb::arg("gradients"), nb::arg("wanted"),
             nb::arg("release"));
  module.def("unshare", unshare, nb::arg("arrays"));
}

}  // namespace afterglow::bindings
