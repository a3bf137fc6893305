// SPDX-License-Identifier: Apache-2.0
// Running a fused group: its calls become the steps of one program, and what only the group itself
// reads is never stored.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/program.h"
#include "lazy/row_chain.h"
#include "lazy/run.h"

namespace afterglow::lazy {

/// Runs a group in shares. Never throws. Where the one pass cannot be (an input is poisoned, or
/// memory does not suffice), the calls run one after another, and each fails or succeeds by itself.
class FusedRun {
 public:
  explicit FusedRun(std::span<Call* const> calls) : calls_(calls) {}

  /// The number of shares, or engine::not_now.
  int prepare(const RunTerms& terms, const Dying& dying) noexcept;
  void run(int share) noexcept;
  void finish() noexcept;

 private:
  bool is_poisoned() const;
  void build(const RunTerms& terms, const Dying& dying);
  void build_rows(const RunTerms& terms, const Dying& dying, RowChain chain);
  void take_buffers(const std::vector<bool>& stored, const std::vector<Storage*>& donors);
  bool made_before(const Call& reader, const Operand& input) const;
  kernels::Source source_of(std::size_t reader, const Operand& input);
  int add_operand(const kernels::Operand& operand);
  int add_input(const kernels::Operand& operand);
  void fail() noexcept;
  kernels::Operand row_operand(const Operand& operand) const;
  bool is_per_row(const Call& call) const;
  const Layout& space() const;

  std::span<Call* const> calls_;
  FailureLog* log_ = nullptr;
  kernels::Program program_;
  std::vector<std::int64_t> row_strides_;  ///< of one value per row, over the program's shape
  std::vector<int> loaded_;                ///< operands that are read
  std::optional<kernels::ProgramPass> pass_;
  std::unique_ptr<Pass> product_;  ///< where a product leads the group, alone or with its rows
  bool one_by_one_ = false;
  std::atomic<bool> failed_{false};
};

}  // namespace afterglow::lazy
