// SPDX-License-Identifier: Apache-2.0
// Where the greatest or smallest element along an axis is.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lines.h"
#include "kernels/reduce.h"

namespace afterglow::kernels {

/// One search, cut into shares: run(share) for each, on any threads, then finish() once. The first
/// of equal elements wins; nan is greater than all others for a maximum, smaller for a minimum.
class ArgReducePass {
 public:
  /// `order` is maximum or minimum. The output is contiguous, [outer][inner]; no axis is empty.
  ArgReducePass(Reduction order, const Lines& input, void* output, DType output_dtype);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

 private:
  struct Found {
    Partial value;
    std::int64_t index;
  };

  template <class T>
  void run_lines(std::int64_t first_unit, std::int64_t last_unit);
  template <class T>
  void run_columns(std::int64_t unit);
  template <class T>
  Found find_in_line(const char* line, std::int64_t begin, std::int64_t end) const;
  template <class T>
  void find_in_lines(const char* lines, std::int64_t count, std::int64_t* indices) const;
  bool is_better(Partial value, Partial best, bool real) const;
  void write(std::int64_t output, std::int64_t count, const std::int64_t* indices) const;

  bool maximum_;
  Lines input_;
  DType compute_;  ///< as compared: float16 is widened
  char* output_;
  DType output_dtype_;
  std::int64_t chunk_ = 1;   ///< elements of a line that are searched at a time
  std::int64_t chunks_ = 1;  ///< and how many of those a line has
  std::int64_t tile_ = 1;    ///< lines side by side that are searched together
  std::int64_t units_ = 1;   ///< what shares are made of
  int shares_ = 1;
  std::vector<Found> found_;  ///< [chunk][output], where there are several chunks
};

}  // namespace afterglow::kernels
