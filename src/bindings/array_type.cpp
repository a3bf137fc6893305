// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_type.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/half.h"
#include "bindings/held.h"
#include "bindings/keys.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "ops/operators.h"
#include "ops/reshape.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

using autograd::Handle;

// All guarded by the GIL.
PyTypeObject* base_type = nullptr;
PyTypeObject* legacy_class = nullptr;  // nd.NDArray
PyTypeObject* numpy_class = nullptr;   // np.ndarray
PyObject* converter = nullptr;
PyObject* numpy_empty = nullptr;
PyObject* numpy_dtypes = nullptr;  // tuple, by number
std::int64_t live = 0;
std::vector<void*> spare;  // memory of released handles
constexpr std::size_t most_spare = 1024;

using ops::op_named;

bool is_registered(PyTypeObject* type) {
  return type == legacy_class || type == numpy_class;
}

ArrayObject* allocate(PyTypeObject* type) {
  ArrayObject* object;
  if (!is_registered(type)) {
    object = reinterpret_cast<ArrayObject*>(type->tp_alloc(type, 0));
    if (object) object->tracked = true;
    return object;
  }
  if (spare.empty()) {
    object = PyObject_GC_New(ArrayObject, type);
  } else {
    void* memory = spare.back();
    spare.pop_back();
    object = reinterpret_cast<ArrayObject*>(PyObject_Init(static_cast<PyObject*>(memory), type));
  }
  if (object) object->tracked = false;
  return object;
}

PyObject* make(Handle handle, PyTypeObject* type) {
  ArrayObject* object = allocate(type);
  if (!object) throw nb::python_error();
  const bool tracked = object->tracked;
  new (static_cast<Handle*>(object)) Handle(std::move(handle));
  object->tracked = tracked;
  look_after(*object);
  ++live;
  return object;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(static_cast<PyObject*>(as_array(self).held.get()));
  return 0;
}

int clear(PyObject* self) {
  as_array(self).held = {};
  return 0;
}

void deallocate(PyObject* self) {
  Handle& handle = as_array(self);
  if (as_array(self).tracked) PyObject_GC_UnTrack(self);
  handle.held = {};
  handle.origin = {};
  if (handle) lazy::window().handle_goes(*handle.array.storage);
  handle.~Handle();
  --live;
  PyTypeObject* type = Py_TYPE(self);
  if (is_registered(type) && spare.size() < most_spare) {
    spare.push_back(self);
  } else {
    type->tp_free(self);
  }
  Py_DECREF(type);
}

// --- operators ---

template <const char* name>
PyObject* binary_slot(PyObject* left, PyObject* right) {
  static const lazy::Op& op = op_named(name);
  return binary(op, left, right, nullptr);
}

template <const char* name>
PyObject* in_place_slot(PyObject* self, PyObject* other) {
  static const lazy::Op& op = op_named(name);
  return binary(op, self, other, &as_array(self));
}

template <const char* name>
PyObject* unary_slot(PyObject* self) {
  static const lazy::Op& op = op_named(name);
  return unary(op, self);
}

constexpr char add[] = "add", subtract[] = "subtract", multiply[] = "multiply", divide[] = "divide",
               modulo[] = "modulo", power[] = "power", negative[] = "negative", absolute[] = "abs";

PyObject* power_slot(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary_slot<power>(left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  static const lazy::Op* const ops[] = {&op_named("less"),    &op_named("less_equal"),
                                        &op_named("equal"),   &op_named("not_equal"),
                                        &op_named("greater"), &op_named("greater_equal")};
  return binary(*ops[operation], left, right, nullptr);
}

// --- values ---

PyObject* to_python_number(const Array& array) {
  std::byte bytes[8];
  read_value(array, bytes);
  const auto as = [&]<class T>(T) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  switch (array.dtype) {
    case DType::float32:
      return PyFloat_FromDouble(as(float{}));
    case DType::float64:
      return PyFloat_FromDouble(as(double{}));
    case DType::float16:
      return PyFloat_FromDouble(half_to_float(as(std::uint16_t{})));
    case DType::uint8:
      return PyLong_FromLong(as(std::uint8_t{}));
    case DType::int8:
      return PyLong_FromLong(as(std::int8_t{}));
    case DType::int32:
      return PyLong_FromLong(as(std::int32_t{}));
    case DType::int64:
      return PyLong_FromLongLong(as(std::int64_t{}));
    case DType::boolean:
      return PyBool_FromLong(as(std::uint8_t{}));
  }
  return nullptr;
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

nb::object shape_tuple(std::span<const std::int64_t> shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(axis), PyLong_FromLongLong(shape[axis]));
  }
  return tuple;
}

