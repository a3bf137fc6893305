// SPDX-License-Identifier: Apache-2.0
// What all binding files share: the Python headers, and errors on their way to Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>

#include "lazy/failure.h"
#include "lazy/window.h"

namespace afterglow::bindings {

/// Functions take text as `const char*` and sequences as lists: nanobind's conversions to strings,
/// vectors and smart pointers must not throw, so that the process would end where memory is short.
namespace nb = nanobind;

/// Makes the Python exception of the class that `kind` names, with MXNetError among its bases.
void set_python_error(ErrorKind kind, const char* message);
/// Raises what poisoned an array: message, and the line that issued the failed call.
[[noreturn]] void raise_failure(Failure& failure);
/// Turns the C++ exception in flight into a Python one. For slots, which may not throw.
void translate_exception();
/// The classes that set_python_error makes, in the order of ErrorKind.
void set_error_classes(nb::list classes);

/// A shape as Python has it.
inline nb::object to_tuple(std::span<const std::int64_t> shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  return tuple;
}

/// Runs `body` and gives its result, or `otherwise` with a Python exception set.
template <class Result, class Body>
Result guarded(Result otherwise, Body&& body) {
  try {
    return body();
  } catch (...) {
    translate_exception();
    return otherwise;
  }
}

}  // namespace afterglow::bindings
