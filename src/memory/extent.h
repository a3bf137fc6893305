// SPDX-License-Identifier: Apache-2.0
// What of a block may be touched, told to AddressSanitizer. Blocks are larger than what was asked
// for and are kept when they are given back, so by itself it would let much pass.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace afterglow::memory {

/// Of a block of `size` bytes the first `bytes` may be touched from now on, and no others. They are
/// no numbers, so that what is read before it is written shows in results.
inline void set_extent([[maybe_unused]] void* block, [[maybe_unused]] std::size_t size,
                       [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(block, bytes);
  __asan_poison_memory_region(static_cast<char*>(block) + bytes, size - bytes);
  constexpr std::size_t most_filled = std::size_t{1} << 24;
  if (bytes <= most_filled) std::memset(block, 0xff, bytes);
#endif
}

}  // namespace afterglow::memory
