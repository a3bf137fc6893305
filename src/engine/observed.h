// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace afterglow::engine {

/// Runs one share; the observer, if any, sees it start and end.
inline void run_observed(Task& task, std::uint64_t number, int share, int thread,
                         Observer* observer) {
  if (!observer) return task.run(share);
  observer->share_started(number, task.label(), share, thread);
  try {
    task.run(share);
  } catch (...) {
    observer->share_finished(number, task.label(), share, thread);
    throw;
  }
  observer->share_finished(number, task.label(), share, thread);
}

}  // namespace afterglow::engine
