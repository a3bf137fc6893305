// SPDX-License-Identifier: Apache-2.0
// Values of arrays on their way to Python, which wait for them, and from there.
#include <cstring>
#include <memory>
#include <string>

#include "base/element_types.h"
#include "base/half.h"
#include "bindings/array_parts.h"
#include "bindings/operations.h"
#include "bindings/waiting.h"

namespace afterglow::bindings {
namespace {

PyObject* numpy_empty = nullptr;
PyObject* numpy_dtypes = nullptr;  // tuple, by number

PyObject* to_python_number(const Array& array) {
  std::byte bytes[8];
  read_value(array, bytes);
  if (array.dtype == DType::boolean) return PyBool_FromLong(std::to_integer<long>(bytes[0]));
  return with_type(array.dtype, [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    if constexpr (std::is_same_v<T, HalfBits>)
      return PyFloat_FromDouble(half_to_float(value.bits));
    else if constexpr (std::is_floating_point_v<T>)
      return PyFloat_FromDouble(value);
    else
      return PyLong_FromLongLong(value);
  });
}

void need_one_element(const Array& array) {
  if (array.size() != 1) {
    throw Error(ErrorKind::type,
                "only size-1 arrays can be converted to Python scalars; this one has "
                "shape " +
                    to_string(array.shape()));
  }
}

PyObject* item(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    need_one_element(as_array(self).array);
    return to_python_number(as_array(self).array);
  });
}

PyObject* to_float(PyObject* self) {
  nb::object number = nb::steal(item(self, nullptr));
  return number.is_valid() ? PyNumber_Float(number.ptr()) : nullptr;
}

PyObject* to_int(PyObject* self) {
  nb::object number = nb::steal(item(self, nullptr));
  return number.is_valid() ? PyNumber_Long(number.ptr()) : nullptr;
}

int to_bool(PyObject* self) {
  return guarded(-1, [&] {
    const ArrayObject& object = as_array(self);
    if (object.array.size() == 0) return 0;
    if (object.array.size() != 1) {
      throw Error(ErrorKind::value, std::string("The truth value of an ") +
                                        (object.legacy ? "NDArray" : "ndarray") +
                                        " with multiple elements is ambiguous.");
    }
    nb::object number = nb::steal(to_python_number(object.array));
    return PyObject_IsTrue(number.ptr());
  });
}

PyObject* asnumpy(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Array& array = as_array(self).array;
    nb::object shape = to_tuple(array.shape());
    PyObject* arguments[] = {shape.ptr(),
                             PyTuple_GET_ITEM(numpy_dtypes, static_cast<Py_ssize_t>(array.dtype))};
    nb::object result = nb::steal(PyObject_Vectorcall(numpy_empty, arguments, 2, nullptr));
    if (!result.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_MemoryError)) throw nb::python_error();
      PyErr_Clear();
      throw Error(ErrorKind::memory,
                  "[asnumpy] there is no memory for a copy of " + describe(array));
    }
    Py_buffer buffer;
    if (PyObject_GetBuffer(result.ptr(), &buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) {
      throw nb::python_error();
    }
    const auto release =
        std::unique_ptr<Py_buffer, void (*)(Py_buffer*)>(&buffer, PyBuffer_Release);
    read_value(array, buffer.buf);
    return result.release().ptr();
  });
}

/// Copies before it returns: what becomes of the foreign memory afterwards does not matter.
nb::object from_buffer(nb::handle source, nb::tuple shape, int dtype, nb::tuple context,
                       bool legacy) {
  const Context place = to_context(to_shape(context.ptr()));
  if (!exists(place)) throw Error(ErrorKind::mxnet, "[array] " + absence(place));
  Py_buffer buffer;
  if (PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_C_CONTIGUOUS)) throw nb::python_error();
  const auto release = std::unique_ptr<Py_buffer, void (*)(Py_buffer*)>(&buffer, PyBuffer_Release);
  Array array =
      Array::create(Layout::contiguous(to_shape(shape.ptr())), static_cast<DType>(dtype), place);
  if (array.storage->bytes() != buffer.len) {
    throw Error(ErrorKind::value, "the buffer has " + std::to_string(buffer.len) + " bytes, " +
                                      describe(array) + " needs " +
                                      std::to_string(array.storage->bytes()));
  }
  fill_from_host(array, buffer.buf);
  return nb::steal(wrap(std::move(array), legacy));
}

}  // namespace

void make_room_from_host(const Array& array) {
  wait_for_room(array.storage->bytes());
  take_buffer_or_wait(*array.storage);
}

void fill_from_host(const Array& array, const void* source) {
  const std::int64_t bytes = array.storage->bytes();
  make_room_from_host(array);
  const auto copy = [&] {
    if (bytes) std::memcpy(array.data(), source, static_cast<std::size_t>(bytes));
  };
  if (bytes > bytes_worth_releasing) {
    WithoutGil released;
    copy();
  } else {
    copy();
  }
}

void add_values(ArrayParts& parts) {
  parts.add_methods({
      {"asnumpy", asnumpy, METH_NOARGS, "The value as a NumPy array, a copy."},
      {"_number", item, METH_NOARGS, "The value of an array of one element as a Python number."},
  });
  parts.add_slots({
      slot(Py_nb_bool, to_bool),
      slot(Py_nb_float, to_float),
      slot(Py_nb_int, to_int),
  });
}

void bind_values(nb::module_& module) {
  nb::module_ numpy = nb::module_::import_("numpy");
  numpy_empty = nb::object(numpy.attr("empty")).release().ptr();
  numpy_dtypes = PyTuple_New(dtype_count);
  for (int i = 0; i < dtype_count; ++i) {
    nb::object dtype = numpy.attr("dtype")(dtype_names[i]);
    PyTuple_SET_ITEM(numpy_dtypes, i, dtype.release().ptr());
  }
  module.def("from_buffer", from_buffer, nb::arg("source"), nb::arg("shape"), nb::arg("dtype"),
             nb::arg("context"), nb::arg("legacy"),
             "A new array with a copy of a C-contiguous buffer.");
}

}  // namespace afterglow::bindings
