// SPDX-License-Identifier: Apache-2.0
// The one way in which calls are issued, whoever issues them: operands, statement, tape, window.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "autograd/front_end.h"
#include "autograd/handle.h"
#include "base/small_vector.h"
#include "lazy/issue.h"

namespace afterglow::autograd {

/// A call that is being put together. What is added must stay alive until it is issued. Needs the
/// issuing right.
class CallBuilder {
 public:
  /// `legacy`: with the answers of mx.nd rather than NumPy's.
  CallBuilder(const lazy::Op& op, bool legacy)
      : draft_(op), legacy_(legacy), recording_(state().recording) {}

  void add(const Handle& handle) {
    lazy::Operand& operand = draft_->inputs.emplace_back();
    static_cast<Array&>(operand) = handle.array;
    if (recording_) note(handle);
  }
  void add(const Value& value);
  /// The number, or whatever else is no handle, is for the caller to set at once.
  lazy::Operand& add_operand() {
    if (recording_) sources_.push_back({});
    return draft_->inputs.emplace_back();
  }

  lazy::Call& call() { return *draft_; }
  bool is_legacy() const { return legacy_; }

  struct Options {
    std::span<const lazy::Argument> arguments = {};  ///< one per parameter, defaults filled in
    Context context = {};                            ///< for ops without inputs
    Handle* out = nullptr;                           ///< write there
  };
  /// The first output; the others are added to `more`, which an op that has several needs.
  Value issue(const Options& options, std::vector<Handle>* more = nullptr);
  /// The same with the defaults of all parameters.
  Value issue() { return issue({draft_->op->defaults, {}, nullptr}); }

 private:
  void note(const Handle& handle);
  void begin(const Options& options);
  void end(Handle& result);
  Array issue_unrecorded(const Options& options, std::vector<Array>* more);

  lazy::Draft draft_;
  const bool legacy_;
  const bool recording_;
  SmallVector<Source, 4> sources_;
  Held held_;  ///< what the sources hold
  Reference<Node> node_;
};

/// Waits as long as issuing more would go past the run-ahead limits; not half-way through a walk.
void wait_while_full();

/// Issues a draft for a statement: after waiting for room, and with what the statement owes its
/// caller when it returns. Most callers want a CallBuilder.
Array issue_statement(lazy::Draft& draft, const lazy::IssueOptions& options,
                      std::vector<Array>* more = nullptr);

/// A variable cannot be written while its writes are recorded.
[[noreturn]] void refuse_variable(std::string_view op);

}  // namespace afterglow::autograd