PyObject* asnumpy(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Array& array = as_array(self).array;
    nb::object shape = shape_tuple(array.shape());
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

// --- waiting ---

std::optional<double> timeout_from(PyObject* object) {
  if (object == Py_None) return {};
  const double seconds = PyFloat_AsDouble(object);
  if (seconds == -1 && PyErr_Occurred()) throw nb::python_error();
  return seconds;
}

PyObject* wait_with(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names,
                    engine::WaitFor what) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    if (count + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "timeout"))) {
      throw Error(ErrorKind::type, "waiting takes one argument, timeout");
    }
    wait_for(as_array(self).array, what, timeout_from(count + named ? values[0] : Py_None));
    Py_RETURN_NONE;
  });
}

PyObject* wait_to_read(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return wait_with(self, values, count, names, engine::WaitFor::read);
}

PyObject* wait_to_write(PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* names) {
  return wait_with(self, values, count, names, engine::WaitFor::write);
}

PyObject* ready(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyBool_FromLong(is_ready(as_array(self).array)); });
}

// --- views and writes ---

Shape numbers_from(PyObject* tuple) {
  Shape numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    numbers.push_back(to_integer(PyTuple_GET_ITEM(tuple, i)));
  }
  return numbers;
}

PyObject* view(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&] {
    long long offset;
    PyObject *shape, *strides;
    if (!PyArg_ParseTuple(arguments, "LO!O!", &offset, &PyTuple_Type, &shape, &PyTuple_Type,
                          &strides)) {
      throw nb::python_error();
    }
    const ops::Part part{offset, numbers_from(shape), numbers_from(strides)};
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

/// A copy of elements that a place names, in order.
PyObject* copy_at(PyObject* self, const ops::Part& place) {
  static const lazy::Op& copy = op_named("copy");
  const Handle view = ops::view(as_array(self), place);
  autograd::CallBuilder builder(copy, view.legacy);
  builder.add(view);
  return wrap(builder.issue());
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

/// What a key of integers and slices names in an array.
std::optional<ops::Part> place_in(const ArrayObject& object, PyObject* key) {
  if (is_array(key)) return {};
  std::optional<ops::Part> place = place_of_key(*object.array.layout, key);
  if (place && object.legacy && place->shape.empty() && object.array.layout->rank()) {
    place->shape = place->strides = {1};  // nd has no arrays without dimensions here
  }
  return place;
}

/// What is written: an array or a number.
autograd::Value value_from(PyObject* object) {
  if (is_array(object)) return autograd::Value(as_array(object));
  lazy::Operand number;
  if (!set_number(number, object)) {
    throw Error(ErrorKind::type, "an array or a number is needed");
  }
  return to_value(number);
}

PyObject* assign(PyObject* self, PyObject* value) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    ops::assign(as_array(self), value_from(value));
    look_after(as_array(self));
    Py_RETURN_NONE;
  });
}

struct PartWrite {
  PyObject* value;
  ops::Part part;

  explicit PartWrite(PyObject* arguments) {
    PyObject *extents, *steps;
    long long offset;
    if (!PyArg_ParseTuple(arguments, "OLO!O!", &value, &offset, &PyTuple_Type, &extents,
                          &PyTuple_Type, &steps)) {
      throw nb::python_error();
    }
    part = {offset, numbers_from(extents), numbers_from(steps)};
  }
};

PyObject* write(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const PartWrite given(arguments);
    ops::write(as_array(self), value_from(given.value), given.part);
    look_after(as_array(self));
    Py_RETURN_NONE;
  });
}

PyObject* written(PyObject* self, PyObject* arguments) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const PartWrite given(arguments);
    if (autograd::state().recording) {
      ops::record_write(as_array(self), value_from(given.value), given.part);
      look_after(as_array(self));
    }
    Py_RETURN_NONE;
  });
}

// --- x[key] ---

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

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    static const lazy::Op& take = op_named("take");
    if (const std::optional<ops::Part> place = place_in(as_array(self), key)) {
      const bool in_order = is_contiguous(place->shape, place->strides);
      if (!in_order) return copy_at(self, *place);
      return wrap_like(ops::contiguous_view(as_array(self), place->offset, place->shape), self);
    }
    if (is_index(self, key)) {
      PyObject* const inputs[] = {self, key};
      return call_with_defaults(take, inputs);
    }
    if (is_mask(self, key) && as_array(key).array.layout->rank() == 1) {
      nb::object positions = true_positions(key);
      PyObject* const inputs[] = {self, positions.ptr()};
      return call_with_defaults(take, inputs);
    }
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
  static const lazy::Op& scatter_nd = op_named("scatter_nd");
  autograd::CallBuilder builder(scatter_nd, as_array(self).legacy);
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
  const bool floating = array.dtype == DType::float32 || array.dtype == DType::float64 ||
                        array.dtype == DType::float16;
  return floating && (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) && array.size() &&
         array.layout->rank() == as_array(key).array.layout->rank();
}

