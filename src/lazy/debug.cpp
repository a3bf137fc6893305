// SPDX-License-Identifier: Apache-2.0
#include "lazy/debug.h"

#include <cstdio>
#include <string>

#include "lazy/task.h"

namespace afterglow::lazy {
namespace {

/// One write, so that lines of several threads do not mix.
void print(std::string text) {
  text.insert(0, "[afterglow] ");
  text.push_back('\n');
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string describe_call(const Call& call) {
  std::string text = "#";
  text += std::to_string(call.sequence) + " " + std::string(call.op->name) + "(" +
          describe_inputs(call) + ") ->";
  for (const Operand& output : call.outputs) text += " " + describe(output);
  return text;
}

std::string microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f us", nanoseconds / 1e3);
  return text;
}

}  // namespace

void print_call(const Call& call) {
  print("call " + describe_call(call));
}

void print_task(const GroupTask& task) {
  const Plan& plan = task.plan();
  print("task " + task.label() + ": " + std::to_string(plan.calls.size()) + " calls in " +
        std::to_string(plan.groups()) + " passes, first " + describe_call(*plan.calls[0]) +
        ", estimated " + microseconds(task.cost()));
}

void print_plan(const char* when, const Plan& plan) {
  std::string text = std::string(when) + ": " + std::to_string(plan.calls.size()) + " calls in " +
                     std::to_string(plan.groups()) + " passes, " +
                     std::to_string(plan.dropped.size()) + " dropped";
  for (std::size_t i = 0; i < plan.groups(); ++i) {
    for (const Call* call : plan.group(i)) {
      text += "\n[afterglow]   pass " + std::to_string(i) + " " + describe_call(*call);
    }
  }
  for (const Call* call : plan.dropped) text += "\n[afterglow]   dropped " + describe_call(*call);
  print(text);
}

void print_flush(const FlushReport& report) {
  print("flush: " + std::to_string(report.calls) + " calls, " + std::to_string(report.dropped) +
        " dropped, " + std::to_string(report.fused_calls) + " fused into " +
        std::to_string(report.fused_groups) + " passes, " + std::to_string(report.run_here) +
        " passes run here, " + std::to_string(report.tasks) + " tasks");
}

}  // namespace afterglow::lazy
