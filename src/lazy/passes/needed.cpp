// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/needed.h"

#include <algorithm>

namespace afterglow::lazy {

std::vector<Call*> needed_for(std::span<Call* const> pending, Storage& target, bool to_write) {
  std::vector<Call*> needed;
  std::vector<Storage*> marked;
  const auto mark = [&](Storage* storage, bool written) {
    if (!storage->notes.touched) marked.push_back(storage);
    storage->notes.touched = true;
    storage->notes.written |= written;
  };
  mark(&target, to_write);
  // Backwards: a call is needed when a later needed one touches what it writes, or overwrites what
  // it still has to read.
  for (auto position = pending.rbegin(); position != pending.rend(); ++position) {
    Call* call = *position;
    const bool wanted =
        std::ranges::any_of(call->outputs,
                            [](const Operand& output) { return output.storage->notes.touched; }) ||
        std::ranges::any_of(call->inputs, [](const Operand& input) {
          return !input.is_immediate() && input.storage->notes.written;
        });
    if (!wanted) continue;
    needed.push_back(call);
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate()) mark(input.storage.get(), false);
    }
    for (const Operand& output : call->outputs) mark(output.storage.get(), true);
  }
  for (Storage* storage : marked) storage->notes.touched = storage->notes.written = false;
  std::ranges::reverse(needed);
  return needed;
}

}  // namespace afterglow::lazy
