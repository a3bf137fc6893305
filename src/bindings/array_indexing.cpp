// SPDX-License-Identifier: Apache-2.0
// x[key] and x[key] = value: what loops use most, all else is left to Python.
#include <algorithm>
#include <optional>

#include "bindings/array_parts.h"
#include "bindings/held.h"
#include "bindings/keys.h"
#include "bindings/operations.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

/// What a key of integers and slices names in an array.
std::optional<ops::Part> place_in(const ArrayObject& object, PyObject* key) {
  if (is_array(key)) return {};
  std::optional<ops::Part> place = place_of_key(*object.array.layout, key);
  if (place && object.legacy && place->shape.empty() && object.array.layout->rank()) {
    place->shape = place->strides = {1};  // nd has no arrays without dimensions here
  }
  return place;
}

/// A mask over the first axes, as many as it has.
bool is_mask(PyObject* self, PyObject* key) {
  if (Py_TYPE(key) != Py_TYPE(self)) return false;
  const Array& mask = as_array(key).array;
  const auto shape = as_array(self).array.shape();
  return mask.dtype == DType::boolean && mask.layout->rank() > 0 &&
         mask.shape().size() <= shape.size() &&
         std::ranges::equal(mask.shape(), shape.first(mask.shape().size()));
}

/// An array of the same class whose elements are numbers of rows, for a `self` that has rows.
bool is_index(PyObject* self, PyObject* key) {
  return Py_TYPE(key) == Py_TYPE(self) && as_array(key).array.dtype != DType::boolean &&
         as_array(self).array.layout->rank() > 0;
}

PyObject* call_method(PyObject* self, const char* name, PyObject* key, PyObject* value) {
  nb::object method = nb::steal(PyObject_GetAttrString(self, name));
  if (!method.is_valid()) throw nb::python_error();
  PyObject* arguments[] = {key, value};
  PyObject* result = PyObject_Vectorcall(method.ptr(), arguments, value ? 2 : 1, nullptr);
  if (!result) throw nb::python_error();
  return result;
}

/// The elements that an index array names; it is brought to where they are.
PyObject* take_at(PyObject* self, nb::object index) {
  const Context here = as_array(self).array.context();
  if (as_array(index.ptr()).array.context() != here) {
    autograd::Handle brought = ops::copy(autograd::Value(as_array(index.ptr())), {}, here);
    index = nb::steal(wrap_like(std::move(brought), index.ptr()));
  }
  PyObject* const inputs[] = {self, index.ptr()};
  return call_with_defaults(ops::the_op<"take">(), inputs);
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (const std::optional<ops::Part> place = place_in(as_array(self), key)) {
      const bool in_order = is_contiguous(place->shape, place->strides);
      if (!in_order) return copy_at(self, *place);
      return wrap_like(ops::contiguous_view(as_array(self), place->offset, place->shape), self);
    }
    if (is_index(self, key)) return take_at(self, nb::borrow(key));
    if (is_mask(self, key) && as_array(key).array.layout->rank() == 1)
      return take_at(self, true_positions(key));
    return call_method(self, "_select", key, nullptr);
  });
}

PyObject* item_at(PyObject* self, Py_ssize_t index) {
  nb::object key = nb::steal(PyLong_FromSsize_t(index));
  return key.is_valid() ? subscript(self, key.ptr()) : nullptr;
}

/// A number, or an array of the same world, that is written without being converted or reshaped.
bool is_plain_value(PyObject* self, PyObject* value, int rank) {
  if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return true;
  return Py_TYPE(value) == Py_TYPE(self) && as_array(value).array.layout->rank() <= rank;
}

void write_part(PyObject* self, const ops::Part& place, PyObject* value) {
  ArrayObject& target = as_array(self);
  const Array part = ops::part_of(target.array, place);
  if (!part.size()) return;
  if (part.layout->is_contiguous() && same_shape(*part.layout, *target.array.layout)) {
    ops::assign(target, value_from(value));
  } else {
    ops::write(target, value_from(value), place);
  }
  look_after(target);
}

/// self[key] = value for an index array, while nothing is recorded.
void scatter(PyObject* self, PyObject* key, PyObject* value) {
  autograd::CallBuilder builder(ops::the_op<"scatter">(), as_array(self).legacy);
  for (PyObject* input : {self, value, key}) add_input(builder, input);
  builder.issue();
}

bool can_scatter(PyObject* self, PyObject* key, PyObject* value) {
  if (autograd::state().recording || !is_index(self, key)) return false;
  const Array& array = as_array(self).array;
  const int rank = array.layout->rank() - 1 + as_array(key).array.layout->rank();
  return is_plain_value(self, value, rank) &&
         (!is_array(value) || as_array(value).array.dtype == array.dtype);
}

/// self[mask] = number, where no type has to be thought about.
bool can_fill(PyObject* self, PyObject* key, PyObject* value) {
  if (!is_mask(self, key) || as_array(self).legacy) return false;
  const Array& array = as_array(self).array;
  return is_floating(array.dtype) && (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) &&
         array.size() && array.layout->rank() == as_array(key).array.layout->rank();
}

void fill(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const inputs[] = {key, value, self};
  Py_DECREF(call_with_defaults(ops::the_op<"select">(), inputs, self));
}

int set_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (!value) throw Error(ErrorKind::type, "elements of an array cannot be deleted");
    const std::optional<ops::Part> place = place_in(as_array(self), key);
    if (place && is_plain_value(self, value, static_cast<int>(place->shape.size()))) {
      write_part(self, *place, value);
    } else if (can_scatter(self, key, value)) {
      scatter(self, key, value);
    } else if (can_fill(self, key, value)) {
      fill(self, key, value);
    } else {
      Py_DECREF(call_method(self, "_store", key, value));
    }
    return 0;
  });
}

}  // namespace

void add_indexing(ArrayParts& parts) {
  parts.add_slots({
      slot(Py_mp_subscript, subscript),
      slot(Py_mp_ass_subscript, set_subscript),
      slot(Py_sq_item, item_at),
  });
}

}  // namespace afterglow::bindings
