// SPDX-License-Identifier: Apache-2.0
// Recipes for Python: capturing the calls of a block, and issuing them again, also recorded.
#include "lazy/recipe.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "autograd/anomaly.h"
#include "autograd/call_builder.h"
#include "autograd/gradient.h"
#include "autograd/walk.h"
#include "bindings/functions.h"
#include "bindings/held.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/sparse.h"
#include "bindings/tape.h"
#include "bindings/waiting.h"
#include "lazy/failure.h"
#include "lazy/immediate.h"
#include "lazy/layer.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

/// An array as the tape knows it.
struct Recorded {
  Array array;
  autograd::Origin origin;
  bool legacy;
};

/// A recipe, and what it takes to answer a call of a block by it. Nothing in here leads back to the
/// block: nodes on the tape own it, which the garbage collector does not see.
struct Plan {
  std::shared_ptr<const lazy::Recipe> recipe;
  /// Whether results are arrays of nd rather than of np.
  std::vector<bool> outputs_legacy, gradients_legacy;
  std::vector<bool> recorded;              ///< the outputs that gradients come for: one head each
  std::vector<std::size_t> wanted_inputs;  ///< those that gradients are computed for
  std::vector<Recorded> parameters;        ///< likewise, in the order of the gradients
  nb::object arguments;  ///< those of the call, with the numbers of inputs in the places of arrays
};

/// A plan as Python holds it.
struct SharedPlan {
  std::shared_ptr<const Plan> plan;
};

std::vector<Array> arrays_of(nb::handle list) {
  std::vector<Array> arrays;
  for (nb::handle item : list) arrays.push_back(need_array(item.ptr()).array);
  return arrays;
}

template <class T>
std::vector<T> plain(nb::list list) {
  std::vector<T> values;
  for (nb::handle item : list) values.push_back(nb::cast<T>(item));
  return values;
}

std::vector<bool> legacy_of(nb::list list) {
  std::vector<bool> result;
  for (nb::handle item : list) result.push_back(as_array(item.ptr()).legacy);
  return result;
}

// --- what a thread is inside of; all of it ends with the C++ scope, whatever Python raises ---

/// Inside of a hybridized block, which looks after the calls of its children.
thread_local bool inside = false;

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const bool outer_ = inside;
};

/// Handles of their own for the inputs of a block. On the tape each is one step away from the array
/// that was given, so that gradients with respect to it can be told from those with respect to a
/// parameter that it is, or was computed from.
class InputHandles {
 public:
  void add(nb::handle given, Array array) {
    autograd::Handle seen = ops::view(as_array(given.ptr()), ops::whole(array));
    seen.array = std::move(array);
    nb::object handle = nb::steal(wrap_like(std::move(seen), given.ptr()));
    origins_.push_back(as_array(handle.ptr()).origin);
    handles_.append(handle);
  }

  nb::list handles() const { return handles_; }
  /// Something was recorded that writes to the handle.
  bool is_written(std::size_t i) const {
    const nb::object handle = handles_[i];
    return as_array(handle.ptr()).origin.node.get() != origins_[i].node.get();
  }

  /// From now on, and until restore(), gradients end here.
  void cut() {
    if (!cut_.empty()) return;
    for (const autograd::Origin& origin : origins_) {
      if (!origin) continue;
      cut_.emplace_back(origin.node, std::move(origin.node->inputs));
      origin.node->inputs.clear();
    }
  }
  void restore() {
    for (auto& [node, inputs] : cut_) node->inputs = std::move(inputs);
    cut_.clear();
  }

 private:
  nb::list handles_;
  std::vector<autograd::Origin> origins_;
  std::vector<std::pair<Reference<autograd::Node>, std::vector<autograd::Saved>>> cut_;
};

/// The call of a block that is being written down, for the Python that knows blocks.
class BlockCapture {
 public:
  /// `given`: the arrays among the arguments, each once.
  explicit BlockCapture(std::span<PyObject* const> given) {
    std::vector<Array> arrays;
    for (PyObject* array : given) {
      given_.push_back(nb::borrow(array));
      arrays.push_back(as_array(array).array);
    }
    capture_ = std::make_unique<lazy::Capture>(arrays);
    inputs_ = std::make_unique<InputHandles>();
    for (std::size_t i = 0; i < given.size(); ++i) inputs_->add(given[i], capture_->inputs()[i]);
    first_node_ = autograd::next_node();
  }

