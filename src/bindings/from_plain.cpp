// SPDX-License-Identifier: Apache-2.0
// Copies of NumPy arrays and of lists of numbers, without a word of Python where these are plain.
#include <optional>
#include <span>
#include <type_traits>

#include "base/element_types.h"
#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/plain.h"
#include "bindings/waiting.h"

namespace afterglow::bindings {
namespace {

/// What NumPy tells about an array of its own: see its documentation of the array interface.
struct HostArray {
  int two;
  int rank;
  char kind;
  int item_size;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
};

std::optional<DType> host_dtype(const HostArray& host) {
  const auto of_size = [&](DType eight, DType four, std::optional<DType> two,
                           std::optional<DType> one) -> std::optional<DType> {
    switch (host.item_size) {
      case 8:
        return eight;
      case 4:
        return four;
      case 2:
        return two;
      case 1:
        return one;
    }
    return {};
  };
  if (host.kind == 'f') return of_size(DType::float64, DType::float32, DType::float16, {});
  if (host.kind == 'i') return of_size(DType::int64, DType::int32, {}, DType::int8);
  if (host.kind == 'u' && host.item_size == 1) return DType::uint8;
  if (host.kind == 'b' && host.item_size == 1) return DType::boolean;
  return {};
}

/// A copy of a NumPy array whose elements are of the wanted type already; none, without a storage,
/// of one of another type or order.
Array from_numpy(PyObject* object, std::optional<DType> wanted, Context place) {
  static PyObject* const interface = PyUnicode_InternFromString("__array_struct__");
  constexpr int contiguous = 1, native = 0x200;
  const nb::object capsule = nb::steal(PyObject_GetAttr(object, interface));
  const auto* host =
      capsule.is_valid()
          ? static_cast<const HostArray*>(PyCapsule_GetPointer(capsule.ptr(), nullptr))
          : nullptr;
  if (!host) throw nb::python_error();
  const auto dtype = host_dtype(*host);
  if (!dtype || (wanted && *wanted != *dtype) ||
      (host->flags & (contiguous | native)) != (contiguous | native) || host->rank > max_rank)
    return {};
  const Shape shape(host->shape, host->shape + host->rank);
  Array result = Array::create(Layout::contiguous(shape), *dtype, place);
  fill_from_host(result, host->data);
  return result;
}

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/// The items of a list or tuple, which are read with the GIL held and before any Python code runs.
std::span<PyObject* const> items_of(PyObject* sequence) {
  return {PySequence_Fast_ITEMS(sequence),
          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

/// Whether all lists inside are as long as those that come first. Numbers are not looked at.
bool is_even(PyObject* sequence, std::span<const std::int64_t> shape) {
  const auto items = items_of(sequence);
  if (std::ssize(items) != shape[0]) return false;
  if (shape.size() == 1) return true;
  for (PyObject* item : items)
    if (!is_sequence(item) || !is_even(item, shape.subspan(1))) return false;
  return true;
}

/// Writes a number as NumPy does it; false for what only NumPy can convert, or refuse.
template <class Element>
bool write_number(PyObject* item, DType dtype, Element& target) {
  if constexpr (std::is_floating_point_v<Element>) {
    double number = item == Py_True;
    if (PyFloat_CheckExact(item)) {
      number = PyFloat_AS_DOUBLE(item);
    } else if (PyLong_CheckExact(item)) {
      number = PyLong_AsDouble(item);
      if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
    } else if (!PyBool_Check(item)) {
      return false;
    }
    target = static_cast<Element>(number);
    return true;
  } else {
    if (!PyBool_Check(item) && (!PyLong_CheckExact(item) || dtype == DType::boolean)) return false;
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow || !range_of(dtype).holds(number)) return false;
    target = static_cast<Element>(number);
    return true;
  }
}

template <class Element>
bool write_numbers(PyObject* sequence, std::span<const std::int64_t> shape, DType dtype,
                   Element*& target) {
  for (PyObject* item : items_of(sequence)) {
    if (shape.size() > 1 ? !write_numbers(item, shape.subspan(1), dtype, target)
                         : !write_number(item, dtype, *target++))
      return false;
  }
  return true;
}

/// The numbers of lists in lists, none if anything else is there: it shall be answered, or refused,
/// by those who know more.
Array from_list(PyObject* list, DType dtype, Context place) {
  Shape shape;
  PyObject* first = list;
  for (; is_sequence(first); first = items_of(first)[0]) {
    if (items_of(first).empty() || std::ssize(shape) == max_rank) return {};
    shape.push_back(std::ssize(items_of(first)));
  }
  if (dtype == DType::float16 || !is_even(list, shape)) return {};
  Array result = Array::create(Layout::contiguous(shape), dtype, place);
  make_room_from_host(result);
  // Others may have run meanwhile, and changed the lists.
  const bool written = is_even(list, shape) && with_type(dtype, [&]<class Element>(Element) {
                         if constexpr (std::is_same_v<Element, HalfBits>) {
                           return false;  // NumPy rounds to them once
                         } else {
                           auto* target = reinterpret_cast<Element*>(result.data());
                           return write_numbers(list, shape, dtype, target);
                         }
                       });
  if (!written) return {};
  return result;
}

/// from_plain(source, dtype, context or None, legacy): a new array. None for what is neither a
/// NumPy array nor lists of numbers, or is of another type or order, and where no memory can be
/// had.
PyObject* from_plain(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    static PyObject* const numpy_array =
        nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
    PyObject* const source = arguments[0];
    const bool legacy = arguments[3] == Py_True;
    const bool is_numpy = reinterpret_cast<PyObject*>(Py_TYPE(source)) == numpy_array;
    if (!is_numpy && !is_sequence(source)) Py_RETURN_NONE;
    const Context place =
        arguments[2] == Py_None ? current_context() : to_context(to_shape(arguments[2]));
    if (!exists(place)) Py_RETURN_NONE;
    std::optional<DType> wanted;
    if (arguments[1] != Py_None) {
      const auto number = plain_dtype(arguments[1]);
      if (!number) Py_RETURN_NONE;
      wanted = static_cast<DType>(*number);
    } else if (legacy || !is_numpy) {
      wanted = DType::float32;
    }
    Array made = is_numpy ? from_numpy(source, wanted, place) : from_list(source, *wanted, place);
    if (!made.storage) Py_RETURN_NONE;
    return wrap(std::move(made), legacy);
  });
}

}  // namespace

void bind_from_plain(nb::module_& module) {
  static PyMethodDef methods[] = {
      {"from_plain", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(from_plain)),
       METH_FASTCALL,
       "A copy of a NumPy array or of lists of numbers; None for what Python has to look at."},
      {}};
  if (PyModule_AddFunctions(module.ptr(), methods)) throw nb::python_error();
}

}  // namespace afterglow::bindings
