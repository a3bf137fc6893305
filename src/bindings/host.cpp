// SPDX-License-Identifier: Apache-2.0
// Calls of Python functions that compute with NumPy: queued like any op, run aside, by a thread
// that takes the GIL (which NumPy gives back during long work). No signal handler runs in that
// thread.
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "autograd/anomaly.h"
#include "bindings/dlpack.h"
#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/aggregate.h"
#include "lazy/capture.h"
#include "lazy/costs.h"
#include "lazy/host.h"
#include "ops/operators.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

/// A NumPy array over the operand's own memory, or a number as an array without dimensions.
nb::object numpy_view(const lazy::Operand& operand, bool writable) {
  std::size_t shape[max_rank];
  std::int64_t strides[max_rank];
  void* data = const_cast<std::byte*>(operand.immediate.data());
  std::size_t rank = 0;
  if (!operand.is_immediate()) {
    data = operand.data();
    rank = static_cast<std::size_t>(operand.layout->rank());
    std::copy_n(operand.shape().data(), rank, shape);
    std::copy_n(operand.layout->strides().data(), rank, strides);
  }
  const nb::dlpack::dtype type = dlpack_type(operand.dtype);
  nb::handle nobody = nb::none();
  if (writable)
    return nb::cast(nb::ndarray<nb::numpy>(data, rank, shape, nobody, strides, type),
                    nb::rv_policy::reference);
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, rank, shape, nobody, strides, type),
                  nb::rv_policy::reference);
}

/// The error kind whose Python class the exception is of.
ErrorKind kind_of(const nb::python_error& error) {
  if (error.matches(PyExc_IndexError)) return ErrorKind::index;
  if (error.matches(PyExc_TypeError)) return ErrorKind::type;
  if (error.matches(PyExc_MemoryError)) return ErrorKind::memory;
  if (error.matches(PyExc_NotImplementedError)) return ErrorKind::not_implemented;
  if (error.matches(PyExc_ValueError)) return ErrorKind::value;  // LinAlgError is one
  return ErrorKind::mxnet;
}

/// An exception in words; those of signals often have no text of their own.
std::string text_of(const nb::python_error& error) {
  std::string text;
  try {
    const nb::str said(error.value());
    if (const char* const known = PyUnicode_AsUTF8AndSize(said.ptr(), nullptr)) {
      text = known;
    } else {
      PyErr_Clear();  // it cannot be written down
    }
  } catch (const std::exception&) {
    // Its __str__ raises in turn.
  }
  return text.empty() ? nb::type_name(error.type()).c_str() : text;
}

/// What came out of a host call that this thread ran itself, and belongs to the statement.
thread_local std::optional<nb::python_error> interruption;

/// A thread that asks for the GIL while the interpreter ends is ended by Python, which unwinds its
/// stack; frames of ours further up do not allow that. Such a thread stays here.
class StaysAtExit {
 public:
  ~StaysAtExit() {
    while (!left_) pause();
  }
  void leave() { left_ = true; }

 private:
  bool left_ = false;
};

class PythonFunction : public lazy::HostFunction {
 public:
  explicit PythonFunction(nb::callable function, nb::object skipped = {})
      : function_(std::move(function)), skipped_(std::move(skipped)) {}

  void run(const lazy::Call& call) override {
    std::optional<Error> failure(std::in_place, ErrorKind::mxnet, "the process is ending");
    in_python([&](bool aside) { failure = aside ? attempt(call) : attempt_here(call); });
    if (failure) throw *std::move(failure);
  }

  void skip(const std::string& why) noexcept override {
    if (!skipped_.is_valid()) return;
    in_python([&](bool) {
      PyObject* const text =
          PyUnicode_DecodeUTF8(why.data(), static_cast<Py_ssize_t>(why.size()), "replace");
      PyObject* const result = text ? PyObject_CallOneArg(skipped_.ptr(), text) : nullptr;
      if (!result) PyErr_WriteUnraisable(skipped_.ptr());
      Py_XDECREF(text);
      Py_XDECREF(result);
    });
  }

 private:
  /// Calls `body(aside)` with the GIL, or not at all once the interpreter is about to end.
  template <class Body>
  static void in_python(Body&& body) {
    // A thread that Python does not know keeps its state from the first call on.
    static thread_local const bool aside = !PyGILState_GetThisThreadState();
    static thread_local bool known = !aside;
    StaysAtExit stay;
    if (const std::optional<PyGILState_STATE> gil = take_gil_unless_exiting()) {
      if (!std::exchange(known, true)) PyGILState_Ensure();
      body(aside);
      PyGILState_Release(*gil);
    }
    stay.leave();
  }

