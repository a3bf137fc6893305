// SPDX-License-Identifier: Apache-2.0
// Ops as objects of Python, called with whatever arguments a spelling of theirs takes.
#include "bindings/python.h"
// Behind Python's own header, which it lacks.
#include <structmember.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bindings/held.h"
#include "bindings/operations.h"
#include "bindings/plain.h"
#include "bindings/sparse.h"
#include "bindings/stand_ins.h"
#include "lazy/composing.h"
#include "lazy/spelling.h"
#include "ops/compose.h"
#include "ops/operators.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

using lazy::Spelling;
using Role = Spelling::Role;

PyTypeObject* operation_type = nullptr;
PyObject* need_array = nullptr;          // (object, name, legacy) -> array, or raises
PyObject* number_of_type = nullptr;      // (object) -> the number of a data type, or raises
PyObject* signature_of = nullptr;        // (function) -> inspect.Signature
PyObject* numbers_of_context = nullptr;  // (object or None) -> type and id of a device, or raises

nb::object ask(PyObject* function, std::initializer_list<PyObject*> arguments) {
  nb::object answer =
      nb::steal(PyObject_Vectorcall(function, arguments.begin(), arguments.size(), nullptr));
  if (!answer.is_valid()) throw nb::python_error();
  return answer;
}

bool is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object);
}

bool is_number(const lazy::Argument& argument) {
  return std::holds_alternative<std::int64_t>(argument) || std::holds_alternative<double>(argument);
}

/// More arguments than this no op has.
constexpr std::size_t most_slots = 40;

/// How an object becomes the value of a parameter.
enum class Conversion : std::uint8_t { as_is, number, numbers, dtype, boolean, pairs, context };

/// A spelling as calls need it. Lives as long as the process.
struct Signature {
  struct Argument {
    PyObject* name;         ///< interned
    bool may_be_left_out;   ///< and nothing needs to be done then
    Conversion conversion;  ///< of a parameter
  };

  const lazy::Op& op;
  Spelling spelling;
  bool legacy;
  /// For programs: it takes arrays where it wants some, and data types and devices in any spelling.
  /// Otherwise it is for the package itself, and takes whatever it can use.
  bool is_function;
  /// Whether numbers may stand beside arrays.
  bool takes_numbers;
  bool takes_options = false;
  /// Whether there may be no array that says where the result is made.
  bool needs_context = false;
  std::size_t by_position = 0;         ///< so many slots
  std::size_t out = most_slots;        ///< the slot of `out`
  std::optional<std::size_t> starred;  ///< the slot of all further arguments by position
  std::vector<Argument> arguments;     ///< one per slot
  /// So many arrays, and nothing else, are all that a call needs; 0 where that does not do.
  std::size_t arrays_alone = 0;
  /// The values of all parameters, which a call borrows and changes: see Values.
  mutable std::vector<lazy::Argument> values;
  mutable std::uint64_t changed_values = 0;  ///< a bit for each that is not as by default
  mutable bool values_are_lent = false;

  Signature(const lazy::Op& op, Spelling its, bool legacy, bool is_function, bool takes_numbers)
      : op(op),
        spelling(std::move(its)),
        legacy(legacy),
        is_function(is_function),
        takes_numbers(takes_numbers),
        values(spelling.defaults) {
    if (spelling.slots.size() > most_slots)
      throw Error(ErrorKind::value, std::string(op.name) + " has too many parameters");
    takes_options = spelling.takes(Role::options);
    needs_context = is_function && (op.takes_numbers || spelling.takes(Role::context));
    for (std::size_t i = 0; i < spelling.slots.size(); ++i) {
      const Spelling::Slot& slot = spelling.slots[i];
      by_position += slot.by_position;
      if (slot.is_starred && slot.role == Role::inputs) starred = i;
      if (slot.role == Role::out) out = i;
      const bool is_input = slot.role == Role::input || slot.role == Role::inputs;
      arguments.push_back({PyUnicode_InternFromString(slot.name.c_str()),
                           !is_input && !slot.required, conversion_of(slot)});
      if (!arguments.back().name) throw nb::python_error();
    }
    arrays_alone = count_arrays_alone();
  }

