// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/reuse.h"

#include <algorithm>

namespace afterglow::lazy {
namespace {

bool is_whole(const Operand& operand) {
  return !operand.is_immediate() && operand.covers_storage();
}

/// Every use of the storage in the group is a read of all of it, element by element, by `last` at
/// the latest; a product that leads the group may have written it.
bool only_read_until(std::span<Call* const> group, std::size_t last, const Operand& donor) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Call& call = *group[i];
    const bool leads = i == 0 && !call.is_elementwise() && !call.op->reduction;
    if (!leads && call.outputs[0].storage.get() == donor.storage.get()) return false;
    for (const Operand& input : call.inputs) {
      if (input.is_immediate() || input.storage.get() != donor.storage.get()) continue;
      if (i > last || leads || !same_view(input, donor)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Storage*> donors(std::span<Call* const> group, const Dying& dying) {
  std::vector<Storage*> result(group.size(), nullptr);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Operand& output = group[i]->outputs[0];
    if (!group[i]->is_elementwise() || output.storage->data() || !is_whole(output)) continue;
    // Of a group, results that die with it are never stored.
    if (group.size() > 1 && dying.contains(*output.storage)) continue;
    const auto serves = [&](const Operand& input) {
      return is_whole(input) && input.size() == output.size() &&
             size_of(input.dtype) == size_of(output.dtype) &&
             input.storage->fits_buffer_of(*output.storage) &&
             std::ranges::find(result, input.storage.get()) == result.end() &&
             dying.contains(*input.storage) && only_read_until(group, i, input);
    };
    for (std::size_t j = 0; j <= i && !result[i]; ++j) {
      for (const Operand& input : group[j]->inputs) {
        if (serves(input)) result[i] = input.storage.get();
        if (result[i]) break;
      }
    }
  }
  return result;
}

}  // namespace afterglow::lazy