  std::optional<Error> attempt(const lazy::Call& call) const {
    try {
      compute(call);
      return {};
    } catch (const nb::python_error& error) {
      return Error(kind_of(error), text_of(error));
    } catch (const std::exception& error) {
      return Error(ErrorKind::mxnet, error.what());
    }
  }

  /// On a thread of Python's, where handlers of signals may run meanwhile. What they raise is no
  /// failure of the function: it is no Exception (KeyboardInterrupt), or does not come again.
  std::optional<Error> attempt_here(const lazy::Call& call) const {
    try {
      compute(call);
      return {};
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_Exception)) {
        if (std::optional<Error> again = attempt(call)) return again;
      }
      const std::string name = nb::type_name(error.type()).c_str();
      interruption.emplace(std::move(error));
      return Error(ErrorKind::mxnet, "interrupted by " + name);
    } catch (const std::exception& error) {
      return Error(ErrorKind::mxnet, error.what());
    }
  }

  void compute(const lazy::Call& call) const {
    nb::list inputs, outputs;
    for (const lazy::Operand& input : call.inputs) inputs.append(numpy_view(input, false));
    for (const lazy::Operand& output : call.outputs) outputs.append(numpy_view(output, true));
    // From here on nothing of C++ is to be unwound; see StaysAtExit.
    PyObject* const given = inputs.release().ptr();
    PyObject* const wanted = outputs.release().ptr();
    PyObject* const result = PyObject_CallFunctionObjArgs(function_.ptr(), given, wanted, nullptr);
    Py_DECREF(given);
    Py_DECREF(wanted);
    if (!result) throw nb::python_error();
    Py_DECREF(result);
  }

  nb::callable function_;
  nb::object skipped_;
};

/// Texts of declarations, which live for good.
std::string_view kept(const char* text) {
  static auto* const texts = new std::deque<std::string>;
  return texts->emplace_back(text);
}

/// What a parameter takes, in words, as its default tells.
std::string_view kind_after(const lazy::Argument& default_value) {
  return std::visit(
      []<class Value>(const Value&) -> std::string_view {
        if constexpr (std::is_same_v<Value, std::monostate>)
          return "anything";
        else
          return lazy::FieldType<Value>::kind;
      },
      default_value);
}

/// `optional`: so many of the last inputs need not be given. `parameters`: (name, default,
/// whether it is required).
void declare_host(const char* name, nb::list inputs, int optional, nb::list parameters,
                  const char* doc) {
  lazy::Op op = {.name = kept(name), .doc = kept(doc)};
  op.optional_inputs = optional;
  for (nb::handle input : inputs) op.inputs.push_back(kept(nb::cast<const char*>(input)));
  for (nb::handle parameter : parameters) {
    const auto parts = nb::cast<nb::tuple>(parameter);
    const lazy::Argument value = to_argument(nb::handle(parts[1]).ptr());
    op.parameters.push_back({.name = kept(nb::cast<const char*>(parts[0])),
                             .default_value = value,
                             .required = nb::cast<bool>(parts[2]),
                             .kind = kind_after(value)});
  }
  ops::declare_host(std::move(op));
}

/// Queues `function(inputs, outputs)`, where both are lists of NumPy arrays; returns the outputs.
nb::list call_host(const char* op_name, nb::callable function, bool legacy, nb::list inputs,
                   nb::list shapes, nb::list dtypes, double cost) {
  const std::string name(op_name);
  // Never on the thread that publishes: that one holds a lock.
  constexpr double least_cost = lazy::worth_a_thread;
  if (!nb::len(shapes)) throw Error(ErrorKind::value, "[" + name + "] there is nothing to compute");
  const lazy::Op& op = ops::op_named(op_name);
  if (!op.is_host) throw Error(ErrorKind::value, "[" + name + "] is not computed by Python");
  autograd::CallBuilder builder(op, legacy);
  lazy::Call& call = builder.call();
  std::vector<nb::object> held;
  for (nb::handle input : inputs) {
    held.push_back(nb::borrow(input));
    need_input(builder, input.ptr(), held);
  }
  for (std::size_t i = 0; i < nb::len(shapes); ++i) {
    lazy::Operand& output = call.outputs.emplace_back();
    output.layout = Layout::contiguous(to_shape(nb::handle(shapes[i]).ptr()));
    output.dtype = static_cast<DType>(nb::cast<int>(dtypes[i]));
  }
  call.cost = std::max(least_cost, cost);
  call.host = std::make_shared<PythonFunction>(std::move(function));
  std::vector<autograd::Handle> outputs;
  autograd::Handle first = builder.issue({}, &outputs);
  outputs.insert(outputs.begin(), std::move(first));
  return wrap_all(outputs);
}

