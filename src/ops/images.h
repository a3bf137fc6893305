// SPDX-License-Identifier: Apache-2.0
// What ops on images have in common.
#pragma once

#include <algorithm>
#include <limits>

#include "ops/completing.h"
#include "ops/compositions.h"
#include "ops/operators.h"

namespace afterglow::ops {

/// Refuses inputs, the first so many or all, that are no contiguous images of one type and rank.
inline void need_images(const lazy::Inference& inference, int least_rank, int most_rank,
                        std::size_t count = std::numeric_limits<std::size_t>::max()) {
  const auto& inputs = inference.call.inputs;
  const lazy::Operand& first = inputs[0];
  for (std::size_t i = 0; i < std::min(count, inputs.size()); ++i) {
    const lazy::Operand& input = inputs[i];
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
    if (input.dtype != first.dtype) inference.refuse("needs arrays of one type", ErrorKind::type);
    const int rank = input.layout->rank();
    if (rank != first.layout->rank() || rank < least_rank || rank > most_rank)
      inference.refuse("needs arrays of " + std::to_string(least_rank) + " to " +
                       std::to_string(most_rank) + " dimensions");
  }
  if (!is_floating(first.dtype))
    inference.refuse("needs float16, float32 or float64", ErrorKind::type);
}

inline void need_real(const Composition& c) {
  for (const Value& input : c.inputs()) {
    if (input && !is_floating(input.array.dtype))
      c.refuse("needs float16, float32 or float64", ErrorKind::type);
  }
}

/// The shape of the result that `complete` says, or what it refuses.
template <class Parameters>
Shape completed(const Composition& c, void (*complete)(lazy::Completion&, const Parameters&),
                const Parameters& given) {
  lazy::Completion completion{c.op(), {}, {}};
  for (const Value& input : c.inputs()) {
    completion.shapes.emplace_back();
    if (input) completion.shapes.back() = shape_of(input);
  }
  complete(completion, given);
  return completion.results.at(0);
}

}  // namespace afterglow::ops
