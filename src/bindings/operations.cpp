// SPDX-License-Identifier: Apache-2.0
#include "bindings/operations.h"

#include <structmember.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/immediate.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

struct OperationObject {
  PyObject_HEAD vectorcallfunc call;
  const lazy::Op* op;
  bool legacy;
};

PyTypeObject* operation_type = nullptr;

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
      : op_(*operation.op), legacy_(operation.legacy), draft_(op_) {
    arguments_ = op_.defaults;
    for (std::size_t i = 0; i < positional; ++i) add_positional(i, values[i]);
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
      add_named(PyTuple_GET_ITEM(names, i), values[positional + static_cast<std::size_t>(i)]);
    }
    if (!op_.variadic && draft_->inputs.size() != op_.inputs.size()) {
      refuse("takes " + std::to_string(op_.inputs.size()) + " arrays, got " +
             std::to_string(draft_->inputs.size()));
    }
  }

  PyObject* issue() {
    draft_->site = capture_site();
    Recording recording(op_, arguments_, legacy_);
    if (recording.is_on()) {
      for (std::size_t i = 0; i < sources_.size(); ++i)
        recording.add(sources_[i].ptr(), draft_->inputs[i]);
      recording.begin(out_);
    }
    std::vector<Array> more;
    Array result = issue_from_python(
        draft_, {arguments_, legacy_, context_, out_ ? &as_array(out_).array : nullptr}, &more);
    if (out_) {
      recording.end(out_);
      return Py_NewRef(out_);
    }
    if (more.empty()) return recording.end(wrap(std::move(result), legacy_));
    more.insert(more.begin(), std::move(result));
    nb::list arrays = wrap_all(more, legacy_);
    for (nb::handle array : arrays) recording.end(array.ptr());
    return arrays.release().ptr();
  }

 private:
  void add_positional(std::size_t position, PyObject* value) {
    if (op_.variadic && position == 0) {
      const nb::object items = items_of(value, "a sequence of arrays is needed");
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
        need_source(PyTuple_GET_ITEM(items.ptr(), i));
      }
    } else if (position < op_.inputs.size()) {
      need_source(value);
    } else if (position - op_.inputs.size() < arguments_.size()) {
      arguments_[position - op_.inputs.size()] = to_argument(value);
    } else {
      refuse("got too many arguments");
    }
  }

  void need_source(PyObject* object) {
    need_operand(draft_, object, legacy_, held_);
    if (autograd::state().recording) sources_.push_back(nb::borrow(object));
  }

  void add_named(PyObject* name, PyObject* value) {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw nb::python_error();
    if (std::string_view(text) == "out") {
      if (value == Py_None) return;
      if (!is_array(value)) refuse("out must be an array");
      out_ = value;
      return;
    }
    if (std::string_view(text) == "ctx") {
      context_ = to_context(value);
      return;
    }
    for (std::size_t i = 0; i < op_.parameters.size(); ++i) {
      if (op_.parameters[i].name == text) {
        arguments_[i] = to_argument(value);
        return;
      }
    }
    refuse("got an unexpected argument '" + std::string(text) + "'");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::type, "[" + std::string(op_.name) + "] " + what);
  }

  const lazy::Op& op_;
  bool legacy_;
  lazy::Draft draft_;
  std::vector<lazy::Argument> arguments_;
  Context context_;
  PyObject* out_ = nullptr;
  nb::object held_;
  std::vector<nb::object> sources_;  ///< while recording: the objects behind the inputs
};

PyObject* call_operation(PyObject* self, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    CallArguments arguments(*reinterpret_cast<OperationObject*>(self), values,
                            PyVectorcall_NARGS(flags), names);
    return arguments.issue();
  });
}

