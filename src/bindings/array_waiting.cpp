// SPDX-License-Identifier: Apache-2.0
// Waiting for one array, or asking whether it is ready.
#include <optional>

#include "bindings/array_parts.h"
#include "bindings/waiting.h"

namespace afterglow::bindings {
namespace {

std::optional<double> timeout_from(PyObject* object) {
  if (object == Py_None) return {};
  const double seconds = PyFloat_AsDouble(object);
  if (seconds == -1 && PyErr_Occurred()) throw nb::python_error();
  return seconds;
}

PyObject* wait_with(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names,
                    engine::WaitFor what) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    if (count + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "timeout"))) {
      throw Error(ErrorKind::type, "waiting takes one argument, timeout");
    }
    wait_for(as_array(self).array, what, timeout_from(count + named ? values[0] : Py_None));
    Py_RETURN_NONE;
  });
}

PyObject* wait_to_read(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return wait_with(self, values, count, names, engine::WaitFor::read);
}

PyObject* wait_to_write(PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* names) {
  return wait_with(self, values, count, names, engine::WaitFor::write);
}

PyObject* ready(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyBool_FromLong(is_ready(as_array(self).array)); });
}

}  // namespace

void add_waiting(ArrayParts& parts) {
  parts.add_methods({
      {"wait_to_read", as_method(wait_to_read), METH_FASTCALL | METH_KEYWORDS,
       "wait_to_read(timeout=None)\n\nWaits until the value is computed."},
      {"wait_to_write", as_method(wait_to_write), METH_FASTCALL | METH_KEYWORDS,
       "wait_to_write(timeout=None)\n\nWaits until nothing uses the array any more."},
      {"is_ready", ready, METH_NOARGS, "Whether the value is computed. Never blocks."},
  });
}

}  // namespace afterglow::bindings
