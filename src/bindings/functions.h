// SPDX-License-Identifier: Apache-2.0
// The parts of the module, one function per file.
#pragma once

#include "bindings/python.h"

namespace afterglow::bindings {

/// Adds a function of one argument as Python itself has them, which are called in less time than
/// those of nanobind.
template <nb::object (*function)(nb::handle)>
void add_quick_function(nb::module_& module, const char* name, const char* doc) {
  static PyMethodDef methods[] = {
      {name,
       [](PyObject*, PyObject* argument) {
         return guarded<PyObject*>(nullptr, [&] { return function(argument).release().ptr(); });
       },
       METH_O, doc},
      {}};
  if (PyModule_AddFunctions(module.ptr(), methods)) throw nb::python_error();
}

void bind_dlpack(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_from_plain(nb::module_& module);
void bind_front_end();
void bind_host(nb::module_& module);
void bind_namespace(nb::module_& module);
void bind_python_calls(nb::module_& module);
/// Raises what a signal handler raised inside a host call that this thread itself ran, if any did.
void raise_interruption();
void bind_recipes(nb::module_& module);
void bind_recording(nb::module_& module);
void bind_scopes(nb::module_& module);
void bind_sparse(nb::module_& module);
void bind_trace(nb::module_& module);
/// Whether add_layer() gave this number. Needs the GIL, as does the next.
bool is_layer(std::int32_t layer);
/// What add_layer() was given; nothing for 0.
std::string layer_name(std::int32_t layer);
void bind_update(nb::module_& module);
void bind_unique(nb::module_& module);
void bind_walk(nb::module_& module);

}  // namespace afterglow::bindings