 private:
  Conversion conversion_of(const Spelling::Slot& slot) const {
    if (slot.role != Role::parameter) return Conversion::as_is;
    const std::string_view kind = op.parameters[slot.index].kind;
    if (kind == lazy::FieldType<double>::kind) return Conversion::number;
    if (kind == lazy::FieldType<std::vector<double>>::kind) return Conversion::numbers;
    if (kind == lazy::FieldType<DType>::kind) return Conversion::dtype;
    if (!is_function) return Conversion::as_is;
    if (kind == lazy::FieldType<bool>::kind) return Conversion::boolean;
    if (kind == lazy::FieldType<lazy::Pairs>::kind) return Conversion::pairs;
    if (kind == lazy::FieldType<Context>::kind) return Conversion::context;
    return Conversion::as_is;
  }

  std::size_t count_arrays_alone() const {
    const std::size_t inputs = op.inputs.size() - static_cast<std::size_t>(op.optional_inputs);
    if (op.variadic || (op.optional_inputs && !op.compose) || spelling.slots.size() < inputs)
      return 0;
    for (std::size_t i = 0; i < spelling.slots.size(); ++i) {
      const Spelling::Slot& slot = spelling.slots[i];
      const bool has_number = slot.role == Role::input && is_number(slot.default_value);
      const bool says_where = slot.role == Role::context && is_function;
      const bool is_needed = slot.required || says_where || has_number;
      if (i < inputs ? slot.role != Role::input : is_needed) return 0;
    }
    return inputs;
  }
};

/// What the package itself calls: inputs, parameters, then `out` and `ctx` by name.
Spelling inner_spelling(const lazy::Op& op) {
  Spelling spelling{{}, {}, {}, op.defaults};
  if (op.variadic) {
    spelling.slots.push_back({.name = {}, .role = Role::inputs, .required = true});
  } else {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      spelling.slots.push_back({std::string(op.inputs[i]), Role::input, i, true});
  }
  for (std::size_t i = 0; i < op.parameters.size(); ++i)
    spelling.slots.push_back({std::string(op.parameters[i].name), Role::parameter, i});
  for (const auto& [name, role] : {std::pair{"out", Role::out}, std::pair{"ctx", Role::context},
                                   std::pair{"name", Role::name}})
    spelling.slots.push_back({.name = name, .role = role, .by_position = false});
  return spelling;
}

/// An op of one of both worlds.
struct OperationObject {
  PyObject_HEAD vectorcallfunc call;
  const Signature* signature;
  PyObject* rare;  ///< the function that has the forms which need more than the call of one op
  PyObject* dict;  ///< name, module and text
};

/// So many objects that are made all at once, when they are needed: a few of them without memory of
/// their own.
template <class T, std::size_t inside>
class Few {
 public:
  Few() = default;
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  ~Few() { std::destroy_n(data(), many_.empty() ? count_ : 0); }

  bool empty() const { return count_ == 0; }
  std::span<T> all() { return {many_.empty() ? data() : many_.data(), count_}; }

  void make(std::size_t count) {
    if (count > inside)
      many_.resize(count);
    else
      std::uninitialized_value_construct_n(data(), count);
    count_ = count;
  }

 private:
  T* data() { return reinterpret_cast<T*>(room_); }

  std::size_t count_ = 0;
  std::vector<T> many_;
  alignas(T) std::byte room_[inside * sizeof(T)];
};

/// The values of all parameters in one call: the defaults, and what is given in their place. They
/// are borrowed from the signature, where those of the last call are: most calls give the same
/// ones, of the same types. A call within another, which may ask Python or wait, has its own.
class Values {
 public:
  explicit Values(const Signature& signature)
      : signature_(signature), borrows_(!signature.values_are_lent) {
    signature.values_are_lent = true;
    if (!borrows_) own_ = signature.spelling.defaults;
  }
  ~Values() {
    if (borrows_) signature_.values_are_lent = false;
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  /// To be changed.
  lazy::Argument& operator[](std::size_t index) {
    if (!borrows_) return own_[index];
    given_ |= std::uint64_t{1} << index;
    signature_.changed_values |= given_;
    return signature_.values[index];
  }
  std::span<const lazy::Argument> all() const {
    if (!borrows_) return own_;
    for (std::uint64_t left = signature_.changed_values & ~given_; left; left &= left - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(left));
      signature_.values[index] = signature_.spelling.defaults[index];
    }
    signature_.changed_values = given_;
    return signature_.values;
  }

