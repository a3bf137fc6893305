// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

/// For each call, in program order, whether somebody can observe what it writes: a holder outside
/// of the calls, or a later call that is itself observed. Pure apart from the notes on storages,
/// which it leaves as it found them. Needs the window's lock.
std::vector<bool> observed(std::span<Call* const> calls);

}  // namespace afterglow::lazy
