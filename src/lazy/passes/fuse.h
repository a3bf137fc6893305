// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lazy/plan.h"

namespace afterglow::lazy {

struct FuseOptions {
  /// Passes over fewer elements gain nothing from fusion: they stay in the first-level cache
  /// anyway.
  std::int64_t smallest = 4096;
  /// From here on a pass is cut for several threads. Independent calls of fewer elements stay
  /// apart, so that they can run side by side.
  std::int64_t parallel = 4 * 65536;
};

/// Groups calls that can run as one pass over memory: elementwise calls over one shape, reductions
/// over its last axes with what follows row by row, and what follows a product element by element.
///
/// A group holds two views of one storage, one of them written, only if they are the same elements
/// or have none in common. Calls that may fail stay alone. The calls of the plan are reordered so
/// that every call still comes after all it depends on. Pure apart from the notes on storages,
/// which it leaves as it found them.
void fuse(Plan& plan, const FuseOptions& options = {});

/// The elements of `operand` are one value per row of `shape`, whose axes from `split` on are the
/// columns: seen over all of `shape`, where it repeats along the columns.
bool repeats_rows(const Operand& operand, const Layout& shape, int split);

/// The first of the trailing axes that a reduction takes, or -1 if it takes other axes.
int split_of_reduction(const Call& call);

}  // namespace afterglow::lazy
