// SPDX-License-Identifier: Apache-2.0
// Other arrays over the same memory: views, other classes, constants.
#include "bindings/array_parts.h"
#include "bindings/operations.h"
#include "ops/operators.h"
#include "ops/reshape.h"
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

PyObject* shaped_by_codes(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&] {
    PyObject* wanted;
    int reverse;
    if (!PyArg_ParseTuple(arguments, "Op", &wanted, &reverse)) throw nb::python_error();
    lazy::Argument given = to_argument(wanted);
    Shape codes;
    if (!lazy::FieldType<Shape>::read(given, codes))
      throw Error(ErrorKind::type, "[reshape] shape must be an integer or a tuple of integers");
    const auto own = as_array(self).array.shape();
    const Shape shape =
        ops::reshaped({own.begin(), own.end()}, codes, ops::ShapeCodes::legacy, reverse != 0);
    return wrap_like(ops::shaped(as_array(self), shape), self);
  });
}

PyObject* reordered(PyObject* self, PyObject* order) {
  return guarded<PyObject*>(
      nullptr, [&] { return wrap_like(ops::reordered(as_array(self), to_shape(order)), self); });
}

PyObject* between(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&] {
    Py_ssize_t axis;
    long long begin, end;
    if (!PyArg_ParseTuple(arguments, "nLL", &axis, &begin, &end)) throw nb::python_error();
    return wrap_like(ops::between(as_array(self), axis, begin, end), self);
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
      {"_shaped_by_codes", shaped_by_codes, METH_VARARGS,
       "_shaped_by_codes(shape, reverse): the same with the codes of mx.nd."},
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