/// Queues `function(arrays, arrays)` over what it reads and changes, and publishes it: it is for
/// calls that somebody outside waits for. `skipped(why)` is called instead where the call cannot
/// run. Whoever needs it to run holds the arrays until it has.
void call_host_on(const char* op_name, nb::callable function, nb::callable skipped,
                  nb::list arrays) {
  const lazy::Op& op = ops::op_named(op_name);
  lazy::Draft draft(op);
  if (lazy::Capture* const capture = lazy::Capture::current())
    capture->refuse("[" + std::string(op.name) + "] talks to other processes");
  std::vector<Array> touched;
  for (nb::handle each : arrays) {
    const Array& array = as_array(each.ptr()).array;
    touched.push_back(array);
    static_cast<Array&>(draft->inputs.emplace_back()) = array;
    static_cast<Array&>(draft->outputs.emplace_back()) = array;
  }
  draft->cost = lazy::worth_a_thread;
  draft->host = std::make_shared<PythonFunction>(std::move(function), std::move(skipped));
  draft->site = autograd::front_end().site();
  autograd::wait_while_full();
  lazy::Window& window = lazy::window();
  lazy::issue_again(window, draft);
  if (!window.serial()) window.publish_all();
  for (const Array& array : touched) {
    const std::shared_ptr<Failure> failure = window.serial() ? array.storage->failure : nullptr;
    if (failure && !failure->raised) autograd::front_end().raise(*failure);
    if (array.storage->is_shared()) autograd::front_end().wait_for_others(array);
  }
}

/// Calls a function that waits for something outside of this process, from inside a host call.
nb::object wait_outside(nb::callable function) {
  engine::Engine& engine = lazy::window().engine();
  const auto without_gil = [](auto&& body) {
    const WithoutGil released;
    body();
  };
  StaysAtExit stay;  // nanobind, which calls this function, catches all that unwinds a stack
  without_gil([&] { engine.begin_outside_wait(); });
  PyObject* const result = PyObject_CallNoArgs(function.ptr());
  without_gil([&] { engine.end_outside_wait(); });
  stay.leave();
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

/// Whether the values of all inputs are there, or come at once because their calls are tiny, and
/// nothing that is written down depends on their being read later.
bool at_hand(nb::list inputs) {
  lazy::Window& window = lazy::window();
  if (lazy::Capture::current() || lazy::Diversion::current() || window.serial() ||
      autograd::state().recording || autograd::detects_anomalies()) {
    return false;
  }
  for (nb::handle input : inputs) {
    if (!is_array(input.ptr())) return false;
    Storage& storage = *as_array(input.ptr()).array.storage;
    bool failed = true;
    if (!window.make_ready(storage, engine::WaitFor::read) ||
        !window.look_at(storage, [&] { failed = storage.failure != nullptr; }) || failed) {
      return false;
    }
  }
  return true;
}

}  // namespace

void raise_interruption() {
  if (!interruption) return;
  nb::python_error raised = *std::exchange(interruption, std::nullopt);
  throw raised;
}

void bind_host(nb::module_& module) {
  module.def("at_hand", at_hand, nb::arg("inputs"),
             "Whether the values can be read now without waiting, and may be.");
  module.def("declare_host", declare_host, nb::arg("name"), nb::arg("inputs"), nb::arg("optional"),
             nb::arg("parameters"), nb::arg("doc"),
             "Add an op to the table that call_host computes.");
  module.def("call_host_on", call_host_on, nb::arg("name"), nb::arg("function"), nb::arg("skipped"),
             nb::arg("arrays"),
             "Queue function(arrays, arrays) over NumPy arrays that it reads and changes.");
  module.def("wait_outside", wait_outside, nb::arg("function"),
             "Call a function that waits for another process, from inside a host call.");
  module.def("call_host", call_host, nb::arg("name"), nb::arg("function"), nb::arg("legacy"),
             nb::arg("inputs"), nb::arg("shapes"), nb::arg("dtypes"), nb::arg("cost"),
             "Queue function(inputs, outputs) over NumPy arrays and return the outputs.");
}

}  // namespace afterglow::bindings
