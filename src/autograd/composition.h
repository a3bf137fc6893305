// SPDX-License-Identifier: Apache-2.0
// What an op that is made of others sees when it is called. Its results are computed with ops
// (ops/operators.h), always with NumPy's answers; whoever called it takes them into its world.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/call_builder.h"
#include "autograd/handle.h"

namespace afterglow::autograd {

class Composition {
 public:
  /// Inputs, with NumPy's answers, and what the options refer to stay alive meanwhile. An input
  /// that was not given is none.
  Composition(const lazy::Op& op, std::span<Value> inputs, const CallBuilder::Options& options)
      : op_(op), inputs_(inputs), options_(options), is_recorded_(state().recording) {}

  const lazy::Op& op() const { return op_; }
  const Value& operator[](std::size_t input) const { return inputs_[input]; }
  /// For those that the op writes to.
  Value& written(std::size_t input) { return inputs_[input]; }
  std::span<const Value> inputs() const { return inputs_; }
  /// Where results are to be made that no array of the inputs has a place for.
  Context context() const { return options_.context; }
  /// Where the result goes, if the caller says so. It is copied there, unless the composition takes
  /// this and writes it there itself.
  const Handle* out() const { return options_.out; }
  Handle* take_out() {
    has_taken_out_ = options_.out;
    return options_.out;
  }
  bool has_taken_out() const { return has_taken_out_; }
  /// Whether gradients may be asked for.
  bool is_recorded() const { return is_recorded_; }

  template <class Parameters>
  Parameters parameters() const {
    return lazy::read_parameters<Parameters>(options_.arguments, [&](const lazy::Refusal& refusal) {
      refuse(refusal.text, refusal.kind);
    });
  }

  /// The second result, the third and so on; the first is what the composition returns.
  void add_output(Value value) { more_.push_back(std::move(value)); }
  std::vector<Value>& more_outputs() { return more_; }

  /// An error that starts with the op's name and ends with the inputs seen.
  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const;

 private:
  const lazy::Op& op_;
  const std::span<Value> inputs_;
  const CallBuilder::Options options_;
  const bool is_recorded_;
  bool has_taken_out_ = false;
  std::vector<Value> more_;
};

}  // namespace afterglow::autograd
