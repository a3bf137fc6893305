// SPDX-License-Identifier: Apache-2.0
// Calling ops from Python: the callable `_core.Operation`, and the path that operators share with
// it.
#pragma once

#include <span>
#include <vector>

#include "bindings/array_type.h"
#include "lazy/issue.h"

namespace afterglow::bindings {

void bind_operations(nb::module_& module);

/// An operand from a Python array or number. False (no error set) when `object` is neither.
bool set_operand(lazy::Operand& operand, PyObject* object);

/// Issues a filled draft; throws what the call was refused for, and in serial mode what it failed
/// with.
Array issue_from_python(lazy::Draft& draft, lazy::IssueOptions options,
                        std::vector<Array>* more_outputs = nullptr);

/// A list of new Python arrays.
nb::list wrap_all(std::span<const Array> arrays, bool legacy);

/// An operand from anything like an array, with an error for a mixture of nd and np; `held` keeps
/// alive what had to be converted.
void need_operand(lazy::Draft& draft, PyObject* object, bool legacy, nb::object& held);

/// An integer, or anything that can be one.
std::int64_t to_integer(PyObject* object);

/// A tuple of integers.
Shape to_shape(PyObject* sequence);

/// A parameter of an op from what Python gave for it.
lazy::Argument to_argument(PyObject* object);

/// left (op) right for the operators; nullptr with an error set. `out`: the array to write, or
/// nullptr.
PyObject* binary(const lazy::Op& op, PyObject* left, PyObject* right, ArrayObject* out);
PyObject* unary(const lazy::Op& op, PyObject* operand);
/// Calls an op with arrays and numbers, an array first, and the defaults of all parameters. `out`:
/// the array to write, or nullptr. Throws.
PyObject* call_with_defaults(const lazy::Op& op, std::span<PyObject* const> inputs,
                             PyObject* out = nullptr);

}  // namespace afterglow::bindings
