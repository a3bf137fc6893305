// SPDX-License-Identifier: Apache-2.0
// What a spinning thread has to know of the processor it runs on.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

namespace afterglow::engine {

/// Tells the processor that this thread spins.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr int unknown_processor = -1;

/// The number of the processor that runs this thread.
inline int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return unknown_processor;
#endif
}

}  // namespace afterglow::engine
