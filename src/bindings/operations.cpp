// SPDX-License-Identifier: Apache-2.0
#include "bindings/operations.h"

#include <structmember.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bindings/held.h"
#include "lazy/immediate.h"
#include "ops/compose.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

/// An op of one of both worlds. For programs it is a function of a namespace: it takes arrays where
/// it wants some, data types in any spelling, and `out` and `name` by position too; its attributes
/// are a function's. For the package itself it takes whatever it can use.
struct OperationObject {
  PyObject_HEAD vectorcallfunc call;
  const lazy::Op* op;
  bool legacy;
  bool is_function;
  PyObject* dict;  ///< of a function: its name, module and text
};

PyTypeObject* operation_type = nullptr;
PyObject* need_array = nullptr;      // (object, name, legacy) -> array, or raises
PyObject* number_of_type = nullptr;  // (object) -> the number of a data type, or raises
PyObject* signature_of = nullptr;    // (function) -> inspect.Signature

nb::object ask(PyObject* function, std::initializer_list<PyObject*> arguments) {
  nb::object answer =
      nb::steal(PyObject_Vectorcall(function, arguments.begin(), arguments.size(), nullptr));
  if (!answer.is_valid()) throw nb::python_error();
  return answer;
}

Context to_context(PyObject* object) {
  return afterglow::to_context(to_shape(object));
}

/// mx.nd and NumPy answer differently, so one call takes arrays of one of them only.
[[noreturn]] void refuse_mixed(const lazy::Op& op, bool legacy) {
  throw Error(ErrorKind::type,
              "[" + std::string(op.name) + "] " +
                  (legacy ? "an nd call was given an np array; as_nd_ndarray() converts it"
                          : "an np call was given an nd array; as_np_ndarray() converts it"));
}

/// The items of a sequence. A tuple: a list may change while code of the user's looks at an item.
nb::object items_of(PyObject* sequence, const char* needed) {
  nb::object items = nb::steal(PySequence_Tuple(sequence));
  if (items.is_valid()) return items;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw Error(ErrorKind::type, needed);
}

