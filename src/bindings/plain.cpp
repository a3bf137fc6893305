// SPDX-License-Identifier: Apache-2.0
#include "bindings/plain.h"

#include <utility>

namespace afterglow::bindings {
namespace {

PyObject* dtype_spellings = nullptr;  // dict: spelling -> number
bool plain_contexts = true;

}  // namespace

std::optional<std::int64_t> plain_dtype(PyObject* object) {
  // The last one is remembered: most programs have one object for each type.
  static PyObject* last = nullptr;
  static std::int64_t last_number = 0;
  if (object == last) return last_number;
  if (!dtype_spellings) return {};
  PyObject* const number = PyDict_GetItemWithError(dtype_spellings, object);
  if (!number) {
    PyErr_Clear();  // nothing that can be looked up is a data type either, which Python says
    return {};
  }
  last_number = PyLong_AsLongLong(number);
  Py_XDECREF(std::exchange(last, Py_NewRef(object)));
  return last_number;
}

bool contexts_are_plain() {
  return plain_contexts;
}

void bind_plain(nb::module_& module) {
  module.def(
      "set_dtype_spellings",
      [](nb::dict spellings) { dtype_spellings = spellings.release().ptr(); }, nb::arg("spellings"),
      "The usual spellings of data types, with their numbers.");
  module.def(
      "use_contexts", [] { plain_contexts = false; },
      "From now on Python says where new arrays are made.");
}

}  // namespace afterglow::bindings
