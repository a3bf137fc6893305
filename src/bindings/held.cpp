// SPDX-License-Identifier: Apache-2.0
#include "bindings/held.h"

#include <algorithm>
#include <span>
#include <vector>

#include "bindings/tape.h"

namespace afterglow::bindings {

struct HeldObject {
  PyObject_HEAD PyObject* object;
  KnownObject* known;

  static HeldObject& of(PyObject* self) { return *reinterpret_cast<HeldObject*>(self); }

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(of(self).object);
    return 0;
  }

  static int clear(PyObject* self) {
    Py_CLEAR(of(self).object);
    return 0;
  }

  static void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    if (of(self).known) of(self).known->held_ = nullptr;
    clear(self);
    PyTypeObject* const type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
  }
};

namespace {

PyTypeObject* type = nullptr;

/// More than so many are no longer looked through for what is there already.
constexpr std::size_t most_items = 16;

/// What an array owns: one thing, or a tuple of things.
std::span<PyObject* const> items_of(PyObject* const& held) {
  if (!PyTuple_CheckExact(held)) return {&held, 1};
  return {&PyTuple_GET_ITEM(held, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(held))};
}

bool is_empty(PyObject* held) {
  return Py_TYPE(held) == type && !HeldObject::of(held).object;
}

/// Both, as few tuples as possible: loops over one block must not make longer and longer ones.
nb::object join(PyObject* const left, PyObject* const right) {
  std::vector<PyObject*> items;
  for (PyObject* const& held : {left, right}) {
    for (PyObject* item : items_of(held)) {
      if (!is_empty(item) && std::ranges::find(items, item) == items.end()) items.push_back(item);
    }
    if (items.size() > most_items) return nb::make_tuple(nb::handle(left), nb::handle(right));
  }
  for (PyObject* const& held : {left, right}) {
    if (std::ranges::equal(items, items_of(held))) return nb::borrow(held);
  }
  if (items.size() == 1) return nb::borrow(items[0]);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < items.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(items[i]));
  return tuple;
}

}  // namespace

nb::object make_held(nb::handle object) {
  HeldObject* const held = PyObject_GC_New(HeldObject, type);
  if (!held) throw nb::python_error();
  held->object = Py_NewRef(object.ptr());
  held->known = nullptr;
  PyObject* const result = reinterpret_cast<PyObject*>(held);
  PyObject_GC_Track(result);
  return nb::steal(result);
}

KnownObject::KnownObject(nb::handle held) : held_(&HeldObject::of(held.ptr())) {
  held_->known = this;
}

KnownObject::~KnownObject() {
  if (!held_) return;
  held_->known = nullptr;
  Py_CLEAR(held_->object);
}

nb::object KnownObject::get() const {
  return held_ && held_->object ? nb::borrow(held_->object) : nb::none();
}

void bind_held() {
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("What the gradients of arrays need of Python's.")},
      {Py_tp_traverse, reinterpret_cast<void*>(HeldObject::traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(HeldObject::clear)},
      {Py_tp_dealloc, reinterpret_cast<void*>(HeldObject::deallocate)},
      {0, nullptr}};
  static PyType_Spec spec = {
      "afterglow._core.Held", sizeof(HeldObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) throw nb::python_error();
  autograd::Held::set_hooks(
      {[](void* object) { Py_INCREF(static_cast<PyObject*>(object)); },
       [](void* object) { Py_DECREF(static_cast<PyObject*>(object)); },
       [](void* left, void* right) -> void* {
         return join(static_cast<PyObject*>(left), static_cast<PyObject*>(right)).release().ptr();
       }});
}

}  // namespace afterglow::bindings
