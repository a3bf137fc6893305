// SPDX-License-Identifier: Apache-2.0
// The type itself: how arrays are made and destroyed, and the classes that Python has for them.
#include "bindings/array_type.h"

#include <new>
#include <vector>

#include "bindings/array_parts.h"
#include "bindings/held.h"
#include "lazy/window.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;

// All guarded by the GIL.
PyTypeObject* base_type = nullptr;
PyTypeObject* legacy_class = nullptr;  // nd.NDArray
PyTypeObject* numpy_class = nullptr;   // np.ndarray
PyObject* converter = nullptr;
std::int64_t live = 0;
std::vector<void*> spare;  // memory of released handles
constexpr std::size_t most_spare = 1024;

bool is_registered(PyTypeObject* type) {
  return type == legacy_class || type == numpy_class;
}

ArrayObject* allocate(PyTypeObject* type) {
  ArrayObject* object;
  if (!is_registered(type)) {
    object = reinterpret_cast<ArrayObject*>(type->tp_alloc(type, 0));
    if (object) object->tracked = true;
    return object;
  }
  if (spare.empty()) {
    object = PyObject_GC_New(ArrayObject, type);
  } else {
    void* memory = spare.back();
    spare.pop_back();
    object = reinterpret_cast<ArrayObject*>(PyObject_Init(static_cast<PyObject*>(memory), type));
  }
  if (object) object->tracked = false;
  return object;
}

PyObject* make(Handle&& handle, PyTypeObject* type) {
  ArrayObject* object = allocate(type);
  if (!object) throw nb::python_error();
  const bool tracked = object->tracked;
  new (static_cast<Handle*>(object)) Handle(std::move(handle));
  object->tracked = tracked;
  look_after(*object);
  ++live;
  return object;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(static_cast<PyObject*>(as_array(self).held.get()));
  return 0;
}

int clear(PyObject* self) {
  as_array(self).held = {};
  return 0;
}

void deallocate(PyObject* self) {
  Handle& handle = as_array(self);
  if (as_array(self).tracked) PyObject_GC_UnTrack(self);
  handle.held = {};
  handle.origin = {};
  if (handle) lazy::window().handle_goes(*handle.array.storage);
  handle.~Handle();
  --live;
  PyTypeObject* type = Py_TYPE(self);
  if (is_registered(type) && spare.size() < most_spare) {
    spare.push_back(self);
  } else {
    type->tp_free(self);
  }
  Py_DECREF(type);
}

Py_hash_t hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4);
}

/// It keeps pointers to its methods and properties, so these are there for good.
PyTypeObject* make_type() {
  ArrayParts& parts = *new ArrayParts;
  parts.add_slots({
      {Py_tp_doc, const_cast<char*>("An array whose value may still be on its way.")},
      slot(Py_tp_dealloc, deallocate),
      slot(Py_tp_traverse, traverse),
      slot(Py_tp_clear, clear),
      slot(Py_tp_hash, hash),
  });
  for (auto* add : {add_operators, add_values, add_waiting, add_views, add_writes, add_indexing,
                    add_properties}) {
    add(parts);
  }
  parts.add_methods({PyMethodDef{}});  // the ends
  parts.add_properties({PyGetSetDef{}});
  parts.add_slots({
      {Py_tp_methods, parts.methods.data()},
      {Py_tp_getset, parts.properties.data()},
      {0, nullptr},
  });
  PyType_Spec spec = {"afterglow._core.Array", sizeof(ArrayObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      parts.slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

/// The garbage collector looks at instances of classes made by a class statement from the start.
/// Few arrays own anything, and a list of a million of them would be walked again and again for
/// nothing: these are made by allocate(), unseen, until they own something.
void look_after_ourselves(PyTypeObject* type) {
  for (; type != base_type; type = type->tp_base) {
    type->tp_traverse = traverse;
    type->tp_clear = clear;
  }
}

void register_classes(nb::handle legacy, nb::handle numpy, nb::handle convert) {
  for (nb::handle type : {legacy, numpy}) {
    if (!PyType_Check(type.ptr()) ||
        reinterpret_cast<PyTypeObject*>(type.ptr())->tp_basicsize != sizeof(ArrayObject)) {
      throw Error(ErrorKind::type, "array classes must derive from Array and add no fields");
    }
  }
  legacy_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(legacy.ptr()));
  numpy_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(numpy.ptr()));
  for (PyTypeObject* type : {legacy_class, numpy_class}) {
    look_after_ourselves(type);
    type->tp_dealloc = deallocate;  // they have no fields of their own to be looked after
  }
  converter = Py_NewRef(convert.ptr());
}

}  // namespace

bool is_array(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (is_registered(type)) return true;
  // Numbers are asked about all the time, and have long lists of base classes.
  if (type == &PyLong_Type || type == &PyFloat_Type) return false;
  return PyType_IsSubtype(type, base_type);
}

PyObject* wrap(Handle&& handle) {
  PyTypeObject* const type = handle.legacy ? legacy_class : numpy_class;
  return make(std::move(handle), type);
}

PyObject* wrap_as(Handle&& handle, PyTypeObject* type) {
  return make(std::move(handle), type);
}

PyObject* wrap_like(Handle&& handle, PyObject* like) {
  return make(std::move(handle), Py_TYPE(like));
}

PyObject* convert_foreign(PyObject* object, bool legacy, PyObject* partner, bool defer) {
  PyObject* arguments[] = {object, legacy ? Py_True : Py_False, partner ? partner : Py_None,
                           defer ? Py_True : Py_False};
  return PyObject_Vectorcall(converter, arguments, 4, nullptr);
}

std::int64_t live_handles() {
  return live;
}

void bind_array_type(nb::module_& module) {
  base_type = make_type();
  module.attr("Array") = nb::handle(reinterpret_cast<PyObject*>(base_type));
  module.def("register_classes", register_classes, nb::arg("legacy"), nb::arg("numpy"),
             nb::arg("convert"),
             "The classes of results, and what turns foreign objects into arrays.");
  bind_values(module);
}

}  // namespace afterglow::bindings
