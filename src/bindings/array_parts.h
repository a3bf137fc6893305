// SPDX-License-Identifier: Apache-2.0
// What the Python type of arrays is made of, a file for each subject. Private to the files
// bindings/array_*.cpp.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "bindings/array_type.h"
#include "ops/views.h"

namespace afterglow::bindings {

struct ArrayParts {
  std::vector<PyType_Slot> slots;
  std::vector<PyMethodDef> methods;
  std::vector<PyGetSetDef> properties;

  void add_slots(std::initializer_list<PyType_Slot> added) { slots.insert(slots.end(), added); }
  void add_methods(std::initializer_list<PyMethodDef> added) {
    methods.insert(methods.end(), added);
  }
  void add_properties(std::initializer_list<PyGetSetDef> added) {
    properties.insert(properties.end(), added);
  }
};

void add_operators(ArrayParts& parts);
void add_values(ArrayParts& parts);
void add_waiting(ArrayParts& parts);
void add_views(ArrayParts& parts);
void add_writes(ArrayParts& parts);
void add_indexing(ArrayParts& parts);
void add_properties(ArrayParts& parts);

/// Adds the functions that make arrays of values to the module.
void bind_values(nb::module_& module);

template <class Function>
PyType_Slot slot(int number, Function* function) {
  return {number, reinterpret_cast<void*>(function)};
}
template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// A copy of elements that a place names, in order.
PyObject* copy_at(PyObject* self, const ops::Part& place);
/// What is written: an array or a number.
autograd::Value value_from(PyObject* object);

}  // namespace afterglow::bindings