void fill(PyObject* self, PyObject* key, PyObject* value) {
  static const lazy::Op& where = op_named("where");
  PyObject* const inputs[] = {key, value, self};
  Py_DECREF(call_with_defaults(where, inputs, self));
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

// --- properties ---

PyObject* get_shape(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return shape_tuple(as_array(self).array.shape()).release().ptr(); });
}

PyObject* get_strides(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return shape_tuple(as_array(self).array.layout->strides()).release().ptr(); });
}

PyObject* get_transposed(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Layout& layout = *as_array(self).array.layout;
    return copy_at(self, {0, Shape(layout.shape().rbegin(), layout.shape().rend()),
                          Shape(layout.strides().rbegin(), layout.strides().rend())});
  });
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

Py_hash_t hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4);
}

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"wait_to_read", as_method(wait_to_read), METH_FASTCALL | METH_KEYWORDS,
     "wait_to_read(timeout=None)\n\nWaits until the value is computed."},
    {"wait_to_write", as_method(wait_to_write), METH_FASTCALL | METH_KEYWORDS,
     "wait_to_write(timeout=None)\n\nWaits until nothing uses the array any more."},
    {"is_ready", ready, METH_NOARGS, "Whether the value is computed. Never blocks."},
    {"asnumpy", asnumpy, METH_NOARGS, "The value as a NumPy array, a copy."},
    {"_number", item, METH_NOARGS, "The value of an array of one element as a Python number."},
    {"_view", view, METH_VARARGS, "_view(offset, shape, strides): shares the memory."},
    {"_reordered", reordered, METH_O, "_reordered(order): a view with the axes in that order."},
    {"_between", between, METH_VARARGS,
     "_between(axis, begin, end): a view of what lies between two places of an axis."},
    {"_shaped", shaped, METH_O, "_shaped(shape): the same elements in another shape, shared."},
    {"_shaped_by_codes", shaped_by_codes, METH_VARARGS,
     "_shaped_by_codes(shape, reverse): the same with the codes of mx.nd."},
    {"_assign", assign, METH_O, "_assign(value): writes value into all elements."},
    {"_write", write, METH_VARARGS,
     "_write(value, offset, shape, strides): writes value into a part of the memory."},
    {"_written", written, METH_VARARGS,
     "_written(value, offset, shape, strides): tells the tape that a call wrote a part."},
    {"_shares_memory", shares_memory, METH_O,
     "_shares_memory(other): whether both lie in the same part of one memory block."},
    {"_as_class", as_class, METH_O, "_as_class(legacy): the same array as NDArray or ndarray."},
    {"_detached", detached, METH_NOARGS, "The same array, but a constant."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "Extent of every dimension.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of dimensions.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"T", get_transposed, nullptr, "The array with its axes reversed.", nullptr},
    {"_strides", get_strides, nullptr, "Steps between elements, in elements.", nullptr},
    {"_offset", get_offset, nullptr, "Place of the first element in the memory, in elements.",
     nullptr},
    {"_contiguous", get_contiguous, nullptr, "Whether the elements lie in order without gaps.",
     nullptr},
    {"_dtype_number", get_dtype, nullptr, "Data type as MXNet's number.", nullptr},
    {"_context_numbers", get_context, nullptr, "Device type and id.", nullptr},
    {"_version", get_version, nullptr, "Number of writes issued to the memory.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class Function>
PyType_Slot slot(int number, Function* function) {
  return {number, reinterpret_cast<void*>(function)};
}

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("An array whose value may still be on its way.")},
    slot(Py_tp_dealloc, deallocate),
    slot(Py_tp_traverse, traverse),
    slot(Py_tp_clear, clear),
    slot(Py_tp_richcompare, compare),
    slot(Py_tp_hash, hash),
    slot(Py_mp_subscript, subscript),
    slot(Py_mp_ass_subscript, set_subscript),
    slot(Py_sq_item, item_at),
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    slot(Py_nb_add, binary_slot<add>),
    slot(Py_nb_subtract, binary_slot<subtract>),
    slot(Py_nb_multiply, binary_slot<multiply>),
    slot(Py_nb_true_divide, binary_slot<divide>),
    slot(Py_nb_remainder, binary_slot<modulo>),
    slot(Py_nb_power, power_slot),
    slot(Py_nb_inplace_add, in_place_slot<add>),
    slot(Py_nb_inplace_subtract, in_place_slot<subtract>),
    slot(Py_nb_inplace_multiply, in_place_slot<multiply>),
    slot(Py_nb_inplace_true_divide, in_place_slot<divide>),
    slot(Py_nb_inplace_remainder, in_place_slot<modulo>),
    slot(Py_nb_negative, unary_slot<negative>),
    slot(Py_nb_absolute, unary_slot<absolute>),
    slot(Py_nb_bool, to_bool),
    slot(Py_nb_float, to_float),
    slot(Py_nb_int, to_int),
    {0, nullptr}};

