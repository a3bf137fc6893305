// SPDX-License-Identifier: Apache-2.0
// Calling any op, whether it has a kernel or is made of others.
#pragma once

#include <span>
#include <vector>

#include "autograd/call_builder.h"
#include "autograd/composition.h"

namespace afterglow::ops {

/// The first result; the others are added to `more`. A composition that refuses half-way has
/// recorded nothing that anybody can reach. The inputs become values with NumPy's answers if the op
/// is made of others.
autograd::Value call(const lazy::Op& op, std::span<autograd::Value> inputs,
                     const autograd::CallBuilder::Options& options, bool legacy,
                     std::vector<autograd::Handle>* more = nullptr);

}  // namespace afterglow::ops
