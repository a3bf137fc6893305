// SPDX-License-Identifier: Apache-2.0
#include "lazy/capture.h"

#include <utility>

namespace afterglow::lazy {
namespace {

thread_local Capture* active = nullptr;

}  // namespace

Capture::Capture(std::span<const Array> inputs)
    : inputs_(inputs.begin(), inputs.end()), first_serial_(Storage::next_serial()) {
  // Numbers are not used twice, so handles that outlive their capture mean nothing to others.
  if (next_source_ + inputs_.size() > ~std::uint32_t{0}) next_source_ = 1;
  first_source_ = next_source_;
  for (Array& input : inputs_) input.source = next_source_++;
  active = this;
  ++alive_;
}

Capture::~Capture() {
  active = nullptr;
  --alive_;
}

Capture* Capture::of_thread() {
  return active;
}

void Capture::add(const Call& call) {
  OwnedCall copy(Call::create());
  copy_call(call, *copy);
  for (Operand& output : copy->outputs) {
    const Storage& storage = *output.storage;
    // What has a value by now was made by Python; what is small may be kept for its value.
    // Workers give memory to what has a stand-in already.
    if (storage.bytes() > largest_constant && has_seen_made(storage) &&
        !stand_ins_.contains(storage.serial()) && !storage.has_value())
      stand_ins_[storage.serial()] = Storage::create(storage.bytes(), storage.context());
    output.storage = written_down(output.storage);
  }
  for (Operand& input : copy->inputs) {
    if (!input.is_immediate()) input.storage = written_down(input.storage);
  }
  calls_.push_back(std::move(copy));
}

const Reference<Storage>& Capture::written_down(const Reference<Storage>& storage) const {
  const auto found = stand_ins_.find(storage->serial());
  return found == stand_ins_.end() ? storage : found->second;
}

void Capture::refuse(std::string reason) {
  if (refusal_.empty()) refusal_ = std::move(reason);
}

void copy_call(const Call& from, Call& to) {
  to.op = from.op;
  to.outer = from.outer;
  for (const Operand& input : from.inputs) to.inputs.emplace_back() = input;
  for (const Operand& output : from.outputs) to.outputs.emplace_back() = output;
  to.settled = from.settled;
  to.reduced_axes = from.reduced_axes;
  to.drawn = from.drawn;
  to.formula = from.formula;
  to.function = from.function;
  to.row_axes = from.row_axes;
  to.compute = from.compute;
  to.cost = from.cost;
  to.host = from.host;
  to.drawn_blocks = from.drawn_blocks;
  to.site = from.site.copy();
  to.layer = from.layer;
}

}  // namespace afterglow::lazy
