// SPDX-License-Identifier: Apache-2.0
#include "bindings/sparse.h"

#include <algorithm>
#include <memory>

#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/tape.h"
#include "lazy/capture.h"
#include "lazy/failure.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;

/// The classes and functions of the front end. Never given back: walks may come until the end.
struct FrontEndOfSparse {
  PyTypeObject* compressed_rows;  ///< csr
  PyTypeObject* rows;             ///< row_sparse
  nb::callable call;              ///< (operation, arguments, keywords)
  nb::callable dense;             ///< (array)
  nb::callable add;               ///< (left, right)
  nb::callable write;             ///< (target, value or None)
  nb::callable add_rows;          ///< (indices, values, shape)
};
FrontEndOfSparse* front_end = nullptr;

void register_sparse(nb::handle compressed_rows, nb::handle rows, nb::callable call,
                     nb::callable dense, nb::callable add, nb::callable write,
                     nb::callable add_rows) {
  const auto type = [](nb::handle one) {
    return reinterpret_cast<PyTypeObject*>(Py_NewRef(one.ptr()));
  };
  front_end = new FrontEndOfSparse{type(compressed_rows), type(rows),     std::move(call),
                                   std::move(dense),      std::move(add), std::move(write),
                                   std::move(add_rows)};
}

/// Why calls that take dense arrays alone cannot have a sparse one.
std::shared_ptr<Failure> refusal() {
  const auto failure = std::make_shared<Failure>();
  failure->kind = ErrorKind::type;
  failure->message =
      "a sparse array was given where a dense one is needed; tostype('default') makes one";
  return failure;
}

Array part(nb::handle object) {
  return object.is_none() ? Array() : need_array(object.ptr()).array;
}

/// A sparse array of these parts: compressed rows where there is an indptr.
nb::object make_sparse(nb::handle shape, nb::handle data, nb::handle indices, nb::handle indptr) {
  auto parts = std::make_unique<SparseParts>(part(data), part(indices), part(indptr));
  const DType dtype = parts->data.dtype;
  const Context context = parts->data.context();
  Array array;
  array.layout = Layout::contiguous(to_shape(shape.ptr()));
  array.dtype = dtype;
  array.storage = Storage::hollow(array.layout->size() * static_cast<std::int64_t>(size_of(dtype)),
                                  context, std::move(parts), refusal());
  return nb::steal(wrap_any({std::move(array), {}, {}, true}));
}

/// What stands in a sparse array is not told by its handle, so calls with one are not written down.
void refuse_capture() {
  if (lazy::Capture* const capture = lazy::Capture::current())
    capture->refuse("a sparse array, or a sparse gradient, takes part");
}

SparseParts& need_parts(nb::handle array) {
  refuse_capture();
  SparseParts* const parts = sparse_parts(need_array(array.ptr()).array);
  if (!parts) throw Error(ErrorKind::type, "a sparse array is needed");
  return *parts;
}

/// data, indices and indptr, or None for that.
nb::tuple parts_of(nb::handle array) {
  const SparseParts& parts = need_parts(array);
  const auto object = [](const Array& one) -> nb::object {
    if (!one.storage) return nb::none();
    return nb::steal(wrap(one, true));
  };
  return nb::make_tuple(object(parts.data), object(parts.indices), object(parts.indptr));
}

/// Gives a sparse array other parts, of the type that it has.
void set_parts(nb::handle array, nb::handle data, nb::handle indices, nb::handle indptr) {
  SparseParts& parts = need_parts(array);
  const Array& whole = as_array(array.ptr()).array;
  Array new_data = part(data);
  if (new_data.dtype != whole.dtype || new_data.context() != whole.context())
    throw Error(ErrorKind::type, "the data of a sparse array must have its type and place");
  parts.data = std::move(new_data);
  parts.indices = part(indices);
  parts.indptr = part(indptr);
  ++whole.storage->version;
}

nb::object object_of(const Handle& handle) {
  return nb::steal(wrap_any(Handle(handle)));
}

/// Handles of rules and sums are those of np, sparse arrays those of nd.
Handle as_legacy(Handle handle) {
  handle.legacy = true;
  return handle;
}

}  // namespace

bool is_sparse(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  return front_end && (type == front_end->compressed_rows || type == front_end->rows);
}

bool has_sparse(PyObject* const* values, std::size_t count) {
  return std::any_of(values, values + count, [](PyObject* object) {
    if (is_sparse(object)) return true;
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return false;
    PyObject** const items = PySequence_Fast_ITEMS(object);
    return std::any_of(items, items + PySequence_Fast_GET_SIZE(object), is_sparse);
  });
}

PyObject* call_sparse(PyObject* operation, PyObject* const* values, std::size_t flags,
                      PyObject* names) {
  const Py_ssize_t positional = PyVectorcall_NARGS(static_cast<std::size_t>(flags));
  return guarded<PyObject*>(nullptr, [&] {
    const nb::object arguments = nb::steal(PyTuple_New(positional));
    if (!arguments.is_valid()) throw nb::python_error();
    for (Py_ssize_t i = 0; i < positional; ++i)
      PyTuple_SET_ITEM(arguments.ptr(), i, Py_NewRef(values[i]));
    nb::dict keywords;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
      keywords[nb::handle(PyTuple_GET_ITEM(names, i))] = nb::handle(values[positional + i]);
    return nb::object(front_end->call(nb::handle(operation), arguments, keywords)).release().ptr();
  });
}

nb::object to_dense(PyObject* sparse) {
  return front_end->dense(nb::handle(sparse));
}

PyObject* wrap_any(Handle&& handle) {
  const SparseParts* const parts = sparse_parts(handle.array);
  if (!parts) return wrap(std::move(handle));
  handle.legacy = true;
  return wrap_as(std::move(handle),
                 parts->has_compressed_rows() ? front_end->compressed_rows : front_end->rows);
}

Handle add_sparse(const Handle& left, const Handle& right) {
  const nb::object sum = front_end->add(object_of(as_legacy(left)), object_of(as_legacy(right)));
  return need_array(sum.ptr());
}

void write_sparse(const Handle& target, const Handle& value) {
  front_end->write(object_of(as_legacy(target)), value ? object_of(as_legacy(value)) : nb::none());
}

Handle dense_handle(const Handle& sparse) {
  const nb::object dense = front_end->dense(object_of(sparse));
  return need_array(dense.ptr());
}

Handle add_rows(const Handle& indices, const Handle& values, const Shape& shape) {
  refuse_capture();
  const nb::object made = front_end->add_rows(object_of(as_legacy(indices)),
                                              object_of(as_legacy(values)), to_tuple(shape));
  return need_array(made.ptr());
}

void bind_sparse(nb::module_& module) {
  module.def("register_sparse", register_sparse, nb::arg("compressed_rows"), nb::arg("rows"),
             nb::arg("call"), nb::arg("dense"), nb::arg("add"), nb::arg("write"),
             nb::arg("add_rows"), "The classes of sparse arrays, and what is done with them.");
  module.def("make_sparse", make_sparse, nb::arg("shape"), nb::arg("data"), nb::arg("indices"),
             nb::arg("indptr").none(), "A sparse array of these parts.");
  module.def("sparse_parts", parts_of, nb::arg("array"),
             "What a sparse array is made of: data, indices, indptr or None.");
  module.def("set_sparse_parts", set_parts, nb::arg("array"), nb::arg("data"), nb::arg("indices"),
             nb::arg("indptr").none(), "Gives a sparse array other parts.");
}

}  // namespace afterglow::bindings
