// SPDX-License-Identifier: Apache-2.0
// Elementwise work: block kernels over short contiguous runs, and the pass that feeds them with
// strided, broadcast and differently typed operands, block by block in the first-level cache.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

/// What a block kernel computes.
enum class Formula : std::uint8_t {
#define FORMULA(name, ...) name,
#include "kernels/formulas.def"
  count_of_formulas,
};

/// How long an element takes: hardly longer than reading and writing it, a nanosecond or so, tens
/// of them.
enum class Work : std::uint8_t { light, costly, slow };

inline constexpr Work works[] = {
#define FORMULA(name, work, ...) Work::work,
#include "kernels/formulas.def"
};
constexpr Work work_of(Formula formula) {
  return works[static_cast<int>(formula)];
}

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
