// SPDX-License-Identifier: Apache-2.0
// The parameters of ops. What the user gave travels as Arguments, the same for all ops. An op
// states its own as a plain struct whose members are the fields:
//
//   struct Cumsum {
//     std::int64_t axis = 0;
//     bool reverse = false;
//     static constexpr auto fields = std::tuple{
//         field("axis", &Cumsum::axis, "along which the sums run"),
//         field("reverse", &Cumsum::reverse, "whether they begin at the end")};
//   };
//
// Names, types, defaults and what is required are read from there, and nowhere said again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "array/context.h"
#include "array/layout.h"
#include "base/dtype.h"
#include "base/error.h"

namespace afterglow::lazy {

/// A parameter's value as the user gave it. Data types travel as their numbers, contexts as
/// {type, id}.
using Argument = std::variant<std::monostate, bool, std::int64_t, double, Shape, std::string,
                              std::vector<double>>;

/// A number that keeps what it was given as: bounds of integers are exact.
using Number = std::variant<std::int64_t, double>;

/// One integer, or several: where (3,) means something else than 3.
using Integers = std::variant<std::int64_t, Shape>;

/// Two integers for each axis, in one row; two numbers or one stand for all axes.
struct Pairs {
  Shape numbers;
};

/// A parameter as everybody but its op sees it.
struct Parameter {
  std::string_view name;
  Argument default_value = {};  ///< none where it is required
  bool required = false;
  std::string_view doc = {};
  std::string_view kind = {};  ///< what is taken, in words: "an integer"
};

template <class Struct, class Value>
struct Field {
  std::string_view name;
  Value Struct::* member;
  std::string_view doc;
  bool required;
};

template <class Struct, class Value>
constexpr Field<Struct, Value> field(std::string_view name, Value Struct::* member,
                                     std::string_view doc = {}) {
  return {name, member, doc, false};
}

template <class Struct, class Value>
constexpr Field<Struct, Value> required(std::string_view name, Value Struct::* member,
                                        std::string_view doc = {}) {
  return {name, member, doc, true};
}

/// How a type of field is read from an argument (false: it is none), and what an argument for it
/// is.
template <class Value>
struct FieldType;

template <>
struct FieldType<std::int64_t> {
  static constexpr std::string_view kind = "an integer";
  static bool read(const Argument& argument, std::int64_t& value);
  static Argument write(std::int64_t value) { return value; }
};
/// None is false.
template <>
struct FieldType<bool> {
  static constexpr std::string_view kind = "a boolean";
  static bool read(const Argument& argument, bool& value);
  static Argument write(bool value) { return value; }
};
template <>
struct FieldType<double> {
  static constexpr std::string_view kind = "a number";
  static bool read(const Argument& argument, double& value);
  static Argument write(double value) { return value; }
};
template <>
struct FieldType<Number> {
  static constexpr std::string_view kind = "a number";
  static bool read(const Argument& argument, Number& value);
  static Argument write(const Number& value);
};
template <>
struct FieldType<Shape> {
  static constexpr std::string_view kind = "an integer or a tuple of integers";
  static bool read(const Argument& argument, Shape& value);
  static Argument write(const Shape& value) { return value; }
};
template <>
struct FieldType<std::vector<double>> {
  static constexpr std::string_view kind = "a number or a tuple of numbers";
  static bool read(const Argument& argument, std::vector<double>& value);
  static Argument write(const std::vector<double>& value) { return value; }
};
template <>
struct FieldType<Integers> {
  static constexpr std::string_view kind = FieldType<Shape>::kind;
  static bool read(const Argument& argument, Integers& value);
  static Argument write(const Integers& value);
};
template <>
struct FieldType<Pairs> {
  static constexpr std::string_view kind = "an integer or pairs of integers";
  static bool read(const Argument& argument, Pairs& value) {
    return FieldType<Shape>::read(argument, value.numbers);
  }
  static Argument write(const Pairs& value) { return value.numbers; }
};
template <>
struct FieldType<std::string> {
  static constexpr std::string_view kind = "text";
  static bool read(const Argument& argument, std::string& value);
  static Argument write(const std::string& value) { return value; }
};
/// The argument's own text, for structs that do not outlive it.
template <>
struct FieldType<std::string_view> {
  static constexpr std::string_view kind = FieldType<std::string>::kind;
  static bool read(const Argument& argument, std::string_view& value);
  static Argument write(std::string_view value) { return std::string(value); }
};
template <>
struct FieldType<DType> {
  static constexpr std::string_view kind = "a data type";
  static bool read(const Argument& argument, DType& value);
  static Argument write(DType value) { return static_cast<std::int64_t>(value); }
};
template <>
struct FieldType<Context> {
  static constexpr std::string_view kind = "a device";
  static bool read(const Argument& argument, Context& value);
  static Argument write(Context value) { return Shape{value.type, value.id}; }
};

/// A name that stands for a value of an enumeration.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

/// Enumerations are taken by name. A function beside them gives the names:
///
///   constexpr auto choices(Side) {
///     return std::array{Choice{"left", Side::left}, Choice{"right", Side::right}};
///   }
template <class Value>
concept Chosen = std::is_enum_v<Value> && requires(Value value) { choices(value); };

template <Chosen Value>
struct FieldType<Value> {
 private:
  struct Text {
    std::array<char, 120> characters = {};
    std::size_t size = 0;
    constexpr void add(std::string_view more) {
      for (const char one : more) characters[size++] = one;
    }
  };
  static constexpr auto all = choices(Value{});
  static constexpr Text names = [] {
    Text text;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i) text.add(i + 1 < all.size() ? ", " : " or ");
      text.add("'");
      text.add(all[i].name);
      text.add("'");
    }
    return text;
  }();

 public:
  static constexpr std::string_view kind{names.characters.data(), names.size};
  static bool read(const Argument& argument, Value& value) {
    const auto* name = std::get_if<std::string>(&argument);
    if (!name) return false;
    const auto found = std::ranges::find(all, *name, &Choice<Value>::name);
    if (found == all.end()) return false;
    value = found->value;
    return true;
  }
  static Argument write(Value value) {
    return std::string(std::ranges::find(all, value, &Choice<Value>::value)->name);
  }
};

