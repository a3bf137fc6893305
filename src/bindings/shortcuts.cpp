// SPDX-License-Identifier: Apache-2.0
#include "bindings/shortcuts.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "ops/compositions.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

constexpr std::size_t most_parameters = 8;  ///< of a function that can be passed over
constexpr std::size_t most_arguments = 5;   ///< of its op

PyTypeObject* shortcut_type = nullptr;
PyObject* dtype_spellings = nullptr;  // dict: spelling -> number
bool plain_contexts = true;

/// What an argument must be to be plain, and what becomes of it.
enum class Kind {
  // Inputs of the call.
  array,    ///< an array of the world
  operand,  ///< an array of the world or a number
  mask,     ///< an array of truth values that has elements
  vector,   ///< an array with one axis
  matrix,   ///< an array with one axis or two
  ranked,   ///< an array with axes
  stack,    ///< an array with three axes or more
  alike,    ///< an array of the type of the first input
  rows,     ///< an array that the kernels of rows take
  arrays,   ///< a tuple or list of arrays
  fill,     ///< a number
  // Parameters of the op.
  axes,       ///< an integer or a tuple of them
  axis,       ///< an integer
  flat_axis,  ///< an integer, or nothing for an array with one axis
  shape,      ///< an integer or a tuple of them, none negative
  dtype,      ///< a data type
  real,       ///< a floating data type
  number,     ///< an integer or float
  positive,   ///< a float that is not negative
  integer,
  boolean,
  two_axes,  ///< an integer or a tuple of at most two
  other,     ///< never plain
};

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all = {
      {"array", Kind::array},       {"operand", Kind::operand},     {"mask", Kind::mask},
      {"vector", Kind::vector},     {"matrix", Kind::matrix},       {"ranked", Kind::ranked},
      {"stack", Kind::stack},       {"alike", Kind::alike},         {"rows", Kind::rows},
      {"arrays", Kind::arrays},     {"fill", Kind::fill},           {"axes", Kind::axes},
      {"axis", Kind::axis},         {"flat axis", Kind::flat_axis}, {"shape", Kind::shape},
      {"dtype", Kind::dtype},       {"real", Kind::real},           {"number", Kind::number},
      {"positive", Kind::positive}, {"integer", Kind::integer},     {"boolean", Kind::boolean},
      {"two axes", Kind::two_axes}, {"other", Kind::other}};
  return all;
}

bool is_input(Kind kind) {
  return kind <= Kind::fill;
}

/// A leading parameter of the Python function.
struct Slot {
  PyObject* name;  // interned, lives as long as the shortcut: for ever
  Kind kind;
  std::size_t parameter;  // of the op; not for inputs
  bool needed;
};

struct Plan {
  const lazy::Op* op = nullptr;
  bool legacy = false;
  std::vector<Slot> slots;
  std::vector<lazy::Argument> defaults;
  bool takes_arrays = false;
};

struct ShortcutObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
  PyObject* dict;
  Plan* plan;
};

using Given = std::array<PyObject*, most_parameters>;

/// False where there are arguments that the plan does not know, or one is missing.
bool sort_arguments(const Plan& plan, PyObject* const* values, std::size_t positional,
                    PyObject* names, Given& given) {
  const std::size_t count = plan.slots.size();
  if (positional > count) return false;
  for (std::size_t i = 0; i < count; ++i) given[i] = i < positional ? values[i] : nullptr;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, i);
    std::size_t slot = positional;
    while (slot < count && plan.slots[slot].name != name) ++slot;
    if (slot == count) return false;
    given[slot] = values[positional + static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!given[i] && plan.slots[i].needed) return false;
  }
  return true;
}

bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

/// The arguments of one call of an op, if all are plain.
class PlainCall {
 public:
  PlainCall(const Plan& plan, const Given& given) : plan_(plan), given_(given) {}

