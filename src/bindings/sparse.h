// SPDX-License-Identifier: Apache-2.0
// Sparse arrays (array/sparse.h) as objects of Python, whose functions do all that is done to them.
#pragma once

#include "array/sparse.h"
#include "bindings/array_type.h"

namespace afterglow::bindings {

/// An object of one of the classes of sparse arrays.
bool is_sparse(PyObject* object);
/// Whether there are any among the arguments of a call, or in lists among them.
bool has_sparse(PyObject* const* values, std::size_t count);

/// The call of an op with sparse arrays; nullptr with an error set.
PyObject* call_sparse(PyObject* operation, PyObject* const* values, std::size_t flags,
                      PyObject* names);
/// A new dense array of the same elements. Throws.
nb::object to_dense(PyObject* sparse);

/// A new Python array of the class that goes with the kind of the array.
PyObject* wrap_any(autograd::Handle&& handle);

// What the walk backwards asks for: autograd/front_end.h.
autograd::Handle add_sparse(const autograd::Handle& left, const autograd::Handle& right);
void write_sparse(const autograd::Handle& target, const autograd::Handle& value);
autograd::Handle dense_handle(const autograd::Handle& sparse);
autograd::Handle add_rows(const autograd::Handle& indices, const autograd::Handle& values,
                          const Shape& shape);

}  // namespace afterglow::bindings
