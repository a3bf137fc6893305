// SPDX-License-Identifier: Apache-2.0
// Recipes for Python: capturing the calls of a block, and issuing them again, also recorded.
#include "lazy/recipe.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/host.h"

namespace afterglow::bindings {
namespace {

/// What Python holds: also whether results are arrays of nd or of np.
struct PythonRecipe {
  std::shared_ptr<const lazy::Recipe> recipe;
  std::vector<bool> outputs_legacy, gradients_legacy;
  std::vector<bool> recorded;  ///< the outputs that gradients come for: one head each
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
                          nb::list heads, nb::list gradients) {
  if (!capture) throw Error(ErrorKind::mxnet, "this thread is not capturing");
  const std::unique_ptr<lazy::Capture> captured = std::move(capture);
  const std::vector<Array> in = arrays_of(inputs), out = arrays_of(outputs),
                           head = arrays_of(heads), gradient = arrays_of(gradients);
  std::shared_ptr<const lazy::Recipe> recipe =
      lazy::Recipe::make(*captured, {in, out, head, gradient});
  if (!recipe) return nb::str(captured->refusal().c_str());
  return nb::cast(
      PythonRecipe{std::move(recipe), legacy_of(outputs), legacy_of(gradients), recorded});
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
class ReplayedCall : public autograd::Keep {
 public:
  ReplayedCall(const PythonRecipe& recipe, std::vector<Array> kept, std::span<const Array> inputs,
               nb::object again)
      : recipe_(recipe), kept_(std::move(kept)), again_(std::move(again)) {
    for (const Array& array : kept_) versions_.push_back(array.storage->version);
    for (const Array& array : inputs) watch(array);
    for (const Array& array : recipe.recipe->outside()) watch(array);
  }
  ~ReplayedCall() override {
    // Like a handle of Python's: what only unfinished calls need now counts as run-ahead.
    for (const Array& array : kept_) lazy::window().handle_goes(*array.storage);
  }

  nb::list differentiate(const autograd::Node& node, nb::list heads) const {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].storage->version != versions_[i])
        refuse_overwritten(node, "a value", versions_[i], kept_[i].storage->version);
    }
    const std::vector<Array> head = arrays_of(heads);
    const std::vector<Array> gradients = recipe_.recipe->differentiate(kept_, head, make_room);
    settle(head, *recipe_.recipe, gradients);
    nb::list result;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      result.append(nb::steal(wrap(gradients[i], recipe_.gradients_legacy[i])));
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
  void watch(const Array& array) { watched_.push_back({array, array.storage->version}); }

  const PythonRecipe recipe_;
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

/// The outputs, recorded as computed from the `wanted` arrays where recording is on; None where the
/// calls must be made one by one.
nb::object replay(const PythonRecipe& self, nb::list inputs, nb::list wanted, nb::object again) {
  const lazy::Recipe& recipe = *self.recipe;
  const std::vector<Array> in = arrays_of(inputs);
  if (recipe.alias(in)) return nb::none();
  Reference<autograd::Node> node;
  if (autograd::state().recording && nb::len(wanted)) {
    std::vector<autograd::Source> sources;
    for (nb::handle array : wanted)
      sources.push_back({&as_array(array.ptr()).array, &as_array(array.ptr()).origin});
    node = autograd::record(lazy::host_op("replay"), {}, as_array(wanted[0].ptr()).legacy, sources,
                            {});
  }
  lazy::Recipe::Results results = recipe.compute(in, make_room);
  if (node) {
    node->site = capture_site();
    node->keep = std::make_unique<ReplayedCall>(self, std::move(results.kept), in, again);
  }
  settle(in, recipe, results.outputs);
  nb::list outputs;
  for (std::size_t i = 0; i < results.outputs.size(); ++i) {
    nb::object output = nb::steal(wrap(results.outputs[i], self.outputs_legacy[i]));
    if (node && self.recorded[i]) {
      ArrayObject& object = as_array(output.ptr());
      object.origin = autograd::add_output(*node, object.array);
    }
    outputs.append(std::move(output));
  }
  return outputs;
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
  nb::list arrays() { return arrays_; }

 private:
  template <class T>
  void put(char kind, const T& value) {
    key_.push_back(kind);
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add_array(PyObject* object) {
    const ArrayObject& handle = as_array(object);
    const Array& array = handle.array;
    // Arrays that share memory are another case than arrays that do not.
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]->storage.get() != array.storage.get()) continue;
      put(same_view(*seen_[i], array) ? 'r' : 'o', i);
      break;
    }
    seen_.push_back(&array);
    arrays_.append(nb::borrow(object));
    const bool recorded = autograd::state().recording && handle.origin;
    put(handle.legacy ? 'A' : 'a', array.dtype);
    put(recorded ? 'g' : 'n', array.context());
    put(array.layout->is_contiguous() ? '+' : '-', array.layout->rank());
    key_.append(reinterpret_cast<const char*>(array.shape().data()), array.shape().size_bytes());
  }

  std::string key_;
  std::vector<const Array*> seen_;
  nb::list arrays_;
};

/// (key, the arrays among the arguments), or None.
nb::object signature_of(nb::tuple arguments) {
  Signature signature;
  const autograd::State state = autograd::state();
  signature.key().push_back(static_cast<char>('0' + state.recording + 2 * state.training));
  for (nb::handle argument : arguments) {
    if (!signature.add(argument.ptr())) return nb::none();
  }
  return nb::make_tuple(nb::bytes(signature.key().data(), signature.key().size()),
                        signature.arrays());
}

}  // namespace

void bind_recipes(nb::module_& module) {
  nb::class_<PythonRecipe>(module, "Recipe", "Calls that can be issued again as a whole.")
      .def("replay", replay, nb::arg("inputs"), nb::arg("wanted"), nb::arg("again").none())
      .def("__len__", [](const PythonRecipe& self) { return self.recipe->size(); })
      .def_prop_ro("has_effects",
                   [](const PythonRecipe& self) { return self.recipe->has_effects(); });
  module.def("start_capture", start_capture, "Write down the calls of this thread from now on.");
  module.def("split_capture", split_capture, nb::arg("heads"),
             "What follows computes gradients; returns arrays of zeros like the heads.");
  module.def("abandon_capture", [] { capture.reset(); });
  module.def("finish_capture", finish_capture, nb::arg("inputs"), nb::arg("outputs"),
             nb::arg("recorded"), nb::arg("heads"), nb::arg("gradients"),
             "The recipe of the calls written down, or the reason why there is none.");
  module.def("signature_of", signature_of, nb::arg("arguments"));
  module.def("differentiate_replay", [](const TapeNode& node, nb::list heads) {
    return replayed_call(node).differentiate(*node.node, heads);
  });
  module.def("arguments_of_replay",
             [](const TapeNode& node) { return replayed_call(node).again(*node.node); });
}

}  // namespace afterglow::bindings
