// SPDX-License-Identifier: Apache-2.0
#include "bindings/stand_ins.h"

#include <algorithm>
#include <string>

#include "bindings/operations.h"

namespace afterglow::bindings {
namespace {

PyTypeObject* stand_in_type = nullptr;

/// As far as it is known: layers write 0 for what is not.
Shape known_shape(PyObject* stand_in) {
  Shape shape = to_shape(nb::object(nb::handle(stand_in).attr("shape")).ptr());
  std::ranges::replace(shape, 0, -1);
  return shape;
}

}  // namespace

bool is_stand_in(PyObject* object) {
  return Py_TYPE(object) == stand_in_type;
}

void StandIns::read(std::size_t input, PyObject** object) {
  if (is_stand_in(*object)) {
    stand_ins_.emplace_back(input, object);
    completion_.shapes[input] = known_shape(*object);
  } else if (is_array(*object)) {
    const auto shape = as_array(*object).array.shape();
    completion_.shapes[input] = Shape(shape.begin(), shape.end());
  }
}

void StandIns::complete(std::vector<nb::object>& held) {
  const lazy::Op& op = completion_.op;
  op.complete(completion_);
  for (const auto& [input, object] : stand_ins_) {
    const std::optional<Shape>& shape = completion_.shapes[input];
    if (!shape || std::ranges::find(*shape, -1) != shape->end())
      throw Error(ErrorKind::type, "[" + std::string(op.name) + "] the shape of " +
                                       std::string(op.inputs[input]) +
                                       " does not follow from those of the other inputs");
    held.push_back(nb::handle(*object).attr("completed")(to_tuple(*shape)));
    *object = held.back().ptr();
  }
}

void bind_stand_ins(nb::module_& module) {
  module.def(
      "is_stand_in", [](nb::handle object) { return is_stand_in(object.ptr()); },
      nb::arg("object").none(), "Whether it stands for an array that waits for its shape.");
  module.def(
      "set_stand_in_type",
      [](nb::handle type) { stand_in_type = reinterpret_cast<PyTypeObject*>(type.ptr()); },
      nb::arg("type"), "The class of what stands for an array that waits for its shape.");
}

}  // namespace afterglow::bindings