  nb::list inputs() const {
    check();
    return inputs_->handles();
  }
  std::uint64_t first_node() const { return first_node_; }
  /// Why the calls so far cannot be issued again; empty if they can.
  std::string refusal() const {
    check();
    return capture_->refusal();
  }

  /// From here on gradients are computed, as far as to the inputs. Returns arrays in the places of
  /// those of the heads, which no call writes: they are inputs of what follows. They are poisoned,
  /// so calls are written down and then skipped, without time and memory.
  nb::list begin_gradients(nb::list heads) {
    check();
    capture_->begin_second_part();
    inputs_->cut();
    const auto poison = std::make_shared<Failure>();
    poison->message = "[hybridize] a gradient was read while its calls were written down";
    poison->raised = true;
    nb::list poisoned;
    for (nb::handle head : heads) {
      const ArrayObject& like = need_array(head.ptr());
      const Array array = Array::create(Layout::contiguous(like.array.shape()), like.array.dtype,
                                        like.array.context());
      array.storage->failure = poison;
      poisoned.append(nb::steal(wrap(array, like.legacy)));
    }
    return poisoned;
  }

  /// The plan, or the reason why there is none.
  nb::object finish(nb::list outputs, nb::list recorded, nb::list heads, nb::list gradients,
                    nb::list wanted_inputs, nb::list wanted_parameters, nb::object arguments) {
    check();
    const std::vector<Array> out = arrays_of(outputs), head = arrays_of(heads),
                             gradient = arrays_of(gradients);
    std::shared_ptr<const lazy::Recipe> recipe =
        lazy::Recipe::make(*capture_, {out, head, gradient});
    if (!recipe) return nb::str(capture_->refusal().c_str());
    std::vector<Recorded> parameters;
    for (nb::handle item : wanted_parameters) {
      const ArrayObject& array = need_array(item.ptr());
      parameters.push_back({array.array, array.origin, array.legacy});
    }
    return nb::cast(SharedPlan{std::make_shared<const Plan>(
        Plan{std::move(recipe), legacy_of(outputs), legacy_of(gradients), plain<bool>(recorded),
             plain<std::size_t>(wanted_inputs), std::move(parameters), std::move(arguments)})});
  }

  /// What was written to the inputs on the tape is written to the arrays that were given.
  void pass_writes_on() {
    check();
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!inputs_->is_written(i)) continue;
      const nb::object handle = inputs_->handles()[i];
      const ArrayObject& input = as_array(handle.ptr());
      capture_->refuse("an input is written while recording");
      ArrayObject& array = as_array(given_[i].ptr());
      if (array.origin && array.origin.node->is_variable()) autograd::refuse_variable("hybridize");
      array.origin = input.origin;
      array.held = input.held;
      look_after(array);
    }
  }

  void end() {
    capture_.reset();
    if (inputs_) inputs_->restore();
    inputs_.reset();
    given_.clear();
  }

 private:
  void check() const {
    if (!capture_) throw Error(ErrorKind::mxnet, "the call is not written down any more");
  }

  std::unique_ptr<lazy::Capture> capture_;
  std::vector<nb::object> given_;
  std::unique_ptr<InputHandles> inputs_;
  std::uint64_t first_node_ = 0;
};

/// What a statement owes its caller before it returns: see issue_statement().
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

/// The gradient of an output that nobody used, or elements in order where a rule gave others.
Array copied(const autograd::Handle& value, const autograd::Saved& like) {
  const Shape shape(like.layout->shape().begin(), like.layout->shape().end());
  if (!value) return ops::full(0, shape, like.dtype, like.context).array;
  return ops::stretch(value, shape).array;
}

