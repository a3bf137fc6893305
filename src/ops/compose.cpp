// SPDX-License-Identifier: Apache-2.0
#include "ops/compose.h"

#include <algorithm>

#include "lazy/composing.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::ops {

using autograd::Handle;

namespace {

/// A composition with gradients of its own: one node of the tape, and its parts leave none.
class OwnGradients {
 public:
  OwnGradients(const lazy::Op& op, std::span<const Value> inputs,
               std::span<const lazy::Argument> arguments) {
    if (!autograd::state().recording) return;
    std::vector<autograd::Source> sources;
    std::vector<lazy::Operand> operands(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_number()) {
        sources.push_back({});
        lazy::set_immediate(operands[i], inputs[i].number());
      } else {
        sources.push_back({&inputs[i].array, &inputs[i].origin});
        held_.share(inputs[i].held);
      }
    }
    node_ = autograd::record(op, arguments, false, sources, operands);
    if (node_) node_->site = autograd::front_end().site();
  }

  void end(Handle& result) const {
    if (!autograd::state().recording) return;
    result.origin = node_ ? autograd::add_output(*node_, result.array)
                          : autograd::Origin{{}, autograd::Origin::constant};
    result.held = node_ ? held_ : autograd::Held();
  }

 private:
  autograd::Held held_;
  Reference<autograd::Node> node_;
};

Value composed(const lazy::Op& op, autograd::Composition& composition,
               std::span<const Value> inputs, std::span<const lazy::Argument> arguments) {
  if (op.gradients.empty()) return op.compose(composition);
  const OwnGradients own(op, inputs, arguments);
  Value result;
  {
    const autograd::Unrecorded pause;
    result = op.compose(composition);
  }
  own.end(result);
  for (Value& other : composition.more_outputs()) own.end(other);
  return result;
}

/// Takes a result into the world of who asked for it. mx.nd makes nothing without dimensions of
/// what has some.
void take(Handle& result, std::span<const Value> inputs, bool legacy) {
  if (legacy && !result.array.layout->rank() &&
      std::ranges::any_of(inputs, [](const Value& one) { return one && one.array.layout->rank(); }))
    result = shaped(result, {1});
  result.legacy = legacy;
}

/// Copies a result to where the caller wants it.
void write_to(Handle& out, Value& result, bool legacy) {
  const lazy::Op& copy = the_op<"copy">();
  autograd::CallBuilder builder(copy, legacy);
  builder.add(result);
  builder.issue({copy.defaults, {}, &out});
}

Value call_composed(const lazy::Op& op, std::span<Value> inputs,
                    const autograd::CallBuilder::Options& options, bool legacy,
                    std::vector<Handle>* more) {
  for (Value& input : inputs) input.legacy = false;
  autograd::Composition composition(op, inputs, options);
  const lazy::Composing scope(op);
  const std::uint64_t first_node = autograd::next_node();
  Value result = composed(op, composition, inputs, options.arguments);
  take(result, inputs, legacy);
  if (more && !composition.more_outputs().empty()) {
    std::vector<autograd::Origin> origins = {result.origin};
    for (Value& other : composition.more_outputs()) {
      take(other, inputs, legacy);
      origins.push_back(other.origin);
      more->push_back(std::move(other));
    }
    if (composition.is_recorded()) autograd::use_up_together(origins, first_node);
  }
  if (options.out) {
    if (!composition.has_taken_out()) write_to(*options.out, result, legacy);
    result = Value(*options.out);
  }
  return result;
}

}  // namespace

Value call(const lazy::Op& op, std::span<Value> inputs,
           const autograd::CallBuilder::Options& options, bool legacy, std::vector<Handle>* more) {
  if (op.compose) return call_composed(op, inputs, options, legacy, more);
  autograd::CallBuilder builder(op, legacy);
  for (const Value& input : inputs) builder.add(input);
  return builder.issue(options, more);
}

}  // namespace afterglow::ops