/// The arguments of one call, sorted into inputs, parameters and `out`.
class CallArguments {
 public:
  CallArguments(const OperationObject& operation, PyObject* const* values, std::size_t positional,
                PyObject* names)
      : op_(*operation.op), legacy_(operation.legacy), is_function_(operation.is_function) {
    if (!op_.compose) builder_.emplace(op_, legacy_);
    arguments_ = op_.defaults;
    for (std::size_t i = 0; i < positional; ++i) add_positional(i, values[i]);
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
      add_named(PyTuple_GET_ITEM(names, i), values[positional + static_cast<std::size_t>(i)]);
    }
    check_count();
  }

  PyObject* issue() {
    std::vector<autograd::Handle> more;
    const autograd::CallBuilder::Options options{arguments_, context_,
                                                 out_ ? &as_array(out_) : nullptr};
    autograd::Handle result = builder_ ? builder_->issue(options, &more)
                                       : ops::call(op_, values_, options, legacy_, &more);
    nb::object first = nb::borrow(out_);
    if (out_) {
      look_after(as_array(out_));
    } else {
      first = nb::steal(wrap(std::move(result)));
    }
    if (more.empty()) return first.release().ptr();
    nb::list all = wrap_all(more);
    all.insert(0, first);
    return all.release().ptr();
  }

 private:
  void add_positional(std::size_t position, PyObject* value) {
    if (op_.variadic && position == 0) {
      const nb::object items = items_of(value, "a sequence of arrays is needed");
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
        add(static_cast<std::size_t>(i), PyTuple_GET_ITEM(items.ptr(), i));
      }
      held_.push_back(items);
    } else if (position < op_.inputs.size()) {
      add(position, value);
    } else {
      add_parameter(position - op_.inputs.size(), value);
    }
  }

  void add_parameter(std::size_t parameter, PyObject* value) {
    const std::size_t count = arguments_.size();
    if (parameter < count) {
      arguments_[parameter] = to_parameter(op_.parameters[parameter], value);
    } else if (is_function_ && parameter == count) {
      set_out(value);
    } else if (!is_function_ || parameter > count + 1) {  // the last one is a name, for symbols
      refuse("got too many arguments");
    }
  }

  lazy::Argument to_parameter(const lazy::Parameter& parameter, PyObject* value) const {
    if (is_function_ && parameter.kind == lazy::FieldType<DType>::kind && value != Py_None)
      return to_integer(ask(number_of_type, {value}).ptr());
    return to_argument(value);
  }

  void set_out(PyObject* value) {
    if (value == Py_None) return;
    if (!is_array(value)) refuse("out must be an array");
    out_ = value;
  }

  void add(std::size_t position, PyObject* object) {
    if (is_function_ && !is_array(object) && (object != Py_None || !is_optional(position))) {
      const std::string name(op_.inputs[position]);
      held_.push_back(
          ask(need_array, {object, nb::str(name.c_str()).ptr(), legacy_ ? Py_True : Py_False}));
      object = held_.back().ptr();
    }
    if (builder_) {
      need_input(*builder_, object, held_);
    } else {
      if (values_.size() <= position) values_.resize(position + 1);
      values_[position] = need_value(object);
    }
  }

  bool is_optional(std::size_t input) const {
    return input + static_cast<std::size_t>(op_.optional_inputs) >= op_.inputs.size();
  }

  /// An input of a composition; none for one that may be left out.
  autograd::Value need_value(PyObject* object) {
    if (object == Py_None) return {};
    if (is_array(object)) {
      if (as_array(object).legacy != legacy_) refuse_mixed(op_, legacy_);
      return autograd::Value(as_array(object));
    }
    lazy::Operand number;
    if (set_number(number, object)) return to_value(number);
    held_.push_back(nb::steal(convert_foreign(object, legacy_, nullptr, false)));
    if (!held_.back().is_valid()) throw nb::python_error();
    return autograd::Value(as_array(held_.back().ptr()));
  }

  /// Whether all inputs are there that must be.
  void check_count() {
    if (op_.variadic) return;
    const std::size_t most = op_.inputs.size();
    std::size_t given = builder_ ? builder_->call().inputs.size() : values_.size();
    if (op_.compose) {
      values_.resize(std::max(given, most));
      given = 0;
      const std::size_t least = most - static_cast<std::size_t>(op_.optional_inputs);
      for (std::size_t i = 0; i < values_.size(); ++i)
        given += values_[i] || values_[i].is_number() || i >= least;
    }
    if (given != most)
      refuse("takes " + std::to_string(most) + " arrays, got " + std::to_string(given));
  }

  void add_named(PyObject* name, PyObject* value) {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw nb::python_error();
    if (std::string_view(text) == "out") return set_out(value);
    if (std::string_view(text) == "ctx") {
      context_ = to_context(value);
      return;
    }
    if (std::string_view(text) == "name") return;  // of a node: for symbols
    for (std::size_t i = 0; i < op_.parameters.size(); ++i) {
      if (op_.parameters[i].name == text) {
        arguments_[i] = to_parameter(op_.parameters[i], value);
        return;
      }
    }
    for (std::size_t i = 0; op_.compose && i < op_.inputs.size(); ++i) {
      if (op_.inputs[i] != text) continue;
      if (i < values_.size() && (values_[i] || values_[i].is_number()))
        refuse("got more than one value for " + std::string(text));
      return add(i, value);
    }
    refuse("got an unexpected argument '" + std::string(text) + "'" + known_names());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::type, "[" + std::string(op_.name) + "] " + what);
  }

  std::string known_names() const {
    std::string names = "; it takes ";
    for (std::string_view input : op_.inputs) names += std::string(input) + ", ";
    for (const lazy::Parameter& one : op_.parameters) names += std::string(one.name) + ", ";
    return names + "out and name";
  }

  const lazy::Op& op_;
  const bool legacy_;
  const bool is_function_;
  std::vector<nb::object> held_;  ///< keeps inputs alive that the caller does not
  std::optional<autograd::CallBuilder> builder_;
  std::vector<autograd::Value> values_;  ///< instead of the builder: inputs of a composition
  std::vector<lazy::Argument> arguments_;
  Context context_;
  PyObject* out_ = nullptr;
};

// --- inputs whose shape is not known yet ---

/// What stands for a parameter of a layer that waits for its shape.
PyTypeObject* stand_in_type = nullptr;

bool is_stand_in(PyObject* object) {
  return Py_TYPE(object) == stand_in_type;
}

