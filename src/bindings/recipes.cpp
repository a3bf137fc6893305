// SPDX-License-Identifier: Apache-2.0
// Recipes for Python: capturing the calls of a block, and issuing them again, also recorded.
#include "lazy/recipe.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/host.h"
#include "lazy/immediate.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

/// A recipe, and what Python needs beside it.
struct PythonRecipe {
  std::shared_ptr<const lazy::Recipe> recipe;
  /// Whether results are arrays of nd rather than of np.
  std::vector<bool> outputs_legacy, gradients_legacy;
  std::vector<bool> recorded;              ///< the outputs that gradients come for: one head each
  std::vector<std::size_t> wanted_inputs;  ///< those that gradients are computed for
  nb::list wanted_arrays;                  ///< and the parameters, in the order of the gradients
  nb::object rebuild;  ///< makes what the block returns; None for a single array
};

thread_local std::unique_ptr<lazy::Capture> capture;

std::vector<Array> arrays_of(nb::handle list) {
  std::vector<Array> arrays;
  for (nb::handle item : list) {
    if (!is_array(item.ptr())) throw Error(ErrorKind::type, "an array is needed");
    arrays.push_back(as_array(item.ptr()).array);
  }
  return arrays;
}

std::vector<bool> legacy_of(nb::list list) {
  std::vector<bool> result;
  for (nb::handle item : list) result.push_back(as_array(item.ptr()).legacy);
  return result;
}

void start_capture() {
  if (capture) throw Error(ErrorKind::mxnet, "this thread is capturing already");
  capture = std::make_unique<lazy::Capture>();
}

/// From here on gradients are computed. The zeros that stand for those of the heads are written by
/// no call: they are inputs of what follows.
nb::list split_capture(nb::list heads) {
  if (!capture) throw Error(ErrorKind::mxnet, "this thread is not capturing");
  capture->begin_second_part();
  nb::list zeros;
  for (nb::handle head : heads) {
    const ArrayObject& like = as_array(head.ptr());
    const Array array = Array::create(Layout::contiguous(like.array.shape()), like.array.dtype,
                                      like.array.context());
    take_buffer_or_wait(*array.storage);
    if (array.storage->bytes())
      std::memset(array.data(), 0, static_cast<std::size_t>(array.storage->bytes()));
    zeros.append(nb::steal(wrap(array, like.legacy)));
  }
  return zeros;
}

/// A PythonRecipe, or the reason why there is none.
nb::object finish_capture(nb::list inputs, nb::list outputs, std::vector<bool> recorded,
                          nb::list heads, nb::list gradients,
                          std::vector<std::size_t> wanted_inputs, nb::list wanted_arrays,
                          nb::object rebuild) {
  if (!capture) throw Error(ErrorKind::mxnet, "this thread is not capturing");
  const std::unique_ptr<lazy::Capture> captured = std::move(capture);
  const std::vector<Array> in = arrays_of(inputs), out = arrays_of(outputs),
                           head = arrays_of(heads), gradient = arrays_of(gradients);
  std::shared_ptr<const lazy::Recipe> recipe =
      lazy::Recipe::make(*captured, {in, out, head, gradient});
  if (!recipe) return nb::str(captured->refusal().c_str());
  return nb::cast(PythonRecipe{std::move(recipe), legacy_of(outputs), legacy_of(gradients),
                               std::move(recorded), std::move(wanted_inputs),
                               std::move(wanted_arrays), std::move(rebuild)});
}

void make_room() {
  // Threads that waited together may together take more room than there was; a few more looks.
  for (int looks = 0; looks < 4 && lazy::window().is_full(); ++looks) wait_for_room();
}

/// What a statement owes its caller before it returns: see issue_from_python().
void settle(std::span<const Array> inputs, const lazy::Recipe& recipe,
            std::span<const Array> results) {
  if (lazy::window().serial()) {
    for (const Array& result : results) {
      const std::shared_ptr<Failure> failure = result.storage->failure;
      if (failure && !failure->raised) raise_failure(*failure);
    }
  }
  if (!Storage::any_shared()) return;
  for (const Array& array : inputs) {
    if (array.storage->is_shared()) wait_for(array, engine::WaitFor::write);
  }
  for (const Array& array : recipe.outside()) {
    if (array.storage->is_shared()) wait_for(array, engine::WaitFor::write);
  }
}

// --- on the tape ---

/// A replay that was recorded: what its second part needs, and what must not have changed.
class ReplayedCall : public OwnGradients {
 public:
  ReplayedCall(std::shared_ptr<const PythonRecipe> recipe, std::vector<Array> kept,
               std::span<const Array> inputs, nb::object again)
      : recipe_(std::move(recipe)), kept_(std::move(kept)), again_(std::move(again)) {
    for (const Array& array : kept_) versions_.push_back(array.storage->version);
    for (const Array& array : inputs) watch(array);
    for (const Array& array : recipe_->recipe->outside()) watch(array);
  }
  ~ReplayedCall() override {
    // Like a handle of Python's: what only unfinished calls need now counts as run-ahead.
    for (const Array& array : kept_) lazy::window().handle_goes(*array.storage);
  }

