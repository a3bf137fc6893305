// SPDX-License-Identifier: Apache-2.0
#include "lazy/op.h"

#include <algorithm>

namespace afterglow::lazy {

namespace {

/// More a node cannot have: who asks for them reads a damaged file.
constexpr std::int64_t most_outputs = 1 << 16;

bool is_used(const Op& op, std::span<const Argument> arguments, std::string_view input) {
  const auto found =
      std::ranges::find(op.parameters, "use_" + std::string(input), &Parameter::name);
  bool used = false;
  return found != op.parameters.end() &&
         FieldType<bool>::read(arguments[static_cast<std::size_t>(found - op.parameters.begin())],
                               used) &&
         used;
}

}  // namespace

void Completion::refuse(const std::string& what, ErrorKind kind) const {
  std::string seen;
  for (const std::optional<Shape>& shape : shapes) {
    if (shape) seen += (seen.empty() ? "; inputs: " : ", ") + to_string(*shape);
  }
  throw Error(kind, "[" + std::string(op.name) + "] " + what + seen);
}

std::vector<std::string> numbered_outputs(std::int64_t count) {
  if (count < 1 || count > most_outputs)
    throw Error(ErrorKind::mxnet, std::to_string(count) + " outputs; a node has 1 to " +
                                      std::to_string(most_outputs));
  if (count == 1) return {"output"};
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back("output" + std::to_string(i));
  return names;
}

NodeForm node_form(const Op& op, std::span<const Argument> arguments) {
  NodeForm form{op, arguments, std::vector<bool>(op.inputs.size(), true)};
  for (std::size_t i = op.inputs.size() - static_cast<std::size_t>(op.optional_inputs);
       i < op.inputs.size(); ++i)
    form.inputs[i] = is_used(op, arguments, op.inputs[i]);
  if (op.node) op.node(form);
  return form;
}

}  // namespace afterglow::lazy
