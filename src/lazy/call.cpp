// SPDX-License-Identifier: Apache-2.0
#include "lazy/call.h"

#include <vector>

#include "base/error.h"

namespace afterglow::lazy {
namespace {

constexpr std::size_t most_spare = 4096;

std::vector<Call*>& spare() {
  static auto* const list = [] {
    auto* made = new std::vector<Call*>;
    made->reserve(most_spare);  // giving one back must not fail
    return made;
  }();
  return *list;
}

const Argument& find(const Inference& inference, std::string_view name) {
  const auto& parameters = inference.op.parameters;
  // Declaration and infer function stand in one file, where equal literals are one.
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.data() == name.data()) return inference.arguments[i];
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return inference.arguments[i];
  }
  throw Error(ErrorKind::mxnet, "[" + std::string(inference.op.name) + "] declares no parameter " +
                                    std::string(name));
}

}  // namespace

Call* Call::create() {
  if (spare().empty()) return new Call;
  Call* call = spare().back();
  spare().pop_back();
  return call;
}

void Call::destroy(Call* call) {
  // The slots go before the references: see Storage::Slots. Calls outside of the window have none,
  // and may have no storages either.
  if (call->joined) {
    for_each_storage(*call, [](Storage& storage) {
      storage.slots.all.store(storage.slots.all.load(std::memory_order_relaxed) - 1,
                              std::memory_order_release);
    });
  }
  call->inputs.clear();
  call->outputs.clear();
  call->joined = false;
  call->row_axes = -1;
  call->reduced_axes = 0;
  call->settled.clear();
  call->drawn_blocks = 0;
  call->batches.reset();
  call->host.reset();
  call->aggregate.reset();
  call->site.reset();
  call->injected_failure.reset();
  call->overwrites = false;
  call->function = nullptr;
  if (spare().size() < most_spare) {
    spare().push_back(call);
  } else {
    delete call;
  }
}

std::string describe_inputs(const Call& call) {
  std::string text;
  for (const Operand& input : call.inputs) {
    if (!text.empty()) text += ", ";
    if (input.is_immediate()) {
      text += "a number";
    } else {
      const Layout& layout = input.given ? *input.given : *input.layout;
      text += to_string(layout.shape()) + " " + name_of(input.dtype);
    }
  }
  return text;
}

const Argument& Inference::argument(std::string_view name) const {
  return find(*this, name);
}

bool Inference::is_none(std::string_view name) const {
  return std::holds_alternative<std::monostate>(argument(name));
}

std::int64_t Inference::integer(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  refuse(std::string(name) + " must be an integer", ErrorKind::type);
}

bool Inference::boolean(std::string_view name) const {
  const Argument& value = argument(name);
  if (std::holds_alternative<std::monostate>(value)) return false;
  return integer(name) != 0;
}

double Inference::number(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(integer(name));
}

const Shape& Inference::shape(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* shape = std::get_if<Shape>(&value)) return *shape;
  refuse(std::string(name) + " must be a tuple of integers", ErrorKind::type);
}

void Inference::add_output(Reference<Layout> layout, DType dtype) {
  Operand& output = call.outputs.emplace_back();
  output.layout = std::move(layout);
  output.dtype = dtype;
}

void Inference::add_output(std::span<const std::int64_t> shape, DType dtype) {
  add_output(Layout::contiguous(shape), dtype);
}

void Inference::refuse(const std::string& what, ErrorKind kind) const {
  std::string text = "[" + std::string(op.name) + "] " + what;
  if (call.inputs.size()) text += "; inputs: " + describe_inputs(call);
  throw Error(kind, text);
}

}  // namespace afterglow::lazy
