// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <utility>

#include "autograd/gradient.h"
#include "bindings/held.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/sparse.h"
#include "bindings/tape.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

using autograd::Node;
using autograd::Origin;
using autograd::Saved;

nb::object number_of(const lazy::Operand& operand) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, operand.immediate.data(), sizeof value);
    return value;
  };
  if (operand.dtype == DType::float64) return nb::float_(as(double{}));
  if (operand.dtype == DType::float32) return nb::float_(static_cast<double>(as(float{})));
  return nb::int_(as(std::int64_t{}));
}

nb::object value_of(const TapeNode& self, const Saved& saved, const Origin& origin) {
  if (saved.is_number()) return number_of(saved.value);
  return nb::steal(wrap_any(autograd::saved_handle(*self.node, saved, origin, self.held)));
}

nb::object shape_of(const Saved& saved) {
  return saved.layout ? to_tuple(saved.layout->shape()) : nb::tuple();
}

std::intptr_t key_of(const Node* node) {
  return reinterpret_cast<std::intptr_t>(node);
}

/// (input, key of the node it came from, which of its outputs, number of that node): of inputs that
/// gradients go through.
nb::list sources_of(const TapeNode& self) {
  nb::list result;
  for (std::size_t i = 0; i < self.node->inputs.size(); ++i) {
    const Origin& origin = self.node->inputs[i].origin;
    if (origin && self.node->inputs[i].passes_gradients)
      result.append(
          nb::make_tuple(i, key_of(origin.node.get()), origin.output, origin.node->sequence));
  }
  return result;
}

nb::object gradient_of(const TapeNode& self) {
  if (!self.node->gradient.storage) return nb::none();
  return nb::steal(wrap_any({self.node->gradient, {}, {}, self.node->legacy}));
}

/// The recorded calls behind the heads, latest first.
nb::list collect(nb::list heads) {
  std::vector<Origin> origins;
  for (nb::handle head : heads) origins.push_back(need_array(head.ptr()).origin);
  nb::list result;
  for (Reference<Node>& node : autograd::collect(origins, {}))
    result.append(nb::cast(TapeNode{std::move(node)}));
  return result;
}

/// The node an array comes from and the number of the output, or None; also where an op without a
/// gradient lies between it and all variables, unless the caller asks for those too.
nb::object origin_of(nb::handle array, bool without_gradient) {
  const Origin& origin = need_array(array.ptr()).origin;
  if (!origin || !(origin.node->passes_gradients || without_gradient)) return nb::none();
  return nb::make_tuple(nb::cast(TapeNode{origin.node}), origin.output);
}

void mark_variable(nb::handle array, nb::handle gradient, int request) {
  ArrayObject& object = need_array(array.ptr());
  Array buffer;
  if (!gradient.is_none()) buffer = need_array(gradient.ptr()).array;
  object.origin = {autograd::make_variable(object.array, std::move(buffer),
                                           static_cast<autograd::Request>(request), object.legacy),
                   0};
  object.held = {};
  ++object.array.storage->origins;
}

void set_reads(const char* name, nb::list rules) {
  std::vector<autograd::Reads> reads;
  for (nb::handle rule : rules) {
    autograd::Reads& one = reads.emplace_back();
    one.differentiable = !rule.is_none();
    if (!one.differentiable) continue;
    const auto pair = nb::cast<nb::tuple>(rule);
    one.inputs = nb::cast<std::uint32_t>(pair[0]);
    if (!nb::cast<bool>(pair[1])) one.outputs = 0;
  }
  const lazy::Op& op = name == replay_op().name ? replay_op() : ops::op_named(name);
  autograd::set_reads(op, std::move(reads));
}

}  // namespace

void bind_tape(nb::module_& module) {
  nb::class_<TapeNode>(module, "TapeNode")
      .def_prop_ro("key", [](const TapeNode& self) { return key_of(self.node.get()); })
      .def_prop_ro("name",
                   [](const TapeNode& self) {
                     const std::string_view name = self.node->op ? self.node->op->name : "variable";
                     return nb::str(name.data(), name.size());
                   })
      .def_prop_ro("sequence", [](const TapeNode& self) { return self.node->sequence; })
      .def_prop_ro("is_variable", [](const TapeNode& self) { return self.node->is_variable(); })
      .def_prop_ro("legacy", [](const TapeNode& self) { return self.node->legacy; })
      .def_prop_ro("sources", sources_of)
      .def_prop_ro("input_count", [](const TapeNode& self) { return self.node->inputs.size(); })
      .def_prop_ro("output_count", [](const TapeNode& self) { return self.node->outputs.size(); })
      .def("input",
           [](const TapeNode& self, std::size_t index) {
             const Saved& saved = self.node->inputs.at(index);
             return value_of(self, saved, saved.origin);
           })
      .def("output",
           [](const TapeNode& self, std::size_t index) {
             return value_of(self, self.node->outputs.at(index),
                             {self.node, static_cast<int>(index)});
           })
      .def("input_shape", [](const TapeNode& self,
                             std::size_t index) { return shape_of(self.node->inputs.at(index)); })
      .def("output_shape", [](const TapeNode& self,
                              std::size_t index) { return shape_of(self.node->outputs.at(index)); })
      .def("input_dtype",
           [](const TapeNode& self, std::size_t index) {
             return static_cast<int>(self.node->inputs.at(index).dtype);
           })
      .def("input_context",
           [](const TapeNode& self, std::size_t index) {
             const Context context = self.node->inputs.at(index).context;
             return nb::make_tuple(static_cast<int>(context.type), static_cast<int>(context.id));
           })
      .def("output_dtype",
           [](const TapeNode& self, std::size_t index) {
             return static_cast<int>(self.node->outputs.at(index).dtype);
           })
      .def("output_context",
           [](const TapeNode& self, std::size_t index) {
             const Context context = self.node->outputs.at(index).context;
             return nb::make_tuple(static_cast<int>(context.type), static_cast<int>(context.id));
           })
      .def_prop_ro("gradient", gradient_of)
      .def("release", [](TapeNode& self) { self.node->release(); });
  module.def("collect_tape", collect, nb::arg("heads"));
  module.def("origin_of", origin_of, nb::arg("array"), nb::arg("without_gradient") = false);
  module.def("mark_variable", mark_variable, nb::arg("array"), nb::arg("gradient").none(),
             nb::arg("request"));
  module.def("set_gradient_reads", set_reads, nb::arg("name"), nb::arg("rules"));
  module.def("is_recording", [] { return autograd::state().recording; });
  module.def("is_training", [] { return autograd::state().training; });
  module.def("set_recording",
             [](bool on) { return std::exchange(autograd::state().recording, on); });
  module.def("set_training", [](bool on) { return std::exchange(autograd::state().training, on); });
}

}  // namespace afterglow::bindings
