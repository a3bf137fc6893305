// SPDX-License-Identifier: Apache-2.0
#include "ops/compose.h"

#include "lazy/composing.h"
#include "ops/operators.h"

namespace afterglow::ops {

using autograd::Handle;

Handle call(const lazy::Op& op, std::span<const Value> inputs,
            const autograd::CallBuilder::Options& options, bool legacy, std::vector<Handle>* more) {
  if (!op.compose) {
    autograd::CallBuilder builder(op, legacy);
    for (const Value& input : inputs) builder.add(input);
    return builder.issue(options, more);
  }
  autograd::Composition composition(op, inputs, options.arguments);
  const lazy::Composing scope(op);
  Handle result = op.compose(composition);
  for (Value& other : composition.more_outputs()) {
    if (!more) break;
    more->push_back(std::move(other));
    more->back().legacy = legacy;
  }
  if (options.out) {
    static const lazy::Op& copy = op_named("copy");
    result.legacy = legacy;
    autograd::CallBuilder builder(copy, legacy);
    builder.add(result);
    return builder.issue({copy.defaults, {}, options.out});
  }
  result.legacy = legacy;
  return result;
}

}  // namespace afterglow::ops