  std::vector<nb::object> gradients(const autograd::Node& node,
                                    std::span<const nb::object> heads) const override {
    // To be recorded: what they are computed from must be on the tape, call by call.
    if (autograd::state().recording) return {};
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].storage->version != versions_[i])
        refuse_overwritten(node, "a value", versions_[i], kept_[i].storage->version);
    }
    std::vector<Array> given;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      given.push_back(heads[i].is_valid() ? need_array(heads[i].ptr()).array
                                          : zeros(node.outputs[i]));
    }
    const std::vector<Array> made =
        recipe_->recipe->differentiate(lazy::window(), kept_, given, make_room);
    settle(given, *recipe_->recipe, made);
    std::vector<nb::object> result;
    for (std::size_t i = 0; i < made.size(); ++i)
      result.push_back(nb::steal(wrap(made[i], recipe_->gradients_legacy[i])));
    return result;
  }

  /// Whoever computes the call again must find everything as it was.
  nb::object again(const autograd::Node& node) const {
    for (const Watched& one : watched_) {
      if (one.array.storage->version != one.version)
        refuse_overwritten(node, "all inputs and parameters again, one of", one.version,
                           one.array.storage->version);
    }
    return again_;
  }

 private:
  struct Watched {
    Array array;
    std::uint32_t version;
  };
  /// The gradient of an output that nobody used.
  static Array zeros(const autograd::Saved& like) {
    lazy::Draft draft(*ops::table().find("copy"));
    lazy::set_immediate(draft->inputs.emplace_back(), std::int64_t{0});
    std::vector<lazy::Argument> arguments;
    for (const lazy::Parameter& parameter : draft->op->parameters) {
      arguments.push_back(parameter.default_value);
      if (parameter.name == "shape")
        arguments.back() = Shape(like.layout->shape().begin(), like.layout->shape().end());
      if (parameter.name == "dtype") arguments.back() = static_cast<std::int64_t>(like.dtype);
    }
    return issue_from_python(draft, {arguments, true, like.context, nullptr});
  }

  void watch(const Array& array) { watched_.push_back({array, array.storage->version}); }

  const std::shared_ptr<const PythonRecipe> recipe_;
  std::vector<Array> kept_;
  std::vector<std::uint32_t> versions_;
  std::vector<Watched> watched_;
  nb::object again_;
};

const ReplayedCall& replayed_call(const TapeNode& node) {
  const auto* call = dynamic_cast<const ReplayedCall*>(node.node->keep.get());
  if (!call) throw Error(ErrorKind::mxnet, "not a replayed call, or released");
  return *call;
}

/// What the block returns, recorded where recording is on; an invalid object where the calls must
/// be made one by one. `again`: what it takes to make them so.
nb::object replay(const std::shared_ptr<const PythonRecipe>& self,
                  std::span<PyObject* const> inputs, nb::handle again) {
  const lazy::Recipe& recipe = *self->recipe;
  std::vector<Array> in;
  in.reserve(inputs.size());
  for (PyObject* input : inputs) in.push_back(as_array(input).array);
  if (recipe.alias(in)) return {};
  Reference<autograd::Node> node;
  if (autograd::state().recording &&
      (!self->wanted_inputs.empty() || nb::len(self->wanted_arrays))) {
    std::vector<autograd::Source> sources;
    const auto add = [&](const ArrayObject& array) {
      sources.push_back({&array.array, &array.origin});
    };
    for (const std::size_t index : self->wanted_inputs) add(as_array(inputs[index]));
    for (nb::handle array : self->wanted_arrays) add(as_array(array.ptr()));
    static const lazy::Op& op = lazy::host_op("replay");
    node = autograd::record(op, {}, as_array(inputs[0]).legacy, sources, {});
  }
  lazy::Recipe::Results results = recipe.compute(lazy::window(), in, make_room);
  if (node) {
    node->site = capture_site();
    node->keep =
        std::make_unique<ReplayedCall>(self, std::move(results.kept), in, nb::borrow(again));
  }
  settle(in, recipe, results.outputs);
  const auto output = [&](std::size_t i) {
    nb::object array = nb::steal(wrap(results.outputs[i], self->outputs_legacy[i]));
    ArrayObject& object = as_array(array.ptr());
    if (node && self->recorded[i]) {
      object.origin = autograd::add_output(*node, object.array);
    } else if (autograd::state().recording) {
      object.origin.output = autograd::Origin::constant;
    }
    return array;
  };
  if (self->rebuild.is_none()) return output(0);
  nb::list outputs, arrays;
  for (std::size_t i = 0; i < results.outputs.size(); ++i) outputs.append(output(i));
  for (PyObject* input : inputs) arrays.append(nb::borrow(input));
  return self->rebuild(outputs, arrays);
}

