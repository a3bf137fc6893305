// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

/// The storages that nobody can read once a group has run.
class Dying {
 public:
  void add(const Storage& storage) { storages_.push_back(&storage); }
  /// To be called once all are added.
  void sort() { std::ranges::sort(storages_); }
  bool contains(const Storage& storage) const {
    return std::binary_search(storages_.begin(), storages_.end(), &storage);
  }
  bool empty() const { return storages_.empty(); }

 private:
  std::vector<const Storage*> storages_;
};

/// For each call of a group, the storage whose buffer its result may take over, or nullptr: an
/// input of the group that dies with it, is element for element as large as the result, and is read
/// by no later call of the group. Asked when the group starts, for only then is it known who still
/// holds what. Pure.
std::vector<Storage*> donors(std::span<Call* const> group, const Dying& dying);

}  // namespace afterglow::lazy
