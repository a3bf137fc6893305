// SPDX-License-Identifier: Apache-2.0
#include "lazy/call.h"

#include <vector>

#include "base/error.h"
#include "base/processor.h"
#include "lazy/composing.h"

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
  call->overwrites = call->goes_on = call->passing = false;
  call->function = nullptr;
  if (spare().size() < most_spare) {
    spare().push_back(call);
  } else {
    delete call;
  }
}

void fetch_storages_ahead(std::span<Call* const> calls) {
  for (const Call* call : calls) {
    for_each_storage(*call, [](const Storage& storage) { fetch_ahead(storage); });
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

void Inference::add_output(Reference<Layout> layout, DType dtype) {
  Operand& output = call.outputs.emplace_back();
  output.layout = std::move(layout);
  output.dtype = dtype;
}

void Inference::add_output(std::span<const std::int64_t> shape, DType dtype) {
  add_output(Layout::contiguous(shape), dtype);
}

void Inference::refuse(const std::string& what, ErrorKind kind) const {
  std::string text = named(op, Composing::of_thread()) + what;
  if (call.inputs.size()) text += "; inputs: " + describe_inputs(call);
  throw Error(kind, text);
}

}  // namespace afterglow::lazy
