// SPDX-License-Identifier: Apache-2.0
#include "c_api/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "c_api/interface.h"

namespace afterglow::c_api {
namespace {

using lazy::Argument;
using lazy::FieldType;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

std::optional<bool> truth_in(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return {};
}

/// Python 2 wrote 2L.
std::optional<std::int64_t> integer_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('L') || text.ends_with('l')) text.remove_suffix(1);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return {};
  return value;
}

std::optional<double> real_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ptr != end) return {};
  // from_chars leaves numbers beyond the range alone.
  if (read.ec == std::errc::result_out_of_range)
    return std::strtod(std::string(text).c_str(), nullptr);
  if (read.ec != std::errc()) return {};
  return value;
}

/// A number, or numbers in brackets, which may be nested: pairs in one row.
struct Numbers {
  bool is_one = false;  ///< without brackets
  bool are_whole = true;
  bool are_pairs = false;  ///< there are brackets within brackets
  Shape integers;
  std::vector<double> reals;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Numbers> read() {
    const std::string_view all = trimmed(text_);
    if (all.empty()) return {};
    if (all.front() != '(' && all.front() != '[') {
      numbers_.is_one = true;
      if (!add(all)) return {};
      return numbers_;
    }
    if (!list(0)) return {};
    skip();
    if (place_ != text_.size()) return {};
    return numbers_;
  }

 private:
  void skip() {
    while (place_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[place_]) != std::string_view::npos)
      ++place_;
  }

  bool list(int depth) {
    skip();
    if (place_ == text_.size() || depth > 1) return false;
    const char close = text_[place_] == '(' ? ')' : ']';
    ++place_;
    numbers_.are_pairs = numbers_.are_pairs || depth == 1;
    for (;;) {
      skip();
      if (place_ == text_.size()) return false;
      if (text_[place_] == close) {
        ++place_;
        return true;
      }
      if (text_[place_] == '(' || text_[place_] == '[') {
        if (!list(depth + 1)) return false;
      } else {
        const std::size_t end = std::min(text_.find_first_of(",)]", place_), text_.size());
        if (!add(trimmed(text_.substr(place_, end - place_)))) return false;
        place_ = end;
      }
      skip();
      if (place_ < text_.size() && text_[place_] == ',') {
        ++place_;
      } else if (place_ == text_.size() || text_[place_] != close) {
        return false;
      }
    }
  }

  bool add(std::string_view text) {
    if (const auto integer = integer_in(text)) {
      numbers_.integers.push_back(*integer);
      numbers_.reals.push_back(static_cast<double>(*integer));
      return true;
    }
    if (text == "True" || text == "False") {
      numbers_.integers.push_back(text == "True");
      numbers_.reals.push_back(text == "True");
      return true;
    }
    const auto real = real_in(text);
    if (!real) return false;
    numbers_.are_whole = false;
    numbers_.reals.push_back(*real);
    return true;
  }

  const std::string_view text_;
  std::size_t place_ = 0;
  Numbers numbers_;
};

[[noreturn]] void refuse_text(std::string_view text, std::string_view name, std::string_view kind,
                              const std::string& owner) {
  refuse("[" + owner + "] " + std::string(name) + " is '" + std::string(text) + "'; it must be " +
         std::string(kind));
}

}  // namespace

Argument number_from(std::string_view text, std::string_view name, const std::string& owner) {
  const std::string_view given = trimmed(text);
  if (given == "True" || given == "False") return given == "True";
  if (const auto integer = integer_in(given)) return *integer;
  if (const auto real = real_in(given)) return *real;
  refuse_text(text, name, "a number", owner);
}

Context context_from(std::string_view text, const std::string& owner) {
  const std::string_view given = trimmed(text);
  const std::size_t open = given.find('(');
  const std::string_view name = given.substr(0, open);
  std::optional<std::int64_t> id = 0;
  if (open != std::string_view::npos)
    id = given.ends_with(')') ? integer_in(given.substr(open + 1, given.size() - open - 2))
                              : std::nullopt;
  const int device = name == "cpu"          ? AG_CPU
                     : name == "gpu"        ? AG_GPU
                     : name == "cpu_pinned" ? AG_CPU_PINNED
                     : name == "cpu_shared" ? AG_CPU_SHARED
                                            : 0;
  if (!device || !id || *id < 0 || *id > INT16_MAX) refuse_text(text, "ctx", "a device", owner);
  return context_from(device, static_cast<int>(*id));
}

Argument argument_from(std::string_view text, const lazy::Parameter& parameter,
                       const std::string& owner) {
  const std::string_view kind = parameter.kind, given = trimmed(text);
  const bool is_text = kind == FieldType<std::string>::kind;
  const bool is_choice = kind.starts_with('\'');
  const bool names_none = is_choice && kind.find("'None'") != std::string_view::npos;
  if (given == "None" && !names_none) return std::monostate{};
  if (is_text || is_choice) return std::string(text);
  if (kind == FieldType<DType>::kind) {
    if (const auto number = integer_in(given)) {
      if (*number == -1) return std::monostate{};  // so files say that there is none
      return *number;
    }
    return std::string(given);
  }
  if (kind == FieldType<Context>::kind) {
    const Context context = context_from(given, owner);
    return Shape{context.type, context.id};
  }
  if (kind == FieldType<bool>::kind) {
    if (const auto truth = truth_in(given)) return *truth;
    refuse_text(text, parameter.name, kind, owner);
  }
  if (kind == FieldType<double>::kind) return number_from(text, parameter.name, owner);
  const auto numbers = Reader(given).read();
  if (!numbers) refuse_text(text, parameter.name, kind, owner);
  if (kind == FieldType<std::vector<double>>::kind) {
    if (numbers->is_one) return numbers->reals[0];
    return numbers->reals;
  }
  if (!numbers->are_whole) refuse_text(text, parameter.name, kind, owner);
  if (kind == FieldType<std::int64_t>::kind) {
    if (numbers->integers.size() != 1) refuse_text(text, parameter.name, kind, owner);
    return numbers->integers[0];
  }
  if (numbers->is_one) return numbers->integers[0];
  return numbers->integers;
}

std::string text_of(const Argument& argument, std::string_view kind) {
  if (std::holds_alternative<std::monostate>(argument)) return "None";
  if (const auto* truth = std::get_if<bool>(&argument)) return *truth ? "True" : "False";
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    if (kind == FieldType<DType>::kind) return name_of(static_cast<DType>(*integer));
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&argument)) {
    char buffer[40];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, *real).ptr};
  }
  if (const auto* shape = std::get_if<Shape>(&argument)) return to_string(*shape);
  if (const auto* text = std::get_if<std::string>(&argument)) return *text;
  std::string list;
  for (const double one : std::get<std::vector<double>>(argument))
    list += (list.empty() ? "" : ", ") + text_of(one, kind);
  return "(" + list + ")";
}

}  // namespace afterglow::c_api
