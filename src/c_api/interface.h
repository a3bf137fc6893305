// SPDX-License-Identifier: Apache-2.0
// What all functions of the interface share: errors as text, and handles that are looked up.
//
// A handle is a number in the shape of a pointer. Numbers are never given out twice, so one that
// was freed, or never made, is known as such.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <afterglow/c_api.h>

#include "autograd/handle.h"
#include "c_api/right.h"

namespace afterglow::c_api {

/// Writes down the exception in flight for AGGetLastError(). Always -1.
int note_error() noexcept;

/// Runs the body of a function with the right to issue calls; nothing is thrown from here.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    start();
    const Right right;
    body();
    return 0;
  } catch (...) {
    return note_error();
  }
}

[[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value);

/// An argument that may not be NULL.
template <class T>
T& need(T* pointer, const char* name) {
  if (!pointer) refuse(std::string(name) + " is NULL");
  return *pointer;
}
inline const char* need_text(const char* text, const char* name) {
  return &need(text, name);
}
/// So many elements, of which there may be none.
template <class T>
std::span<T> need_span(T* first, std::int64_t count, const char* name) {
  if (count < 0) refuse("a negative number of " + std::string(name));
  if (count && !first) refuse(std::string(name) + " is NULL");
  return {first, static_cast<std::size_t>(count)};
}

/// What handles stand for.
class Object {
 public:
  virtual ~Object() = default;
};

struct ArrayObject : Object {
  explicit ArrayObject(autograd::Handle its) : handle(std::move(its)) {}
  ~ArrayObject() override;

  autograd::Handle handle;
};

// All of these need the right. Objects are shared: one that is freed while a call that uses it
// waits stays until that call is done.

std::uintptr_t keep(std::shared_ptr<Object> object);
std::shared_ptr<Object> find(std::uintptr_t number);
void forget(std::uintptr_t number);
[[noreturn]] void refuse_handle(const void* handle, const char* kind);

template <class Its, class Handle>
std::shared_ptr<Its> object_of(Handle handle, const char* kind) {
  auto object = std::dynamic_pointer_cast<Its>(find(reinterpret_cast<std::uintptr_t>(handle)));
  if (!object) refuse_handle(handle, kind);
  return object;
}
template <class Its, class Handle>
void free_object(Handle handle, const char* kind) {
  object_of<Its>(handle, kind);
  forget(reinterpret_cast<std::uintptr_t>(handle));
}

inline std::shared_ptr<ArrayObject> array_of(AGArrayHandle handle) {
  return object_of<ArrayObject>(handle, "array");
}
inline AGArrayHandle new_array(autograd::Handle handle) {
  return reinterpret_cast<AGArrayHandle>(keep(std::make_shared<ArrayObject>(std::move(handle))));
}
/// New handles, in the list of this thread.
void give_out(std::vector<autograd::Handle> results, int* count, AGArrayHandle** outputs);

/// An array of zeros.
autograd::Handle zeros(const Shape& shape, DType dtype, Context context);
/// A copy of elements in C order.
autograd::Handle array_from(const void* data, std::size_t bytes, const Shape& shape, DType dtype,
                            Context context);
/// Waits; the elements in C order.
void read_array(autograd::Handle handle, void* target, std::size_t bytes);
void write_array(autograd::Handle& handle, const void* data, std::size_t bytes);
Shape shape_from(const std::int64_t* shape, int ndim);
DType dtype_from(int number);
Context context_from(int device, int device_id);

}  // namespace afterglow::c_api
