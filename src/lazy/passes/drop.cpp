// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/drop.h"

#include <algorithm>

namespace afterglow::lazy {

std::vector<bool> observed(std::span<Call* const> calls) {
  std::vector<bool> result(calls.size(), true);
  // Backwards: what an observed call touches is needed from earlier calls.
  for (std::size_t i = calls.size(); i-- > 0;) {
    const Call& call = *calls[i];
    result[i] = std::any_of(call.outputs.begin(), call.outputs.end(), [](const Operand& output) {
      return output.storage->notes.touched || output.storage->held_outside();
    });
    if (result[i]) for_each_storage(call, [](Storage& storage) { storage.notes.touched = true; });
  }
  for (const Call* call : calls) {
    for_each_storage(*call, [](Storage& storage) { storage.notes.touched = false; });
  }
  return result;
}

}  // namespace afterglow::lazy
