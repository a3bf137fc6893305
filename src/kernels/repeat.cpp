// SPDX-License-Identifier: Apache-2.0
#include "kernels/repeat.h"

#include <algorithm>

#include "kernels/tiles.h"

namespace afterglow::kernels {

RepeatedProgram::RepeatedProgram(const Program& program, std::int64_t largest,
                                 std::span<const int> places)
    : plan_(std::make_shared<Plan>()) {
  // Arrays of one element would be taken for scalars, which are read only once.
  const std::int64_t size = std::max<std::int64_t>(2, largest);
  Program over_largest = program;
  over_largest.rank = 1;
  over_largest.shape = &size;
  over_largest.size = size;
  plan_->prepare(over_largest);
  std::copy(places.begin(), places.end(), places_);
}

void RepeatedProgram::run(std::span<const ArraySet> sets) const {
  const Plan& plan = *plan_;
  TileRunner runner(plan);
  Tile tile;
  tile.rows = 1;
  for (int i = 0; i < plan.operands_used; ++i)
    tile.data[i] = static_cast<char*>(plan.operands[i].data);
  for (const ArraySet& set : sets) {
    for (std::int64_t begin = 0; begin < set.size; begin += plan.tile_columns) {
      tile.columns = std::min(plan.tile_columns, set.size - begin);
      for (int i = 0; i < plan.operands_used; ++i) {
        if (plan.operands[i].scalar) continue;
        tile.data[i] = static_cast<char*>(set.data[places_[i]]) +
                       begin * static_cast<std::int64_t>(size_of(plan.operands[i].dtype));
      }
      runner.run(tile);
    }
  }
}

}  // namespace afterglow::kernels
