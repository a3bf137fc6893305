// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

/// Which pending calls must run before `target` has its value (and, when `to_write`, before it may
/// be written from outside): the calls that write it, and backwards everything those depend on. In
/// program order. Pure apart from the marks on storages, which it leaves as it found them: unset.
std::vector<Call*> needed_for(std::span<Call* const> pending, Storage& target, bool to_write);

}  // namespace afterglow::lazy
