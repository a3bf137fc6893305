// SPDX-License-Identifier: Apache-2.0
// Runs the instructions of a plan, tile by tile. Private to src/kernels.
#pragma once

#include <cstdint>

#include "kernels/plan.h"

namespace afterglow::kernels {

/// A tile and where each operand has it.
struct Tile {
  std::int64_t rows, columns;
  char* data[most_operands];
  bool starts_row = true;
};

/// Works in scratch memory of its thread, of which there is one: no two runners at a time.
class TileRunner {
 public:
  explicit TileRunner(const Plan& plan, bool around_caches = false);
  /// `goes_on`: the next tile follows in memory, where operands are contiguous.
  void run(const Tile& tile, bool goes_on = false);
  /// Where fold number `fold` stands, for folds that go on from piece to piece.
  Partial& total(int fold) { return partials_[fold]; }

 private:
  Matrix matrix(int slot, Extent seen) const;
  char* address(int slot) const;
  void prefetch_slice(std::int64_t slice, std::int64_t slices) const;
  void convert(const Instruction& instruction);
  void stream_rows(const Matrix& from, const Matrix& to, DType dtype, std::int64_t rows,
                   std::int64_t columns) const;
  void apply(const Instruction& instruction);
  void fold(const Instruction& instruction);

  const Plan& plan_;
  char* scratch_;
  bool around_caches_;  ///< write what goes to memory only around the caches
  Partial* partials_;
  const Tile* tile_ = nullptr;
};

/// Runs the tiles of one share of a plan whose tiles are not pieces.
void run_tiles(const Plan& plan, int shares, int share);

}  // namespace afterglow::kernels
