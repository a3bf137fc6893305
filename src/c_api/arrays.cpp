// SPDX-License-Identifier: Apache-2.0
// Arrays of the interface: made, read, written, waited for, seen in parts.
#include <algorithm>
#include <cstring>
#include <optional>

#include "autograd/call_builder.h"
#include "c_api/interface.h"
#include "c_api/waiting.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::c_api {

using autograd::Handle;

Shape shape_from(const std::int64_t* shape, int ndim) {
  const auto extents = need_span(shape, ndim, "shape");
  if (ndim > max_rank)
    refuse("an array of " + std::to_string(ndim) + " dimensions; the most is " +
           std::to_string(max_rank));
  Shape result(extents.begin(), extents.end());
  element_count(result);  // refuses what no array can have
  return result;
}

DType dtype_from(int number) {
  if (number < 0 || number >= dtype_count)
    refuse("element type " + std::to_string(number) + "; there are 0 to " +
               std::to_string(dtype_count - 1),
           ErrorKind::type);
  return static_cast<DType>(number);
}

Context context_from(int device, int device_id) {
  const std::int64_t numbers[] = {device, device_id};
  const Context context = to_context(numbers);
  if (context.type == 4 || !exists(context))
    refuse("device " + std::to_string(device) + " with number " + std::to_string(device_id) +
               " was asked for, but there is no such device; use AG_CPU",
           ErrorKind::mxnet);
  return context;
}

Handle zeros(const Shape& shape, DType dtype, Context context) {
  autograd::wait_while_full();
  return ops::full(0, shape, dtype, context);
}

Handle array_from(const void* data, std::size_t bytes, const Shape& shape, DType dtype,
                  Context context) {
  Array array = Array::create(Layout::contiguous(shape), dtype, context);
  if (static_cast<std::size_t>(array.storage->bytes()) != bytes)
    refuse("the memory has " + std::to_string(bytes) + " bytes; " + describe(array) + " takes " +
           std::to_string(array.storage->bytes()));
  if (bytes && !data) refuse("data is NULL");
  make_room_from_host(array);
  if (bytes) std::memcpy(array.data(), data, bytes);
  return {std::move(array), {}, {}, false};
}

void read_array(Handle handle, void* target, std::size_t bytes) {
  const std::size_t needed =
      static_cast<std::size_t>(handle.array.size()) * size_of(handle.array.dtype);
  if (bytes != needed)
    refuse("the memory has " + std::to_string(bytes) + " bytes; " + describe(handle.array) +
           " takes " + std::to_string(needed));
  if (needed && !target) refuse("data is NULL");
  if (!handle.array.layout->is_contiguous()) {
    const autograd::Unrecorded pause;
    handle = ops::contiguous(handle);
  }
  read_value(handle.array, target);
}

void write_array(Handle& handle, const void* data, std::size_t bytes) {
  const Handle value =
      array_from(data, bytes, Shape(handle.array.shape().begin(), handle.array.shape().end()),
                 handle.array.dtype, handle.array.context());
  ops::assign(handle, value);
}

namespace {

std::optional<double> timeout_from(double seconds) {
  if (seconds < 0) return {};
  return seconds;
}

std::int64_t first_extent(const Handle& handle) {
  if (!handle.array.layout->rank()) refuse("an array without dimensions has no parts");
  return handle.array.shape()[0];
}

Handle part(const Handle& whole, std::int64_t begin, std::int64_t end) {
  const std::int64_t extent = first_extent(whole);
  if (begin < 0 || end < begin || end > extent)
    refuse("from " + std::to_string(begin) + " to " + std::to_string(end) +
               " of an array of shape " + to_string(whole.array.shape()),
           ErrorKind::index);
  return ops::between(whole, 0, begin, end);
}

Handle element(const Handle& whole, std::int64_t index) {
  const std::int64_t extent = first_extent(whole);
  if (index < -extent || index >= extent)
    refuse("index " + std::to_string(index) + " of an array of shape " +
               to_string(whole.array.shape()),
           ErrorKind::index);
  ops::Part one = ops::part_between(whole.array, 0, index < 0 ? index + extent : index,
                                    (index < 0 ? index + extent : index) + 1);
  one.shape.erase(one.shape.begin());
  one.strides.erase(one.strides.begin());
  return ops::view(whole, one);
}

/// One extent may be -1, for all that is left.
Handle reshaped(const Handle& array, const std::int64_t* extents, int ndim) {
  const auto given = need_span(extents, ndim, "shape");
  Shape shape(given.begin(), given.end());
  const auto open = std::ranges::find(shape, -1);
  if (open != shape.end()) {
    *open = 1;
    const std::int64_t others = element_count(shape);
    *open = others ? array.array.size() / others : 0;
  }
  if (ndim > max_rank || element_count(shape) != array.array.size())
    refuse("an array of shape " + to_string(array.array.shape()) + " has no shape " +
           to_string(shape));
  return ops::shaped(ops::contiguous(array), shape);
}

}  // namespace
}  // namespace afterglow::c_api

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