nb::tuple to_tuple(const Shape& shape) {
  nb::list extents;
  for (const std::int64_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

/// As far as it is known: layers write 0 for what is not.
Shape known_shape(PyObject* stand_in) {
  Shape shape = to_shape(nb::object(nb::handle(stand_in).attr("shape")).ptr());
  std::ranges::replace(shape, 0, -1);
  return shape;
}

/// The arguments of a call with arrays in place of those that stand for them: what the op says of
/// the shapes of its weights completes these.
class CompletedArguments {
 public:
  CompletedArguments(const lazy::Op& op, PyObject* const* values, std::size_t positional,
                     PyObject* names)
      : op_(op),
        arguments_(op.defaults),
        completion_{op, arguments_, std::vector<std::optional<Shape>>(op.inputs.size())} {
    const std::size_t named =
        names ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : std::size_t{0};
    for (std::size_t i = 0; i < positional + named; ++i) {
      held_.push_back(nb::borrow(values[i]));
      read(i, i < positional ? i : place_of(PyTuple_GET_ITEM(names, i - positional)), values[i]);
    }
    op.complete(completion_);
    for (const auto& [argument, input] : stand_ins_) complete(argument, input);
    for (const nb::object& one : held_) values_.push_back(one.ptr());
  }

  PyObject* const* values() const { return values_.data(); }

 private:
  /// Among inputs, then parameters; behind them for what is neither.
  std::size_t place_of(PyObject* name) const {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw nb::python_error();
    const auto input = std::ranges::find(op_.inputs, text);
    if (input != op_.inputs.end()) return static_cast<std::size_t>(input - op_.inputs.begin());
    const auto found = std::ranges::find(op_.parameters, text, &lazy::Parameter::name);
    return op_.inputs.size() + static_cast<std::size_t>(found - op_.parameters.begin());
  }

  void read(std::size_t argument, std::size_t place, PyObject* value) {
    if (place < op_.inputs.size()) {
      if (is_stand_in(value)) {
        stand_ins_.emplace_back(argument, place);
        completion_.shapes[place] = known_shape(value);
      } else if (is_array(value)) {
        const auto shape = as_array(value).array.shape();
        completion_.shapes[place] = Shape(shape.begin(), shape.end());
      }
    } else if (place - op_.inputs.size() < arguments_.size()) {
      arguments_[place - op_.inputs.size()] = to_argument(value);
    }
  }

  void complete(std::size_t argument, std::size_t input) {
    const std::optional<Shape>& shape = completion_.shapes[input];
    if (!shape || std::ranges::find(*shape, -1) != shape->end())
      throw Error(ErrorKind::type, "[" + std::string(op_.name) + "] the shape of " +
                                       std::string(op_.inputs[input]) +
                                       " does not follow from those of the other inputs");
    held_[argument] = held_[argument].attr("completed")(to_tuple(*shape));
  }

  const lazy::Op& op_;
  std::vector<nb::object> held_;
  std::vector<PyObject*> values_;
  std::vector<lazy::Argument> arguments_;
  lazy::Completion completion_;
  std::vector<std::pair<std::size_t, std::size_t>> stand_ins_;  ///< argument, input
};

PyObject* call_operation(PyObject* self, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    const auto& operation = *reinterpret_cast<OperationObject*>(self);
    const auto positional = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    if (operation.op->complete) {
      const std::size_t count =
          positional + (names ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0);
      if (std::any_of(values, values + count, is_stand_in)) {
        const CompletedArguments completed(*operation.op, values, positional, names);
        return CallArguments(operation, completed.values(), positional, names).issue();
      }
    }
    return CallArguments(operation, values, positional, names).issue();
  });
}

/// The shapes of an op's inputs, with what follows from those that are known; unknown extents are
/// -1, unknown shapes None.
nb::list complete_shapes(const char* name, nb::dict parameters, nb::list shapes) {
  const lazy::Op* op = ops::table().find(name);
  if (!op || !op->complete)
    throw Error(ErrorKind::value, std::string("no op completes its inputs that is named ") + name);
  std::vector<lazy::Argument> arguments = op->defaults;
  for (std::size_t i = 0; i < op->parameters.size(); ++i) {
    const nb::str key(op->parameters[i].name.data(), op->parameters[i].name.size());
    if (parameters.contains(key)) arguments[i] = to_argument(nb::object(parameters[key]).ptr());
  }
  lazy::Completion completion{*op, arguments, std::vector<std::optional<Shape>>(op->inputs.size())};
  for (std::size_t i = 0; i < std::min(nb::len(shapes), op->inputs.size()); ++i) {
    if (!shapes[i].is_none()) completion.shapes[i] = to_shape(nb::object(shapes[i]).ptr());
  }
  op->complete(completion);
  nb::list result;
  for (const std::optional<Shape>& shape : completion.shapes) {
    if (shape) {
      result.append(to_tuple(*shape));
    } else {
      result.append(nb::none());
    }
  }
  return result;
}

void set_stand_in_type(nb::handle type) {
  stand_in_type = reinterpret_cast<PyTypeObject*>(type.ptr());
}