 private:
  const Signature& signature_;
  const bool borrows_;
  std::uint64_t given_ = 0;  ///< a bit for each
  std::vector<lazy::Argument> own_;
};

/// A new array, or a list of them.
PyObject* wrap_results(autograd::Value&& first, std::span<const autograd::Handle> more) {
  nb::object result = nb::steal(wrap(std::move(first)));
  if (more.empty()) return result.release().ptr();
  nb::list all = wrap_all(more);
  all.insert(0, result);
  return all.release().ptr();
}

/// The arguments of one call, sorted into inputs, parameters and `out`.
class CallArguments {
 public:
  CallArguments(const Signature& signature, bool has_rare_forms)
      : signature_(signature),
        op_(signature.op),
        has_rare_forms_(has_rare_forms),
        parameters_(signature) {}

  /// False for a rare form.
  bool sort(PyObject* const* values, std::size_t positional, PyObject* names) {
    const std::size_t count = signature_.spelling.slots.size();
    const std::size_t plain = std::min(positional, signature_.by_position);
    for (std::size_t i = 0; i < count; ++i) given_[i] = i < plain ? values[i] : nullptr;
    if (positional > plain) {
      if (!signature_.starred) refuse("got too many arguments");
      more_inputs_ = {values + plain, positional - plain};
    }
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
      PyObject* const name = PyTuple_GET_ITEM(names, i);
      const std::size_t slot = slot_of(name);
      if (slot == count) {
        if (signature_.takes_options && has_rare_forms_) return false;
        if (!ignores_names()) refuse_name(name);
        warn_of(name);
        continue;
      }
      if (given_[slot])
        refuse("got more than one value for " + signature_.spelling.slots[slot].name);
      given_[slot] = values[positional + static_cast<std::size_t>(i)];
    }
    return true;
  }

  /// What stands for arrays whose shape is not known yet becomes these, if the op knows the shapes.
  void complete() {
    if (!op_.complete || std::none_of(given_.begin(), given_end(), is_given_stand_in)) return;
    std::vector<lazy::Argument> arguments = signature_.spelling.defaults;
    StandIns stand_ins(op_, arguments);
    for (std::size_t i = 0; i < signature_.spelling.slots.size(); ++i) {
      const Spelling::Slot& slot = signature_.spelling.slots[i];
      if (!given_[i]) continue;
      if (slot.role == Role::parameter) read_parameter(i, given_[i], arguments[slot.index]);
      if (slot.role == Role::input) stand_ins.read(slot.index, &given_[i]);
    }
    stand_ins.complete(held_);
  }

  /// False for a rare form.
  bool read() {
    if (has_rare_forms_) {
      if (signature_.takes_numbers && !has_array()) return false;
      const std::size_t out = signature_.out;  // where others have keepdims
      if (out < most_slots && given_[out] && PyBool_Check(given_[out])) return false;
    }
    if (!op_.compose)
      builder_.emplace(op_, signature_.legacy);
    else if (!op_.variadic)
      values_.make(op_.inputs.size());
    if (signature_.needs_context) context_ = current_context();
    const auto& slots = signature_.spelling.slots;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!given_[i] && signature_.arguments[i].may_be_left_out) continue;
      if (!read(i, given_[i])) return false;
    }
    return !has_rare_forms_ || !op_.is_plain || op_.is_plain(builder_->call());
  }

  PyObject* issue() {
    if (out_ && !is_array(out_)) return issue_into_several();
    std::vector<autograd::Handle> more;
    autograd::Value result = issue(out_ ? &as_array(out_) : nullptr, more);
    if (!out_) return wrap_results(std::move(result), more);
    look_after(as_array(out_));
    if (more.empty()) return Py_NewRef(out_);
    nb::list all = wrap_all(more);
    all.insert(0, nb::borrow(out_));
    return all.release().ptr();
  }

 private:
  autograd::Value issue(autograd::Handle* out, std::vector<autograd::Handle>& more) {
    const autograd::CallBuilder::Options options{parameters_.all(), context_, out};
    return builder_ ? builder_->issue(options, &more)
                    : ops::call(op_, values_.all(), options, signature_.legacy, &more);
  }

  /// Each result goes to an array of its own.
  PyObject* issue_into_several() {
    const nb::object targets = items_of(out_, "out must be an array, or a list of some");
    const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(targets.ptr()));
    for (const nb::handle target : targets)
      if (!is_array(target.ptr())) refuse("out must be an array, or a list of some");
    std::vector<autograd::Handle> more;
    std::vector<autograd::Value> results = {issue(nullptr, more)};
    for (autograd::Handle& other : more) results.emplace_back(std::move(other));
    if (count != results.size())
      refuse("out has " + std::to_string(count) + " arrays; there are " +
                 std::to_string(results.size()) + " results",
             ErrorKind::value);
    for (std::size_t i = 0; i < count; ++i) {
      static const lazy::Op& copy = ops::op_named("copy");
      auto& target = as_array(PyTuple_GET_ITEM(targets.ptr(), static_cast<Py_ssize_t>(i)));
      ops::call(copy, std::span(&results[i], 1), {copy.defaults, {}, &target}, signature_.legacy);
      look_after(target);
    }
    return Py_NewRef(out_);
  }

  std::array<PyObject*, most_slots>::iterator given_end() {
    return given_.begin() + static_cast<std::ptrdiff_t>(signature_.spelling.slots.size());
  }

  static bool is_given_stand_in(PyObject* object) { return object && is_stand_in(object); }

  std::size_t slot_of(PyObject* name) const {
    const auto& known = signature_.arguments;
    std::size_t slot = 0;
    while (slot < known.size() && known[slot].name != name) ++slot;
    if (slot < known.size()) return slot;
    for (slot = 0; slot < known.size(); ++slot) {
      if (PyUnicode_Compare(known[slot].name, name) == 0 &&
          !(signature_.spelling.slots[slot].is_starred))
        break;
    }
    return slot;
  }

  /// Among the operands that must be given.
  bool has_array() const {
    for (std::size_t i = 0; i < signature_.spelling.slots.size(); ++i) {
      const Spelling::Slot& slot = signature_.spelling.slots[i];
      if (slot.role == Role::inputs ||
          (slot.role == Role::input && slot.required && given_[i] && is_array(given_[i])))
        return true;
    }
    return op_.inputs.empty();
  }

  bool read(std::size_t position, PyObject* object) {
    const Spelling::Slot& slot = signature_.spelling.slots[position];
    switch (slot.role) {
      case Role::input:
        return read_input(slot, object);
      case Role::inputs:
        read_inputs(slot, object);
        return true;
      case Role::parameter:
        if (object) {
          if (PyList_Check(object) && has_rare_forms_) return false;
          read_parameter(position, object, parameters_[slot.index]);
        } else if (slot.required) {
          refuse("needs '" + slot.name + "'");
        }
        return true;
      case Role::out:
        if (!object || object == Py_None) return true;
        if (!is_array(object) && !PyList_Check(object) && !PyTuple_Check(object))
          refuse("out must be an array");
        out_ = object;
        return true;
      case Role::context:
        read_context(object);
        return true;
      case Role::option:
        if (!object || is_default(slot, object)) return true;
        if (!has_rare_forms_) refuse(slot.name + " must be left out", ErrorKind::not_implemented);
        return false;
      case Role::name:
      case Role::options:
        return true;
    }
    return true;
  }

  bool read_input(const Spelling::Slot& slot, PyObject* object) {
    const std::size_t needed = op_.inputs.size() - static_cast<std::size_t>(op_.optional_inputs);
    if ((!object || object == Py_None) && slot.index >= needed) return true;
    if (!object && is_number(slot.default_value)) {
      add_number(slot.index, slot.default_value);
      return true;
    }
    if (!object || (object == Py_None && !slot.required)) {
      if (!slot.required && has_rare_forms_) return false;
      if (!object)
        refuse("takes " + std::to_string(needed) + " arrays, got " +
               std::to_string(given_inputs()) + "; '" + slot.name + "' is missing");
    }
    if (has_rare_forms_ && slot.required && !signature_.takes_numbers && !is_array(object))
      return false;
    add(slot, slot.index, object);
    return true;
  }

  /// Those of a variadic op: the rest of the arguments, or a sequence.
  void read_inputs(const Spelling::Slot& slot, PyObject* object) {
    std::span<PyObject* const> inputs = more_inputs_;
    if (!slot.is_starred) {
      if (!object) refuse("needs '" + slot.name + "'");
      PyObject* const items =
          held_.emplace_back(items_of(object, "a sequence of arrays is needed")).ptr();
      inputs = {&PyTuple_GET_ITEM(items, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(items))};
    }
    if (op_.compose) values_.make(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) add(slot, i, inputs[i]);
  }

  void add(const Spelling::Slot& slot, std::size_t position, PyObject* object) {
    if (builder_ && is_plain_array(object, signature_.legacy))
      return builder_->add(static_cast<const autograd::Handle&>(as_array(object)));
    if (op_.takes_numbers && !is_array(object) && !PyObject_CheckBuffer(object)) {
      lazy::Argument number;
      read_number(slot, object, number);
      if (!is_number(number) && !std::holds_alternative<bool>(number))
        refuse(slot.name + " must be a number or an array");
      return add_number(position, number);
    }
    const bool takes_numbers = signature_.takes_numbers || is_number(slot.default_value) ||
                               (has_rare_forms_ && !slot.required);
    if (!is_array(object) && !takes_numbers) {
      held_.push_back(ask(need_array, {object, nb::str(slot.name.c_str()).ptr(),
                                       signature_.legacy ? Py_True : Py_False}));
      object = held_.back().ptr();
    }
    if (builder_)
      need_input(*builder_, object, held_);
    else
      need_value(values_.all()[position], object);
  }

  void add_number(std::size_t position, const lazy::Argument& argument) {
    const auto add = [&](auto number) {
      if (builder_) return builder_->add(autograd::Value(number));
      values_.all()[position].set(number);
    };
    if (const auto* number = std::get_if<double>(&argument)) return add(*number);
    if (const auto* truth = std::get_if<bool>(&argument)) return add(*truth);
    add(std::get<std::int64_t>(argument));
  }

  /// An input of a composition.
  void need_value(autograd::Value& value, PyObject* object) {
    const bool legacy = signature_.legacy;
    if (is_array(object)) {
      if (as_array(object).legacy != legacy) refuse_mixed(op_, legacy);
      static_cast<autograd::Handle&>(value) = as_array(object);
      return;
    }
    lazy::Operand number;
    if (set_number(number, object)) {
      if (!op_.takes_numbers) refuse("takes arrays, not numbers");
      value = PyBool_Check(object) ? autograd::Value(object == Py_True) : to_value(number);
      return;
    }
    held_.push_back(nb::steal(convert_foreign(object, legacy, nullptr, false)));
    if (!held_.back().is_valid()) throw nb::python_error();
    need_value(value, held_.back().ptr());  // an array now, or a number
  }

  void read_parameter(std::size_t position, PyObject* object, lazy::Argument& value) const {
    if (object == Py_None) {
      value = std::monostate{};
      return;
    }
    switch (signature_.arguments[position].conversion) {
      case Conversion::as_is:
        return read_argument(object, value);
      case Conversion::number:
        return read_number(signature_.spelling.slots[position], object, value);
      case Conversion::numbers:
        if (!PyTuple_Check(object) && !PyList_Check(object)) return read_argument(object, value);
        value = to_numbers(object);
        return;
      case Conversion::dtype:
        if (!signature_.is_function && PyLong_CheckExact(object)) {
          value = to_integer(object);
        } else {
          const auto number = plain_dtype(object);
          value = number ? *number : to_integer(ask(number_of_type, {object}).ptr());
        }
        return;
      case Conversion::boolean: {
        if (PyUnicode_Check(object)) return read_argument(object, value);
        const int is_true = PyObject_IsTrue(object);
        if (is_true < 0) throw nb::python_error();
        value = is_true == 1;
        return;
      }
      case Conversion::pairs:
        return read_pairs(object, value);
      case Conversion::context:
        value = to_shape(ask(numbers_of_context, {object}).ptr());
        return;
    }
  }

  /// Numbers of any size; an array without dimensions is waited for.
  void read_number(const Spelling::Slot& slot, PyObject* object, lazy::Argument& value) const {
    if (PyFloat_CheckExact(object)) {
      value = PyFloat_AS_DOUBLE(object);
      return;
    }
    if (is_array(object) && as_array(object).array.layout->rank() == 0)
      return read_argument(nb::object(nb::handle(object).attr("item")()).ptr(), value);
    if (PyLong_Check(object) && !PyBool_Check(object)) {
      int overflow = 0;
      const long long integer = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (!overflow) {
        value = std::int64_t{integer};
        return;
      }
      lazy::Operand number;
      set_number(number, object);
      const autograd::Value large = to_value(number);
      value = large.is_integer() ? lazy::Argument(large.integer()) : lazy::Argument(large.number());
      return;
    }
    if (is_array(object) || (PySequence_Check(object) && !PyUnicode_Check(object)))
      throw Error(ErrorKind::type, "[" + std::string(op_.name) + "] " + slot.name +
                                       " must be a number, not " + Py_TYPE(object)->tp_name);
    read_argument(object, value);
  }

  /// Pairs in one row; an item alone is a pair too.
  static void read_pairs(PyObject* object, lazy::Argument& value) {
    if (!PyTuple_Check(object) && !PyList_Check(object)) return read_argument(object, value);
    Shape& numbers = emptied_shape(value);
    const nb::object items = items_of(object, "a tuple is needed");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
      PyObject* const item = PyTuple_GET_ITEM(items.ptr(), i);
      if (!PySequence_Check(item)) {
        numbers.push_back(to_integer(item));
        continue;
      }
      const Shape pair = to_shape(item);
      if (pair.empty() || pair.size() > 2)
        throw Error(ErrorKind::value, "a pair of integers is needed");
      numbers.push_back(pair.front());
      numbers.push_back(pair.back());
    }
  }

  void read_context(PyObject* object) {
    if (!object || object == Py_None) return;
    const nb::object numbers =
        signature_.is_function ? ask(numbers_of_context, {object}) : nb::borrow(object);
    context_ = to_context(to_shape(numbers.ptr()));
  }

  static bool is_default(const Spelling::Slot& slot, PyObject* object) {
    if (object == Py_None) return std::holds_alternative<std::monostate>(slot.default_value);
    if (!PyBool_Check(object) && !PyUnicode_Check(object) && !is_number(object)) return false;
    return to_argument(object) == slot.default_value;
  }

  std::size_t given_inputs() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < signature_.spelling.slots.size(); ++i)
      count += signature_.spelling.slots[i].role == Role::input && given_[i];
    return count;
  }

  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::type) const {
    throw Error(kind, "[" + name() + "] " + what);
  }

  /// MXNet's functions of ops without parameters take any keyword, which programs rely on. Those
  /// that it writes in Python have no `name`, and refuse it.
  bool ignores_names() const {
    bool is_op = false;
    for (const Spelling::Slot& slot : signature_.spelling.slots) {
      is_op = is_op || slot.role == Role::name;
      if (slot.role != Role::input && slot.role != Role::inputs && slot.role != Role::out &&
          slot.role != Role::name)
        return false;
    }
    return is_op && signature_.legacy && signature_.is_function;
  }

  /// Python shows a warning once for each place.
  void warn_of(PyObject* argument) const {
    if (PyErr_WarnFormat(PyExc_UserWarning, 1, "%s has no parameters; %U is ignored",
                         name().c_str(), argument) < 0)
      throw nb::python_error();
  }

  [[noreturn]] void refuse_name(PyObject* name) const {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw nb::python_error();
    std::string known;
    const auto& slots = signature_.spelling.slots;
    for (std::size_t i = 0; i < slots.size(); ++i)
      known += (i == 0 ? "" : i + 1 < slots.size() ? ", " : " and ") + slots[i].name;
    refuse("got an unexpected argument '" + std::string(text) + "'; it takes " + known);
  }

  std::string name() const {
    return signature_.is_function ? signature_.spelling.names[0] : std::string(op_.name);
  }

  const Signature& signature_;
  const lazy::Op& op_;
  const bool has_rare_forms_;
  std::array<PyObject*, most_slots> given_;  ///< by slot; not set at all behind the last
  std::span<PyObject* const> more_inputs_;
  std::vector<nb::object> held_;  ///< keeps inputs alive that the caller does not
  std::optional<autograd::CallBuilder> builder_;
  Few<autograd::Value, 3> values_;  ///< instead of the builder: inputs of a composition
  Values parameters_;
  Context context_;
  PyObject* out_ = nullptr;
};

