// SPDX-License-Identifier: Apache-2.0
// Writing calls onto the tape, and what Python sees of it.
#pragma once

#include "bindings/array_type.h"

namespace afterglow::bindings {

/// Python's hold on a node.
struct TapeNode {
  Reference<autograd::Node> node;
  /// For the arrays that it gives out: what the heads of the walk own, or nothing.
  autograd::Held held = {};
};

inline ArrayObject& need_array(PyObject* object) {
  if (!is_array(object)) throw Error(ErrorKind::type, "an array is needed");
  return as_array(object);
}

/// What stands on the tape for a hybridized block that was replayed.
const lazy::Op& replay_op();

void bind_tape(nb::module_& module);

}  // namespace afterglow::bindings
