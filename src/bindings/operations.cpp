// SPDX-License-Identifier: Apache-2.0
#include "bindings/operations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bindings/held.h"
#include "bindings/stand_ins.h"
#include "lazy/immediate.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

/// The table as Python sees it: name -> inputs, parameters with defaults, MXNet's names, kind.
nb::dict describe_table() {
  nb::dict result;
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  for (const auto& [name, op] : ops::table().all()) {
    nb::dict entry;
    nb::list inputs, names;
    for (std::string_view input : op.inputs) inputs.append(text(input));
    for (std::string_view known : op.mxnet_names) names.append(text(known));
    nb::dict parameters, described;
    for (const lazy::Parameter& parameter : op.parameters) {
      parameters[text(parameter.name)] =
          to_python(parameter.default_value, parameter.kind == lazy::FieldType<DType>::kind);
      described[text(parameter.name)] =
          nb::make_tuple(text(parameter.kind), parameter.required, text(parameter.doc));
    }
    entry["inputs"] = inputs;
    entry["variadic"] = nb::bool_(op.variadic);
    entry["parameters"] = parameters;
    entry["mxnet_names"] = names;
    entry["elementwise"] = nb::bool_(op.formula.has_value());
    entry["may_fail"] = nb::bool_(op.may_fail);
    entry["has_gradient"] = nb::bool_(!op.gradients.empty());
    entry["doc"] = text(op.doc);
    entry["described"] = described;
    entry["optional"] = op.optional_inputs;
    entry["composed"] = nb::bool_(bool(op.compose));
    entry["completes"] = nb::bool_(bool(op.complete));
    entry["host"] = nb::bool_(op.is_host);
    entry["has_form"] = nb::bool_(bool(op.node));
    entry["loss"] = nb::bool_(op.in_graphs.is_loss);
    entry["random"] = nb::bool_(op.in_graphs.is_random);
    const auto type = [](std::optional<DType> one) -> nb::object {
      if (!one) return nb::none();
      return nb::int_(static_cast<int>(*one));
    };
    entry["types"] = nb::make_tuple(type(op.in_graphs.nd_type), type(op.in_graphs.np_type));
    entry["alike"] = nb::bool_(op.in_graphs.alike);
    entry["auxiliary"] = op.in_graphs.auxiliary;
    nb::dict beginnings;
    for (const auto& [input, words] : op.in_graphs.beginnings)
      beginnings[text(input)] = text(words);
    entry["beginnings"] = beginnings;
    result[text(name)] = entry;
  }
  return result;
}

}  // namespace

nb::object to_python(const lazy::Argument& value, bool is_type) {
  const auto* number_of_type = std::get_if<std::int64_t>(&value);
  if (is_type && number_of_type) return nb::str(name_of(static_cast<DType>(*number_of_type)));
  if (const auto* boolean = std::get_if<bool>(&value)) return nb::bool_(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* name = std::get_if<std::string>(&value)) return nb::str(name->c_str());
  if (const auto* shape = std::get_if<Shape>(&value)) return to_tuple(*shape);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    nb::list items;
    for (const double number : *numbers) items.append(number);
    return nb::tuple(items);
  }
  return nb::none();
}

[[noreturn]] void refuse_mixed(const lazy::Op& op, bool legacy) {
  throw Error(ErrorKind::type,
              "[" + std::string(op.name) + "] " +
                  (legacy ? "an nd call was given an np array; as_nd_ndarray() converts it"
                          : "an np call was given an nd array; as_np_ndarray() converts it"));
}

nb::object items_of(PyObject* sequence, const char* needed) {
  nb::object items = nb::steal(PySequence_Tuple(sequence));
  if (items.is_valid()) return items;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw Error(ErrorKind::type, needed);
}

namespace {

/// Arrays of NumPy's are integers and sequences by their type; those without axes have no items.
bool has_items(PyObject* object) {
  if (!PySequence_Check(object) || PySequence_Size(object) >= 0) return PySequence_Check(object);
  PyErr_Clear();
  return false;
}

void read_shape(PyObject* tuple, Shape& shape) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  shape.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) shape.push_back(to_integer(PyTuple_GET_ITEM(tuple, i)));
}

}  // namespace

lazy::Argument to_argument(PyObject* object) {
  lazy::Argument argument;
  read_argument(object, argument);
  return argument;
}

Shape& emptied_shape(lazy::Argument& argument) {
  auto* const shape = std::get_if<Shape>(&argument);
  if (!shape) return argument.emplace<Shape>();
  shape->clear();
  return *shape;
}

void read_argument(PyObject* object, lazy::Argument& argument) {
  if (PyLong_CheckExact(object)) {
    argument = to_integer(object);
  } else if (PyTuple_CheckExact(object)) {
    read_shape(object, emptied_shape(argument));
  } else if (object == Py_None) {
    argument = std::monostate{};
  } else if (PyBool_Check(object)) {
    argument = object == Py_True;
  } else if (PyFloat_Check(object)) {
    argument = PyFloat_AS_DOUBLE(object);
  } else if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8(object);
    if (!text) throw nb::python_error();
    argument = std::string(text);
  } else if (PyIndex_Check(object) && !is_array(object) && !has_items(object)) {
    argument = to_integer(object);
  } else if (PySequence_Check(object) || Py_TYPE(object)->tp_iter) {
    argument = to_shape(object);
  } else {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      throw Error(ErrorKind::type, std::string("an argument of type ") + Py_TYPE(object)->tp_name +
                                       " was given; a number is needed");
    }
    argument = value;
  }
}

