// SPDX-License-Identifier: Apache-2.0
#include "c_api/interface.h"

#include <new>
#include <unordered_map>

#include "lazy/window.h"

namespace afterglow::c_api {
namespace {

struct LastError {
  std::string text;
  const char* kind = "";
};

/// Text that a thread may still ask for while it ends stays as long as the thread's other objects.
LastError& last_error() {
  thread_local LastError error;
  return error;
}

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::mxnet:
      return "MXNetError";
    case ErrorKind::value:
      return "ValueError";
    case ErrorKind::type:
      return "TypeError";
    case ErrorKind::index:
      return "IndexError";
    case ErrorKind::memory:
      return "MemoryError";
    case ErrorKind::not_implemented:
      return "NotImplementedError";
    case ErrorKind::timeout:
      return "TimeoutError";
    case ErrorKind::axis:
      return "AxisError";
    case ErrorKind::overflow:
      return "OverflowError";
    case ErrorKind::argument:
    case ErrorKind::unknown_form:
      return "ArgumentError";
    case ErrorKind::zero_division:
      return "ZeroDivisionError";
  }
  return "MXNetError";
}

void set_error(const char* kind, const char* text) noexcept {
  try {
    last_error().kind = kind;
    last_error().text = text;
  } catch (...) {
    // There is no memory for the text: the kind says so.
    last_error().kind = "MemoryError";
    last_error().text.clear();
  }
}

/// Guarded by the right; never destroyed.
struct Objects {
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> by_number;
  // Addresses that nothing has on the systems we know: taken for pointers, they lead nowhere.
  std::uintptr_t next = (std::uintptr_t{1} << 56) + 16;
};
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

}  // namespace

int note_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_error(name_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    set_error("MemoryError", "there is no memory left");
  } catch (const std::exception& error) {
    set_error("MXNetError", error.what());
  } catch (...) {
    set_error("MXNetError", "an exception of unknown type");
  }
  return -1;
}

void refuse(const std::string& what, ErrorKind kind) {
  throw Error(kind, what);
}

ArrayObject::~ArrayObject() {
  handle.origin = {};
  if (handle) lazy::window().handle_goes(*handle.array.storage);
}

std::uintptr_t keep(std::shared_ptr<Object> object) {
  Objects& all = objects();
  const std::uintptr_t number = all.next;
  all.by_number.emplace(number, std::move(object));
  all.next += 16;
  return number;
}

std::shared_ptr<Object> find(std::uintptr_t number) {
  const auto found = objects().by_number.find(number);
  return found == objects().by_number.end() ? nullptr : found->second;
}

void forget(std::uintptr_t number) {
  objects().by_number.erase(number);
}

void refuse_handle(const void* handle, const char* kind) {
  if (!handle) refuse("the handle of " + std::string(kind) + " is NULL");
  const bool is_other = find(reinterpret_cast<std::uintptr_t>(handle)) != nullptr;
  refuse(std::string("the handle is not one of ") + kind +
         (is_other ? ": it stands for something else" : ": it was freed, or never made"));
}

void give_out(std::vector<autograd::Handle> results, int* count, AGArrayHandle** outputs) {
  thread_local std::vector<AGArrayHandle> list;
  list.clear();
  list.reserve(results.size());
  for (autograd::Handle& result : results) list.push_back(new_array(std::move(result)));
  need(count, "output_count") = static_cast<int>(list.size());
  need(outputs, "outputs") = list.data();
}

}  // namespace afterglow::c_api

extern "C" {

const char* AGGetLastError(void) {
  return afterglow::c_api::last_error().text.c_str();
}

const char* AGGetLastErrorKind(void) {
  return afterglow::c_api::last_error().kind;
}

}  // extern "C"
