// SPDX-License-Identifier: Apache-2.0
// Copies of NumPy arrays, without a word of Python where these are plain.
#include <optional>

#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/plain.h"

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

/// An np array on the first device. None for what is no NumPy array, or of another type, order or
/// device.
nb::object from_numpy(nb::handle object) {
  static PyObject* const numpy_array =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  static PyObject* const interface = PyUnicode_InternFromString("__array_struct__");
  constexpr int contiguous = 1, native = 0x200;
  if (!contexts_are_plain() || reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != numpy_array)
    return nb::none();
  const nb::object capsule = nb::steal(PyObject_GetAttr(object.ptr(), interface));
  const auto* host =
      capsule.is_valid()
          ? static_cast<const HostArray*>(PyCapsule_GetPointer(capsule.ptr(), nullptr))
          : nullptr;
  if (!host) throw nb::python_error();
  const auto dtype = host_dtype(*host);
  if (!dtype || (host->flags & (contiguous | native)) != (contiguous | native) ||
      host->rank > max_rank)
    return nb::none();
  const Shape shape(host->shape, host->shape + host->rank);
  Array result = Array::create(Layout::contiguous(shape), *dtype, {});
  fill_from_host(result, host->data);
  return nb::steal(wrap(std::move(result), false));
}

}  // namespace

void bind_from_numpy(nb::module_& module) {
  add_quick_function<from_numpy>(
      module, "from_numpy",
      "A copy of a NumPy array on the first device; None for what Python has to look at.");
}

}  // namespace afterglow::bindings
