// SPDX-License-Identifier: Apache-2.0
// Writes to all elements of an array, or to a part of them.
#include <utility>

#include "bindings/array_parts.h"
#include "bindings/held.h"
#include "bindings/operations.h"
#include "bindings/sparse.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

PyObject* assign(PyObject* self, PyObject* value) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    ops::assign(as_array(self), value_from(value));
    look_after(as_array(self));
    Py_RETURN_NONE;
  });
}

struct PartWrite {
  PyObject* value;
  ops::Part part;

  explicit PartWrite(PyObject* arguments) {
    PyObject *extents, *steps;
    long long offset;
    if (!PyArg_ParseTuple(arguments, "OLO!O!", &value, &offset, &PyTuple_Type, &extents,
                          &PyTuple_Type, &steps)) {
      throw nb::python_error();
    }
    part = {offset, to_shape(extents), to_shape(steps)};
  }
};

PyObject* write(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const PartWrite given(arguments);
    ops::write(as_array(self), value_from(given.value), given.part);
    look_after(as_array(self));
    Py_RETURN_NONE;
  });
}

PyObject* written(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const PartWrite given(arguments);
    if (autograd::state().recording) {
      ops::record_write(as_array(self), value_from(given.value), given.part);
      look_after(as_array(self));
    }
    Py_RETURN_NONE;
  });
}

PyObject* swap(PyObject* self, PyObject* other) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (Py_TYPE(self) != Py_TYPE(other)) {
      throw Error(ErrorKind::type, "an array of the same class is needed");
    }
    std::swap<autograd::Handle>(as_array(self), as_array(other));
    look_after(as_array(self));
    look_after(as_array(other));
    Py_RETURN_NONE;
  });
}

}  // namespace

autograd::Value value_from(PyObject* object) {
  if (SparseParts::any() && is_sparse(object))
    return autograd::Value(as_array(to_dense(object).ptr()));
  if (is_array(object)) return autograd::Value(as_array(object));
  lazy::Operand number;
  if (!set_number(number, object)) {
    throw Error(ErrorKind::type, "an array or a number is needed");
  }
  return to_value(number);
}

void add_writes(ArrayParts& parts) {
  parts.add_methods({
      {"_assign", assign, METH_O, "_assign(value): writes value into all elements."},
      {"_write", write, METH_VARARGS,
       "_write(value, offset, shape, strides): writes value into a part of the memory."},
      {"_written", written, METH_VARARGS,
       "_written(value, offset, shape, strides): tells the tape that a call wrote a part."},
      {"_swap", swap, METH_O, "_swap(other): each is the array that the other one was."},
  });
}

}  // namespace afterglow::bindings
