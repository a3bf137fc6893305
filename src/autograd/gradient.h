// SPDX-License-Identifier: Apache-2.0
// What the rule for the gradient of one input sees: the recorded call, and the gradients of its
// results. Rules are written with ops (ops/operators.h), with NumPy's answers, so they are queued,
// fused and dropped like all other calls, and recorded when a gradient of the gradient is wanted.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "autograd/handle.h"

namespace afterglow::autograd {

class Gradient {
 public:
  /// `heads`: of the outputs, none for those that nobody used; they stay alive meanwhile, like
  /// `held`, which is what the heads of the walk hold.
  Gradient(const Reference<Node>& node, std::span<const Handle> heads, const Held& held);

  /// The gradient of the (first) result.
  const Value g;
  /// The input whose gradient is wanted.
  std::size_t index = 0;
  /// What the rule of one input leaves for those of the others.
  Value memo;

  /// The gradient of one of several results; none where nobody used it.
  Value head(std::size_t output) const;
  /// An input: an array or a number.
  Value operator[](std::size_t input) const;
  Value output(std::size_t output = 0) const;

  std::size_t input_count() const { return node_->inputs.size(); }
  /// () for a number.
  Shape shape(std::size_t input) const { return shape_of(node_->inputs.at(input)); }
  Shape output_shape(std::size_t output = 0) const { return shape_of(node_->outputs.at(output)); }
  const Saved& saved(std::size_t input) const { return node_->inputs.at(input); }

  /// The world whose answers the call gave.
  bool is_legacy() const { return node_->legacy; }
  template <class Parameters>
  Parameters parameters() const {
    return lazy::given_parameters<Parameters>(*node_->op, node_->arguments);
  }

 private:
  static Shape shape_of(const Saved& saved);
  Value value_of(const Saved& saved, const Origin& origin) const;

  const Reference<Node>& node_;
  const std::span<const Handle> heads_;
  const Held& held_;
};

/// The call of the node needs a value that is not what it was.
[[noreturn]] void refuse_overwritten(const Node& node, const std::string& what, std::uint32_t then,
                                     std::uint32_t now);

/// A saved value as the tape knows it; refuses one that was not kept, or written to since.
Handle saved_handle(const Node& node, const Saved& saved, const Origin& origin, const Held& held);

}  // namespace afterglow::autograd
