// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes. The cut and the order of additions depend on shapes only, so the
// bits do not depend on the number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "kernels/views.h"

namespace afterglow::kernels {

enum class Reduction : std::uint8_t { sum, mean, maximum, minimum, norm1, norm2, product };

struct StridedInput {
  const void* data = nullptr;
  DType dtype = DType::float32;
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;  ///< in elements
};

/// The value of a reduction so far: `real` for floating inputs and sums of squares, else `integer`.
union Partial {
  double real;
  std::int64_t integer;
};

/// One reduction, cut into shares: run(share) for each, on any threads, then finish() once.
class ReducePass {
 public:
  /// Bit i of `reduced_axes` set: axis i is reduced. The output is C-contiguous over the kept axes,
  /// of type `output_dtype`. float16 and float32 add up in float32 lanes per block and in float64
  /// across blocks; integers in int64; booleans as 0 and 1. maximum and minimum propagate nan. An
  /// empty sum is 0, an empty product 1, an empty mean nan; the caller refuses empty maximum and
  /// minimum.
  ReducePass(Reduction reduction, const StridedInput& input, std::uint32_t reduced_axes,
             void* output, DType output_dtype);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

 private:
  struct Scratch;
  void run_rows(std::int64_t first_unit, std::int64_t last_unit);
  void fold_rows(std::int64_t output, std::int64_t rows, std::int64_t first_block,
                 std::int64_t last_block, Scratch& scratch) const;
  void run_columns(std::int64_t unit);
  /// The truth value that no other can change.
  std::int64_t decisive() const { return reduction_ == Reduction::maximum; }
  bool first_block_decides() const;
  void write(std::int64_t output, std::int64_t count, Partial* totals) const;

  Reduction reduction_;
  const char* data_;
  DType dtype_;    ///< as stored
  DType compute_;  ///< as folded: float16 is widened
  void* output_;
  DType output_dtype_;
  JointView<1> kept_, reduced_;
  std::int64_t outputs_ = 1, count_ = 1;  ///< elements kept, and reduced into each
  /// Elements of the trailing axes of one kind: values of an inner run, or columns side by side.
  std::int64_t inner_ = 1;
  bool inner_is_reduced_ = true;
  std::int64_t chunk_ = 1;   ///< blocks, or rows, that make one partial result
  std::int64_t chunks_ = 1;  ///< partial results for each output
  std::int64_t tile_ = 1;    ///< columns at a time
  std::int64_t units_ = 1;   ///< what shares are made of
  int shares_ = 1;
  /// Of truth values one can decide: what has not been looked at then need not be.
  bool one_decides_ = false;
  std::atomic<bool> decided_ = false;
  std::vector<Partial> partials_;  ///< [chunk][output], where there are several chunks
};

}  // namespace afterglow::kernels
