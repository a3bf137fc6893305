// SPDX-License-Identifier: Apache-2.0
// Calling ops from Python: what the objects that ops are (op_object.cpp) share with operators.
#pragma once

#include <span>
#include <vector>

#include "autograd/call_builder.h"
#include "bindings/array_type.h"

namespace afterglow::bindings {

void bind_op_objects(nb::module_& module);
void bind_operations(nb::module_& module);

/// A number from Python. False (no error set) when `object` is none.
bool set_number(lazy::Operand& operand, PyObject* object);
autograd::Value to_value(const lazy::Operand& number);
/// Adds a Python array or number to a call. False (no error set) when `object` is neither.
bool add_input(autograd::CallBuilder& builder, PyObject* object);
/// The same with an error for a mixture of nd and np; anything like an array is converted, and kept
/// alive by `held`.
void need_input(autograd::CallBuilder& builder, PyObject* object, std::vector<nb::object>& held);

/// mx.nd and NumPy answer differently, so one call takes arrays of one of them only.
[[noreturn]] void refuse_mixed(const lazy::Op& op, bool legacy);

/// The items of a sequence. A tuple: a list may change while code of the user's looks at an item.
nb::object items_of(PyObject* sequence, const char* needed);

/// Where this thread makes new arrays unless it is told otherwise.
Context current_context();

/// A list of new Python arrays.
nb::list wrap_all(std::span<const autograd::Handle> handles);

/// An integer, or anything that can be one.
std::int64_t to_integer(PyObject* object);

/// A tuple of integers.
Shape to_shape(PyObject* sequence);

/// A tuple of numbers that need not be integers.
std::vector<double> to_numbers(PyObject* sequence);

/// A parameter of an op from what Python gave for it.
lazy::Argument to_argument(PyObject* object);
/// The same in place of what was there, which takes less time where that is of the same type.
void read_argument(PyObject* object, lazy::Argument& argument);
/// A tuple of integers in its place, to be filled.
Shape& emptied_shape(lazy::Argument& argument);
/// The other way round; data types are named.
nb::object to_python(const lazy::Argument& value, bool is_type);

/// left (op) right for the operators; nullptr with an error set. `out`: the array to write, or
/// nullptr.
PyObject* binary(const lazy::Op& op, PyObject* left, PyObject* right, ArrayObject* out);
PyObject* unary(const lazy::Op& op, PyObject* operand);
/// Calls an op with arrays and numbers, an array first, and the defaults of all parameters. `out`:
/// the array to write, or nullptr. Throws.
PyObject* call_with_defaults(const lazy::Op& op, std::span<PyObject* const> inputs,
                             PyObject* out = nullptr);

}  // namespace afterglow::bindings
