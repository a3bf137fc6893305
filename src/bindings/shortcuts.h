// SPDX-License-Identifier: Apache-2.0
// Functions of the front end that are called without Python where their arguments are plain. A
// shortcut stands in front of a Python function: it recognises the arguments that programs use most
// and issues the calls for them at once; everything else, errors too, is left to the function.
#pragma once

#include <optional>

#include "bindings/array_type.h"
#include "bindings/keys.h"
#include "lazy/op.h"

namespace afterglow::bindings {

/// An array of the class of nd (legacy) or np itself.
bool is_plain_array(PyObject* object, bool legacy);

/// An exact Python integer that fits.
std::optional<std::int64_t> plain_integer(PyObject* object);

/// Exact integers that fit: one, or a tuple of them.
std::optional<Shape> plain_integers(PyObject* object);

/// The number of a data type in one of its usual spellings.
std::optional<std::int64_t> plain_dtype(PyObject* object);

/// Whether new arrays are made on cpu(0) whatever the thread.
bool contexts_are_plain();

void bind_shortcuts(nb::module_& module);

}  // namespace afterglow::bindings
