// SPDX-License-Identifier: Apache-2.0
// The types and formulas of elementwise calls, by rules that several ops share.
#pragma once

#include "lazy/op.h"

namespace afterglow::ops {

/// The common type of array inputs, from the input `begin` on; mx.nd demands that they are equal.
DType common_type(const lazy::Inference& inference, std::size_t begin = 0);
bool has_immediate(const lazy::Inference& inference);
/// Settles numbers, adds the output with its broadcast shape, and ends with what computes it.
void add_result(lazy::Inference& inference, DType compute, DType result, kernels::Formula formula);
void add_result(lazy::Inference& inference, DType compute, DType result);

// --- of one operand ---

void keep_type(lazy::Inference& inference);
void keep_type_but_boolean(lazy::Inference& inference);
/// Functions that leave truth values as they are.
void keep_truth(lazy::Inference& inference);
/// The same of functions that leave integers as they are, too.
void keep_integers(lazy::Inference& inference);
/// Functions of reals that integers may have too: in MXNet, sin of 1 is 0 in an array of integers.
void real_function(lazy::Inference& inference);
/// The same where there is a kernel for float64 only.
void double_function(lazy::Inference& inference);
void floats_only(lazy::Inference& inference);
/// Multiplies by a number that the function has in it.
void scaling(lazy::Inference& inference, double factor);
void reciprocal(lazy::Inference& inference);
/// Truth values of "is zero".
void is_zero(lazy::Inference& inference);
void inverted_bits(lazy::Inference& inference);

// --- of two ---

void arithmetic(lazy::Inference& inference);
void infer_power(lazy::Inference& inference);
/// NumPy's true division: integers become float32. mx.nd divides integers as C does.
void division(lazy::Inference& inference);
/// Truth values: booleans in NumPy, 0 and 1 of the input's type in mx.nd.
void comparison(lazy::Inference& inference);
/// Functions of two reals. A boolean array meets a number as int64.
void real_function_of_two(lazy::Inference& inference);
/// Truth values of "not zero", which no type loses on its way to float64.
void logic(lazy::Inference& inference);
void bits(lazy::Inference& inference);

}  // namespace afterglow::ops
