// SPDX-License-Identifier: Apache-2.0
// The Python type `_core.Array`, base of nd.NDArray and np.ndarray: operators, waiting, views.
// Written against the CPython interface itself, because `x + 1` must cost less than a function
// call.
#pragma once

#include "array/array.h"
#include "autograd/handle.h"
#include "bindings/python.h"

namespace afterglow::bindings {

/// What it holds for gradients is a Python object: bindings/held.h.
struct ArrayObject : PyObject, autograd::Handle {
  bool tracked;  ///< the garbage collector looks at it: since it owned something
};

/// Creates the type and adds it, and the functions that go with it, to the module.
void bind_array_type(nb::module_& module);

bool is_array(PyObject* object);
inline ArrayObject& as_array(PyObject* object) {
  return *reinterpret_cast<ArrayObject*>(object);
}
/// A new Python array of the class registered for nd (legacy) or np.
PyObject* wrap(autograd::Handle&& handle);
inline PyObject* wrap(Array array, bool legacy) {
  return wrap(autograd::Handle{std::move(array), {}, {}, legacy});
}
/// The same of a class of its own.
PyObject* wrap_as(autograd::Handle&& handle, PyTypeObject* type);
/// The same of the class of `like`.
PyObject* wrap_like(autograd::Handle&& handle, PyObject* like);

/// Takes memory for a new array whose value Python is about to write, once there is room for it.
void make_room_from_host(const Array& array);
/// Copies host memory into a new array, once there is room for it.
void fill_from_host(const Array& array, const void* source);

/// Calls the converter of the front end: something like a NumPy array becomes an Array of ours. The
/// caller owns the result; nullptr with a TypeError set when it is nothing like an array.
/// `defer`: the other class may answer, for which NotImplemented comes back.
PyObject* convert_foreign(PyObject* object, bool legacy, PyObject* partner, bool defer);

/// Arrays alive now: handles that Python holds.
std::int64_t live_handles();

}  // namespace afterglow::bindings
