// SPDX-License-Identifier: Apache-2.0
// Walking strided views. Private to src/kernels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace afterglow::kernels {

inline constexpr int max_rank = 32;

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// [begin, end) of `share` when `count` things are dealt out evenly.
struct Range {
  std::int64_t begin, end;
};
inline Range range_of(std::int64_t count, int shares, int share) {
  const std::int64_t each = count / shares, more = count % shares;
  const std::int64_t begin = each * share + std::min<std::int64_t>(more, share);
  return {begin, begin + each + (share < more ? 1 : 0)};
}

inline bool is_contiguous(int rank, const std::int64_t* shape, const std::int64_t* strides) {
  std::int64_t expected = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

inline void set_contiguous_strides(int rank, const std::int64_t* shape, std::int64_t* strides) {
  std::int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
}

/// Several operands over one shape, with dimensions of one element dropped and neighbours joined
/// where every operand allows it. Has at least one dimension.
template <int max_operands>
struct JointView {
  int rank = 0;
  int operands = 0;
  std::int64_t shape[max_rank];
  std::int64_t strides[max_operands][max_rank];

  void join(int full_rank, const std::int64_t* full_shape, int operand_count,
            const std::int64_t* const* full_strides) {
    operands = operand_count;
    rank = 0;
    for (int dimension = 0; dimension < full_rank; ++dimension) {
      const std::int64_t length = full_shape[dimension];
      if (length == 1) continue;
      bool joins = rank > 0;
      for (int i = 0; joins && i < operands; ++i)
        joins = strides[i][rank - 1] == full_strides[i][dimension] * length;
      rank += joins ? 0 : 1;
      shape[rank - 1] = joins ? shape[rank - 1] * length : length;
      for (int i = 0; i < operands; ++i) strides[i][rank - 1] = full_strides[i][dimension];
    }
    if (rank > 0) return;
    rank = 1;
    shape[0] = 1;
    for (int i = 0; i < operands; ++i) strides[i][0] = 1;
  }

  bool all_zero(int operand) const {
    for (int dimension = 0; dimension < rank; ++dimension)
      if (strides[operand][dimension] != 0) return false;
    return true;
  }
};

/// Counts through the indices of a shape in C order.
struct Odometer {
  int rank;
  const std::int64_t* counts;
  std::int64_t index[max_rank];

  Odometer(int rank_, const std::int64_t* counts_, std::int64_t position)
      : rank(rank_), counts(counts_) {
    for (int i = rank - 1; i >= 0; --i) {
      index[i] = counts[i] ? position % counts[i] : 0;
      position = counts[i] ? position / counts[i] : 0;
    }
  }
  void advance() {
    for (int i = rank - 1; i >= 0; --i) {
      if (++index[i] < counts[i]) return;
      index[i] = 0;
    }
  }
};

}  // namespace afterglow::kernels
