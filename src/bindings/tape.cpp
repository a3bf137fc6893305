// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>
#include <utility>

#include "bindings/held.h"
#include "bindings/operations.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "lazy/host.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

using autograd::Node;
using autograd::Origin;
using autograd::Saved;

/// No call computes a view, but the tape knows it like one.
const lazy::Op& view_op() {
  static const lazy::Op op = {
      .name = "view", .inputs = {"data"}, .parameters = {{"offset"}, {"shape"}, {"strides"}}};
  return op;
}

/// Nor is a write to a part of an array a call of its own name.
const lazy::Op& write_op() {
  static const lazy::Op op = {.name = "write",
                              .inputs = {"data", "value"},
                              .parameters = {{"offset"}, {"shape"}, {"strides"}}};
  return op;
}

const lazy::Op& op_of(const std::string& name) {
  if (name == "view") return view_op();
  if (name == "write") return write_op();
  const lazy::Op* op = ops::table().find(name);
  return op ? *op : lazy::host_op(name);
}

nb::object to_python(const lazy::Argument& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return nb::bool_(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* text = std::get_if<std::string>(&value))
    return nb::str(text->data(), text->size());
  if (const auto* shape = std::get_if<Shape>(&value)) {
    nb::list items;
    for (std::int64_t extent : *shape) items.append(nb::int_(extent));
    return nb::tuple(items);
  }
  return nb::none();
}

nb::object number_of(const lazy::Operand& operand) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, operand.immediate.data(), sizeof value);
    return value;
  };
  if (operand.dtype == DType::float64) return nb::float_(as(double{}));
  if (operand.dtype == DType::float32) return nb::float_(static_cast<double>(as(float{})));
  return nb::int_(as(std::int64_t{}));
}

nb::object value_of(const TapeNode& self, const Saved& saved, const Origin& origin) {
  if (saved.is_number()) return number_of(saved.value);
  if (!saved.has_value())
    throw Error(ErrorKind::mxnet, "[" + std::string(self.node->op->name) +
                                      "] its gradient reads a value that was not kept");
  if (saved.is_stale()) {
    refuse_overwritten(*self.node, "a value of shape " + to_string(saved.layout->shape()),
                       saved.version, saved.value.storage->version);
  }
  nb::object array = nb::steal(wrap(saved.value, self.node->legacy));
  as_array(array.ptr()).origin = origin;
  share_held(as_array(array.ptr()), self.held.ptr());
  return array;
}

nb::object to_tuple(std::span<const std::int64_t> numbers) {
  nb::object result = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  return result;
}

nb::object shape_of(const Saved& saved) {
  return saved.layout ? to_tuple(saved.layout->shape()) : nb::tuple();
}

std::intptr_t key_of(const Node* node) {
  return reinterpret_cast<std::intptr_t>(node);
}

/// (input, key of the node it came from, which of its outputs): of inputs that came from somewhere.
nb::list parents_of(const TapeNode& self) {
  nb::list result;
  for (std::size_t i = 0; i < self.node->inputs.size(); ++i) {
    const Origin& origin = self.node->inputs[i].origin;
    if (origin) result.append(nb::make_tuple(i, key_of(origin.node.get()), origin.output));
  }
  return result;
}

/// The same, and the numbers of those nodes.
nb::list sources_of(const TapeNode& self) {
  nb::list result;
  for (std::size_t i = 0; i < self.node->inputs.size(); ++i) {
    const Origin& origin = self.node->inputs[i].origin;
    if (origin)
      result.append(
          nb::make_tuple(i, key_of(origin.node.get()), origin.output, origin.node->sequence));
  }
  return result;
}

nb::dict arguments_of(const TapeNode& self) {
  nb::dict result;
  const Node& node = *self.node;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const std::string_view name = node.op->parameters[i].name;
    result[nb::str(name.data(), name.size())] = to_python(node.arguments[i]);
  }
  return result;
}

nb::object gradient_of(const TapeNode& self) {
  if (!self.node->gradient.storage) return nb::none();
  return nb::steal(wrap(self.node->gradient, self.node->legacy));
}

