// SPDX-License-Identifier: Apache-2.0
// What passes that fold share, so that they give the same bits. Private to src/kernels.
#pragma once

#include <cstdint>

#include "kernels/reduce.h"
#include "kernels/table.h"

namespace afterglow::kernels {

/// Values of a long run that make one partial result.
inline constexpr std::int64_t fold_chunk_size = 64 * block_size;

const FoldFunctions& fold_functions(Reduction reduction, DType compute);

/// Brings `count` folded values, each of `length` elements, into `target` of type `dtype`.
void write_totals(Reduction reduction, DType compute, std::int64_t length, Partial* totals,
                  std::int64_t count, void* target, DType dtype);

}  // namespace afterglow::kernels
