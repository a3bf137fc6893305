// SPDX-License-Identifier: Apache-2.0
// Private to src/kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/plan.h"

namespace afterglow::kernels {

/// Turns steps into instructions, and values into slots.
class Planner {
 public:
  Planner(const Program& program, Plan& plan);
  void plan_steps();

 private:
  void add_stream(int operand, bool read, bool written);
  int add_slot(Slot slot);
  int emit(Instruction instruction);
  int convert(int from, int to, bool once_per_row = false);
  /// A slot made from `origin` once and for all: by convert, or at the start of a share.
  int derived(int origin, Slot::Kind kind, Extent extent, DType dtype);
  int natural(Source source) const;
  int typed(int slot, DType dtype);
  int as_block(int slot, Extent extent);
  bool in_place(const Slot& slot) const;
  bool takes_single(const Slot& slot, Extent extent) const;
  BlockFunction choose_function(const Step& step, std::uint8_t& singles) const;
  int home(const Step& step, Extent extent);
  int value_slot(const Step& step, Extent extent);
  void store(const Step& step, int value, Extent extent);
  int plan_formula(int number, Extent extent);
  int plan_copy(int number, Extent extent);
  int plan_fold(int number);
  bool is_read_later(int step) const;
  bool is_touched(const Operand& operand, int first_step, int end_step) const;
  int copy_to_replace(int number) const;
  bool goes_to_memory_only(int number, const Slot& place) const;
  bool is_overwritten(const Slot& slot, int first_step) const;

  const Program& program_;
  Plan& plan_;
  std::vector<Slot>& slots_;
  bool one_column_;  ///< a value per row is a value per element, and contiguous
  bool wide_;        ///< kernels may be called row by row
  int values_[most_steps];
  bool replaced_[most_steps] = {};  ///< copies that the step they copy has made needless
};

}  // namespace afterglow::kernels
