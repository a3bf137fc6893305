// SPDX-License-Identifier: Apache-2.0
// The type of public modules. They have a `__getattr__`, for names that they lack, and the
// interpreter does not remember where the names of such a module are: it looks through the type
// first, each time. These look into their dictionary at once.
#include "bindings/functions.h"

namespace afterglow::bindings {
namespace {

PyObject* find_name(PyObject* module, PyObject* name) {
  PyObject* const names =
      *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(module) + PyModule_Type.tp_dictoffset);
  if (PyObject* const value = PyDict_GetItemWithError(names, name)) return Py_NewRef(value);
  return PyErr_Occurred() ? nullptr : PyModule_Type.tp_getattro(module, name);
}

/// What pickles modules knows the type of plain ones, and asks all others.
PyObject* reduce_namespace(PyObject* module, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const nb::object load = nb::module_::import_("importlib").attr("import_module");
    const nb::object name = nb::borrow(module).attr("__name__");
    return nb::make_tuple(load, nb::make_tuple(name)).release().ptr();
  });
}

PyMethodDef namespace_methods[] = {
    {"__reduce__", reduce_namespace, METH_NOARGS, "Pickled by name."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot namespace_slots[] = {
    {Py_tp_doc, const_cast<char*>("A module whose names are found in a short time.")},
    {Py_tp_getattro, reinterpret_cast<void*>(find_name)},
    {Py_tp_methods, namespace_methods},
    {0, nullptr}};

PyType_Spec namespace_spec = {"afterglow._core.Namespace", 0, 0, Py_TPFLAGS_DEFAULT,
                              namespace_slots};

}  // namespace

void bind_namespace(nb::module_& module) {
  const nb::object type = nb::steal(
      PyType_FromSpecWithBases(&namespace_spec, nb::make_tuple(nb::handle(&PyModule_Type)).ptr()));
  if (!type.is_valid()) throw nb::python_error();
  module.attr("Namespace") = type;
}

}  // namespace afterglow::bindings
