// SPDX-License-Identifier: Apache-2.0
// Asking for memory ahead of time. Private to src/kernels.
#pragma once

#include <cstdint>

namespace afterglow::kernels {

/// Elements of a pass that is not in the nearer caches.
inline constexpr std::int64_t far_size = 1 << 18;

/// Elements of it at a time: a core has few requests under way, and more of them at once would only
/// wait for themselves.
inline constexpr std::int64_t far_step = 256;

/// Asks for the lines of a block that comes next. Pays for arrays beyond the second-level cache:
/// the hardware looks ahead within a page only.
inline void prefetch(const void* data, std::int64_t bytes, bool for_writing) {
  constexpr std::int64_t line = 64;
  const char* first = static_cast<const char*>(data);
  for (std::int64_t offset = 0; offset < bytes; offset += line) {
    if (for_writing)
      __builtin_prefetch(first + offset, 1);
    else
      __builtin_prefetch(first + offset, 0);
  }
}

}  // namespace afterglow::kernels
