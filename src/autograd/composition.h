// SPDX-License-Identifier: Apache-2.0
// What an op that is made of others sees when it is called. Its results are computed with ops
// (ops/operators.h), always with NumPy's answers; whoever called it takes them into its world.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/handle.h"

namespace afterglow::autograd {

class Composition {
 public:
  /// Inputs and arguments stay alive meanwhile. An input that was not given is none.
  Composition(const lazy::Op& op, std::span<const Value> inputs,
              std::span<const lazy::Argument> arguments)
      : op_(op), arguments_(arguments), is_recorded_(state().recording) {
    for (const Value& input : inputs) {
      inputs_.push_back(input);
      inputs_.back().legacy = false;
    }
  }

  const Value& operator[](std::size_t input) const { return inputs_[input]; }
  /// For those that the op writes to.
  Value& written(std::size_t input) { return inputs_[input]; }
  std::span<const Value> inputs() const { return inputs_; }
  /// Whether gradients may be asked for.
  bool is_recorded() const { return is_recorded_; }

  template <class Parameters>
  Parameters parameters() const {
    return lazy::read_parameters<Parameters>(
        arguments_, [&](const lazy::Refusal& refusal) { refuse(refusal.text, refusal.kind); });
  }

  /// The second result, the third and so on; the first is what the composition returns.
  void add_output(Value value) { more_.push_back(std::move(value)); }
  std::vector<Value>& more_outputs() { return more_; }

  /// An error that starts with the op's name and ends with the inputs seen.
  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const;

 private:
  const lazy::Op& op_;
  std::vector<Value> inputs_;
  const std::span<const lazy::Argument> arguments_;
  const bool is_recorded_;
  std::vector<Value> more_;
};

}  // namespace afterglow::autograd
