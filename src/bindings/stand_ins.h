// SPDX-License-Identifier: Apache-2.0
// What stands for parameters of layers that wait for their shapes.
#pragma once

#include <utility>
#include <vector>

#include "bindings/python.h"
#include "lazy/op.h"

namespace afterglow::bindings {

bool is_stand_in(PyObject* object);

/// The inputs of a call with arrays in place of those that stand for them: what the op says of the
/// shapes of its weights completes these.
class StandIns {
 public:
  /// The arguments, one per parameter, must be there when the inputs are completed.
  StandIns(const lazy::Op& op, std::span<const lazy::Argument> arguments)
      : completion_{op, arguments, std::vector<std::optional<Shape>>(op.inputs.size())} {}

  void read(std::size_t input, PyObject** object);
  /// Replaces the objects that stand for arrays by these, which `held` keeps alive.
  void complete(std::vector<nb::object>& held);

 private:
  lazy::Completion completion_;
  std::vector<std::pair<std::size_t, PyObject**>> stand_ins_;
};

void bind_stand_ins(nb::module_& module);

}  // namespace afterglow::bindings
