// SPDX-License-Identifier: Apache-2.0
// Calls on the tape whose gradient is a Python function (autograd.Function, CustomOp, outputs that
// bring their loss along).
#include <memory>
#include <vector>

#include "autograd/call_builder.h"
#include "autograd/walk.h"
#include "bindings/functions.h"
#include "bindings/held.h"
#include "bindings/sparse.h"
#include "bindings/tape.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;
using autograd::Node;

/// The arrays that were computed from the outputs own the function until the tape is released, so
/// whatever it refers to may refer to them.
class PythonGradients : public autograd::OwnGradients {
 public:
  PythonGradients(nb::handle held, std::vector<bool> legacy)
      : function_(held), legacy_(std::move(legacy)) {}

  bool takes_sparse() const override { return true; }

  std::vector<Handle> gradients(const Node& node, std::span<const Handle> heads) const override {
    nb::list given;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const autograd::Saved& output = node.outputs[i];
      Handle head = heads[i];
      if (!head) {
        const auto shape = output.layout->shape();
        head = ops::full(0, {shape.begin(), shape.end()}, output.dtype, output.context);
      }
      head.legacy = legacy_[i];
      given.append(nb::steal(wrap_any(std::move(head))));
    }
    const nb::object function = function_.get();
    if (function.is_none())
      throw Error(ErrorKind::mxnet, "the function that has the gradients of a call is gone");
    const nb::object made = function(given);
    std::vector<Handle> result(node.inputs.size());
    std::size_t index = 0;
    for (nb::handle gradient : made) {
      if (index == result.size()) break;
      if (node.inputs[index].origin) result[index] = need_array(gradient.ptr());
      ++index;
    }
    return result;
  }

 private:
  const KnownObject function_;
  const std::vector<bool> legacy_;
};

/// The op of such calls: nothing is kept for its gradients.
const lazy::Op& python_function() {
  static const lazy::Op op = {.name = "python_function",
                              .inputs = {"data"},
                              .variadic = true,
                              .gradients = {{[](autograd::Gradient&) -> autograd::Value {
                                throw Error(ErrorKind::mxnet,
                                            "[python_function] its gradients are gone");
                              }}}};
  return op;
}

/// The outputs as arrays that were computed from the inputs. `backward` gets the gradients of all
/// outputs and returns those of all inputs.
nb::list record_call(nb::list inputs, nb::list outputs, nb::callable backward) {
  if (!nb::len(outputs)) return {};
  std::vector<Handle> results;
  std::vector<bool> legacy;
  const bool is_recording = autograd::state().recording;
  for (nb::handle output : outputs) {
    const ArrayObject& array = need_array(output.ptr());
    results.push_back({array.array, {}, {}, array.legacy});
    if (is_recording) results.back().origin.output = autograd::Origin::constant;
    legacy.push_back(array.legacy);
  }
  std::vector<autograd::Source> sources;
  autograd::Held held;
  for (nb::handle input : inputs) {
    autograd::Source& source = sources.emplace_back();
    if (!is_array(input.ptr())) continue;
    const ArrayObject& array = as_array(input.ptr());
    source = {&array.array, &array.origin};
    held.share(array.held);
  }
  const std::vector<lazy::Operand> operands(sources.size());
  const Reference<Node> node =
      autograd::record(python_function(), {}, results[0].legacy, sources, operands);
  if (node) {
    node->site = autograd::front_end().site();
    const nb::object own = make_held(backward);
    node->keep = std::make_unique<PythonGradients>(own, std::move(legacy));
    held.share(to_held(own));
    for (Handle& result : results) {
      result.origin = autograd::add_output(*node, result.array);
      result.held = held;
    }
  }
  nb::list arrays;
  for (std::size_t i = 0; i < results.size(); ++i)
    arrays.append(nb::steal(wrap_like(std::move(results[i]), nb::handle(outputs[i]).ptr())));
  return arrays;
}

}  // namespace

void bind_python_calls(nb::module_& module) {
  module.def("record_call", record_call, nb::arg("inputs"), nb::arg("outputs"),
             nb::arg("backward"));
}

}  // namespace afterglow::bindings
