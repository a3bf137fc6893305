// SPDX-License-Identifier: Apache-2.0
#include "autograd/composition.h"

namespace afterglow::autograd {

void Composition::refuse(const std::string& what, ErrorKind kind) const {
  std::string seen;
  for (const Value& input : inputs_) {
    if (!input && !input.is_number()) continue;
    seen += (seen.empty() ? "; inputs: " : ", ") +
            (input.is_number() ? std::string("a number") : describe(input.array));
  }
  throw Error(kind, "[" + std::string(op_.name) + "] " + what + seen);
}

}  // namespace afterglow::autograd
