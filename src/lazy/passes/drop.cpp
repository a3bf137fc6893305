// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/drop.h"

namespace afterglow::lazy {

std::vector<bool> observed(const Plan& plan) {
  std::vector<bool> result(plan.groups());
  // Backwards: what an observed group touches is needed from earlier ones. All of it, since it runs
  // as a whole.
  for (std::size_t i = plan.groups(); i-- > 0;) {
    for (const Call* call : plan.group(i)) {
      for (const Operand& output : call->outputs) {
        const Storage& storage = *output.storage;
        result[i] = result[i] || storage.notes.touched || storage.held_outside();
      }
    }
    if (!result[i]) continue;
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
