// SPDX-License-Identifier: Apache-2.0
// Several elementwise steps, and reductions over the last axes, as one pass over memory: a tile is
// brought into the first-level cache, all steps run on it, and only what somebody needs is stored.
// Each step is the very block kernel, cast or fold that would run alone, so the bits are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace afterglow::kernels {

inline constexpr int most_steps = 32;
inline constexpr int most_operands = 48;
/// Folds over at most this many elements may be read by later steps of the same program: a tile
/// then holds whole rows.
inline constexpr std::int64_t longest_row = 16384;

/// Where a step takes an input from.
struct Source {
  enum class Kind : std::uint8_t { operand, step } kind = Kind::operand;
  std::int8_t index = 0;  ///< of an operand, or of an earlier step
};

struct Step {
  enum class Kind : std::uint8_t {
    formula,  ///< elementwise
    fold,     ///< reduces its one input over the columns: one value per row
  } kind = Kind::formula;
  Formula formula = Formula::copy;
  Reduction reduction = Reduction::sum;
  /// Elementwise on one value per row rather than on all elements. A fold's value is per row
  /// anyway.
  bool per_row = false;
  DType compute = DType::float32;  ///< inputs are converted to it
  DType dtype = DType::float32;    ///< of the value left behind: converted from what is produced
  std::int8_t inputs_used = 0;
  Source inputs[max_inputs];
  /// The operand that receives the value, or -1: it only lives in the tile.
  std::int8_t output = -1;
};

/// Iterates over `shape` in C order. Axes from `split` on are the columns, those before are the
/// rows; without folds, per-row steps and regions, `split` may be -1, and any strides will do. With
/// a split, the rows of every operand must join to one stride, and so must its columns: see
/// joins_at().
///
/// Steps run in order on each tile. An operand that is written may be the very same view as one
/// that is read: the reading steps then come first, or are the writing step itself. Otherwise
/// written operands overlap with nothing.
struct Program {
  int rank = 0;
  const std::int64_t* shape = nullptr;
  std::int64_t size = 0;  ///< product of shape, not 0
  int split = -1;
  int operands_used = 0;
  /// Strides go over `shape`: 0 where an operand repeats. One value per row: 0 for all columns, and
  /// for the rows those of a contiguous array.
  Operand operands[most_operands];
  int steps_used = 0;
  Step steps[most_steps];
};

/// Rows join to one stride and columns to one stride. `strides` as in Operand.
bool joins_at(int split, int rank, const std::int64_t* shape, const std::int64_t* strides);

struct Plan;
class TileRunner;

/// A program ready to run, cut into shares by its shape alone.
class ProgramPass {
 public:
  /// Keeps pointers to the shape and strides named by `program`, which it copies otherwise.
  explicit ProgramPass(const Program& program);
  int shares() const { return shares_; }
  void run(int share);
  void finish();

  /// All steps on rows [row_begin, row_end) and columns [column_begin, column_end) only: for the
  /// part of a product that has just been computed. The program has a split and no folds or per-row
  /// steps.
  void run_region(std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                  std::int64_t column_end);

 private:
  void run_pieces(int share);
  void run_rectangle(TileRunner& runner, std::int64_t row_begin, std::int64_t row_end,
                     std::int64_t column_begin, std::int64_t column_end) const;

  std::shared_ptr<Plan> plan_;
  int shares_ = 1;
  // Of folds over rows that are too long for a tile:
  std::int64_t chunks_ = 1;  ///< partial results for each row
  std::vector<Step> folds_;
  std::vector<Partial> partials_;  ///< [fold][chunk][row]
};

}  // namespace afterglow::kernels