  bool read() {
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      if (is_input(plan_.slots[i].kind) && !read_input(plan_.slots[i].kind, given_[i]))
        return false;
    }
    if (plan_.takes_arrays && !first_) return false;
    if (!plan_.takes_arrays && !plain_contexts) return false;
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      const Slot& slot = plan_.slots[i];
      if (is_input(slot.kind)) continue;
      PyObject* const object = given_[i] == Py_None && may_be_none(slot) ? nullptr : given_[i];
      if (!object) {
        if (slot.kind == Kind::flat_axis && first_->layout->rank() != 1) return false;
        continue;
      }
      if (!own_) std::ranges::copy(plan_.defaults, own_.emplace().begin());
      if (!read_parameter(slot.kind, object, (*own_)[slot.parameter])) return false;
    }
    return true;
  }

  PyObject* issue() {
    autograd::CallBuilder builder(*plan_.op, plan_.legacy);
    for (std::size_t i = 0; i < used_; ++i) add_input(builder, inputs_[i]);
    std::span<const lazy::Argument> arguments = plan_.defaults;
    if (own_) arguments = std::span(*own_).first(plan_.defaults.size());
    return wrap(builder.issue({arguments, {}, nullptr}));
  }

 private:
  bool read_input(Kind kind, PyObject* object) {
    if (!object) return false;
    if (kind == Kind::arrays) return read_arrays(object);
    if (used_ == inputs_.size()) return false;
    inputs_[used_++] = object;
    if (kind == Kind::fill) return is_number(object);
    if (kind == Kind::operand && is_number(object)) return true;
    if (!is_plain_array(object, plan_.legacy)) return false;
    const Array& array = as_array(object).array;
    if (!first_) first_ = &array;
    const int rank = array.layout->rank();
    switch (kind) {
      case Kind::mask:
        return array.dtype == DType::boolean && array.size() > 0;
      case Kind::vector:
        return rank == 1;
      case Kind::matrix:
        return rank == 1 || rank == 2;
      case Kind::ranked:
        return rank > 0;
      case Kind::stack:
        return rank > 2;
      case Kind::alike:
        return array.dtype == first_->dtype;
      case Kind::rows:
        return ops::has_rows(array);
      default:
        return true;
    }
  }

  bool read_arrays(PyObject* object) {
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return false;
    const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(object));
    if (!count || count > inputs_.size()) return false;
    for (std::size_t i = 0; i < count; ++i) {
      PyObject* const item = PySequence_Fast_GET_ITEM(object, static_cast<Py_ssize_t>(i));
      if (!is_plain_array(item, plan_.legacy)) return false;
      inputs_[used_++] = item;
    }
    first_ = &as_array(inputs_[0]).array;
    return true;
  }

  /// None stands for the default.
  static bool may_be_none(const Slot& slot) {
    return !slot.needed &&
           (slot.kind == Kind::axes || slot.kind == Kind::flat_axis || slot.kind == Kind::shape ||
            slot.kind == Kind::dtype || slot.kind == Kind::real || slot.kind == Kind::two_axes);
  }

  template <class Value>
  static bool set(lazy::Argument& argument, std::optional<Value> value) {
    if (value) argument = std::move(*value);
    return value.has_value();
  }

  bool read_parameter(Kind kind, PyObject* object, lazy::Argument& argument) {
    switch (kind) {
      case Kind::axes:
        return first_->layout->rank() && set(argument, plain_integers(object));
      case Kind::two_axes: {
        std::optional<Shape> axes = plain_integers(object);
        return first_->layout->rank() && axes && axes->size() <= 2 &&
               set(argument, std::move(axes));
      }
      case Kind::axis:
      case Kind::flat_axis:
        return first_->layout->rank() && set(argument, plain_integer(object));
      case Kind::shape: {
        std::optional<Shape> shape = plain_integers(object);
        for (const std::int64_t extent : shape.value_or(Shape{})) {
          if (extent < 0) return false;
        }
        return set(argument, std::move(shape));
      }
      case Kind::dtype:
        return set(argument, plain_dtype(object));
      case Kind::real: {
        const auto number = plain_dtype(object);
        return number && is_floating(static_cast<DType>(*number)) && set(argument, number);
      }
      case Kind::number:
        if (PyFloat_CheckExact(object)) return set<double>(argument, PyFloat_AS_DOUBLE(object));
        return set(argument, plain_integer(object));
      case Kind::positive:
        return PyFloat_CheckExact(object) && PyFloat_AS_DOUBLE(object) >= 0 &&
               set<double>(argument, PyFloat_AS_DOUBLE(object));
      case Kind::integer:
        return set(argument, plain_integer(object));
      case Kind::boolean:
        return PyBool_Check(object) && set<bool>(argument, object == Py_True);
      default:
        return false;
    }
  }

  const Plan& plan_;
  const Given& given_;
  std::array<PyObject*, most_parameters> inputs_;
  std::size_t used_ = 0;
  const Array* first_ = nullptr;
  /// Nothing where all parameters have their defaults.
  std::optional<std::array<lazy::Argument, most_arguments>> own_;
};