/// Kept apart: what it brings along would be inlined here instead of where operators issue calls.
[[gnu::noinline]] PyObject* call_composed(const Signature& signature,
                                          std::span<PyObject* const> arrays) {
  if (signature.op.instead) {
    const Array* given[most_slots];
    for (std::size_t i = 0; i < arrays.size(); ++i) given[i] = &as_array(arrays[i]).array;
    if (const lazy::Op* const other = signature.op.instead({given, arrays.size()})) {
      autograd::CallBuilder builder(*other, signature.legacy);
      for (PyObject* const array : arrays) builder.add(as_array(array));
      const lazy::Composing scope(signature.op);
      return wrap(builder.issue());
    }
  }
  Few<autograd::Value, 3> values;
  values.make(signature.op.inputs.size());
  for (std::size_t i = 0; i < arrays.size(); ++i)
    static_cast<autograd::Handle&>(values.all()[i]) = as_array(arrays[i]);
  std::vector<autograd::Handle> more;
  autograd::Value result =
      ops::call(signature.op, values.all(), {signature.spelling.defaults, {}, nullptr},
                signature.legacy, &more);
  return wrap_results(std::move(result), more);
}

/// The quickest way, for calls with nothing but arrays of the world.
PyObject* call_with_arrays(const OperationObject& operation, std::span<PyObject* const> arrays) {
  const Signature& signature = *operation.signature;
  if (signature.op.compose) return call_composed(signature, arrays);
  autograd::CallBuilder builder(signature.op, signature.legacy);
  for (PyObject* const array : arrays) builder.add(as_array(array));
  if (operation.rare && signature.op.is_plain && !signature.op.is_plain(builder.call()))
    return PyObject_Vectorcall(operation.rare, arrays.data(), arrays.size(), nullptr);
  std::vector<autograd::Handle> more;
  autograd::Value result = builder.issue({signature.spelling.defaults, {}, nullptr}, &more);
  return wrap_results(std::move(result), more);
}

