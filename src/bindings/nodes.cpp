// SPDX-License-Identifier: Apache-2.0
#include "bindings/nodes.h"

#include <optional>
#include <string>
#include <vector>

#include "bindings/operations.h"
#include "bindings/stand_ins.h"
#include "lazy/aggregate.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

const lazy::Op& op_of(const char* name) {
  const lazy::Op* op = ops::table().find(name);
  if (!op) throw Error(ErrorKind::value, std::string("there is no op named ") + name);
  return *op;
}

/// One argument for each parameter: what was given, or the default.
std::vector<lazy::Argument> arguments_of(const lazy::Op& op, const nb::dict& given) {
  std::vector<lazy::Argument> arguments = op.defaults;
  for (std::size_t i = 0; i < op.parameters.size(); ++i) {
    const auto& [name, kind] = std::tie(op.parameters[i].name, op.parameters[i].kind);
    const nb::str key(name.data(), name.size());
    if (!given.contains(key)) continue;
    const nb::object value = given[key];
    if (kind == lazy::FieldType<std::vector<double>>::kind && PyTuple_Check(value.ptr())) {
      arguments[i] = to_numbers(value.ptr());
    } else {
      arguments[i] = to_argument(value.ptr());
    }
  }
  return arguments;
}

nb::tuple describe_node(const char* name, const nb::dict& parameters) {
  const lazy::Op& op = op_of(name);
  const std::vector<lazy::Argument> arguments = arguments_of(op, parameters);
  const lazy::NodeForm form = lazy::node_form(op, arguments);
  nb::list inputs, outputs;
  for (std::size_t i = 0; i < form.inputs.size(); ++i) {
    if (form.inputs[i]) inputs.append(i);
  }
  const std::size_t usable = form.usable.value_or(form.outputs.size());
  for (std::size_t i = 0; i < usable; ++i) outputs.append(nb::str(form.outputs[i].c_str()));
  return nb::make_tuple(nb::tuple(inputs), nb::tuple(outputs), form.outputs.size());
}

/// Unknown extents are -1, unknown shapes None.
nb::tuple complete_shapes(const char* name, const nb::dict& parameters, const nb::list& shapes) {
  const lazy::Op& op = op_of(name);
  if (!op.complete)
    throw Error(ErrorKind::value, std::string(name) + " says nothing of its shapes");
  const std::vector<lazy::Argument> arguments = arguments_of(op, parameters);
  const std::size_t count = nb::len(shapes);
  lazy::Completion completion{op, arguments, std::vector<std::optional<Shape>>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const nb::object shape = shapes[i];
    if (!shape.is_none()) completion.shapes[i] = to_shape(shape.ptr());
  }
  op.complete(completion);
  nb::list inputs, results;
  for (const std::optional<Shape>& shape : completion.shapes)
    inputs.append(shape ? to_tuple(*shape) : nb::none());
  for (const Shape& shape : completion.results) results.append(to_tuple(shape));
  return nb::make_tuple(inputs, results);
}

/// What the function issues is inferred and forgotten, so its arrays have shapes and no values.
nb::object infer_only(nb::callable function) {
  lazy::Diversion forgotten;
  return function();
}

}  // namespace

void bind_nodes(nb::module_& module) {
  module.def(
      "describe_node", describe_node, nb::arg("name"), nb::arg("parameters"),
      "What a call of an op is in a graph: which inputs are there, the names of its outputs, "
      "and how many outputs files count.");
  module.def("complete_shapes", complete_shapes, nb::arg("name"), nb::arg("parameters"),
             nb::arg("shapes"),
             "The shapes of an op's inputs, one for each that it has, with what follows from the "
             "known ones; and those of its results, if it says them.");
  module.def("infer_only", infer_only, nb::arg("function"),
             "Call a function whose calls are inferred and not computed: what it returns has "
             "shapes and types, and no values.");
}

}  // namespace afterglow::bindings
