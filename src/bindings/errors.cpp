// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bindings/functions.h"
#include "bindings/python.h"
#include "bindings/site.h"

namespace afterglow::bindings {
namespace {

PyObject* error_classes = nullptr;

}  // namespace

void set_error_classes(nb::list classes) {
  error_classes = classes.release().ptr();
}

void set_python_error(ErrorKind kind, const char* message) {
  PyObject* type = error_classes ? PyList_GetItem(error_classes, static_cast<Py_ssize_t>(kind))
                                 : PyExc_RuntimeError;
  PyErr_SetString(type, message);
}

void raise_failure(Failure& failure) {
  failure.raised = true;
  raise_interruption();  // which is what the failure came from
  const std::string place = describe_site(failure.site);
  std::string message = failure.message + (place.empty() ? "" : "\n  issued at " + place);
  const std::string layer = layer_name(failure.layer);
  if (!layer.empty()) message += "\n  in layer " + layer;
  set_python_error(failure.kind, message.c_str());
  throw nb::python_error();
}

void translate_exception() {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    set_python_error(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    set_python_error(ErrorKind::memory, "there is no memory left");
  } catch (const std::exception& error) {
    set_python_error(ErrorKind::mxnet, error.what());
  } catch (...) {
    set_python_error(ErrorKind::mxnet, "an exception of unknown type");
  }
}

}  // namespace afterglow::bindings
