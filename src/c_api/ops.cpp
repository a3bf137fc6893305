// SPDX-License-Identifier: Apache-2.0
#include "c_api/ops.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "c_api/interface.h"
#include "c_api/refused_ops.h"
#include "c_api/text.h"
#include "ops/compose.h"
#include "ops/operators.h"
#include "ops/table.h"

namespace afterglow::c_api {
namespace {

using autograd::Handle;
using autograd::Value;
using Role = lazy::Spelling::Role;

/// Inputs and parameters as the declaration has them.
lazy::Spelling declared(const lazy::Op& op) {
  lazy::Spelling spelling{{}, {}, {}, op.defaults};
  const std::size_t needed = op.inputs.size() - static_cast<std::size_t>(op.optional_inputs);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.variadic && i) break;
    spelling.slots.push_back({.name = std::string(op.inputs[i]),
                              .role = op.variadic ? Role::inputs : Role::input,
                              .index = i,
                              .required = i < needed});
  }
  for (std::size_t i = 0; i < op.parameters.size(); ++i)
    spelling.slots.push_back(
        {.name = std::string(op.parameters[i].name), .role = Role::parameter, .index = i});
  return spelling;
}

class Index {
 public:
  Index() {
    for (const auto& [name, op] : ops::table().all()) add_spellings(op);
    // Where several ops have one of MXNet's names, it is that of the op that is called so.
    for (const auto& [name, op] : ops::table().all()) {
      for (const std::string_view known : op.mxnet_names)
        if (known == op.name) add_mxnet(known, op);
    }
    for (const auto& [name, op] : ops::table().all()) {
      for (const std::string_view known : op.mxnet_names) add_mxnet(known, op);
    }
    for (const auto& [name, named] : ops_) names_.push_back(name.c_str());
  }

  const NamedOp* find(std::string_view name) const {
    const auto found = ops_.find(name);
    return found == ops_.end() ? nullptr : &found->second;
  }
  const std::vector<const char*>& names() const { return names_; }

 private:
  void add_spellings(const lazy::Op& op) {
    for (lazy::Spelling& spelling : lazy::spellings_of(op)) {
      for (const std::string& name : spelling.names)
        ops_.try_emplace(spelling.space + "." + name, NamedOp{&op, spelling, spelling.is_legacy()});
    }
  }

  /// With the arguments of the function that goes by that name, if there is one.
  void add_mxnet(std::string_view name, const lazy::Op& op) {
    const bool legacy = !name.starts_with("_np");
    NamedOp named{&op, declared(op), legacy};
    if (const NamedOp* function = find("nd." + std::string(name));
        function && function->op == &op && legacy)
      named.spelling = function->spelling;
    if (name.ends_with("_scalar") && op.formula && op.inputs.size() == 2) {
      const std::string_view plain = name.starts_with("_npi") ? name.substr(4) : name;
      named.number = plain.starts_with("_r") ? 0 : 1;
    }
    ops_.try_emplace(std::string(name), std::move(named));
  }

  std::map<std::string, NamedOp, std::less<>> ops_;
  std::vector<const char*> names_;
};

const Index& index() {
  static const Index* const made = new Index;
  return *made;
}

bool is_refused(std::string_view name) {
  return std::ranges::find(refused_ops, name) != std::end(refused_ops);
}

void add_number(std::vector<std::pair<std::size_t, Value>>& numbers, std::size_t input,
                const lazy::Argument& number) {
  if (const auto* real = std::get_if<double>(&number))
    numbers.emplace_back(input, Value(*real));
  else if (const auto* truth = std::get_if<bool>(&number))
    numbers.emplace_back(input, Value(*truth));
  else
    numbers.emplace_back(input, Value(std::get<std::int64_t>(number)));
}

}  // namespace

const NamedOp& op_by_name(std::string_view name) {
  if (const NamedOp* found = index().find(name)) return *found;
  const std::string text(name);
  const std::size_t dot = name.rfind('.');
  if (is_refused(name) || (dot != std::string_view::npos && is_refused(name.substr(dot + 1))))
    refuse("[" + text + "] is computed by NumPy, which is not in this library; use Python",
           ErrorKind::not_implemented);
  refuse("there is no op named '" + text +
         "'; AGListOps() tells their names: of functions with their namespace (nd.dot), of MXNet's "
         "ops as files have them (FullyConnected)");
}

