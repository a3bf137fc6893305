// SPDX-License-Identifier: Apache-2.0
// Numbers that travel inside a call (`x + 1`). They come as int64 or float64 and take the type of
// the array they meet: integers lose the fraction.
#pragma once

#include "lazy/call.h"

namespace afterglow::lazy {

void set_immediate(Operand& operand, std::int64_t value);
void set_immediate(Operand& operand, double value);
/// Casts an immediate to `dtype`; arrays are left alone. False where an integer type does not have
/// the number; the immediate is then as it was.
[[nodiscard]] bool settle_immediate(Operand& operand, DType dtype);

}  // namespace afterglow::lazy
