// SPDX-License-Identifier: Apache-2.0
#include "lazy/parameters.h"

namespace afterglow::lazy {

bool FieldType<std::int64_t>::read(const Argument& argument, std::int64_t& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    value = *integer;
  } else if (const auto* boolean = std::get_if<bool>(&argument)) {
    value = *boolean;
  } else {
    return false;
  }
  return true;
}

bool FieldType<bool>::read(const Argument& argument, bool& value) {
  std::int64_t integer = 0;
  if (!std::holds_alternative<std::monostate>(argument) &&
      !FieldType<std::int64_t>::read(argument, integer))
    return false;
  value = integer != 0;
  return true;
}

bool FieldType<double>::read(const Argument& argument, double& value) {
  if (const auto* number = std::get_if<double>(&argument)) {
    value = *number;
    return true;
  }
  std::int64_t integer;
  if (!FieldType<std::int64_t>::read(argument, integer)) return false;
  value = static_cast<double>(integer);
  return true;
}

bool FieldType<Number>::read(const Argument& argument, Number& value) {
  if (const auto* number = std::get_if<double>(&argument)) {
    value = *number;
    return true;
  }
  return FieldType<std::int64_t>::read(argument, value.emplace<std::int64_t>());
}

Argument FieldType<Number>::write(const Number& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::get<std::int64_t>(value);
}

bool FieldType<Shape>::read(const Argument& argument, Shape& value) {
  if (std::int64_t one = 0; FieldType<std::int64_t>::read(argument, one)) {
    value = {one};
    return true;
  }
  const auto* shape = std::get_if<Shape>(&argument);
  if (shape) value = *shape;
  return shape;
}

bool FieldType<std::vector<double>>::read(const Argument& argument, std::vector<double>& value) {
  double number;
  if (FieldType<double>::read(argument, number)) {
    value = {number};
  } else if (const auto* integers = std::get_if<Shape>(&argument)) {
    value.assign(integers->begin(), integers->end());
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&argument)) {
    value = *numbers;
  } else {
    return false;
  }
  return true;
}

bool FieldType<Integers>::read(const Argument& argument, Integers& value) {
  if (FieldType<std::int64_t>::read(argument, value.emplace<std::int64_t>())) return true;
  return FieldType<Shape>::read(argument, value.emplace<Shape>());
}

Argument FieldType<Integers>::write(const Integers& value) {
  if (const auto* one = std::get_if<std::int64_t>(&value)) return *one;
  return std::get<Shape>(value);
}

bool FieldType<std::string>::read(const Argument& argument, std::string& value) {
  const auto* text = std::get_if<std::string>(&argument);
  if (text) value = *text;
  return text;
}

bool FieldType<std::string_view>::read(const Argument& argument, std::string_view& value) {
  const auto* text = std::get_if<std::string>(&argument);
  if (text) value = *text;
  return text;
}

bool FieldType<Context>::read(const Argument& argument, Context& value) {
  const auto* numbers = std::get_if<Shape>(&argument);
  if (numbers) value = to_context(*numbers);
  return numbers;
}

bool FieldType<DType>::read(const Argument& argument, DType& value) {
  if (const auto* text = std::get_if<std::string>(&argument)) {
    for (int i = 0; i < dtype_count; ++i) {
      value = static_cast<DType>(i);
      if (*text == name_of(value)) return true;
    }
    return false;
  }
  std::int64_t number;
  if (!FieldType<std::int64_t>::read(argument, number) || number < 0 || number >= dtype_count)
    return false;
  value = static_cast<DType>(number);
  return true;
}

Refusal refusal_of(std::string_view name, const Argument& argument, std::string_view kind,
                   bool is_choice) {
  const auto* text = std::get_if<std::string>(&argument);
  if (!is_choice || !text)
    return {std::string(name) + " must be " + std::string(kind), ErrorKind::type};
  return {std::string(name) + " is '" + *text + "'; it must be " + std::string(kind),
          ErrorKind::value};
}

}  // namespace afterglow::lazy
