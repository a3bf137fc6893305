// SPDX-License-Identifier: Apache-2.0
#include "bindings/site.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

namespace afterglow::bindings {
namespace {

std::string package_folder = "\n";  // no file starts with it until it is set
// Of the notebook that runs the program; guarded by the GIL.
std::string notebook_folder = "\n";
PyObject* cell_numbers = nullptr;

// Written by any thread, emptied under the GIL. Never destroyed: what is destroyed when the process
// ends, in whatever order, may hold sites.
std::mutex left_behind_mutex;
std::vector<PyObject*>& left_behind() {
  static auto* const codes = new std::vector<PyObject*>;
  return *codes;
}
std::atomic<bool> any_left_behind{false};

void retain(void* code) {
  Py_INCREF(static_cast<PyObject*>(code));
}

void release_at_once(void* code) {
  Py_DECREF(static_cast<PyObject*>(code));
}

void release_later(void* code) {
  try {
    std::lock_guard lock(left_behind_mutex);
    left_behind().push_back(static_cast<PyObject*>(code));
    any_left_behind = true;
  } catch (const std::bad_alloc&) {  // it lives on: destructors, which call this, must not fail
  }
}

bool starts_with_package(PyObject* filename) {
  const char* text = PyUnicode_AsUTF8(filename);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  return std::strncmp(text, package_folder.c_str(), package_folder.size()) == 0 ||
         std::strncmp(text, notebook_folder.c_str(), notebook_folder.size()) == 0;
}

/// All code of a file shares one filename object, so the answer is remembered by its address.
bool is_ours(PyObject* filename) {
  struct Known {
    PyObject* filename = nullptr;
    bool ours = false;
  };
  static std::array<Known, 64> known;  // guarded by the GIL
  Known& entry = known[(reinterpret_cast<std::uintptr_t>(filename) >> 4) % known.size()];
  if (entry.filename != filename) {
    Py_INCREF(filename);  // the address must not be taken by another string while it is remembered
    PyObject* old = std::exchange(entry.filename, filename);
    entry.ours = starts_with_package(filename);
    Py_XDECREF(old);
  }
  return entry.ours;
}

/// The number of the notebook cell that is compiled under a name; -1 for other files. Runs no
/// Python.
long cell_number(PyObject* filename) {
  PyObject* number = cell_numbers ? PyDict_GetItemWithError(cell_numbers, filename) : nullptr;
  const long found = number && PyLong_CheckExact(number) ? PyLong_AsLong(number) : -1;
  PyErr_Clear();
  return found;
}

const bool hooks_set = [] {
  lazy::Site::set_hooks(retain, release_at_once, release_later);
  return true;
}();

}  // namespace

#if PY_VERSION_HEX < 0x030C0000

// The public functions make a frame object for each frame of ours, which takes as long as a tiny
// call does; this looks at what the interpreter itself has.
lazy::Site capture_site() {
  for (_PyInterpreterFrame* frame = PyThreadState_Get()->cframe->current_frame; frame;
       frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame) || is_ours(frame->f_code->co_filename)) continue;
    const int instruction =
        _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
    return {Py_NewRef(frame->f_code), instruction};
  }
  return {};
}

#else

lazy::Site capture_site() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (!is_ours(code->co_filename)) {
      lazy::Site site(code, PyFrame_GetLasti(frame));
      Py_DECREF(frame);
      return site;
    }
    Py_DECREF(code);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return {};
}

#endif

std::string describe_site(const lazy::Site& site) {
  if (!site.code()) return "";
  auto* code = static_cast<PyCodeObject*>(site.code());
  const int line = PyCode_Addr2Line(code, site.instruction());
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  const char* function = PyUnicode_AsUTF8(code->co_name);
  if (!file || !function) {
    PyErr_Clear();
    return "";
  }
  if (const long number = cell_number(code->co_filename); number >= 0) {
    const std::string place =
        "Cell In[" + std::to_string(number) + "], line " + std::to_string(line);
    const bool is_whole = std::strcmp(function, "<module>") == 0 ||
                          std::strncmp(function, "<cell line:", 11) == 0;  // IPython 8
    return is_whole ? place : place + " in " + function;
  }
  return std::string(file) + ":" + std::to_string(line) + " in " + function;
}

void set_notebook(const char* folder, nb::dict numbers) {
  notebook_folder = folder;
  Py_XDECREF(std::exchange(cell_numbers, numbers.release().ptr()));
}

void set_package_folder(const char* folder) {
  package_folder = folder;
}

void release_sites_left_behind() {
  if (!any_left_behind.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> codes;
  {
    std::lock_guard lock(left_behind_mutex);
    codes.swap(left_behind());
    any_left_behind = false;
  }
  for (PyObject* code : codes) Py_DECREF(code);
}

}  // namespace afterglow::bindings
