// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lazy/plan.h"

namespace afterglow::lazy {

/// For each group of the plan, in program order, whether somebody can observe what it writes: a
/// holder outside of the calls, or a later group that is itself observed. Pure apart from the notes
/// on storages, which it leaves as it found them. Needs the window's lock.
std::vector<bool> observed(const Plan& plan);

}  // namespace afterglow::lazy
