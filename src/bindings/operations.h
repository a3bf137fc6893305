// SPDX-License-Identifier: Apache-2.0
// Calling ops from Python: the callable `_core.Operation`, and the path that operators share with
// it.
#pragma once

#include "bindings/array_type.h"
#include "lazy/issue.h"

namespace afterglow::bindings {

void bind_operations(nb::module_& module);

/// An operand from a Python array or number. False (no error set) when `object` is neither.
bool set_operand(lazy::Operand& operand, PyObject* object);

/// Issues a filled draft; throws what the call was refused for, and in serial mode what it failed
/// with.
Array issue_from_python(lazy::Draft& draft, lazy::IssueOptions options);

/// left (op) right for the operators; nullptr with an error set. `out`: the array to write, or
/// nullptr.
PyObject* binary(const lazy::Op& op, PyObject* left, PyObject* right, ArrayObject* out);
PyObject* unary(const lazy::Op& op, PyObject* operand);

}  // namespace afterglow::bindings
