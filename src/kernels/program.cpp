// SPDX-License-Identifier: Apache-2.0
#include "kernels/program.h"

#include <algorithm>

#include "kernels/folding.h"
#include "kernels/prefetch.h"
#include "kernels/tiles.h"

namespace afterglow::kernels {

namespace {

bool joins(int begin, int end, const std::int64_t* shape, const std::int64_t* strides) {
  int inner = -1;
  for (int dimension = end - 1; dimension >= begin; --dimension) {
    if (shape[dimension] == 1) continue;
    if (inner >= 0 && strides[dimension] != strides[inner] * shape[inner]) return false;
    inner = dimension;
  }
  return true;
}

}  // namespace

bool joins_at(int split, int rank, const std::int64_t* shape, const std::int64_t* strides) {
  return !strides || (joins(0, split, shape, strides) && joins(split, rank, shape, strides));
}

ProgramPass::ProgramPass(const Program& program) : plan_(std::make_shared<Plan>()) {
  plan_->prepare(program);
  shares_ = static_cast<int>(divide_up(program.size, share_size));
  if (!plan_->pieces) return;
  chunks_ = divide_up(plan_->columns(), fold_chunk_size);
  const std::int64_t units = plan_->view.shape[0] * chunks_;
  shares_ = static_cast<int>(std::min<std::int64_t>(shares_, units));
  for (int i = 0; i < program.steps_used; ++i)
    if (program.steps[i].kind == Step::Kind::fold) folds_.push_back(program.steps[i]);
  partials_.resize(folds_.size() * static_cast<std::size_t>(units));
}

void ProgramPass::run(int share) {
  if (plan_->pieces)
    run_pieces(share);
  else
    run_tiles(*plan_, shares_, share);
}

/// Units of one chunk of one row, each leaving partial results.
void ProgramPass::run_pieces(int share) {
  const Plan& plan = *plan_;
  const std::int64_t rows = plan.view.shape[0], units = rows * chunks_;
  const Range range = range_of(units, shares_, share);
  TileRunner runner(plan);
  const int folds = static_cast<int>(folds_.size());
  for (std::int64_t unit = range.begin; unit < range.end; ++unit) {
    const std::int64_t row = unit / chunks_, chunk = unit % chunks_;
    for (int i = 0; i < folds; ++i)
      runner.total(i) = fold_functions(folds_[i].reduction, folds_[i].compute).neutral;
    run_rectangle(runner, row, row + 1, chunk * fold_chunk_size,
                  std::min(plan.columns(), (chunk + 1) * fold_chunk_size));
    for (int i = 0; i < folds; ++i) partials_[i * units + chunk * rows + row] = runner.total(i);
  }
}

void ProgramPass::finish() {
  if (!plan_->pieces) return;
  const std::int64_t rows = plan_->view.shape[0];
  std::vector<Partial> totals(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> values(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    const Step& step = folds_[i];
    if (step.output < 0) continue;  // nobody wants it any more
    const FoldFunctions& functions = fold_functions(step.reduction, step.compute);
    std::ranges::fill(totals, functions.neutral);
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
      functions.combine(&partials_[(i * chunks_ + chunk) * rows], rows, totals.data());
    write_totals(step.reduction, step.compute, plan_->columns(), totals.data(), rows, values.data(),
                 step.dtype);
    const Operand& output = plan_->operands[step.output];
    cast_function(step.dtype, output.dtype)(values.data(), output.data, rows);
  }
}

void ProgramPass::run_region(std::int64_t row_begin, std::int64_t row_end,
                             std::int64_t column_begin, std::int64_t column_end) {
  // A runner reads scalars at once, which in a matrix of one element another region may write.
  if (row_begin >= row_end || column_begin >= column_end) return;
  TileRunner runner(*plan_);
  run_rectangle(runner, row_begin, row_end, column_begin, column_end);
}

void ProgramPass::run_rectangle(TileRunner& runner, std::int64_t row_begin, std::int64_t row_end,
                                std::int64_t column_begin, std::int64_t column_end) const {
  const Plan& plan = *plan_;
  const std::int64_t width = std::min(plan.tile_columns, column_end - column_begin);
  const std::int64_t height = std::max<std::int64_t>(1, block_size / width);
  const bool far = plan.size >= far_size;
  Tile tile;
  for (std::int64_t row = row_begin; row < row_end; row += height) {
    tile.rows = std::min(height, row_end - row);
    for (std::int64_t column = column_begin; column < column_end; column += width) {
      tile.columns = std::min(width, column_end - column);
      tile.starts_row = column == 0;
      for (int i = 0; i < plan.operands_used; ++i) {
        const std::int64_t offset = row * plan.row_stride(i) + column * plan.column_stride(i);
        tile.data[i] = static_cast<char*>(plan.operands[i].data) +
                       offset * static_cast<std::int64_t>(size_of(plan.operands[i].dtype));
      }
      runner.run(tile, far && column + width < column_end);
    }
  }
}

}  // namespace afterglow::kernels
