// SPDX-License-Identifier: Apache-2.0
// What the tests of ops share: variables, recording, gradients and their numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/walk.h"
#include "lazy_support.h"
#include "ops/gradients.h"

namespace support {

using autograd::Handle;
using ops::Value;

/// Asked only for ops that have no rules of their own.
class NoOtherRules : public autograd::OtherRules {
 public:
  std::vector<Handle> gradients(const Reference<autograd::Node>& node, std::span<const Handle>,
                                const std::vector<bool>&) override {
    check::fail(__FILE__, __LINE__, "asked for the rules of " + std::string(node->op->name));
  }
};

class Recorded {
 public:
  Recorded() { autograd::state().recording = true; }
  ~Recorded() { autograd::state().recording = false; }
};

inline Value variable(const std::vector<float>& numbers) {
  Value value(
      Handle{support::filled({static_cast<std::int64_t>(numbers.size())}, 0), {}, {}, false});
  std::copy(numbers.begin(), numbers.end(), reinterpret_cast<float*>(value.array.data()));
  value.origin = {autograd::make_variable(value.array, {}, autograd::Request::write, false), 0};
  return value;
}

inline std::vector<Handle> gradients(const Value& head, const std::vector<Value>& wanted,
                                     bool uses_up = true) {
  const autograd::Origin heads[] = {head.origin};
  const auto shape = head.array.shape();
  std::vector<Handle> ones = {
      ops::full(1, {shape.begin(), shape.end()}, head.array.dtype, head.array.context())};
  std::vector<autograd::Origin> origins;
  for (const Value& one : wanted) origins.push_back(one.origin);
  NoOtherRules none;
  autograd::Walk walk(heads, std::move(ones), std::move(origins), uses_up, {}, ops::accumulation(),
                      none);
  walk.run();
  return walk.results();
}

inline float number(const Handle& handle, std::int64_t index = 0) {
  return support::value(lazy::window(), handle.array, index);
}

inline bool is_close(float left, double right) {
  return std::abs(left - right) < 1e-5 * (1 + std::abs(right));
}

}  // namespace support
