// SPDX-License-Identifier: Apache-2.0
// Running sums along an axis.
#pragma once

#include <cstdint>

#include "kernels/lines.h"

namespace afterglow::kernels {

/// One running sum, cut into shares by lines. Reals add up in float64 and integers in 64 bits; each
/// sum is rounded to the type of the input once.
class ScanPass {
 public:
  /// The output is contiguous and of the input's type, which is not boolean. With `reverse` the
  /// sums start from the end.
  ScanPass(const Lines& input, bool reverse, void* output);
  int shares() const { return shares_; }
  void run(int share);

 private:
  template <class Sum>
  void run_line(std::int64_t line) const;
  template <class Sum>
  void run_columns(std::int64_t unit) const;

  Lines input_;
  bool reverse_;
  char* output_;
  std::int64_t units_ = 0;  ///< lines, or tiles of lines side by side
  int shares_ = 0;
};

}  // namespace afterglow::kernels
