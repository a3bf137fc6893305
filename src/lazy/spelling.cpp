// SPDX-License-Identifier: Apache-2.0
#include "lazy/spelling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "lazy/op.h"

namespace afterglow::lazy {
namespace {

/// How MXNet's names of the ops of a namespace begin. Those of nd itself are plain.
struct Space {
  std::string_view name, prefix;
};
constexpr std::array spaces = {Space{"nd", ""},
                               Space{"nd.contrib", "_contrib_"},
                               Space{"nd.image", "_image_"},
                               Space{"nd.linalg", "_linalg_"},
                               Space{"npx", "_npx_"},
                               Space{"npx.image", "_npx__image_"}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The parts between separators that stand outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      if (const auto part = trimmed(text.substr(begin, i - begin)); !part.empty())
        parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

class Reader {
 public:
  Reader(const Op& op, std::string_view text) : op_(op), text_(text) {}

  Spelling read() {
    const std::size_t open = text_.find('(');
    if (open == std::string_view::npos || !text_.ends_with(')')) fail("is no signature");
    const auto names = parts_of(text_.substr(0, open), '|');
    const std::size_t dot = names.empty() ? std::string_view::npos : names[0].rfind('.');
    if (dot == std::string_view::npos) fail("names no namespace");
    spelling_.space = names[0].substr(0, dot);
    spelling_.names.emplace_back(names[0].substr(dot + 1));
    for (std::size_t i = 1; i < names.size(); ++i) spelling_.names.emplace_back(names[i]);
    spelling_.defaults = op_.defaults;
    for (const auto part : parts_of(text_.substr(open + 1, text_.size() - open - 2), ','))
      add(part);
    return std::move(spelling_);
  }

 private:
  void add(std::string_view text) {
    if (text == "*") {
      by_position_ = false;
      return;
    }
    const std::size_t sign = text.find('=');
    Spelling::Slot slot{.name = {}, .role = Spelling::Role::option, .by_position = by_position_};
    std::string_view name = trimmed(text.substr(0, sign));
    slot.required = sign == std::string_view::npos;
    if (!slot.required) slot.default_value = value_of(trimmed(text.substr(sign + 1)));
    if (name.starts_with('*')) {
      slot.is_starred = true;
      slot.required = slot.by_position = false;
      by_position_ = false;
    }
    const bool are_options = name.starts_with("**");
    name.remove_prefix(std::min(name.find_first_not_of('*'), name.size()));
    const std::size_t colon = name.find(':');
    const std::string_view parameter =
        colon == std::string_view::npos ? name : name.substr(colon + 1);
    slot.name = name.substr(0, colon);
    if (are_options) {
      slot.role = Spelling::Role::options;
    } else {
      find(slot, parameter);
    }
    if (slot.role == Spelling::Role::parameter && !slot.required)
      spelling_.defaults[slot.index] = slot.default_value;
    spelling_.slots.push_back(std::move(slot));
  }

  void find(Spelling::Slot& slot, std::string_view parameter) {
    using Role = Spelling::Role;
    const auto found = std::ranges::find(op_.parameters, parameter, &Parameter::name);
    if (found != op_.parameters.end()) {
      slot.role = Role::parameter;
      slot.index = static_cast<std::size_t>(found - op_.parameters.begin());
    } else if (parameter == "out") {
      slot.role = Role::out;
    } else if (parameter == "name") {
      slot.role = Role::name;
    } else if (parameter == "ctx") {
      slot.role = Role::context;
    } else if (op_.variadic ? inputs_ == 0 : inputs_ < op_.inputs.size()) {
      slot.role = op_.variadic ? Role::inputs : Role::input;
      slot.index = inputs_++;
    } else if (slot.required) {
      fail("takes " + std::string(parameter) + ", which the op does not know");
    }
  }

  Argument value_of(std::string_view text) const {
    if (text == "None") return std::monostate{};
    if (text == "True") return true;
    if (text == "False") return false;
    if (text.starts_with('\'') || text.starts_with('"'))
      return std::string(text.substr(1, text.size() - 2));
    if (text.starts_with('(')) {
      Shape shape;
      for (const auto part : parts_of(text.substr(1, text.size() - 2), ','))
        shape.push_back(std::get<std::int64_t>(value_of(part)));
      return shape;
    }
    std::int64_t integer = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, integer).ptr == end) return integer;
    double number = 0;
    if (std::from_chars(text.data(), end, number).ptr == end) return number;
    fail("has a default that is no value: " + std::string(text));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::logic_error("op '" + std::string(op_.name) + "': the spelling " +
                           std::string(text_) + " " + what);
  }

  const Op& op_;
  const std::string_view text_;
  Spelling spelling_;
  std::size_t inputs_ = 0;
  bool by_position_ = true;
};

/// Inputs, parameters, `out` and `name`.
Spelling plain_spelling(const Op& op, std::string_view space, std::vector<std::string> names) {
  using Role = Spelling::Role;
  Spelling spelling{std::string(space), std::move(names), {}, op.defaults};
  if (op.variadic) {
    spelling.slots.push_back({.name = std::string(op.inputs[0]),
                              .role = Role::inputs,
                              .by_position = false,
                              .is_starred = true});
  }
  const std::size_t needed = op.inputs.size() - static_cast<std::size_t>(op.optional_inputs);
  for (std::size_t i = 0; !op.variadic && i < op.inputs.size(); ++i)
    spelling.slots.push_back({std::string(op.inputs[i]), Role::input, i, i < needed});
  for (std::size_t i = 0; i < op.parameters.size(); ++i)
    spelling.slots.push_back({.name = std::string(op.parameters[i].name),
                              .role = Role::parameter,
                              .index = i,
                              .by_position = !op.variadic,
                              .default_value = op.defaults[i]});
  for (const auto& [name, role] : {std::pair{"out", Role::out}, std::pair{"name", Role::name}})
    spelling.slots.push_back({.name = name, .role = role, .by_position = !op.variadic});
  return spelling;
}

}  // namespace

bool Spelling::takes(Role role) const {
  return std::ranges::find(slots, role, &Slot::role) != slots.end();
}

std::vector<Spelling> spellings_of(const Op& op) {
  std::vector<Spelling> result;
  for (const std::string_view text : op.spellings) result.push_back(Reader(op, text).read());
  if (op.doc.empty() || op.is_host) return result;
  const std::size_t stated = result.size();
  for (const Space& space : spaces) {
    std::vector<std::string> names;
    for (const std::string_view name : op.mxnet_names) {
      if (space.prefix.empty() ? name.starts_with('_') : !name.starts_with(space.prefix)) continue;
      std::string own(name.substr(space.prefix.size()));
      if (own.starts_with('_')) continue;  // it belongs to a namespace below this one
      const bool is_stated = std::any_of(
          result.begin(), result.begin() + static_cast<std::ptrdiff_t>(stated),
          [&](const Spelling& one) {
            return one.space == space.name && std::ranges::find(one.names, own) != one.names.end();
          });
      if (!is_stated) names.push_back(std::move(own));
    }
    if (!names.empty()) result.push_back(plain_spelling(op, space.name, std::move(names)));
  }
  return result;
}

}  // namespace afterglow::lazy