/// The recorded calls behind the heads, latest first.
nb::list collect(nb::list heads) {
  std::vector<Origin> origins;
  for (nb::handle head : heads) origins.push_back(need_array(head.ptr()).origin);
  nb::list result;
  for (Reference<Node>& node : autograd::collect(origins, {}))
    result.append(nb::cast(TapeNode{std::move(node)}));
  return result;
}

/// The node an array comes from and the number of the output, or None.
nb::object origin_of(nb::handle array) {
  const Origin& origin = need_array(array.ptr()).origin;
  if (!origin) return nb::none();
  return nb::make_tuple(nb::cast(TapeNode{origin.node}), origin.output);
}

void mark_variable(nb::handle array, nb::handle gradient, int request) {
  ArrayObject& object = need_array(array.ptr());
  Array buffer;
  if (!gradient.is_none()) buffer = need_array(gradient.ptr()).array;
  object.origin = {autograd::make_variable(object.array, std::move(buffer),
                                           static_cast<autograd::Request>(request), object.legacy),
                   0};
  clear_held(object);
  ++object.array.storage->origins;
}

void set_reads(const char* name, nb::list rules) {
  std::vector<autograd::Reads> reads;
  for (nb::handle rule : rules) {
    autograd::Reads& one = reads.emplace_back();
    one.differentiable = !rule.is_none();
    if (!one.differentiable) continue;
    const auto pair = nb::cast<nb::tuple>(rule);
    one.inputs = nb::cast<std::uint32_t>(pair[0]);
    one.outputs = nb::cast<bool>(pair[1]);
  }
  autograd::set_reads(op_of(name), std::move(reads));
}

}  // namespace

void refuse_overwritten(const Node& node, const std::string& what, std::uint32_t then,
                        std::uint32_t now) {
  const std::string place = describe_site(node.site);
  throw Error(ErrorKind::mxnet, "[" + std::string(node.op->name) + "] the gradient of the call" +
                                    (place.empty() ? "" : " at " + place) + " needs " + what +
                                    " that was overwritten in place since (write " +
                                    std::to_string(then) + ", now " + std::to_string(now) +
                                    "); write to a copy, or after backward()");
}

void refuse_variable(std::string_view op) {
  throw Error(ErrorKind::mxnet,
              "[" + std::string(op) +
                  "] a variable with a gradient cannot be written while recording; write to a "
                  "copy, or outside of autograd.record()");
}

void Recording::add(PyObject* object, const lazy::Operand& operand) {
  autograd::Source source;
  if (is_array(object)) {
    source = {&as_array(object).array, &as_array(object).origin};
    if (as_array(object).held) held_.push_back(nb::borrow(as_array(object).held));
  } else if (operand.storage) {
    source.array = &operand;  // converted on its way
  }
  sources_.push_back(source);
  numbers_.push_back(&operand);
}

void Recording::begin(PyObject* out) {
  if (out && as_array(out).origin && as_array(out).origin.node->is_variable()) {
    refuse_variable(op_.name);
  }
  node_ = autograd::record(op_, arguments_, legacy_, sources_, numbers_);
  if (!node_) return;
  node_->site = capture_site();
  if (out) ++as_array(out).array.storage->origins;
}

void Recording::finish(PyObject* array) {
  ArrayObject& object = as_array(array);
  object.origin = node_ ? autograd::add_output(*node_, object.array) : Origin{{}, Origin::constant};
  if (object.held) clear_held(object);
  for (const nb::object& held : held_) {
    if (node_) share_held(object, held.ptr());
  }
}

void record_view(PyObject* array, PyObject* view, std::int64_t offset, const Shape& shape,
                 const Shape& strides) {
  ArrayObject& source = as_array(array);
  if (!source.origin) {
    as_array(view).origin.output = Origin::constant;
    return;
  }
  const lazy::Argument arguments[] = {offset, shape, strides};
  const autograd::Source sources[] = {{&source.array, &source.origin}};
  const Reference<Node> node = autograd::record(view_op(), arguments, source.legacy, sources, {});
  if (!node) return;
  node->site = capture_site();
  as_array(view).origin = autograd::add_output(*node, as_array(view).array);
  share_held(as_array(view), source.held);
}