void deallocate_operation(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(reinterpret_cast<OperationObject*>(self)->dict);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* name_of_operation(PyObject* self, void*) {
  const auto name = reinterpret_cast<OperationObject*>(self)->op->name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* get_signature(PyObject* self, void*) {
  return PyObject_CallOneArg(signature_of, self);
}

PyObject* bind_operation(PyObject* self, PyObject* instance, PyObject*) {
  const bool is_method =
      reinterpret_cast<OperationObject*>(self)->is_function && instance && instance != Py_None;
  return is_method ? PyMethod_New(self, instance) : Py_NewRef(self);
}

PyObject* describe_operation(PyObject* self) {
  const auto& operation = *reinterpret_cast<OperationObject*>(self);
  const std::string text =
      "<op " + std::string(operation.op->name) + (operation.legacy ? " of mx.nd>" : " of mx.np>");
  return PyUnicode_FromString(text.c_str());
}

/// A function is pickled as those of Python are: by its name.
PyObject* reduce_operation(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef operation_methods[] = {
    {"__reduce__", reduce_operation, METH_NOARGS, "Pickled by name."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef operation_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperationObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OperationObject, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef operation_properties[] = {
    {"name", name_of_operation, nullptr, "Name in the op table.", nullptr},
    {"__signature__", get_signature, nullptr, "What the function takes.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operation_slots[] = {
    {Py_tp_doc, const_cast<char*>("An op of the table, callable; answers as mx.nd or as NumPy.")},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_operation)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind_operation)},
    {Py_tp_repr, reinterpret_cast<void*>(describe_operation)},
    {Py_tp_methods, operation_methods},
    {Py_tp_members, operation_members},
    {Py_tp_getset, operation_properties},
    {0, nullptr}};

PyType_Spec operation_spec = {"afterglow._core.Operation", sizeof(OperationObject), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                  Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                              operation_slots};

nb::object make_operation(const char* name, bool legacy, bool is_function) {
  const lazy::Op* op = ops::table().find(name);
  if (!op) throw Error(ErrorKind::value, std::string("there is no op named ") + name);
  auto* operation = PyObject_New(OperationObject, operation_type);
  if (!operation) throw nb::python_error();
  operation->call = call_operation;
  operation->op = op;
  operation->legacy = legacy;
  operation->is_function = is_function;
  operation->dict = nullptr;
  return nb::steal(reinterpret_cast<PyObject*>(operation));
}

void set_function_helpers(nb::handle array, nb::handle type, nb::handle signature) {
  need_array = Py_NewRef(array.ptr());
  number_of_type = Py_NewRef(type.ptr());
  signature_of = Py_NewRef(signature.ptr());
}

nb::object default_of(const lazy::Parameter& parameter) {
  const lazy::Argument& value = parameter.default_value;
  const auto* type = std::get_if<std::int64_t>(&value);
  if (type && parameter.kind == lazy::FieldType<DType>::kind)
    return nb::str(name_of(static_cast<DType>(*type)));
  if (const auto* boolean = std::get_if<bool>(&value)) return nb::bool_(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* name = std::get_if<std::string>(&value)) return nb::str(name->c_str());
  if (const auto* shape = std::get_if<Shape>(&value)) return to_tuple(*shape);
  return nb::none();
}

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
      parameters[text(parameter.name)] = default_of(parameter);
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
    entry["composed"] = nb::bool_(op.compose != nullptr);
    entry["completes"] = nb::bool_(op.complete != nullptr);
    result[text(name)] = entry;
  }
  return result;
}

}  // namespace

lazy::Argument to_argument(PyObject* object) {
  if (object == Py_None) return std::monostate{};
  if (PyBool_Check(object)) return object == Py_True;
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8(object);
    if (!text) throw nb::python_error();
    return std::string(text);
  }
  if (PyIndex_Check(object) && !is_array(object)) return to_integer(object);
  if (PySequence_Check(object)) return to_shape(object);
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    throw Error(ErrorKind::type, std::string("an argument of type ") + Py_TYPE(object)->tp_name +
                                     " was given; a number is needed");
  }
  return value;
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
  Shape shape;
  const nb::object items = items_of(sequence, "a tuple of integers is needed");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
    shape.push_back(to_integer(PyTuple_GET_ITEM(items.ptr(), i)));
  }
  return shape;
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
  for (const autograd::Handle& handle : handles) result.append(nb::steal(wrap(handle)));
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
  operation_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&operation_spec));
  if (!operation_type) throw nb::python_error();
  module.attr("Operation") = nb::handle(reinterpret_cast<PyObject*>(operation_type));
  module.def("operation", make_operation, nb::arg("name"), nb::arg("legacy"),
             nb::arg("is_function") = false,
             "The op of that name, answering as mx.nd (legacy) or as NumPy.");
  module.def("set_function_helpers", set_function_helpers, nb::arg("need_array"),
             nb::arg("number_of_type"), nb::arg("signature_of"), "What functions ask Python for.");
  module.def("describe_table", describe_table, "Every op with its declaration.");
  module.def("complete_shapes", complete_shapes, nb::arg("name"), nb::arg("parameters"),
             nb::arg("shapes"), "Shapes of an op's inputs, with what follows from the known ones.");
  module.def(
      "is_stand_in", [](nb::handle object) { return is_stand_in(object.ptr()); },
      nb::arg("object").none(), "Whether it stands for an array that waits for its shape.");
  module.def("set_stand_in_type", set_stand_in_type, nb::arg("type"),
             "The class of what stands for an array that waits for its shape.");
}

}  // namespace afterglow::bindings