std::int64_t to_integer(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) {
    throw Error(ErrorKind::overflow,
                "an integer of more than 64 bits was given; the greatest is 2**63 - 1");
  }
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    throw Error(ErrorKind::type, std::string("an argument of type ") + Py_TYPE(object)->tp_name +
                                     " was given; an integer is needed");
  }
  return value;
}

Shape to_shape(PyObject* sequence) {
  if (!PyTuple_CheckExact(sequence))
    return to_shape(items_of(sequence, "a tuple of integers is needed").ptr());
  Shape shape;
  read_shape(sequence, shape);
  return shape;
}

std::vector<double> to_numbers(PyObject* sequence) {
  const nb::object items = items_of(sequence, "a tuple of numbers is needed");
  std::vector<double> numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
    PyObject* const item = PyTuple_GET_ITEM(items.ptr(), i);
    numbers.push_back(PyFloat_AsDouble(item));
    if (!PyErr_Occurred()) continue;
    const bool is_large = PyErr_ExceptionMatches(PyExc_OverflowError);
    if (!is_large && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    if (is_large) throw Error(ErrorKind::overflow, "a number is too large for 64 bits");
    throw Error(ErrorKind::type, std::string("an element of type ") + Py_TYPE(item)->tp_name +
                                     " was given; a number is needed");
  }
  return numbers;
}

void need_input(autograd::CallBuilder& builder, PyObject* object, std::vector<nb::object>& held) {
  const bool legacy = builder.is_legacy();
  if (is_array(object) && as_array(object).legacy != legacy)
    refuse_mixed(*builder.call().op, legacy);
  if (add_input(builder, object)) return;
  held.push_back(nb::steal(convert_foreign(object, legacy, nullptr, false)));
  if (!held.back().is_valid()) throw nb::python_error();
  add_input(builder, held.back().ptr());
}

namespace {

/// An integer beyond 64 bits, rounded: no integer type has it, nor what comes of it, but floats do.
double large_integer(PyObject* object) {
  const double number = PyLong_AsDouble(object);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw Error(ErrorKind::overflow, "the integer beside an array is too large for any type");
  }
  return number == -0x1p63 ? std::nextafter(number, -HUGE_VAL) : number;
}

}  // namespace

bool add_input(autograd::CallBuilder& builder, PyObject* object) {
  if (is_array(object)) {
    builder.add(static_cast<const autograd::Handle&>(as_array(object)));
    return true;
  }
  if (!PyFloat_Check(object) && !PyLong_Check(object)) return false;
  return set_number(builder.add_operand(), object);
}

bool set_number(lazy::Operand& operand, PyObject* object) {
  if (PyFloat_Check(object)) {
    lazy::set_immediate(operand, PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
      lazy::set_immediate(operand, large_integer(object));
    } else {
      lazy::set_immediate(operand, static_cast<std::int64_t>(value));
    }
    return true;
  }
  return false;
}

autograd::Value to_value(const lazy::Operand& number) {
  if (number.dtype == DType::float64) return std::bit_cast<double>(number.immediate);
  return std::bit_cast<std::int64_t>(number.immediate);
}

nb::list wrap_all(std::span<const autograd::Handle> handles) {
  nb::list result;
  for (const autograd::Handle& handle : handles)
    result.append(nb::steal(wrap(autograd::Handle(handle))));
  return result;
}

PyObject* binary(const lazy::Op& op, PyObject* left, PyObject* right, ArrayObject* out) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject* partner = is_array(left) ? left : right;
    const bool legacy = as_array(partner).legacy;
    nb::object held;
    autograd::CallBuilder builder(op, legacy);
    for (PyObject* side : {left, right}) {
      if (is_array(side) && as_array(side).legacy != legacy) refuse_mixed(op, legacy);
      if (add_input(builder, side)) continue;
      held = nb::steal(convert_foreign(side, legacy, partner, !out));
      if (!held.is_valid()) throw nb::python_error();
      if (held.is(nb::handle(Py_NotImplemented))) return held.release().ptr();
      add_input(builder, held.ptr());
    }
    if (!out) return wrap(builder.issue());
    builder.issue({op.defaults, {}, out});
    look_after(*out);
    return Py_NewRef(out);
  });
}

PyObject* unary(const lazy::Op& op, PyObject* operand) {
  return guarded<PyObject*>(nullptr, [&] {
    PyObject* const inputs[] = {operand};
    return call_with_defaults(op, inputs);
  });
}

PyObject* call_with_defaults(const lazy::Op& op, std::span<PyObject* const> inputs, PyObject* out) {
  autograd::CallBuilder builder(op, as_array(inputs[0]).legacy);
  for (PyObject* input : inputs) add_input(builder, input);
  if (!out) return wrap(builder.issue());
  builder.issue({op.defaults, {}, &as_array(out)});
  look_after(as_array(out));
  return Py_NewRef(out);
}

void bind_operations(nb::module_& module) {
  module.def("describe_table", describe_table, "Every op with its declaration.");
}

}  // namespace afterglow::bindings