template <class Value>
struct FieldType<std::optional<Value>> {
  static constexpr std::string_view kind = FieldType<Value>::kind;
  static bool read(const Argument& argument, std::optional<Value>& value) {
    if (std::holds_alternative<std::monostate>(argument)) {
      value.reset();
      return true;
    }
    return FieldType<Value>::read(argument, value.emplace());
  }
  static Argument write(const std::optional<Value>& value) {
    return value ? FieldType<Value>::write(*value) : Argument{};
  }
};

/// The fields of a struct, for everybody else.
template <class Struct>
std::vector<Parameter> parameters_of() {
  const Struct defaults{};
  std::vector<Parameter> result;
  const auto add = [&]<class Value>(const Field<Struct, Value>& one) {
    result.push_back({one.name,
                      one.required ? Argument{} : FieldType<Value>::write(defaults.*one.member),
                      one.required, one.doc, FieldType<Value>::kind});
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, Struct::fields);
  return result;
}

template <class Value>
inline constexpr bool is_choice = Chosen<Value>;
template <class Value>
inline constexpr bool is_choice<std::optional<Value>> = Chosen<Value>;

struct Refusal {
  std::string text;
  ErrorKind kind;
};

/// What is said of an argument that its field does not take.
Refusal refusal_of(std::string_view name, const Argument& argument, std::string_view kind,
                   bool is_choice);

/// The struct from arguments, one for each field. `refuse` is called with what is said of the first
/// that its field does not take.
template <class Struct, class Refuse>
Struct read_parameters(std::span<const Argument> arguments, Refuse&& refuse) {
  Struct result;
  std::size_t index = 0;
  const auto read = [&]<class Value>(const Field<Struct, Value>& one) {
    const Argument& argument = arguments[index++];
    if (one.required && std::holds_alternative<std::monostate>(argument))
      refuse(Refusal{"needs " + std::string(one.name), ErrorKind::value});
    if (!FieldType<Value>::read(argument, result.*one.member))
      refuse(refusal_of(one.name, argument, FieldType<Value>::kind, is_choice<Value>));
  };
  std::apply([&](const auto&... each) { (read(each), ...); }, Struct::fields);
  return result;
}

/// The other way round.
template <class Struct>
std::vector<Argument> write_arguments(const Struct& parameters) {
  std::vector<Argument> result;
  const auto write = [&]<class Value>(const Field<Struct, Value>& one) {
    result.push_back(FieldType<Value>::write(parameters.*one.member));
  };
  std::apply([&](const auto&... each) { (write(each), ...); }, Struct::fields);
  return result;
}

}  // namespace afterglow::lazy