std::size_t named_count(PyObject* names) {
  return names ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
}

PyObject* call_operation(PyObject* self, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  const auto& operation = *reinterpret_cast<OperationObject*>(self);
  const auto positional = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  const Signature& signature = *operation.signature;
  if (SparseParts::any() && has_sparse(values, positional + named_count(names)))
    return call_sparse(self, values, flags, names);
  if (positional && positional == signature.arrays_alone && !names) {
    const std::span arrays(values, positional);
    if (std::ranges::all_of(arrays,
                            [&](PyObject* one) { return is_plain_array(one, signature.legacy); }))
      return guarded<PyObject*>(nullptr, [&] { return call_with_arrays(operation, arrays); });
  }
  bool is_rare = false;
  PyObject* const result = guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    CallArguments arguments(signature, operation.rare != nullptr);
    if (!arguments.sort(values, positional, names)) {
      is_rare = true;
      return nullptr;
    }
    arguments.complete();
    is_rare = !arguments.read();
    return is_rare ? nullptr : arguments.issue();
  });
  return is_rare ? PyObject_Vectorcall(operation.rare, values, flags, names) : result;
}

void deallocate_operation(PyObject* self) {
  auto& operation = *reinterpret_cast<OperationObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(operation.rare);
  Py_XDECREF(operation.dict);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* text_object(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

const Signature& signature(PyObject* self) {
  return *reinterpret_cast<OperationObject*>(self)->signature;
}

PyObject* get_name(PyObject* self, void*) {
  return text_object(signature(self).op.name);
}

PyObject* get_legacy(PyObject* self, void*) {
  return PyBool_FromLong(signature(self).legacy);
}

PyObject* get_signature(PyObject* self, void*) {
  return PyObject_CallOneArg(signature_of, self);
}

PyObject* bind_operation(PyObject* self, PyObject* instance, PyObject*) {
  const bool is_method = signature(self).is_function && instance && instance != Py_None;
  return is_method ? PyMethod_New(self, instance) : Py_NewRef(self);
}

PyObject* describe_operation(PyObject* self) {
  const Signature& its = signature(self);
  const std::string text =
      its.is_function
          ? "<op " + its.spelling.space + "." + its.spelling.names[0] + ">"
          : "<op " + std::string(its.op.name) + (its.legacy ? " of mx.nd>" : " of mx.np>");
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
    {"name", get_name, nullptr, "Name in the op table.", nullptr},
    {"legacy", get_legacy, nullptr, "Whether it answers as mx.nd does.", nullptr},
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

nb::object make_object(const Signature* signature, PyObject* rare) {
  auto* operation = PyObject_New(OperationObject, operation_type);
  if (!operation) throw nb::python_error();
  operation->call = call_operation;
  operation->signature = signature;
  operation->rare = rare;
  operation->dict = nullptr;
  return nb::steal(reinterpret_cast<PyObject*>(operation));
}

const lazy::Op& op_of(const char* name) {
  const lazy::Op* op = ops::table().find(name);
  if (!op) throw Error(ErrorKind::value, std::string("there is no op named ") + name);
  return *op;
}

/// One object for each, for good.
nb::object make_operation(const char* name, bool legacy) {
  static auto* known = new std::map<std::pair<std::string_view, bool>, nb::object>;
  const lazy::Op& op = op_of(name);
  nb::object& object = (*known)[{op.name, legacy}];
  if (!object.is_valid())
    object = make_object(new Signature(op, inner_spelling(op), legacy, false, true), nullptr);
  return object;
}

nb::object make_function(const char* name, std::size_t spelling, nb::handle rare) {
  const lazy::Op& op = op_of(name);
  Spelling its = lazy::spellings_of(op).at(spelling);
  const bool legacy = its.is_legacy();
  // They are for the functions that MXNet wrote by hand, which name no nodes.
  const bool takes_numbers =
      op.takes_numbers || (!its.takes(Role::name) && (legacy || op.formula.has_value() ||
                                                      (op.compose && its.takes(Role::options))));
  return make_object(new Signature(op, std::move(its), legacy, true, takes_numbers),
                     rare.is_none() ? nullptr : Py_NewRef(rare.ptr()));
}

void set_function_helpers(nb::handle array, nb::handle type, nb::handle signature,
                          nb::handle numbers) {
  need_array = Py_NewRef(array.ptr());
  number_of_type = Py_NewRef(type.ptr());
  signature_of = Py_NewRef(signature.ptr());
  numbers_of_context = Py_NewRef(numbers.ptr());
}

const char* name_of(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::inputs:
      return "inputs";
    case Role::parameter:
      return "parameter";
    case Role::out:
      return "out";
    case Role::name:
      return "name";
    case Role::context:
      return "context";
    case Role::option:
      return "option";
    case Role::options:
      return "options";
  }
  return "";
}

/// namespace, names, and for each argument: name, role, parameter of the op, required, by position,
/// starred, default.
nb::list describe_spellings(const char* name) {
  nb::list result;
  const lazy::Op& op = op_of(name);
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  for (const Spelling& one : lazy::spellings_of(op)) {
    nb::list names, slots;
    for (const std::string& each : one.names) names.append(text(each));
    for (const Spelling::Slot& slot : one.slots) {
      const bool is_parameter = slot.role == Role::parameter;
      const std::string_view parameter = is_parameter ? op.parameters[slot.index].name : "";
      const bool is_type =
          is_parameter && op.parameters[slot.index].kind == lazy::FieldType<DType>::kind;
      slots.append(nb::make_tuple(text(slot.name), name_of(slot.role), text(parameter),
                                  slot.required, slot.by_position, slot.is_starred,
                                  to_python(slot.default_value, is_type)));
    }
    result.append(nb::make_tuple(text(one.space), names, slots));
  }
  return result;
}

}  // namespace

Context current_context() {
  if (contexts_are_plain()) return {};
  return to_context(to_shape(ask(numbers_of_context, {Py_None}).ptr()));
}

void bind_op_objects(nb::module_& module) {
  operation_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&operation_spec));
  if (!operation_type) throw nb::python_error();
  module.attr("Operation") = nb::handle(reinterpret_cast<PyObject*>(operation_type));
  module.def("operation", make_operation, nb::arg("name"), nb::arg("legacy"),
             "The op of that name, answering as mx.nd (legacy) or as NumPy.");
  module.def("op_function", make_function, nb::arg("name"), nb::arg("spelling"),
             nb::arg("rare").none(), "The function that a spelling of an op is.");
  module.def("describe_spellings", describe_spellings, nb::arg("name"),
             "How programs call an op: namespace, names, arguments.");
  module.def("set_function_helpers", set_function_helpers, nb::arg("need_array"),
             nb::arg("number_of_type"), nb::arg("signature_of"), nb::arg("numbers_of_context"),
             "What functions ask Python for.");
}

}  // namespace afterglow::bindings