/// A replay that was recorded: what its second part needs, and what must not have changed.
class ReplayedCall : public autograd::OwnGradients {
 public:
  /// `block`: what make_held() made of it.
  ReplayedCall(std::shared_ptr<const Plan> plan, std::vector<Array> kept,
               std::span<PyObject* const> inputs, nb::handle block)
      : plan_(std::move(plan)), kept_(std::move(kept)), block_(block) {
    versions_.reserve(kept_.size());
    for (const Array& array : kept_) versions_.push_back(array.storage->version);
    const std::vector<Array> outside = plan_->recipe->outside();
    watched_.reserve(inputs.size() + outside.size());
    for (PyObject* input : inputs) {
      watch(as_array(input).array);
      legacy_.push_back(as_array(input).legacy);
    }
    for (const Array& array : outside) watch(array);
  }
  ~ReplayedCall() override {
    // Like a handle of Python's: what only unfinished calls need now counts as run-ahead.
    for (const Array& array : kept_) lazy::window().handle_goes(*array.storage);
  }

  std::vector<autograd::Handle> gradients(const autograd::Node& node,
                                          std::span<const autograd::Handle> heads) const override {
    // To be recorded: what they are computed from must be on the tape, call by call. To be looked
    // at: as well, unless calling the block again would do more than that.
    if (autograd::state().recording) return {};
    if (autograd::detects_anomalies() && !plan_->recipe->has_effects()) return {};
    std::vector<Array> given;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const autograd::Saved& output = node.outputs[i];
      const Array* head = heads[i] ? &heads[i].array : nullptr;
      // What the calls make of another type is theirs to say, one by one.
      if (head && (head->dtype != output.dtype || head->context() != output.context)) return {};
      const bool fits =
          head && head->layout->is_contiguous() && same_shape(*head->layout, *output.layout);
      given.push_back(fits ? *head : copied(heads[i], output));
    }
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].storage->version != versions_[i])
        autograd::refuse_overwritten(node, "a value", versions_[i], kept_[i].storage->version);
    }
    const std::vector<Array> made = plan_->recipe->differentiate(lazy::window(), kept_, given);
    settle(given, *plan_->recipe, made);
    std::vector<autograd::Handle> result;
    result.reserve(made.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      result.push_back({made[i], {}, {}, plan_->gradients_legacy[i]});
    return result;
  }

  /// What it takes to make the calls one by one. Everything must be as it was.
  nb::tuple again(const TapeNode& self) const {
    const autograd::Node& node = *self.node;
    for (const Watched& one : watched_) {
      if (one.array.storage->version != one.version)
        autograd::refuse_overwritten(node, "all inputs and parameters again, one of", one.version,
                                     one.array.storage->version);
    }
    nb::list inputs, wanted, parameters;
    for (std::size_t i = 0; i < legacy_.size(); ++i)
      inputs.append(nb::steal(wrap(watched_[i].array, legacy_[i])));
    for (std::size_t i = 0; i < plan_->wanted_inputs.size(); ++i) {
      wanted.append(plan_->wanted_inputs[i]);
      nb::object input = inputs[plan_->wanted_inputs[i]];
      as_array(input.ptr()).origin = node.inputs[i].origin;
      as_array(input.ptr()).held.share(self.held);
      look_after(as_array(input.ptr()));
    }
    for (const Recorded& parameter : plan_->parameters) {
      nb::object array = nb::steal(wrap(parameter.array, parameter.legacy));
      as_array(array.ptr()).origin = parameter.origin;
      parameters.append(array);
    }
    return nb::make_tuple(block_.get(), plan_->recipe->has_effects(), training_, plan_->arguments,
                          inputs, wanted, parameters);
  }

 private:
  struct Watched {
    Array array;
    std::uint32_t version;
  };

  void watch(const Array& array) { watched_.push_back({array, array.storage->version}); }

  const std::shared_ptr<const Plan> plan_;
  std::vector<Array> kept_;
  std::vector<std::uint32_t> versions_;
  std::vector<Watched> watched_;  ///< inputs first
  std::vector<bool> legacy_;      ///< of the inputs
  const bool training_ = autograd::state().training;
  const KnownObject block_;
};

nb::tuple replayed_call(const TapeNode& node) {
  const auto* call = dynamic_cast<const ReplayedCall*>(node.node->keep.get());
  if (!call) throw Error(ErrorKind::mxnet, "not a replayed call, or released");
  return call->again(node);
}

/// What Python told of blocks: never given back, since calls may come until the process ends.
struct FrontEnd {
  nb::callable add_layer, write_down, rebuild;
};
FrontEnd* front_end = nullptr;

