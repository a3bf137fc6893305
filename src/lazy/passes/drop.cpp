// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/drop.h"

#include <algorithm>

namespace afterglow::lazy {

std::vector<bool> observed(const Plan& plan) {
  std::vector<bool> result(plan.groups());
  // Backwards: what an observed group touches is needed from earlier ones. All of it, since it runs
  // as a whole.
  for (std::size_t i = plan.groups(); i-- > 0;) {
    const bool is_observed = std::ranges::any_of(plan.group(i), [](const Call* call) {
      return std::ranges::any_of(call->outputs, [](const Operand& output) {
        return output.storage->notes.touched || output.storage->held_outside();
      });
    });
    if (!is_observed) continue;
    result[i] = true;
    for (const Call* call : plan.group(i)) {
      for_each_storage(*call, [](Storage& storage) { storage.notes.touched = true; });
    }
  }
  for (const Call* call : plan.calls) {
    for_each_storage(*call, [](Storage& storage) { storage.notes.touched = false; });
  }
  return result;
}

}  // namespace afterglow::lazy
