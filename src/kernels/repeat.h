// SPDX-License-Identifier: Apache-2.0
// One program of elementwise steps, run on one set of arrays after another: what it takes to get
// ready is paid once for all sets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/program.h"

namespace afterglow::kernels {

/// Arrays of a set that take part in a repeated program, all contiguous and of one size.
struct ArraySet {
  void* const* data;
  std::int64_t size;
};

class RepeatedProgram {
 public:
  /// `program` has formula steps only, no split, and the data of the first set as operands, scalars
  /// apart. Its shape is not looked at: `largest` is the size of the largest set.
  /// `places[i]`: the array of a set that operand i stands for; scalars have none.
  RepeatedProgram(const Program& program, std::int64_t largest, std::span<const int> places);

  void run(std::span<const ArraySet> sets) const;

 private:
  std::shared_ptr<Plan> plan_;
  int places_[most_operands];
};

}  // namespace afterglow::kernels
