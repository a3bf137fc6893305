// SPDX-License-Identifier: Apache-2.0
// A program made ready for its tiles: how they are cut, where every value lives, and the flat list
// of instructions that runs on each. Private to src/kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/program.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

/// Elements of a share of work.
inline constexpr std::int64_t share_size = 64 * block_size;

/// How many elements a value has: one for the whole pass, one for each row, or a whole tile.
enum class Extent : std::uint8_t { one, row, tile };

/// Where a value is found while a tile runs.
struct Slot {
  enum class Kind : std::uint8_t {
    operand,   ///< in the memory of an operand
    scalar,    ///< a converted scalar, made once per share
    constant,  ///< a register filled from a scalar, once per share
    block,     ///< a register, contiguous, reused when the value is dead
  } kind = Kind::block;
  Extent extent = Extent::tile;
  DType dtype = DType::float32;
  std::int16_t operand = -1;
  std::int16_t origin = -1;    ///< the slot this one was gathered, converted or expanded from
  std::int16_t last_use = -1;  ///< the last instruction that needs it
  std::int64_t offset = -1;    ///< in scratch memory
};

struct Instruction {
  enum class Kind : std::uint8_t {
    convert,  ///< moves, casts or repeats one value
    formula,
    fold,
  } kind = Kind::convert;
  Extent extent = Extent::tile;  ///< what it works on; a fold leaves one value for each row
  std::int8_t inputs_used = 1;
  std::uint8_t singles = 0;     ///< bit i set: the kernel takes one element for input i
  bool once_per_row = false;    ///< left out but for the first piece of a row
  bool to_memory_only = false;  ///< the output is not read again, and too large for the caches
  Reduction reduction = Reduction::sum;
  std::int16_t inputs[max_inputs];
  std::int16_t output = -1;  ///< -1 for a fold that goes on in the next piece
  std::int16_t fold = 0;     ///< counts the folds
  BlockFunction function = nullptr;
};

struct Plan {
  /// May be called again for another program: memory is kept.
  void prepare(const Program& program);
  std::int64_t row_stride(int operand) const {
    return view.rank == 1 ? 0 : view.strides[operand][row_dimension];
  }
  std::int64_t column_stride(int operand) const { return view.strides[operand][view.rank - 1]; }
  std::int64_t columns() const { return view.shape[view.rank - 1]; }

  int operands_used = 0;
  Operand operands[most_operands];
  std::int64_t size = 0;
  /// Rows and columns if the program has a split.
  JointView<most_operands> view;
  int row_dimension = 0;
  std::int64_t tile_rows = 1, tile_columns = 1;
  /// Rows are too long for a tile: it is a piece of one row, and folds go on in the next.
  bool pieces = false;
  std::vector<Slot> slots;
  std::vector<Instruction> instructions;
  int folds = 0;
  /// The operands that are worth asking for ahead of time: no scalars, and each memory once.
  struct Stream {
    int operand;
    bool read;
    bool written;
  };
  std::vector<Stream> streams;
  std::int64_t bytes_to_memory = 0;  ///< of all outputs that go to memory only
  /// Scratch memory: registers, then what convert and fold need themselves.
  std::int64_t raw_offset = 0, partials_offset = 0, scratch_size = 0;
};

}  // namespace afterglow::kernels
