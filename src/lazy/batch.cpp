// SPDX-License-Identifier: Apache-2.0
#include "lazy/batch.h"

#include "lazy/call.h"

namespace afterglow::lazy {

void end_in_batches(std::span<Call* const> calls) {
  for (const Call* call : calls) {
    if (!call->batches) continue;
    for (const auto& batch : *call->batches) batch->end_call();
  }
}

}  // namespace afterglow::lazy