// --- signatures ---

/// What a call's recipe depends on, as bytes; false for arguments that cannot be compared.
class Signature {
 public:
  bool add(PyObject* object) {
    if (is_array(object)) {
      add_array(object);
      return true;
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
      put(PyTuple_Check(object) ? 't' : 'l', PySequence_Fast_GET_SIZE(object));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
        if (!add(PySequence_Fast_GET_ITEM(object, i))) return false;
      }
      return true;
    }
    if (object == Py_None || PyBool_Check(object)) {
      put('c', object);
      return true;
    }
    if (PyFloat_CheckExact(object)) {
      put('f', PyFloat_AS_DOUBLE(object));
      return true;
    }
    if (PyLong_CheckExact(object)) {
      int overflow = 0;
      put('i', PyLong_AsLongLongAndOverflow(object, &overflow));
      return !overflow;
    }
    if (PyUnicode_CheckExact(object)) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(object, &size);
      if (!text) throw nb::python_error();
      put('s', size);
      key_.append(text, static_cast<std::size_t>(size));
      return true;
    }
    return false;
  }

  std::string& key() { return key_; }
  std::span<PyObject* const> arrays() const { return arrays_; }

 private:
  template <class T>
  void put(char kind, const T& value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>,
                  "equal values must have equal bytes");
    key_.push_back(kind);
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add_array(PyObject* object) {
    const ArrayObject& handle = as_array(object);
    const Array& array = handle.array;
    // Arrays that share memory are another case than arrays that do not.
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const Array& other = as_array(arrays_[i]).array;
      if (other.storage.get() != array.storage.get()) continue;
      put(same_view(other, array) ? 'r' : 'o', i);
      break;
    }
    arrays_.push_back(object);
    const bool recorded = autograd::state().recording && handle.origin;
    put(handle.legacy ? 'A' : 'a', array.dtype);
    put(recorded ? 'g' : 'n', array.context().type);
    put('@', array.context().id);
    put(array.layout->is_contiguous() ? '+' : '-', array.layout->rank());
    key_.append(reinterpret_cast<const char*>(array.shape().data()), array.shape().size_bytes());
  }

  std::string key_;
  std::vector<PyObject*> arrays_;  ///< borrowed from the arguments
};

/// Answers a call if `plans` have a recipe for its signature: (True, result). Else (False, key,
/// what `plans` have, the arrays among the arguments); None for arguments that have no signature.
nb::object answer(nb::dict plans, nb::handle block, nb::tuple arguments) {
  Signature signature;
  const autograd::State state = autograd::state();
  signature.key().push_back(static_cast<char>('0' + state.recording + 2 * state.training));
  for (nb::handle argument : arguments) {
    if (!signature.add(argument.ptr())) return nb::none();
  }
  nb::bytes key(signature.key().data(), signature.key().size());
  PyObject* const plan = PyDict_GetItemWithError(plans.ptr(), key.ptr());
  if (!plan && PyErr_Occurred()) throw nb::python_error();
  std::shared_ptr<PythonRecipe> recipe;
  if (plan && nb::try_cast(nb::handle(plan), recipe) && recipe) {
    nb::object result =
        replay(recipe, signature.arrays(), nb::make_tuple(block, nb::handle(plan), arguments));
    if (result.is_valid()) return nb::make_tuple(true, result);
  }
  nb::list arrays;
  for (PyObject* array : signature.arrays()) arrays.append(nb::borrow(array));
  return nb::make_tuple(false, key, plan ? nb::borrow(plan) : nb::none(), arrays);
}

}  // namespace

void bind_recipes(nb::module_& module) {
  nb::class_<PythonRecipe>(module, "Recipe", "Calls that can be issued again as a whole.")
      .def("__len__", [](const PythonRecipe& self) { return self.recipe->size(); })
      .def_ro("wanted_inputs", &PythonRecipe::wanted_inputs)
      .def_ro("wanted_arrays", &PythonRecipe::wanted_arrays)
      .def_prop_ro("has_effects",
                   [](const PythonRecipe& self) { return self.recipe->has_effects(); });
  module.def("start_capture", start_capture, "Write down the calls of this thread from now on.");
  module.def("split_capture", split_capture, nb::arg("heads"),
             "What follows computes gradients; returns arrays of zeros like the heads.");
  module.def("abandon_capture", [] { capture.reset(); });
  module.def("finish_capture", finish_capture, nb::arg("inputs"), nb::arg("outputs"),
             nb::arg("recorded"), nb::arg("heads"), nb::arg("gradients"), nb::arg("wanted_inputs"),
             nb::arg("wanted_arrays"), nb::arg("rebuild").none(),
             "The recipe of the calls written down, or the reason why there is none.");
  module.def("answer", answer, nb::arg("plans"), nb::arg("block"), nb::arg("arguments"));
  module.def("arguments_of_replay",
             [](const TapeNode& node) { return replayed_call(node).again(*node.node); });
}

}  // namespace afterglow::bindings
