// SPDX-License-Identifier: Apache-2.0
// What threads tell the processor they run on, and ask it.
#pragma once

#include <cstddef>

#if defined(__linux__)
#include <sched.h>
#endif

namespace afterglow {

/// Tells the processor that this thread spins.
inline void pause_processor() {
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

/// Asks for the memory of an object that another processor has written: fetching a line from there
/// takes as long as hundreds of instructions, several at once hardly longer than one.
template <class Object>
void fetch_ahead(const Object& object) {
  constexpr std::size_t line = 64;
  const char* const first = reinterpret_cast<const char*>(&object);
  for (std::size_t i = 0; i < sizeof(Object); i += line) __builtin_prefetch(first + i);
}

}  // namespace afterglow
