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
  exponential,
  logarithm,
  square_root,
  hyperbolic_tangent,
  sigmoid,
  rectify,
  square,
  cube,
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
/// (float16 never has: callers compute it in float32).
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
