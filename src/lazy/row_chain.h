// SPDX-License-Identifier: Apache-2.0
// Attention, and whatever else goes from rows to rows: a product, what follows it element by
// element or row by row, and a product of those rows. Run in blocks of whole rows, each by the very
// kernels that would run alone, so that what only the chain itself reads is never there as a whole.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "kernels/program.h"
#include "lazy/call.h"
#include "lazy/op.h"

namespace afterglow::lazy {

/// Calls of which each goes on with the result of the one before.
struct RowChain {
  std::int64_t rows = 0, columns = 0;  ///< of the first product's result
  std::int64_t matrix = 0, tile = 0;   ///< rows of one matrix, and of a tile of it
  DType dtype = DType::float32;        ///< of what goes from stage to stage
  /// Each a call that goes from rows to rows, or some that go element by element.
  struct Stage {
    std::size_t begin, end;
    bool elements;
  };
  std::vector<Stage> stages;
};

/// The calls as a chain that begins with a product, or nothing.
std::optional<RowChain> row_chain(std::span<Call* const> calls);

/// How the rows of an operand lie.
class RowWalk {
 public:
  /// Nothing where columns do not lie at equal distances.
  static std::optional<RowWalk> of(const Layout& layout, std::int64_t columns);

  /// Of the first element of a row, in elements behind the first of all.
  std::int64_t offset_of(std::int64_t row) const;
  /// So many rows, from each multiple of it on, lie at equal distances.
  std::int64_t even_rows() const { return counts_.empty() ? 0 : counts_.back(); }
  std::int64_t row_stride() const { return strides_.empty() ? 0 : strides_.back(); }
  std::int64_t column_stride() const { return column_stride_; }

 private:
  Shape counts_, strides_;  // of the axes in front of the columns, neighbours joined
  std::int64_t column_stride_ = 0;
};

/// Runs a chain in blocks: tiles of a matrix, or several small matrices.
class RowChainPass : public Pass {
 public:
  /// `stored` are the results that somebody reads after the chain, the last one among them: these
  /// have their memory. At most `threads` shares run at once.
  RowChainPass(std::span<Call* const> calls, RowChain chain, const std::vector<bool>& stored,
               int threads);
  ~RowChainPass() override;
  int shares() const override { return shares_; }
  void run(int share) override;

 private:
  /// An operand of an elementwise stage: memory, or with none the block that is at hand.
  struct Place {
    std::byte* data = nullptr;
    RowWalk walk;
  };
  struct Stage {
    std::unique_ptr<RowKernel> kernel;  // or, element by element:
    kernels::Program program;
    std::vector<Place> places;          // of the program's operands
    std::vector<std::int64_t> strides;  // of these, two each
    std::byte* target = nullptr;        // where results go; nullptr: they stay in the block
    std::int64_t row_bytes = 0;         // of the results
  };
  struct Block {
    std::int64_t begin, end;  // rows
  };

  void add_elements(Stage& stage, const RowChain::Stage& part, const std::vector<bool>& stored);
  void choose_blocks();
  Block block(std::int64_t number) const;
  void run_block(const Block& block, std::byte* scratch) const;
  void run_elements(const Stage& stage, const Block& block, std::byte* from, std::byte* to) const;
  std::byte* take_scratch();
  void give_back_scratch(std::byte* scratch);

  const std::span<Call* const> calls_;
  const RowChain chain_;
  std::vector<Stage> stages_;
  std::int64_t matrices_ = 1;  ///< in a block
  std::int64_t blocks_ = 0;
  int shares_ = 1;
  std::size_t scratch_bytes_ = 0;  ///< for one block; 0 where none is needed
  std::mutex mutex_;
  std::vector<std::byte*> free_;  ///< guarded by mutex_
};

}  // namespace afterglow::lazy