void deallocate_operation(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* name_of_operation(PyObject* self, void*) {
  const auto name = reinterpret_cast<OperationObject*>(self)->op->name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyMemberDef operation_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperationObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef operation_properties[] = {
    {"name", name_of_operation, nullptr, "Name in the op table.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operation_slots[] = {
    {Py_tp_doc, const_cast<char*>("An op of the table, callable; answers as mx.nd or as NumPy.")},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_operation)},
    {Py_tp_members, operation_members},
    {Py_tp_getset, operation_properties},
    {0, nullptr}};

PyType_Spec operation_spec = {"afterglow._core.Operation", sizeof(OperationObject), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                  Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                              operation_slots};

nb::object make_operation(const char* name, bool legacy) {
  const lazy::Op* op = ops::table().find(name);
  if (!op) throw Error(ErrorKind::value, std::string("there is no op named ") + name);
  auto* operation = PyObject_New(OperationObject, operation_type);
  if (!operation) throw nb::python_error();
  operation->call = call_operation;
  operation->op = op;
  operation->legacy = legacy;
  return nb::steal(reinterpret_cast<PyObject*>(operation));
}

nb::object default_of(const lazy::Argument& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return nb::bool_(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
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
    nb::dict parameters;
    for (const lazy::Parameter& parameter : op.parameters) {
      parameters[text(parameter.name)] = default_of(parameter.default_value);
    }
    entry["inputs"] = inputs;
    entry["variadic"] = nb::bool_(op.variadic);
    entry["parameters"] = parameters;
    entry["mxnet_names"] = names;
    entry["elementwise"] = nb::bool_(op.formula.has_value());
    entry["may_fail"] = nb::bool_(op.may_fail);
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
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
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

void need_operand(lazy::Draft& draft, PyObject* object, bool legacy, nb::object& held) {
  lazy::Operand& operand = draft->inputs.emplace_back();
  if (set_operand(operand, object)) {
    if (operand.storage && as_array(object).legacy != legacy) refuse_mixed(*draft->op, legacy);
    return;
  }
  held = nb::steal(convert_foreign(object, legacy, nullptr, false));
  if (!held.is_valid()) throw nb::python_error();
  set_operand(operand, held.ptr());
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

bool set_operand(lazy::Operand& operand, PyObject* object) {
  if (is_array(object)) {
    static_cast<Array&>(operand) = as_array(object).array;
    return true;
  }
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

nb::list wrap_all(std::span<const Array> arrays, bool legacy) {
  nb::list result;
  for (const Array& array : arrays) result.append(nb::steal(wrap(array, legacy)));
  return result;
}

namespace {

/// What the call touches of memory that is shared with code outside.
std::vector<Array> shared_operands(lazy::Call& call, const Array* out) {
  std::vector<Array> shared;
  for (const lazy::Operand& input : call.inputs) {
    if (!input.is_immediate() && input.storage->is_shared()) shared.push_back(input);
  }
  if (out && out->storage->is_shared()) shared.push_back(*out);
  return shared;
}

}  // namespace

Array issue_from_python(lazy::Draft& draft, lazy::IssueOptions options,
                        std::vector<Array>* more_outputs) {
  lazy::Window& window = lazy::window();
  std::vector<Array> shared;
  if (Storage::any_shared()) shared = shared_operands(*draft, options.out);
  // Threads that waited together may together take more room than there was; a few more looks.
  for (int looks = 0; looks < 4 && window.is_full(); ++looks) wait_for_room();
  Array result = lazy::issue(window, draft, options, more_outputs);
  if (window.serial()) {
    // Errors at the call, as NaiveEngine has them.
    const std::shared_ptr<Failure> failure = result.storage->failure;
    if (failure && !failure->raised) raise_failure(*failure);
  }
  for (const Array& array : shared) wait_for(array, engine::WaitFor::write);
  return result;
}

PyObject* binary(const lazy::Op& op, PyObject* left, PyObject* right, ArrayObject* out) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject* partner = is_array(left) ? left : right;
    const bool legacy = as_array(partner).legacy;
    nb::object held;
    lazy::Draft draft(op);
    for (PyObject* side : {left, right}) {
      lazy::Operand& operand = draft->inputs.emplace_back();
      if (set_operand(operand, side)) {
        if (operand.storage && as_array(side).legacy != legacy) refuse_mixed(op, legacy);
        continue;
      }
      held = nb::steal(convert_foreign(side, legacy, partner, !out));
      if (!held.is_valid()) throw nb::python_error();
      if (held.is(nb::handle(Py_NotImplemented))) return held.release().ptr();
      set_operand(operand, held.ptr());
    }
    draft->site = capture_site();
    PyObject* target = reinterpret_cast<PyObject*>(out);
    Recording recording(op, {}, legacy);
    if (recording.is_on()) {
      recording.add(left, draft->inputs[0]);
      recording.add(right, draft->inputs[1]);
      recording.begin(target);
    }
    if (!out)
      return recording.end(wrap(issue_from_python(draft, {{}, legacy, {}, nullptr}), legacy));
    issue_from_python(draft, {{}, legacy, {}, &out->array});
    recording.end(target);
    return Py_NewRef(target);
  });
}

PyObject* unary(const lazy::Op& op, PyObject* operand) {
  return guarded<PyObject*>(nullptr, [&] {
    lazy::Draft draft(op);
    set_operand(draft->inputs.emplace_back(), operand);
    draft->site = capture_site();
    const bool legacy = as_array(operand).legacy;
    Recording recording(op, {}, legacy);
    if (recording.is_on()) {
      recording.add(operand, draft->inputs[0]);
      recording.begin(nullptr);
    }
    return recording.end(wrap(issue_from_python(draft, {{}, legacy, {}, nullptr}), legacy));
  });
}

PyObject* call_with_defaults(const lazy::Op& op, std::span<PyObject* const> inputs, PyObject* out) {
  const bool legacy = as_array(inputs[0]).legacy;
  const std::span<const lazy::Argument> arguments = op.defaults;
  lazy::Draft draft(op);
  for (PyObject* input : inputs) set_operand(draft->inputs.emplace_back(), input);
  draft->site = capture_site();
  Recording recording(op, arguments, legacy);
  if (recording.is_on()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) recording.add(inputs[i], draft->inputs[i]);
    recording.begin(out);
  }
  Array result =
      issue_from_python(draft, {arguments, legacy, {}, out ? &as_array(out).array : nullptr});
  return recording.end(out ? Py_NewRef(out) : wrap(std::move(result), legacy));
}

void bind_operations(nb::module_& module) {
  operation_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&operation_spec));
  if (!operation_type) throw nb::python_error();
  module.attr("Operation") = nb::handle(reinterpret_cast<PyObject*>(operation_type));
  module.def("operation", make_operation, nb::arg("name"), nb::arg("legacy"),
             "The op of that name, answering as mx.nd (legacy) or as NumPy.");
  module.def("describe_table", describe_table, "Every op with its declaration.");
}

}  // namespace afterglow::bindings