/// What the block returns, recorded where recording is on; an invalid object where the calls must
/// be made one by one. `result`: what it returns, with numbers in the places of arrays, or None for
/// a single array.
nb::object replay(const std::shared_ptr<const Plan>& plan, nb::handle result, nb::handle block,
                  std::span<PyObject* const> inputs) {
  autograd::wait_while_full();
  const lazy::Recipe& recipe = *plan->recipe;
  std::vector<Array> in;
  in.reserve(inputs.size());
  for (PyObject* input : inputs) in.push_back(as_array(input).array);
  if (recipe.alias(in)) return {};
  Reference<autograd::Node> node;
  nb::object held;
  if (autograd::state().recording && !(plan->wanted_inputs.empty() && plan->parameters.empty())) {
    std::vector<autograd::Source> sources;
    sources.reserve(plan->wanted_inputs.size() + plan->parameters.size());
    for (const std::size_t index : plan->wanted_inputs) {
      const ArrayObject& input = as_array(inputs[index]);
      sources.push_back({&input.array, &input.origin});
    }
    for (const Recorded& parameter : plan->parameters)
      sources.push_back({&parameter.array, &parameter.origin});
    node = autograd::record(replay_op(), {}, as_array(inputs[0]).legacy, sources, {});
    held = make_held(block);
  }
  lazy::Recipe::Results results = recipe.compute(lazy::window(), in);
  if (node) {
    node->site = capture_site();
    node->keep = std::make_unique<ReplayedCall>(plan, std::move(results.kept), inputs, held);
  }
  settle(in, recipe, results.outputs);
  const auto output = [&](std::size_t i) {
    nb::object array = nb::steal(wrap(results.outputs[i], plan->outputs_legacy[i]));
    ArrayObject& object = as_array(array.ptr());
    if (node && plan->recorded[i]) {
      object.origin = autograd::add_output(*node, object.array);
      object.held = to_held(held);
      for (const std::size_t index : plan->wanted_inputs)
        object.held.share(as_array(inputs[index]).held);
      look_after(object);
    } else if (autograd::state().recording) {
      object.origin.output = autograd::Origin::constant;
    }
    return array;
  };
  if (result.is_none()) return output(0);
  nb::list outputs, arrays;
  for (std::size_t i = 0; i < results.outputs.size(); ++i) outputs.append(output(i));
  for (PyObject* input : inputs) arrays.append(nb::borrow(input));
  return front_end->rebuild(result, outputs, arrays);
}

// --- signatures ---

/// What a call's recipe depends on, as bytes; false for arguments that cannot be compared.
class Signature {
 public:
  Signature() {
    const autograd::State state = autograd::state();
    key_.push_back(static_cast<char>('0' + state.recording + 2 * state.training));
  }

  bool add(PyObject* object, int depth = 0) {
    if (is_array(object)) {
      if (SparseParts::any() && is_sparse(object)) return false;  // calls with one read its parts
      add_array(object);
      return true;
    }
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
      if (depth == most_nested) return false;  // a list may also be inside of itself
      put(PyTuple_CheckExact(object) ? 't' : 'l', PySequence_Fast_GET_SIZE(object));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
        if (!add(PySequence_Fast_GET_ITEM(object, i), depth + 1)) return false;
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

  nb::bytes key() const { return nb::bytes(key_.data(), key_.size()); }
  /// Each array once.
  std::span<PyObject* const> arrays() const { return arrays_; }

 private:
  static constexpr int most_nested = 32;

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
    const auto found = std::ranges::find(arrays_, object);
    if (found != arrays_.end()) return put('r', found - arrays_.begin());
    arrays_.push_back(object);
    const bool recorded = autograd::state().recording && handle.origin.leads_on();
    put(handle.legacy ? 'A' : 'a', array.dtype);
    put(!recorded                           ? 'n'
        : handle.origin.node->is_variable() ? 'v'
        : handle.origin.passes_gradients()  ? 'g'
                                            : 'z',
        array.context().type);
    put('@', array.context().id);
    put(array.layout->is_contiguous() ? '+' : '-', array.layout->rank());
    append(array.shape());
    if (!array.layout->is_contiguous()) append(array.layout->strides());
  }

