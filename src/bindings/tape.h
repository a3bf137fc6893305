// SPDX-License-Identifier: Apache-2.0
// Writing calls onto the tape, and what Python sees of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/array_type.h"

namespace afterglow::bindings {

/// Python's hold on a node.
struct TapeNode {
  Reference<autograd::Node> node;
  /// For the arrays that it gives out: what the heads of the walk own, or nothing.
  nb::object held = {};
};

inline ArrayObject& need_array(PyObject* object) {
  if (!is_array(object)) throw Error(ErrorKind::type, "an array is needed");
  return as_array(object);
}

/// One call on its way to the tape: inputs are added before it is issued, outputs after.
class Recording {
 public:
  Recording(const lazy::Op& op, std::span<const lazy::Argument> arguments, bool legacy)
      : op_(op), arguments_(arguments), legacy_(legacy), on_(autograd::state().recording) {}

  bool is_on() const { return on_; }
  void add(PyObject* object, const lazy::Operand& operand);
  /// All inputs are there. `out`: the array that is written, or nullptr; variables may not be.
  void begin(PyObject* out);
  /// The array is an output of the call. Returns it.
  PyObject* end(PyObject* array) {
    if (on_) finish(array);
    return array;
  }

 private:
  void finish(PyObject* array);

  const lazy::Op& op_;
  std::span<const lazy::Argument> arguments_;
  bool legacy_;
  bool on_;
  std::vector<autograd::Source> sources_;
  std::vector<nb::object> held_;  ///< what the sources own
  std::vector<const lazy::Operand*> numbers_;
  Reference<autograd::Node> node_;
};

/// Records that one array is a part of the memory of another.
void record_view(PyObject* array, PyObject* view, std::int64_t offset, const Shape& shape,
                 const Shape& strides);

/// Records that a part of an array has been written.
void record_write(PyObject* array, PyObject* value, std::int64_t offset, const Shape& shape,
                  const Shape& strides);

/// What a rule would return for each input of a node whose call brings its gradients along; nothing
/// for all others, and where the gradients are to be recorded themselves.
class OwnGradients : public autograd::Keep {
 public:
  /// `heads`: gradients of the outputs, invalid for those that nobody used.
  virtual std::vector<nb::object> gradients(const autograd::Node& node,
                                            std::span<const nb::object> heads) const = 0;
};

/// A variable cannot be written while its writes are recorded.
[[noreturn]] void refuse_variable(std::string_view op);
/// The call of the node at this line needs a value that is not what it was.
[[noreturn]] void refuse_overwritten(const autograd::Node& node, const std::string& what,
                                     std::uint32_t then, std::uint32_t now);

void bind_tape(nb::module_& module);

}  // namespace afterglow::bindings
