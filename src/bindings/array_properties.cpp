// SPDX-License-Identifier: Apache-2.0
// What is known of an array without its value.
#include "bindings/array_parts.h"

namespace afterglow::bindings {
namespace {

PyObject* get_shape(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return to_tuple(as_array(self).array.shape()).release().ptr(); });
}

PyObject* get_strides(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return to_tuple(as_array(self).array.layout->strides()).release().ptr(); });
}

PyObject* get_offset(PyObject* self, void*) {
  return PyLong_FromLongLong(as_array(self).array.offset);
}

PyObject* get_contiguous(PyObject* self, void*) {
  return PyBool_FromLong(as_array(self).array.layout->is_contiguous());
}

PyObject* get_ndim(PyObject* self, void*) {
  return PyLong_FromLong(as_array(self).array.layout->rank());
}

PyObject* get_size(PyObject* self, void*) {
  return PyLong_FromLongLong(as_array(self).array.size());
}

PyObject* get_dtype(PyObject* self, void*) {
  return PyLong_FromLong(static_cast<long>(as_array(self).array.dtype));
}

PyObject* get_context(PyObject* self, void*) {
  const Context context = as_array(self).array.context();
  return Py_BuildValue("(ii)", static_cast<int>(context.type), static_cast<int>(context.id));
}

PyObject* get_version(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(as_array(self).array.storage->version);
}

}  // namespace

void add_properties(ArrayParts& parts) {
  parts.add_properties({
      {"shape", get_shape, nullptr, "Extent of every dimension.", nullptr},
      {"ndim", get_ndim, nullptr, "Number of dimensions.", nullptr},
      {"size", get_size, nullptr, "Number of elements.", nullptr},
      {"_strides", get_strides, nullptr, "Steps between elements, in elements.", nullptr},
      {"_offset", get_offset, nullptr, "Place of the first element in the memory, in elements.",
       nullptr},
      {"_contiguous", get_contiguous, nullptr, "Whether the elements lie in order without gaps.",
       nullptr},
      {"_dtype_number", get_dtype, nullptr, "Data type as MXNet's number.", nullptr},
      {"_context_numbers", get_context, nullptr, "Device type and id.", nullptr},
      {"_version", get_version, nullptr, "Number of writes issued to the memory.", nullptr},
  });
}

}  // namespace afterglow::bindings