int AGArrayCreate(const int64_t* shape, int ndim, int dtype, int device, int device_id,
                  AGArrayHandle* array) {
  return guarded([&] {
    need(array, "array") = new_array(
        zeros(shape_from(shape, ndim), dtype_from(dtype), context_from(device, device_id)));
  });
}

int AGArrayFromMemory(const void* data, size_t bytes, const int64_t* shape, int ndim, int dtype,
                      int device, int device_id, AGArrayHandle* array) {
  return guarded([&] {
    need(array, "array") = new_array(array_from(
        data, bytes, shape_from(shape, ndim), dtype_from(dtype), context_from(device, device_id)));
  });
}

int AGArrayFree(AGArrayHandle array) {
  return guarded([&] { free_object<ArrayObject>(array, "array"); });
}

int AGArrayGetShape(AGArrayHandle array, int* ndim, const int64_t** shape) {
  return guarded([&] {
    const auto object = array_of(array);
    need(ndim, "ndim") = object->handle.array.layout->rank();
    need(shape, "shape") = object->handle.array.shape().data();
  });
}

int AGArrayGetType(AGArrayHandle array, int* dtype) {
  return guarded(
      [&] { need(dtype, "dtype") = static_cast<int>(array_of(array)->handle.array.dtype); });
}

int AGArrayGetContext(AGArrayHandle array, int* device, int* device_id) {
  return guarded([&] {
    const Context context = array_of(array)->handle.array.context();
    need(device, "device") = context.type;
    need(device_id, "device_id") = context.id;
  });
}

int AGArrayWait(AGArrayHandle array, double timeout) {
  return guarded([&] {
    wait_for(array_of(array)->handle.array, engine::WaitFor::read, timeout_from(timeout));
  });
}

int AGArrayWaitToWrite(AGArrayHandle array, double timeout) {
  return guarded([&] {
    wait_for(array_of(array)->handle.array, engine::WaitFor::write, timeout_from(timeout));
  });
}

int AGArrayIsReady(AGArrayHandle array, int* is_ready) {
  return guarded([&] {
    need(is_ready, "is_ready") =
        lazy::window().make_ready(*array_of(array)->handle.array.storage, engine::WaitFor::read);
  });
}

int AGArrayRead(AGArrayHandle array, void* data, size_t bytes) {
  return guarded([&] { read_array(array_of(array)->handle, data, bytes); });
}

int AGArrayWrite(AGArrayHandle array, const void* data, size_t bytes) {
  return guarded([&] {
    const auto object = array_of(array);
    write_array(object->handle, data, bytes);
  });
}

int AGArrayAssign(AGArrayHandle array, AGArrayHandle value) {
  return guarded([&] {
    const auto target = array_of(array), source = array_of(value);
    ops::assign(target->handle, source->handle);
  });
}

int AGArraySlice(AGArrayHandle array, int64_t begin, int64_t end, AGArrayHandle* view) {
  return guarded(
      [&] { need(view, "view") = new_array(part(array_of(array)->handle, begin, end)); });
}

int AGArrayAt(AGArrayHandle array, int64_t index, AGArrayHandle* view) {
  return guarded([&] { need(view, "view") = new_array(element(array_of(array)->handle, index)); });
}

int AGArrayReshape(AGArrayHandle array, const int64_t* shape, int ndim, AGArrayHandle* view) {
  return guarded(
      [&] { need(view, "view") = new_array(reshaped(array_of(array)->handle, shape, ndim)); });
}

int AGArrayDetach(AGArrayHandle array, AGArrayHandle* detached) {
  return guarded([&] {
    need(detached, "detached") = new_array({array_of(array)->handle.array, {}, {}, false});
  });
}

}  // extern "C"