  void append(std::span<const std::int64_t> numbers) {
    key_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  }

  std::string key_;
  std::vector<PyObject*> arrays_;  ///< borrowed from the arguments
};

// --- calling blocks ---

/// The innermost call of a block in this thread: what the calls it issues belong to.
struct LayerCall {
  nb::handle block;
  nb::handle path;  ///< of names that leads to the block
  std::int32_t layer;
};
thread_local const LayerCall* innermost = nullptr;

class LayerScope {
 public:
  explicit LayerScope(const LayerCall& call) {
    innermost = &call;
    lazy::current_layer = call.layer;
  }
  ~LayerScope() {
    innermost = outer_;
    lazy::current_layer = layer_;
  }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

 private:
  const LayerCall* const outer_ = innermost;
  const std::int32_t layer_ = lazy::current_layer;
};

InputHandles input_handles(nb::list arrays) {
  InputHandles result;
  for (nb::handle array : arrays) result.add(array, need_array(array.ptr()).array);
  return result;
}

/// Calls `forward` of a block; what is issued meanwhile belongs to it as a layer.
nb::object run_forward(nb::handle block, nb::tuple arguments) {
  static PyObject* const layers_name = PyUnicode_InternFromString("_block_layers");
  static PyObject* const forward_name = PyUnicode_InternFromString("forward");
  const auto known = nb::steal<nb::dict>(PyObject_GetAttr(block.ptr(), layers_name));
  if (!known.is_valid()) throw nb::python_error();
  const nb::int_ outer(lazy::current_layer);
  nb::object found = nb::borrow(PyDict_GetItemWithError(known.ptr(), outer.ptr()));
  if (!found.is_valid()) {
    if (PyErr_Occurred()) throw nb::python_error();
    // Another scope than that of a block may have been entered since.
    const bool in_block = innermost && innermost->layer == lazy::current_layer;
    found =
        front_end->add_layer(block, lazy::current_layer, in_block ? innermost->block : nb::none(),
                             in_block ? innermost->path : nb::none());
    known[outer] = found;
  }
  const auto number_and_path = nb::borrow<nb::tuple>(found);
  const nb::object path = number_and_path[1];
  const LayerCall call{block, path, nb::cast<std::int32_t>(number_and_path[0])};
  const LayerScope scope(call);
  const nb::object forward = nb::steal(PyObject_GetAttr(block.ptr(), forward_name));
  if (!forward.is_valid()) throw nb::python_error();
  nb::object result = nb::steal(PyObject_CallObject(forward.ptr(), arguments.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

/// The same, and hybridized blocks inside are called call by call as well.
nb::object run_as_is(nb::handle block, nb::tuple arguments) {
  const Inside scope;
  return run_forward(block, arguments);
}

/// A capture that ends with the scope, however long Python holds the object.
class CaptureScope {
 public:
  explicit CaptureScope(std::span<PyObject* const> inputs)
      : object_(nb::cast(BlockCapture(inputs))) {}
  ~CaptureScope() { nb::inst_ptr<BlockCapture>(object_)->end(); }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  const nb::object& object() const { return object_; }

 private:
  const nb::object object_;
};

/// What a hybridized block returns. `plans` has, by signature, None for one that was seen once (its
/// next call is written down), False for one that cannot be written down, or (plan, result).
nb::object call_hybridized(nb::handle compiled, nb::dict plans, nb::handle block,
                           nb::tuple arguments) {
  if (inside) return run_forward(block, arguments);
  if (autograd::detects_anomalies()) return run_as_is(block, arguments);
  Signature signature;
  for (nb::handle argument : arguments) {
    if (!signature.add(argument.ptr())) return run_forward(block, arguments);
  }
  if (signature.arrays().empty()) return run_forward(block, arguments);
  const nb::bytes key = signature.key();
  const nb::object found = nb::borrow(PyDict_GetItemWithError(plans.ptr(), key.ptr()));
  if (!found.is_valid() && PyErr_Occurred()) throw nb::python_error();
  if (found.is_valid() && PyTuple_CheckExact(found.ptr())) {
    const nb::handle held(PyTuple_GET_ITEM(found.ptr(), 0));
    const std::shared_ptr<const Plan> plan = nb::cast<const SharedPlan&>(held).plan;
    if (!autograd::state().recording || !plan->recipe->has_new_origins()) {
      nb::object result =
          replay(plan, nb::handle(PyTuple_GET_ITEM(found.ptr(), 1)), block, signature.arrays());
      return result.is_valid() ? result : run_forward(block, arguments);
    }
    plans[key] = nb::none();  // gradients may lead elsewhere now
  } else if (found.is_valid() && !found.is_none()) {
    return run_forward(block, arguments);
  }
  const Inside scope;
  // Predictions that are not replayed yet should take no more memory than those that are.
  const bool is_prediction = !autograd::state().recording;
  const lazy::HoldingBack holding(is_prediction);
  nb::object result;
  if (!found.is_valid()) {
    result = run_forward(block, arguments);
    compiled.attr("_meet")(key, arguments);
  } else {
    const CaptureScope capture(signature.arrays());
    nb::list arrays;
    for (PyObject* array : signature.arrays()) arrays.append(nb::borrow(array));
    result = front_end->write_down(compiled, capture.object(), block, key, arguments, arrays);
  }
  if (is_prediction) lazy::window().look_at_held_back();
  return result;
}

void set_block_functions(nb::callable add_layer, nb::callable write_down, nb::callable rebuild) {
  front_end = new FrontEnd{std::move(add_layer), std::move(write_down), std::move(rebuild)};
}

/// For what Python does that a replay would not do again.
void refuse_capture(const char* reason) {
  if (lazy::Capture* const capture = lazy::Capture::current()) capture->refuse(reason);
}

}  // namespace

const lazy::Op& replay_op() {
  static const lazy::Op op = {.name = "replay", .inputs = {"data"}, .variadic = true};
  return op;
}

void bind_recipes(nb::module_& module) {
  nb::class_<SharedPlan>(module, "Plan", "Calls that can be issued again as a whole.")
      .def("__len__", [](const SharedPlan& self) { return self.plan->recipe->size(); })
      .def("holds", [](const SharedPlan& self, nb::handle array) {
        const Storage* const storage = need_array(array.ptr()).array.storage.get();
        const std::vector<Array> outside = self.plan->recipe->outside();
        return std::ranges::any_of(outside,
                                   [&](const Array& one) { return one.storage.get() == storage; });
      });
  nb::class_<InputHandles>(module, "InputHandles", "What a block gets in the places of arrays.")
      .def_prop_ro("handles", &InputHandles::handles)
      .def("cut", &InputHandles::cut, "Let gradients end here.")
      .def("restore", &InputHandles::restore);
  module.def("input_handles", input_handles, nb::arg("arrays"));
  nb::class_<BlockCapture>(module, "BlockCapture", "A call of a block that is written down.")
      .def_prop_ro("inputs", &BlockCapture::inputs)
      .def_prop_ro("first_node", &BlockCapture::first_node)
      .def("pass_writes_on", &BlockCapture::pass_writes_on)
      .def("refusal",
           [](const BlockCapture& capture) { return nb::str(capture.refusal().c_str()); })
      .def("begin_gradients", &BlockCapture::begin_gradients, nb::arg("heads"))
      .def("finish", &BlockCapture::finish, nb::arg("outputs"), nb::arg("recorded"),
           nb::arg("heads"), nb::arg("gradients"), nb::arg("wanted_inputs"),
           nb::arg("wanted_parameters"), nb::arg("arguments"));
  module.def("set_block_functions", set_block_functions, nb::arg("add_layer"),
             nb::arg("write_down"), nb::arg("rebuild"));
  module.def("run_forward", run_forward, nb::arg("block"), nb::arg("arguments"),
             "Call forward of a block as a layer.");
  module.def("run_as_is", run_as_is, nb::arg("block"), nb::arg("arguments"),
             "The same; hybridized blocks inside run call by call.");
  module.def("call_hybridized", call_hybridized, nb::arg("compiled"), nb::arg("plans"),
             nb::arg("block"), nb::arg("arguments"));
  module.def("refuse_capture", refuse_capture, nb::arg("reason"),
             "Let the call that this thread writes down, if any, not be issued again.");
  module.def("replayed_call", replayed_call, nb::arg("node"));
}

}  // namespace afterglow::bindings
