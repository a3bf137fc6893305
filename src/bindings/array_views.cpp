// SPDX-License-Identifier: Apache-2.0
// Other arrays over the same memory: views, other classes, constants.
#include <algorithm>

#include "bindings/array_parts.h"
#include "bindings/operations.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;

PyObject* view(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&] {
    long long offset;
    PyObject *shape, *strides;
    if (!PyArg_ParseTuple(arguments, "LO!O!", &offset, &PyTuple_Type, &shape, &PyTuple_Type,
                          &strides)) {
      throw nb::python_error();
    }
    const ops::Part part{offset, to_shape(shape), to_shape(strides)};
    return wrap_like(ops::view(as_array(self), part), self);
  });
}

PyObject* shaped(PyObject* self, PyObject* shape) {
  return guarded<PyObject*>(
      nullptr, [&] { return wrap_like(ops::shaped(as_array(self), to_shape(shape)), self); });
}

PyObject* view_at(PyObject* self, const ops::Part& place) {
  return wrap_like(ops::view(as_array(self), place), self);
}

PyObject* reordered(PyObject* self, PyObject* order) {
  return guarded<PyObject*>(nullptr, [&] {
    const Layout& layout = *as_array(self).array.layout;
    ops::Part place;
    for (const std::int64_t axis : to_shape(order)) {
      if (axis < 0 || axis >= layout.rank()) throw Error(ErrorKind::value, "there is no such axis");
      place.shape.push_back(layout.shape()[static_cast<std::size_t>(axis)]);
      place.strides.push_back(layout.strides()[static_cast<std::size_t>(axis)]);
    }
    return view_at(self, place);
  });
}

PyObject* between(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&] {
    Py_ssize_t axis;
    long long begin, end;
    if (!PyArg_ParseTuple(arguments, "nLL", &axis, &begin, &end)) throw nb::python_error();
    const Array& array = as_array(self).array;
    if (axis < 0 || axis >= array.layout->rank())
      throw Error(ErrorKind::value, "there is no such axis");
    ops::Part place{0, Shape(array.shape().begin(), array.shape().end()),
                    Shape(array.layout->strides().begin(), array.layout->strides().end())};
    const auto position = static_cast<std::size_t>(axis);
    place.shape[position] = std::max(0LL, end - begin);
    if (end > begin && array.size()) place.offset = begin * place.strides[position];
    return view_at(self, place);
  });
}

PyObject* get_transposed(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Layout& layout = *as_array(self).array.layout;
    return copy_at(self, {0, Shape(layout.shape().rbegin(), layout.shape().rend()),
                          Shape(layout.strides().rbegin(), layout.strides().rend())});
  });
}

PyObject* as_class(PyObject* self, PyObject* legacy) {
  return guarded<PyObject*>(nullptr, [&] {
    Handle handle = as_array(self);
    handle.legacy = PyObject_IsTrue(legacy) == 1;
    return wrap(std::move(handle));
  });
}

PyObject* detached(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    Handle handle{as_array(self).array, {}, {}, as_array(self).legacy};
    if (autograd::state().recording) handle.origin.output = autograd::Origin::constant;
    return wrap_like(std::move(handle), self);
  });
}

PyObject* shares_memory(PyObject* self, PyObject* other) {
  if (!is_array(other)) Py_RETURN_FALSE;
  return PyBool_FromLong(may_overlap(as_array(self).array, as_array(other).array));
}

}  // namespace

PyObject* copy_at(PyObject* self, const ops::Part& place) {
  static const lazy::Op& copy = ops::op_named("copy");
  const autograd::Handle view = ops::view(as_array(self), place);
  autograd::CallBuilder builder(copy, view.legacy);
  builder.add(view);
  return wrap(builder.issue());
}

void add_views(ArrayParts& parts) {
  parts.add_methods({
      {"_view", view, METH_VARARGS, "_view(offset, shape, strides): shares the memory."},
      {"_reordered", reordered, METH_O, "_reordered(order): a view with the axes in that order."},
      {"_between", between, METH_VARARGS,
       "_between(axis, begin, end): a view of what lies between two places of an axis."},
      {"_shaped", shaped, METH_O, "_shaped(shape): the same elements in another shape, shared."},
      {"_shares_memory", shares_memory, METH_O,
       "_shares_memory(other): whether both lie in the same part of one memory block."},
      {"_as_class", as_class, METH_O, "_as_class(legacy): the same array as NDArray or ndarray."},
      {"_detached", detached, METH_NOARGS, "The same array, but a constant."},
  });
  parts.add_properties({
      {"T", get_transposed, nullptr, "The array with its axes reversed.", nullptr},
  });
}

}  // namespace afterglow::bindings
