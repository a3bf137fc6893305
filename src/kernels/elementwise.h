// SPDX-License-Identifier: Apache-2.0
// Elementwise work: block kernels over short contiguous runs, and the pass that feeds them with
// strided, broadcast and differently typed operands, block by block in the first-level cache.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// What a block kernel computes. One line per formula in formulas.h.
enum class Formula : std::uint8_t {
  // one input
  copy,
  negative,
  absolute,
  rectify,
  square,
  cube,
  sign,
  truncate,
  round_down,
  round_up,
  round_half_away,     ///< ties away from 0
  round_half_to_even,  ///< ties to the even number
  round_half_down,     ///< ties to the lower number
  soft_sign,
  // one input, a nanosecond or so
  exponential,
  logarithm,
  square_root,
  hyperbolic_tangent,
  sigmoid,
  reciprocal_square_root,
  cube_root,
  exponential_minus_1,
  logarithm_of_1_plus,
  logarithm_2,
  logarithm_10,
  sine,
  cosine,
  tangent,
  arc_sine,
  arc_cosine,
  arc_tangent,
  hyperbolic_sine,
  hyperbolic_cosine,
  inverse_hyperbolic_sine,
  inverse_hyperbolic_cosine,
  inverse_hyperbolic_tangent,
  error_function,
  gaussian_linear_unit,
  soft_rectify,
  // one input, tens of nanoseconds, in float64 only
  inverse_error_function,
  gamma_function,
  logarithm_of_gamma,
  digamma,
  // two inputs
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  maximum,
  minimum,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // two inputs, of reals only
  copy_sign,
  hypotenuse,
  arc_tangent_of_point,
  logical_and,
  logical_or,
  logical_xor,
  leaky_rectify,       ///< the first, times the second where it is negative
  exponential_linear,  ///< the first, or the second times (e^first - 1) where it is negative
  smooth_absolute,
  // two inputs, of int64 only
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  // three inputs
  select,  ///< the second where the first is not zero, else the third
  clip,    ///< the first, between the second and the third
  count_of_formulas,
};

/// Computes `count` contiguous elements. Inputs are of the compute type, the output of the produced
/// type; the output may be the same memory as an input, else they do not overlap.
using BlockFunction = void (*)(const void* const* inputs, void* output, std::int64_t count);

inline constexpr int max_inputs = 3;
/// Elements per block: small enough that a few blocks stay in the first-level cache.
inline constexpr std::int64_t block_size = 1024;

/// The kernel for the instruction set of this machine, or nullptr where `compute` has none
/// (float16 never has: callers compute it in float32; some formulas are for reals only).
BlockFunction block_function(Formula formula, DType compute);
/// boolean for comparisons, else the compute type.
DType produced_type(Formula formula, DType compute);
int input_count(Formula formula);

struct Operand {
  void* data = nullptr;
  DType dtype = DType::float32;
  /// In elements, one per dimension of the pass, 0 for broadcast; nullptr for C-contiguous.
  const std::int64_t* strides = nullptr;
  /// One element for the whole pass; strides are not looked at.
  bool scalar = false;
};

/// output[...] = formula(inputs[...]...), in C order over `shape`. An input may be the very same
/// view as the output; otherwise their elements must not overlap.
struct ElementwisePass {
  BlockFunction function = nullptr;
  DType compute = DType::float32;
  DType produced = DType::float32;
  int inputs_used = 0;
  int rank = 0;
  const std::int64_t* shape = nullptr;
  std::int64_t size = 0;  ///< product of shape
  Operand inputs[max_inputs];
  Operand output;
};

/// Cut by the size alone, so that it does not depend on threads.
int share_count(const ElementwisePass& pass);
void run_share(const ElementwisePass& pass, int share);

/// The name of the chosen instruction set: "x86-64-v4", "x86-64-v3", "x86-64-v2" or "portable".
const char* instruction_set();

}  // namespace afterglow::kernels