/// The result, or nullptr with an error, or nullptr without one for what is not plain.
PyObject* take_shortcut(const Plan& plan, PyObject* const* values, std::size_t positional,
                        PyObject* names) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    Given given{};
    if (!sort_arguments(plan, values, positional, names, given)) return nullptr;
    PlainCall call(plan, given);
    return call.read() ? call.issue() : nullptr;
  });
}

PyObject* call_shortcut(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names) {
  const auto& shortcut = *reinterpret_cast<ShortcutObject*>(self);
  PyObject* result = take_shortcut(*shortcut.plan, values, PyVectorcall_NARGS(flags), names);
  if (result || PyErr_Occurred()) return result;
  return PyObject_Vectorcall(shortcut.function, values, flags, names);
}

void deallocate_shortcut(PyObject* self) {
  auto& shortcut = *reinterpret_cast<ShortcutObject*>(self);
  Py_XDECREF(shortcut.function);
  Py_XDECREF(shortcut.dict);
  delete shortcut.plan;
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* bind_shortcut(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* describe_shortcut(PyObject* self) {
  return PyObject_Repr(reinterpret_cast<ShortcutObject*>(self)->function);
}

/// A shortcut is pickled as the function is: by its name.
PyObject* reduce_shortcut(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(reinterpret_cast<ShortcutObject*>(self)->function, "__qualname__");
}

PyMethodDef shortcut_methods[] = {{"__reduce__", reduce_shortcut, METH_NOARGS, "Pickled by name."},
                                  {nullptr, nullptr, 0, nullptr}};

PyMemberDef shortcut_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ShortcutObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(ShortcutObject, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef shortcut_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot shortcut_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_shortcut)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind_shortcut)},
                                {Py_tp_repr, reinterpret_cast<void*>(describe_shortcut)},
                                {Py_tp_methods, shortcut_methods},
                                {Py_tp_members, shortcut_members},
                                {Py_tp_getset, shortcut_properties},
                                {0, nullptr}};

