// SPDX-License-Identifier: Apache-2.0
#include "autograd/gradient.h"

#include <bit>

#include "autograd/front_end.h"

namespace afterglow::autograd {
namespace {

Handle in_numpy(Handle handle) {
  handle.legacy = false;
  return handle;
}

}  // namespace

void refuse_overwritten(const Node& node, const std::string& what, std::uint32_t then,
                        std::uint32_t now) {
  const std::string place = front_end().describe(node.site);
  throw Error(ErrorKind::mxnet, "[" + std::string(node.op->name) + "] the gradient of the call" +
                                    (place.empty() ? "" : " at " + place) + " needs " + what +
                                    " that was overwritten in place since (write " +
                                    std::to_string(then) + ", now " + std::to_string(now) +
                                    "); write to a copy, or after backward()");
}

Handle saved_handle(const Node& node, const Saved& saved, const Origin& origin, const Held& held) {
  if (!saved.has_value())
    throw Error(ErrorKind::mxnet, "[" + std::string(node.op->name) +
                                      "] its gradient reads a value that was not kept");
  if (saved.is_stale()) {
    refuse_overwritten(node, "a value of shape " + to_string(saved.layout->shape()), saved.version,
                       saved.value.storage->version);
  }
  return {saved.value, origin, held, node.legacy};
}

Gradient::Gradient(const Reference<Node>& node, std::span<const Handle> heads, const Held& held)
    : g(in_numpy(heads[0])), node_(node), heads_(heads), held_(held) {}

Value Gradient::head(std::size_t output) const {
  return in_numpy(heads_[output]);
}

Value Gradient::operator[](std::size_t input) const {
  const Saved& saved = node_->inputs.at(input);
  return value_of(saved, saved.origin);
}

Value Gradient::output(std::size_t output) const {
  return value_of(node_->outputs.at(output), {node_, static_cast<int>(output)});
}

Shape Gradient::shape_of(const Saved& saved) {
  if (saved.is_number()) return {};
  return {saved.layout->shape().begin(), saved.layout->shape().end()};
}

Value Gradient::value_of(const Saved& saved, const Origin& origin) const {
  if (!saved.is_number()) return in_numpy(saved_handle(*node_, saved, origin, held_));
  if (saved.value.dtype == DType::float64) return std::bit_cast<double>(saved.value.immediate);
  return std::bit_cast<std::int64_t>(saved.value.immediate);
}

}  // namespace afterglow::autograd
