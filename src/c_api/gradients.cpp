// SPDX-License-Identifier: Apache-2.0
// Recording, and the walk backwards.
#include <utility>
#include <vector>

#include "autograd/call_builder.h"
#include "autograd/walk.h"
#include "c_api/interface.h"
#include "ops/gradients.h"
#include "ops/operators.h"

namespace afterglow::c_api {
namespace {

using autograd::Handle;
using autograd::Origin;

/// Rules that Python has are not here.
class NoOtherRules : public autograd::OtherRules {
 public:
  std::vector<Handle> gradients(const Reference<autograd::Node>& node, std::span<const Handle>,
                                const std::vector<bool>&) override {
    refuse("[" + std::string(node->op->name) + "] has no gradient in the C interface",
           ErrorKind::not_implemented);
  }
};

/// For a walk: recording nothing, and in the mode that the caller wants.
class WalkScope {
 public:
  explicit WalkScope(bool is_training) : outer_(autograd::state()) {
    autograd::state() = {false, is_training};
  }
  ~WalkScope() { autograd::state() = outer_; }
  WalkScope(const WalkScope&) = delete;
  WalkScope& operator=(const WalkScope&) = delete;

 private:
  const autograd::State outer_;
};

Handle filled_like(const Array& array, double number) {
  return ops::full(number, Shape(array.shape().begin(), array.shape().end()), array.dtype,
                   array.context());
}

void refuse_unrecorded(const Handle& head) {
  refuse("an array of shape " + to_string(head.array.shape()) +
             " is no head of gradients: it was not computed while recording, or from no array with "
             "a gradient",
         ErrorKind::mxnet);
}

Handle head_gradient(const Handle& head, AGArrayHandle given) {
  if (!given) return filled_like(head.array, 1);
  const Handle gradient = array_of(given)->handle;
  if (!same_shape(*gradient.array.layout, *head.array.layout))
    refuse("the gradient of a head has shape " + to_string(gradient.array.shape()) + ", the head " +
           to_string(head.array.shape()));
  if (gradient.array.dtype == head.array.dtype) return gradient;
  return ops::copy(gradient, head.array.dtype);
}

std::vector<Handle> walk(std::span<const AGArrayHandle> heads, const AGArrayHandle* given,
                         std::span<const AGArrayHandle> variables, bool keeps_graph,
                         bool is_training) {
  const WalkScope scope(is_training);
  if (heads.empty()) refuse("there are no heads");
  std::vector<std::shared_ptr<ArrayObject>> alive;
  std::vector<Origin> from, to;
  std::vector<Handle> gradients;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Handle& head = alive.emplace_back(array_of(heads[i]))->handle;
    if (!head.origin) refuse_unrecorded(head);
    from.push_back(head.origin);
    gradients.push_back(head_gradient(head, given ? given[i] : nullptr));
  }
  for (const AGArrayHandle variable : variables) {
    const Handle& wanted = alive.emplace_back(array_of(variable))->handle;
    if (!wanted.origin)
      refuse("a variable takes no part in what was recorded; attach a gradient first",
             ErrorKind::mxnet);
    to.push_back(wanted.origin);
  }
  NoOtherRules none;
  autograd::wait_while_full();
  autograd::Walk backwards(from, std::move(gradients), to, !keeps_graph, {}, ops::accumulation(),
                           none);
  std::vector<bool> is_zero;
  for (const Origin& origin : to)
    is_zero.push_back(!backwards.is_walked(origin) && autograd::depend_on(from, origin));
  backwards.run();
  std::vector<Handle> results = backwards.results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_zero[i]) results[i] = filled_like(array_of(variables[i])->handle.array, 0);
    if (!results[i]) refuse("the heads do not depend on one of the variables", ErrorKind::mxnet);
    // Each result is the caller's own.
    if (!autograd::is_held_once(*results[i].array.storage)) results[i] = ops::copy(results[i]);
  }
  return results;
}

void set(bool& state, int value, int* before) {
  if (before) *before = state;
  state = value != 0;
}

}  // namespace
}  // namespace afterglow::c_api

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

int AGSetRecording(int is_recording, int* before) {
  return guarded([&] { set(autograd::state().recording, is_recording, before); });
}

int AGSetTraining(int is_training, int* before) {
  return guarded([&] { set(autograd::state().training, is_training, before); });
}

int AGIsRecording(int* is_recording) {
  return guarded([&] { need(is_recording, "is_recording") = autograd::state().recording; });
}

int AGIsTraining(int* is_training) {
  return guarded([&] { need(is_training, "is_training") = autograd::state().training; });
}

int AGArrayAttachGradient(AGArrayHandle array, int request) {
  return guarded([&] {
    if (request < AG_GRADIENT_NONE || request > AG_GRADIENT_ADD)
      refuse("request " + std::to_string(request) + "; there are 0 to 2");
    const auto object = array_of(array);
    autograd::Handle& handle = object->handle;
    Array gradient;
    if (request != AG_GRADIENT_NONE) {
      const autograd::Unrecorded pause;
      gradient = filled_like(handle.array, 0).array;
    }
    handle.origin = {autograd::make_variable(handle.array, std::move(gradient),
                                             static_cast<autograd::Request>(request), false),
                     0};
    ++handle.array.storage->origins;
  });
}

int AGArrayGetGradient(AGArrayHandle array, AGArrayHandle* gradient) {
  return guarded([&] {
    const auto object = array_of(array);
    const autograd::Origin& origin = object->handle.origin;
    AGArrayHandle& result = need(gradient, "gradient");
    result = nullptr;
    if (origin && origin.node->is_variable() && origin.node->gradient.storage)
      result = new_array({origin.node->gradient, {}, {}, false});
  });
}

int AGBackward(int head_count, const AGArrayHandle* heads, const AGArrayHandle* head_gradients,
               int keeps_graph, int is_training) {
  return guarded([&] {
    walk(need_span(heads, head_count, "heads"), head_gradients, {}, keeps_graph != 0,
         is_training != 0);
  });
}

int AGGradients(int head_count, const AGArrayHandle* heads, const AGArrayHandle* head_gradients,
                int variable_count, const AGArrayHandle* variables, int keeps_graph,
                int is_training, AGArrayHandle* gradients) {
  return guarded([&] {
    const auto wanted = need_span(variables, variable_count, "variables");
    const auto targets = need_span(gradients, variable_count, "gradients");
    if (wanted.empty()) refuse("there are no variables");
    std::vector<autograd::Handle> results =
        walk(need_span(heads, head_count, "heads"), head_gradients, wanted, keeps_graph != 0,
             is_training != 0);
    for (std::size_t i = 0; i < results.size(); ++i) targets[i] = new_array(std::move(results[i]));
  });
}

}  // extern "C"