PyType_Spec spec = {"afterglow._core.Array", sizeof(ArrayObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

/// Copies before it returns: what becomes of the foreign memory afterwards does not matter.
nb::object from_buffer(nb::handle source, nb::tuple shape, int dtype, nb::tuple context,
                       bool legacy) {
  const Context place = to_context(numbers_from(context.ptr()));
  if (place.type == Context::gpu) {
    throw Error(ErrorKind::mxnet, "[array] " + to_string(place) +
                                      " was asked for, but there is no such device (num_gpus() is "
                                      "0); use cpu()");
  }
  Py_buffer buffer;
  if (PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_C_CONTIGUOUS)) throw nb::python_error();
  const auto release = std::unique_ptr<Py_buffer, void (*)(Py_buffer*)>(&buffer, PyBuffer_Release);
  Array array = Array::create(Layout::contiguous(numbers_from(shape.ptr())),
                              static_cast<DType>(dtype), place);
  if (array.storage->bytes() != buffer.len) {
    throw Error(ErrorKind::value, "the buffer has " + std::to_string(buffer.len) + " bytes, " +
                                      describe(array) + " needs " +
                                      std::to_string(array.storage->bytes()));
  }
  fill_from_host(array, buffer.buf);
  return nb::steal(wrap(std::move(array), legacy));
}

/// The garbage collector looks at instances of classes made by a class statement from the start.
/// Few arrays own anything, and a list of a million of them would be walked again and again for
/// nothing: these are made by allocate(), unseen, until they own something.
void look_after_ourselves(PyTypeObject* type) {
  for (; type != base_type; type = type->tp_base) {
    type->tp_traverse = traverse;
    type->tp_clear = clear;
  }
}

void register_classes(nb::handle legacy, nb::handle numpy, nb::handle convert) {
  for (nb::handle type : {legacy, numpy}) {
    if (!PyType_Check(type.ptr()) ||
        reinterpret_cast<PyTypeObject*>(type.ptr())->tp_basicsize != sizeof(ArrayObject)) {
      throw Error(ErrorKind::type, "array classes must derive from Array and add no fields");
    }
  }
  legacy_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(legacy.ptr()));
  numpy_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(numpy.ptr()));
  for (PyTypeObject* type : {legacy_class, numpy_class}) {
    look_after_ourselves(type);
    type->tp_dealloc = deallocate;  // they have no fields of their own to be looked after
  }
  converter = Py_NewRef(convert.ptr());
}

}  // namespace

void fill_from_host(const Array& array, const void* source) {
  const std::int64_t bytes = array.storage->bytes();
  wait_for_room(bytes);
  take_buffer_or_wait(*array.storage);
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

bool is_array(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (is_registered(type)) return true;
  // Numbers are asked about all the time, and have long lists of base classes.
  if (type == &PyLong_Type || type == &PyFloat_Type) return false;
  return PyType_IsSubtype(type, base_type);
}

PyObject* wrap(Handle handle) {
  PyTypeObject* const type = handle.legacy ? legacy_class : numpy_class;
  return make(std::move(handle), type);
}

PyObject* wrap_like(Handle handle, PyObject* like) {
  return make(std::move(handle), Py_TYPE(like));
}

PyObject* convert_foreign(PyObject* object, bool legacy, PyObject* partner, bool defer) {
  PyObject* arguments[] = {object, legacy ? Py_True : Py_False, partner ? partner : Py_None,
                           defer ? Py_True : Py_False};
  return PyObject_Vectorcall(converter, arguments, 4, nullptr);
}

std::int64_t live_handles() {
  return live;
}

void bind_array_type(nb::module_& module) {
  base_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!base_type) throw nb::python_error();
  module.attr("Array") = nb::handle(reinterpret_cast<PyObject*>(base_type));
  nb::module_ numpy = nb::module_::import_("numpy");
  numpy_empty = nb::object(numpy.attr("empty")).release().ptr();
  numpy_dtypes = PyTuple_New(dtype_count);
  for (int i = 0; i < dtype_count; ++i) {
    nb::object dtype = numpy.attr("dtype")(dtype_names[i]);
    PyTuple_SET_ITEM(numpy_dtypes, i, dtype.release().ptr());
  }
  module.def("register_classes", register_classes, nb::arg("legacy"), nb::arg("numpy"),
             nb::arg("convert"),
             "The classes of results, and what turns foreign objects into arrays.");
  module.def("from_buffer", from_buffer, nb::arg("source"), nb::arg("shape"), nb::arg("dtype"),
             nb::arg("context"), nb::arg("legacy"),
             "A new array with a copy of a C-contiguous buffer.");
}

}  // namespace afterglow::bindings