PyType_Spec shortcut_spec = {"afterglow._core.Shortcut", sizeof(ShortcutObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             shortcut_slots};

Slot make_slot(const Plan& plan, nb::handle name, std::string kind, bool needed) {
  Slot slot{Py_NewRef(name.ptr()), Kind::other, 0, needed};
  PyUnicode_InternInPlace(&slot.name);
  std::string parameter = nb::cast<const char*>(name);
  if (const auto sign = kind.find('='); sign != std::string::npos) {
    parameter = kind.substr(sign + 1);
    kind.resize(sign);
  }
  if (kind.ends_with('!')) {
    slot.needed = true;
    kind.pop_back();
  }
  slot.kind = kinds().at(kind);
  if (is_input(slot.kind)) slot.needed = true;
  if (is_input(slot.kind) || slot.kind == Kind::other) return slot;
  const auto& parameters = plan.op->parameters;
  while (slot.parameter < parameters.size() && parameters[slot.parameter].name != parameter) {
    ++slot.parameter;
  }
  if (slot.parameter == parameters.size()) {
    throw Error(ErrorKind::value,
                "the op " + std::string(plan.op->name) + " has no parameter " + parameter);
  }
  return slot;
}

/// `needed`: how many leading parameters of the function have no default.
nb::object make_shortcut(nb::callable function, const char* target_name, bool legacy,
                         nb::tuple names, nb::tuple kinds, std::size_t needed, nb::dict fixed) {
  const std::string target(target_name);
  auto plan = std::make_unique<Plan>();
  plan->legacy = legacy;
  plan->op = ops::table().find(target);
  if (!plan->op) throw Error(ErrorKind::value, "there is no op named " + target);
  if (plan->op->parameters.size() > most_arguments)
    throw Error(ErrorKind::value, "the op " + target + " has too many parameters");
  for (const lazy::Parameter& parameter : plan->op->parameters) {
    plan->defaults.push_back(fixed.contains(parameter.name.data())
                                 ? to_argument(nb::object(fixed[parameter.name.data()]).ptr())
                                 : parameter.default_value);
  }
  const std::size_t count = nb::len(kinds);
  if (count > most_parameters || count > nb::len(names)) {
    throw Error(ErrorKind::value, "a shortcut has fewer parameters than that");
  }
  for (std::size_t i = 0; i < count; ++i) {
    plan->slots.push_back(make_slot(*plan, names[i], nb::cast<const char*>(kinds[i]), i < needed));
    const Kind kind = plan->slots.back().kind;
    plan->takes_arrays = plan->takes_arrays || (is_input(kind) && kind != Kind::fill);
  }
  auto* shortcut = PyObject_New(ShortcutObject, shortcut_type);
  if (!shortcut) throw nb::python_error();
  shortcut->call = call_shortcut;
  shortcut->function = function.release().ptr();
  shortcut->dict = nullptr;
  shortcut->plan = plan.release();
  return nb::steal(reinterpret_cast<PyObject*>(shortcut));
}

}  // namespace

bool is_plain_array(PyObject* object, bool legacy) {
  return is_array(object) && as_array(object).legacy == legacy;
}

std::optional<std::int64_t> plain_integer(PyObject* object) {
  if (!PyLong_CheckExact(object)) return {};
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) return {};
  return value;
}

std::optional<Shape> plain_integers(PyObject* object) {
  if (const auto one = plain_integer(object)) return Shape{*one};
  if (!PyTuple_CheckExact(object)) return {};
  Shape numbers;
  const Py_ssize_t count = PyTuple_GET_SIZE(object);
  numbers.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto number = plain_integer(PyTuple_GET_ITEM(object, i));
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::int64_t> plain_dtype(PyObject* object) {
  if (!dtype_spellings) return {};
  PyObject* const number = PyDict_GetItemWithError(dtype_spellings, object);
  if (!number) {
    PyErr_Clear();  // nothing that can be looked up is a data type either, which Python says
    return {};
  }
  return PyLong_AsLongLong(number);
}

bool contexts_are_plain() {
  return plain_contexts;
}

void bind_shortcuts(nb::module_& module) {
  shortcut_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&shortcut_spec));
  if (!shortcut_type) throw nb::python_error();
  module.attr("Shortcut") = nb::handle(reinterpret_cast<PyObject*>(shortcut_type));
  module.def("make_shortcut", make_shortcut, nb::arg("function"), nb::arg("target"),
             nb::arg("legacy"), nb::arg("names"), nb::arg("kinds"), nb::arg("needed"),
             nb::arg("fixed"),
             "A callable that does without the function where its arguments are plain.");
  module.def(
      "set_dtype_spellings",
      [](nb::dict spellings) { dtype_spellings = spellings.release().ptr(); }, nb::arg("spellings"),
      "The usual spellings of data types, with their numbers.");
  module.def(
      "use_contexts", [] { plain_contexts = false; },
      "From now on Python says where new arrays are made.");
}

}  // namespace afterglow::bindings
