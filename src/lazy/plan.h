// SPDX-License-Identifier: Apache-2.0
// What passes work on: pending calls that are about to leave the window, in program order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

struct Plan {
  /// In an order that keeps every dependency; members of a group stand together.
  std::vector<Call*> calls;
  /// Where each group ends in `calls`. A group runs as one pass over memory.
  std::vector<std::uint32_t> ends;
  /// Taken out: nobody can observe them.
  std::vector<Call*> dropped;

  std::size_t groups() const { return ends.size(); }
  std::span<Call* const> group(std::size_t index) const {
    const std::size_t begin = index ? ends[index - 1] : 0;
    return std::span(calls).subspan(begin, ends[index] - begin);
  }
  /// Every call a group of its own.
  void separate() {
    ends.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) ends[i] = static_cast<std::uint32_t>(i + 1);
  }
};

}  // namespace afterglow::lazy
