// SPDX-License-Identifier: Apache-2.0
// AFTERGLOW_DEBUG=1..4 tells on standard error what the window does: 1 a line per flush, 2 also one
// per task, 3 also the calls before and after each pass, 4 also every call that is issued.
#pragma once

#include <cstdlib>

#include "lazy/plan.h"

namespace afterglow::lazy {

class GroupTask;

inline int debug_level() {
  static const int level = [] {
    const char* text = std::getenv("AFTERGLOW_DEBUG");
    return text ? std::atoi(text) : 0;
  }();
  return level;
}

void print_call(const Call& call);
void print_task(const GroupTask& task);
void print_plan(const char* when, const Plan& plan);
struct FlushReport {
  std::size_t calls = 0, dropped = 0, groups = 0, fused_groups = 0, fused_calls = 0;
  std::size_t run_here = 0, tasks = 0;
};
void print_flush(const FlushReport& report);

inline void debug_call(const Call& call) {
  if (debug_level() >= 4) print_call(call);
}
inline void debug_task(const GroupTask& task) {
  if (debug_level() >= 2) print_task(task);
}
inline void debug_plan(const char* when, const Plan& plan) {
  if (debug_level() >= 3) print_plan(when, plan);
}
inline void debug_flush(const FlushReport& report) {
  if (debug_level() >= 1) print_flush(report);
}

}  // namespace afterglow::lazy
