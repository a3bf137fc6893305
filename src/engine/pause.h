// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace afterglow::engine {

/// Tells the processor that this thread spins.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace afterglow::engine