void record_write(PyObject* array, PyObject* value, std::int64_t offset, const Shape& shape,
                  const Shape& strides) {
  const lazy::Argument arguments[] = {offset, shape, strides};
  Recording recording(write_op(), arguments, as_array(array).legacy);
  lazy::Operand kept;
  set_operand(kept, array);
  recording.add(array, kept);
  lazy::Operand operand;
  set_operand(operand, value);
  recording.add(value, operand);
  recording.begin(array);
  recording.end(array);
}

void bind_tape(nb::module_& module) {
  nb::class_<TapeNode>(module, "TapeNode")
      .def_prop_ro("key", [](const TapeNode& self) { return key_of(self.node.get()); })
      .def_prop_ro("name",
                   [](const TapeNode& self) {
                     const std::string_view name = self.node->op ? self.node->op->name : "variable";
                     return nb::str(name.data(), name.size());
                   })
      .def_prop_ro("sequence", [](const TapeNode& self) { return self.node->sequence; })
      .def_prop_ro("is_variable", [](const TapeNode& self) { return self.node->is_variable(); })
      .def_prop_ro("legacy", [](const TapeNode& self) { return self.node->legacy; })
      .def_prop_ro("parents", parents_of)
      .def_prop_ro("sources", sources_of)
      .def_prop_ro("arguments", arguments_of)
      .def_prop_ro("input_count", [](const TapeNode& self) { return self.node->inputs.size(); })
      .def_prop_ro("output_count", [](const TapeNode& self) { return self.node->outputs.size(); })
      .def("input",
           [](const TapeNode& self, std::size_t index) {
             const Saved& saved = self.node->inputs.at(index);
             return value_of(self, saved, saved.origin);
           })
      .def("output",
           [](const TapeNode& self, std::size_t index) {
             return value_of(self, self.node->outputs.at(index),
                             {self.node, static_cast<int>(index)});
           })
      .def("input_shape", [](const TapeNode& self,
                             std::size_t index) { return shape_of(self.node->inputs.at(index)); })
      .def("output_shape", [](const TapeNode& self,
                              std::size_t index) { return shape_of(self.node->outputs.at(index)); })
      .def("input_dtype",
           [](const TapeNode& self, std::size_t index) {
             return static_cast<int>(self.node->inputs.at(index).dtype);
           })
      .def("input_context",
           [](const TapeNode& self, std::size_t index) {
             const Context context = self.node->inputs.at(index).context;
             return nb::make_tuple(static_cast<int>(context.type), static_cast<int>(context.id));
           })
      .def("input_fits",
           [](const TapeNode& self, std::size_t index, nb::handle array) {
             const Saved& saved = self.node->inputs.at(index);
             const Array& other = need_array(array.ptr()).array;
             return same_shape(*saved.layout, *other.layout) && saved.dtype == other.dtype &&
                    saved.context == other.context();
           })
      .def("input_strides",
           [](const TapeNode& self, std::size_t index) {
             return to_tuple(self.node->inputs.at(index).layout->strides());
           })
      .def("input_is_contiguous",
           [](const TapeNode& self, std::size_t index) {
             return self.node->inputs.at(index).layout->is_contiguous();
           })
      .def("output_dtype",
           [](const TapeNode& self, std::size_t index) {
             return static_cast<int>(self.node->outputs.at(index).dtype);
           })
      .def("output_context",
           [](const TapeNode& self, std::size_t index) {
             const Context context = self.node->outputs.at(index).context;
             return nb::make_tuple(static_cast<int>(context.type), static_cast<int>(context.id));
           })
      .def_prop_ro("gradient", gradient_of)
      .def("release", [](TapeNode& self) { self.node->release(); });
  module.def("collect_tape", collect, nb::arg("heads"));
  module.def("origin_of", origin_of);
  module.def("mark_variable", mark_variable, nb::arg("array"), nb::arg("gradient").none(),
             nb::arg("request"));
  module.def("set_gradient_reads", set_reads, nb::arg("name"), nb::arg("rules"));
  module.def("is_recording", [] { return autograd::state().recording; });
  module.def("is_training", [] { return autograd::state().training; });
  module.def("set_recording",
             [](bool on) { return std::exchange(autograd::state().recording, on); });
  module.def("set_training", [](bool on) { return std::exchange(autograd::state().training, on); });
}

}  // namespace afterglow::bindings
