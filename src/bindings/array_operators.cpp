// SPDX-License-Identifier: Apache-2.0
// Operators of arrays: arithmetic and comparisons.
#include "bindings/array_parts.h"
#include "bindings/operations.h"
#include "bindings/sparse.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

using ops::the_op;

template <ops::Name name>
PyObject* binary_slot(PyObject* left, PyObject* right) {
  return binary(the_op<name>(), left, right, nullptr);
}

template <ops::Name name>
PyObject* in_place_slot(PyObject* self, PyObject* other) {
  if (SparseParts::any() && is_sparse(other))
    return guarded<PyObject*>(nullptr, [&] {
      const nb::object dense = to_dense(other);
      return binary(the_op<name>(), self, dense.ptr(), &as_array(self));
    });
  return binary(the_op<name>(), self, other, &as_array(self));
}

template <ops::Name name>
PyObject* unary_slot(PyObject* self) {
  return unary(the_op<name>(), self);
}

PyObject* power_slot(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary_slot<"power">(left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  static const lazy::Op* const ops[] = {&the_op<"less">(),    &the_op<"less_equal">(),
                                        &the_op<"equal">(),   &the_op<"not_equal">(),
                                        &the_op<"greater">(), &the_op<"greater_equal">()};
  return binary(*ops[operation], left, right, nullptr);
}

}  // namespace

void add_operators(ArrayParts& parts) {
  parts.add_slots({
      slot(Py_tp_richcompare, compare),
      slot(Py_nb_add, binary_slot<"add">),
      slot(Py_nb_subtract, binary_slot<"subtract">),
      slot(Py_nb_multiply, binary_slot<"multiply">),
      slot(Py_nb_true_divide, binary_slot<"divide">),
      slot(Py_nb_remainder, binary_slot<"modulo">),
      slot(Py_nb_power, power_slot),
      slot(Py_nb_inplace_add, in_place_slot<"add">),
      slot(Py_nb_inplace_subtract, in_place_slot<"subtract">),
      slot(Py_nb_inplace_multiply, in_place_slot<"multiply">),
      slot(Py_nb_inplace_true_divide, in_place_slot<"divide">),
      slot(Py_nb_inplace_remainder, in_place_slot<"modulo">),
      slot(Py_nb_negative, unary_slot<"negative">),
      slot(Py_nb_absolute, unary_slot<"abs">),
  });
}

}  // namespace afterglow::bindings
