// SPDX-License-Identifier: Apache-2.0
// Calls of Python functions that compute with NumPy: queued like any op, run by a worker that takes
// the GIL (which NumPy gives back during long work).
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/dlpack.h"
#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/aggregate.h"
#include "lazy/capture.h"
#include "lazy/costs.h"

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

std::int64_t alive = 0;  // guarded by the GIL
thread_local bool inside = false;

class PythonFunction : public lazy::HostFunction {
 public:
  explicit PythonFunction(nb::callable function) : function_(std::move(function)) { ++alive; }
  ~PythonFunction() override { --alive; }

  void run(const lazy::Call& call) override {
    refuse_at_exit();
    nb::gil_scoped_acquire gil;
    inside = true;
    try {
      nb::list inputs, outputs;
      for (const lazy::Operand& input : call.inputs) inputs.append(numpy_view(input, false));
      for (const lazy::Operand& output : call.outputs) outputs.append(numpy_view(output, true));
      function_(inputs, outputs);
      inside = false;
    } catch (const nb::python_error& error) {
      inside = false;
      throw Error(kind_of(error), nb::cast<std::string>(nb::str(error.value())));
    }
  }

 private:
  nb::callable function_;
};

/// Queues `function(inputs, outputs)`, where both are lists of NumPy arrays; returns the outputs.
nb::list call_host(const std::string& name, nb::callable function, bool legacy, nb::list inputs,
                   nb::list shapes, nb::list dtypes, double cost) {
  // Never on the thread that publishes: that one holds a lock.
  constexpr double least_cost = lazy::worth_a_thread;
  if (!nb::len(shapes)) throw Error(ErrorKind::value, "[" + name + "] there is nothing to compute");
  const lazy::Op& op = lazy::host_op(name);
  lazy::Draft draft(op);
  nb::list held;
  for (nb::handle input : inputs) {
    nb::object converted;
    need_operand(draft, input.ptr(), legacy, converted);
    if (converted.is_valid()) held.append(converted);
  }
  for (std::size_t i = 0; i < nb::len(shapes); ++i) {
    lazy::Operand& output = draft->outputs.emplace_back();
    output.layout = Layout::contiguous(to_shape(nb::handle(shapes[i]).ptr()));
    output.dtype = static_cast<DType>(nb::cast<int>(dtypes[i]));
  }
  draft->cost = std::max(least_cost, cost);
  draft->host = std::make_shared<PythonFunction>(std::move(function));
  draft->site = capture_site();
  Recording recording(op, {}, legacy);
  if (recording.is_on()) {
    std::size_t index = 0;
    for (nb::handle input : inputs) recording.add(input.ptr(), draft->inputs[index++]);
    recording.begin(nullptr);
  }
  std::vector<Array> outputs;
  Array first = issue_from_python(draft, {{}, legacy, {}, nullptr}, &outputs);
  outputs.insert(outputs.begin(), std::move(first));
  nb::list arrays = wrap_all(outputs, legacy);
  for (nb::handle array : arrays) recording.end(array.ptr());
  return arrays;
}

/// Whether the values of all inputs are there, or come at once because their calls are tiny, and
/// nothing that is written down depends on their being read later.
bool at_hand(nb::list inputs) {
  lazy::Window& window = lazy::window();
  if (lazy::Capture::current() || lazy::Diversion::current() || window.serial() ||
      autograd::state().recording) {
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

bool host_calls_unfinished() {
  return alive > 0 && !inside;
}

void bind_host(nb::module_& module) {
  module.def("at_hand", at_hand, nb::arg("inputs"),
             "Whether the values can be read now without waiting, and may be.");
  module.def("call_host", call_host, nb::arg("name"), nb::arg("function"), nb::arg("legacy"),
             nb::arg("inputs"), nb::arg("shapes"), nb::arg("dtypes"), nb::arg("cost"),
             "Queue function(inputs, outputs) over NumPy arrays and return the outputs.");
}

}  // namespace afterglow::bindings
