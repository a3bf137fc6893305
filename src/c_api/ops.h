// SPDX-License-Identifier: Apache-2.0
// Ops by name, with parameters in text: what programs in C call, and what graphs in files hold.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/handle.h"
#include "lazy/op.h"
#include "lazy/spelling.h"

namespace afterglow::c_api {

/// A name that AGInvoke takes.
struct NamedOp {
  const lazy::Op* op = nullptr;
  lazy::Spelling spelling;
  bool legacy = true;  ///< answers as mx.nd does
  /// Of "_plus_scalar" and its kin: which input a number stands for.
  std::optional<std::size_t> number = {};
};

/// Refuses a name that nobody has, and those that NumPy computes.
const NamedOp& op_by_name(std::string_view name);

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// A call of an op whose parameters are read.
class Invocation {
 public:
  /// What a node of a graph has beside its parameters is passed over.
  Invocation(std::string name, const Attributes& attributes, bool is_node = false);

  const NamedOp& named() const { return named_; }
  std::span<const lazy::Argument> arguments() const { return arguments_; }
  /// The results are new arrays, or go to `outs`, one for each, if there are any. Inputs that are
  /// none are left out.
  std::vector<autograd::Handle> call(std::span<const autograd::Handle> inputs,
                                     std::span<autograd::Handle* const> outs = {}) const;

 private:
  void read(const std::string& name, const std::string& text, bool is_node);

  const std::string name_;
  const NamedOp& named_;
  std::vector<lazy::Argument> arguments_;
  /// Numbers that stand for inputs.
  std::vector<std::pair<std::size_t, autograd::Value>> numbers_;
  std::optional<Context> context_;
};

}  // namespace afterglow::c_api