Invocation::Invocation(std::string name, const Attributes& attributes, bool is_node)
    : name_(std::move(name)), named_(op_by_name(name_)), arguments_(named_.spelling.defaults) {
  for (const auto& [key, text] : attributes) read(key, text, is_node);
}

void Invocation::read(const std::string& name, const std::string& text, bool is_node) {
  const lazy::Op& op = *named_.op;
  const auto& slots = named_.spelling.slots;
  const auto slot = std::ranges::find(slots, name, &lazy::Spelling::Slot::name);
  if (named_.number && name == "scalar")
    return add_number(numbers_, *named_.number, number_from(text, name, name_));
  if (slot != slots.end() && slot->role == Role::parameter) {
    arguments_[slot->index] = argument_from(text, op.parameters[slot->index], name_);
    return;
  }
  if (slot != slots.end() && slot->role == Role::input)
    return add_number(numbers_, slot->index, number_from(text, name, name_));
  const auto parameter = std::ranges::find(op.parameters, name, &lazy::Parameter::name);
  if (parameter != op.parameters.end()) {
    arguments_[static_cast<std::size_t>(parameter - op.parameters.begin())] =
        argument_from(text, *parameter, name_);
    return;
  }
  if (is_node) return;
  if (name == "ctx") {
    context_ = context_from(text, name_);
    return;
  }
  const bool is_of_node = name == "name" || name == "num_args";
  const bool is_of_number = named_.number && name == "is_int";
  const bool is_default =
      slot != slots.end() && slot->role == Role::option && text == text_of(slot->default_value, "");
  if (is_of_node || is_of_number || is_default) return;
  std::string known;
  for (const lazy::Spelling::Slot& one : slots)
    if (one.role == Role::parameter || one.role == Role::input)
      known += (known.empty() ? "" : ", ") + one.name;
  refuse("[" + name_ + "] got an unexpected parameter '" + name + "'; it takes " +
         (known.empty() ? "none" : known));
}

std::vector<Handle> Invocation::call(std::span<const Handle> inputs,
                                     std::span<Handle* const> outs) const {
  const lazy::Op& op = *named_.op;
  std::vector<Value> values;
  if (op.variadic) {
    if (!numbers_.empty()) refuse("[" + name_ + "] takes arrays, not numbers", ErrorKind::type);
    values.assign(inputs.begin(), inputs.end());
  } else {
    values.resize(op.inputs.size());
    std::vector<bool> is_given(values.size());
    for (const auto& [place, number] : numbers_) {
      values[place] = number;
      is_given[place] = true;
    }
    const std::size_t needed = values.size() - static_cast<std::size_t>(op.optional_inputs);
    std::size_t place = 0;
    for (const Handle& input : inputs) {
      while (place < values.size() && is_given[place]) ++place;
      if (place == values.size())
        refuse("[" + name_ + "] got " + std::to_string(inputs.size()) + " arrays; it takes " +
                   std::to_string(values.size() - numbers_.size()),
               ErrorKind::type);
      if (input) {
        static_cast<Handle&>(values[place]) = input;
        is_given[place] = true;
      }
      ++place;
    }
    for (const lazy::Spelling::Slot& slot : named_.spelling.slots) {
      if (slot.role != Role::input || is_given[slot.index]) continue;
      if (std::holds_alternative<std::int64_t>(slot.default_value) ||
          std::holds_alternative<double>(slot.default_value)) {
        std::vector<std::pair<std::size_t, Value>> one;
        add_number(one, slot.index, slot.default_value);
        values[slot.index] = one[0].second;
        is_given[slot.index] = true;
      }
    }
    for (std::size_t i = 0; i < needed; ++i) {
      if (!is_given[i])
        refuse("[" + name_ + "] takes " + std::to_string(needed) + " arrays, got " +
                   std::to_string(inputs.size()) + "; '" + std::string(op.inputs[i]) +
                   "' is missing",
               ErrorKind::type);
    }
    if (op.compose) {
      for (const Value& value : values)
        if (value.is_number() && !op.takes_numbers)
          refuse("[" + name_ + "] takes arrays, not numbers", ErrorKind::type);
    } else {
      std::erase_if(values, [](const Value& one) { return !one && !one.is_number(); });
    }
  }
  std::vector<Handle> more;
  const autograd::CallBuilder::Options options{arguments_, context_.value_or(Context{}),
                                               outs.size() == 1 ? outs[0] : nullptr};
  std::vector<Handle> results;
  results.push_back(ops::call(op, values, options, named_.legacy, &more));
  for (Handle& other : more) results.push_back(std::move(other));
  if (outs.size() > 1) {
    if (outs.size() != results.size())
      refuse("[" + name_ + "] " + std::to_string(outs.size()) + " outputs are given; there are " +
             std::to_string(results.size()) + " results");
    for (std::size_t i = 0; i < outs.size(); ++i) {
      static const lazy::Op& copy = ops::op_named("copy");
      Value result(std::move(results[i]));
      ops::call(copy, std::span(&result, 1), {copy.defaults, {}, outs[i]}, named_.legacy);
    }
  }
  return results;
}

