// SPDX-License-Identifier: Apache-2.0
#include "autograd/call_builder.h"

#include <optional>
#include <string>
#include <utility>

#include "autograd/anomaly.h"
#include "lazy/immediate.h"

namespace afterglow::autograd {
namespace {

/// What the call touches of memory that is shared with code outside.
std::vector<Array> shared_operands(const lazy::Call& call, const Array* out) {
  std::vector<Array> shared;
  for (const lazy::Operand& input : call.inputs) {
    if (!input.is_immediate() && input.storage->is_shared()) shared.push_back(input);
  }
  if (out && out->storage->is_shared()) shared.push_back(*out);
  return shared;
}

}  // namespace

void wait_while_full() {
  // Threads that waited together may together take more room than there was; a few more looks.
  for (int looks = 0; looks < 4 && lazy::window().is_full(); ++looks) front_end().wait_for_room();
}

namespace {

/// A statement that owes its caller more than a result.
[[gnu::noinline]] Array issue_with_care(lazy::Draft& draft, const lazy::IssueOptions& options,
                                        std::vector<Array>* more) {
  lazy::Window& window = lazy::window();
  const std::vector<Array> shared = shared_operands(*draft, options.out);
  std::optional<AnomalyCheck> check;
  if (detects_anomalies()) check.emplace(*draft);
  Array result = lazy::issue(window, draft, options, more);
  if (window.serial()) {
    // Errors at the call, as NaiveEngine has them.
    const std::shared_ptr<Failure> failure = result.storage->failure;
    if (failure && !failure->raised) front_end().raise(*failure);
  }
  for (const Array& array : shared) front_end().wait_for_others(array);
  if (check) check->look_at(result, more);
  return result;
}

}  // namespace

Array issue_statement(lazy::Draft& draft, const lazy::IssueOptions& options,
                      std::vector<Array>* more) {
  lazy::Window& window = lazy::window();
  wait_while_full();
  if (Storage::any_shared() || detects_anomalies() || window.serial())
    return issue_with_care(draft, options, more);
  return lazy::issue(window, draft, options, more);
}

void refuse_variable(std::string_view op) {
  throw Error(ErrorKind::mxnet,
              "[" + std::string(op) +
                  "] a variable with a gradient cannot be written while recording; write to a "
                  "copy, or outside of autograd.record()");
}

void CallBuilder::add(const Value& value) {
  if (!value.is_number()) return add(static_cast<const Handle&>(value));
  if (value.is_integer()) {
    lazy::set_immediate(add_operand(), value.integer());
  } else {
    lazy::set_immediate(add_operand(), value.number());
  }
}

void CallBuilder::note(const Handle& handle) {
  sources_.push_back({&handle.array, &handle.origin});
  held_.share(handle.held);
}

void CallBuilder::begin(const Options& options) {
  if (options.out && options.out->origin && options.out->origin.node->is_variable()) {
    refuse_variable(draft_->op->name);
  }
  node_ = record(*draft_->op, options.arguments, legacy_, {sources_.data(), sources_.size()},
                 {draft_->inputs.begin(), draft_->inputs.size()});
  if (!node_) return;
  node_->site = front_end().site();
  if (options.out) ++options.out->array.storage->origins;
}

void CallBuilder::end(Handle& result) {
  result.origin = node_ ? add_output(*node_, result.array) : Origin{{}, Origin::constant};
  result.held = node_ ? held_ : Held();
}

Value CallBuilder::issue(const Options& options, std::vector<Handle>* more) {
  draft_->site = front_end().site();
  if (recording_) begin(options);
  std::vector<Array> others;
  Value result;
  result.legacy = legacy_;
  result.array = issue_statement(
      draft_,
      {options.arguments, legacy_, options.context, options.out ? &options.out->array : nullptr},
      more ? &others : nullptr);
  if (options.out) {
    if (recording_) end(*options.out);
    static_cast<Handle&>(result) = *options.out;  // always the same variable, which is not moved
    return result;
  }
  if (recording_) end(result);
  for (Array& array : others) {
    Handle& other = more->emplace_back();
    other.legacy = legacy_;
    other.array = std::move(array);
    if (recording_) end(other);
  }
  return result;
}

}  // namespace afterglow::autograd
