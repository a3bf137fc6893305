// SPDX-License-Identifier: Apache-2.0
// What `with` statements change, for a while, in the state of a thread. Python raises the
// exceptions of signal handlers between any two steps of a function, also in the middle of one that
// is written in Python to begin or to end such a statement; these are not, so that what is changed
// is always changed back.
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/anomaly.h"
#include "bindings/functions.h"
#include "bindings/tape.h"
#include "lazy/layer.h"

namespace afterglow::bindings {
namespace {

/// Recording and training of this thread; what is not given stays.
class AutogradScope {
 public:
  AutogradScope(std::optional<bool> recording, std::optional<bool> training)
      : recording_(recording), training_(training) {}

  void enter() {
    autograd::State& state = autograd::state();
    outer_.push_back(state);
    if (recording_) state.recording = *recording_;
    if (training_) state.training = *training_;
  }
  void exit(nb::args) {
    if (outer_.empty()) throw Error(ErrorKind::mxnet, "this scope was not entered");
    autograd::State& state = autograd::state();
    if (recording_) state.recording = outer_.back().recording;
    if (training_) state.training = outer_.back().training;
    outer_.pop_back();
  }

 private:
  const std::optional<bool> recording_, training_;
  std::vector<autograd::State> outer_;
};

/// Whether this thread looks for results that are not finite. With `at_once` from here on, else
/// from where it is entered.
class AnomalyScope {
 public:
  AnomalyScope(bool on, bool at_once)
      : own_(on ? autograd::Detection::on : autograd::Detection::off) {
    if (!at_once) return;
    before_ = autograd::OwnDetection::get();
    autograd::OwnDetection::set(own_);
  }

  void enter() {
    outer_.push_back(before_.value_or(autograd::OwnDetection::get()));
    before_.reset();
    autograd::OwnDetection::set(own_);
  }
  void exit(nb::args) {
    if (outer_.empty()) throw Error(ErrorKind::mxnet, "this scope was not entered");
    autograd::OwnDetection::set(outer_.back());
    outer_.pop_back();
  }

 private:
  const autograd::Detection own_;
  std::optional<autograd::Detection> before_;
  std::vector<autograd::Detection> outer_;
};

/// Calls of this thread belong to a layer; a number that nobody was given stands for none.
class LayerScope {
 public:
  explicit LayerScope(std::int32_t layer) : layer_(is_layer(layer) ? layer : 0) {}

  void enter() {
    outer_.push_back(lazy::current_layer);
    lazy::current_layer = layer_;
  }
  void exit(nb::args) {
    if (outer_.empty()) throw Error(ErrorKind::mxnet, "this scope was not entered");
    lazy::current_layer = outer_.back();
    outer_.pop_back();
  }

 private:
  const std::int32_t layer_;
  std::vector<std::int32_t> outer_;
};

// --- attributes of Python objects ---

/// (scope, what its attributes were) for those that this thread is in. One scope may be entered by
/// several threads, and again while it is entered.
nb::list entered() {
  const nb::handle thread = PyThreadState_GetDict();
  if (!thread.is_valid()) throw std::bad_alloc();
  static const char* const key = "afterglow scopes";
  if (PyObject* const found = PyDict_GetItemString(thread.ptr(), key))
    return nb::borrow<nb::list>(found);
  nb::list made;
  if (PyDict_SetItemString(thread.ptr(), key, made.ptr())) throw nb::python_error();
  return made;
}

/// Sets attributes: (object, name, value) each.
void set_attributes(nb::handle changes) {
  for (nb::handle change : changes) nb::setattr(change[0], nb::object(change[1]), change[2]);
}

void leave(nb::handle scope) {
  nb::list scopes = entered();
  for (std::size_t i = scopes.size(); i-- > 0;) {
    const nb::object one = scopes[i];
    if (!nb::object(one[0]).is(scope)) continue;
    set_attributes(one[1]);
    if (PySequence_DelItem(scopes.ptr(), static_cast<Py_ssize_t>(i))) throw nb::python_error();
    return;
  }
  throw Error(ErrorKind::mxnet, "this scope was not entered");
}

PyObject* enter_scope(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const nb::handle scope = self;
    // The only step that runs Python: nothing is changed yet.
    const nb::object wanted = scope.attr("_enter")();
    const nb::object result = wanted[0], changes = wanted[1];
    nb::list before;
    for (nb::handle change : changes)
      before.append(nb::make_tuple(change[0], change[1],
                                   nb::getattr(nb::object(change[0]), nb::object(change[1]))));
    entered().append(nb::make_tuple(scope, before));
    try {
      set_attributes(changes);
    } catch (...) {
      leave(scope);
      throw;
    }
    return nb::object(result).release().ptr();
  });
}

PyObject* exit_scope(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    leave(self);
    return nb::none().release().ptr();
  });
}

PyMethodDef methods[] = {{"__enter__", enter_scope, METH_NOARGS, nullptr},
                         {"__exit__", exit_scope, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("A `with` scope that gives attributes other values for a while. "
                                  "Subclasses define `_enter`: it changes nothing, and returns the "
                                  "target of `as` and the changes, (object, name, value) each.")},
    {Py_tp_methods, methods},
    {0, nullptr}};
PyType_Spec spec = {"afterglow._core.Scope", sizeof(PyObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

void bind_scopes(nb::module_& module) {
  module.attr("Scope") = nb::steal(PyType_FromSpec(&spec));
  nb::class_<AutogradScope>(module, "AutogradScope")
      .def(nb::init<std::optional<bool>, std::optional<bool>>(), nb::arg("recording").none(),
           nb::arg("training").none())
      .def("__enter__", &AutogradScope::enter)
      .def("__exit__", &AutogradScope::exit);
  const char* const detect = std::getenv("AFTERGLOW_DETECT_ANOMALY");
  autograd::detects_anomalies_by_default = detect && std::string_view(detect) == "1";
  nb::class_<AnomalyScope>(module, "AnomalyScope")
      .def(nb::init<bool, bool>(), nb::arg("on"), nb::arg("at_once"))
      .def("__enter__", &AnomalyScope::enter)
      .def("__exit__", &AnomalyScope::exit);
  nb::class_<LayerScope>(module, "LayerScope")
      .def(nb::init<std::int32_t>(), nb::arg("layer"))
      .def("__enter__", &LayerScope::enter)
      .def("__exit__", &LayerScope::exit);
}

}  // namespace afterglow::bindings