namespace {

/// In Markdown: the text of the declaration, what it takes, what it gives.
std::string describe(const std::string& name) {
  const NamedOp& named = op_by_name(name);
  const lazy::Op& op = *named.op;
  std::string text = "### " + name + "\n\n";
  // Examples are Python; the words before them hold here as well.
  std::string_view doc = op.doc;
  doc = doc.substr(0, doc.find(">>>"));
  while (!doc.empty() && (doc.back() == '\n' || doc.back() == ' ')) doc.remove_suffix(1);
  text += doc.empty() ? "An op of graphs, without a text of its own." : std::string(doc);
  text += "\n\n";
  for (const lazy::Spelling::Slot& slot : named.spelling.slots) {
    if (slot.role == Role::inputs) text += "- arrays `" + slot.name + "`: any number\n";
    if (slot.role != Role::input) continue;
    if (named.number == slot.index) continue;
    text += "- array `" + slot.name + "`" + (slot.required ? "" : ", may be left out") + "\n";
  }
  if (named.number) text += "- `scalar`: a number, needed\n";
  for (const lazy::Spelling::Slot& slot : named.spelling.slots) {
    if (slot.role != Role::parameter) continue;
    const lazy::Parameter& parameter = op.parameters[slot.index];
    text += "- `" + slot.name + "`: " + std::string(parameter.kind);
    text +=
        parameter.required || slot.required
            ? ", needed"
            : ", by default `" + text_of(named.spelling.defaults[slot.index], parameter.kind) + "`";
    if (!parameter.doc.empty()) text += "; " + std::string(parameter.doc);
    text += "\n";
  }
  if (op.gradients.empty() && !op.compose) text += "\nThere is no gradient.\n";
  return text;
}

}  // namespace
}  // namespace afterglow::c_api

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

int AGListOps(size_t* count, const char* const** names) {
  return guarded([&] {
    need(count, "count") = index().names().size();
    need(names, "names") = index().names().data();
  });
}

int AGListRefusedOps(size_t* count, const char* const** names) {
  return guarded([&] {
    need(count, "count") = std::size(refused_ops);
    need(names, "names") = refused_ops;
  });
}

int AGDescribeOp(const char* op, const char** text) {
  return guarded([&] {
    thread_local std::string described;
    described = describe(need_text(op, "op"));
    need(text, "text") = described.c_str();
  });
}

int AGInvoke(const char* op, int input_count, const AGArrayHandle* inputs, int parameter_count,
             const char* const* names, const char* const* values, int* output_count,
             AGArrayHandle** outputs) {
  return guarded([&] {
    const auto keys = need_span(names, parameter_count, "names");
    const auto texts = need_span(values, parameter_count, "values");
    Attributes attributes;
    for (std::size_t i = 0; i < keys.size(); ++i)
      attributes.emplace_back(need_text(keys[i], "a name"), need_text(texts[i], "a value"));
    const Invocation invocation(need_text(op, "op"), attributes);
    std::vector<std::shared_ptr<ArrayObject>> alive;
    std::vector<autograd::Handle> given;
    for (const AGArrayHandle input : need_span(inputs, input_count, "inputs")) {
      if (!input) {
        given.emplace_back();
        continue;
      }
      given.push_back(alive.emplace_back(array_of(input))->handle);
    }
    need(outputs, "outputs");
    if (need(output_count, "output_count") == 0)
      return give_out(invocation.call(given), output_count, outputs);
    std::vector<autograd::Handle*> outs;
    for (const AGArrayHandle output : need_span(*outputs, *output_count, "outputs"))
      outs.push_back(&alive.emplace_back(array_of(output))->handle);
    invocation.call(given, outs);
  });
}

}  // extern "C"
