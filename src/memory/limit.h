// SPDX-License-Identifier: Apache-2.0
// How much memory this process may take before the system refuses it, or ends it.
#pragma once

#include <cstdint>
#include <string>

namespace afterglow::memory {

/// The smallest of the machine's memory, what control groups allow and the process's own limits.
std::int64_t memory_limit();

/// The least that the control groups below `root` allow; the largest number where they do not say.
std::int64_t control_group_limit(const std::string& root);

}  // namespace afterglow::memory
