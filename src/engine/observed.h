// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

#include "engine/engine.h"

namespace afterglow::engine {

/// Why tasks are abandoned that have not started.
inline constexpr char shut_down_reason[] = "the engine is shut down: the process is ending";

/// Into how many shares the task is cut, or not_now.
inline int prepare(Task& task, bool must) {
  const int shares = task.prepare(must);
  if (must && shares == not_now) throw std::logic_error("a task that must run put itself off");
  return shares;
}

/// Runs one share; the observer, if any, sees it start and end.
inline void run_observed(Task& task, std::uint64_t number, int share, int thread,
                         Observer* observer) {
  if (!observer) return task.run(share);
  observer->share_started(number, task.label().c_str(), share, thread);
  try {
    task.run(share);
  } catch (...) {
    observer->share_finished(number, task.label().c_str(), share, thread);
    throw;
  }
  observer->share_finished(number, task.label().c_str(), share, thread);
}

}  // namespace afterglow::engine
