// SPDX-License-Identifier: Apache-2.0
// What the engine tests share.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <thread>
#include <utility>

#include "check.h"
#include "engine/engine.h"

#if defined(__SANITIZE_THREAD__)
// Exceptions count their references with atomics inside the standard library, which the sanitizer
// does not see.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release";
}
#endif

namespace support {

using namespace afterglow::engine;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Variables = std::initializer_list<Variable*>;

#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#else
constexpr bool thread_sanitizer = false;
#endif

inline std::span<Variable* const> span(Variables variables) {
  return {variables.begin(), variables.size()};
}

inline std::uint64_t push(Engine& engine, std::function<void()> function, Variables reads,
                          Variables writes, PushOptions options = {}) {
  return engine.push(std::move(function), span(reads), span(writes), options);
}

/// A task made of functions.
struct Parts : Task {
  std::function<int(bool)> on_prepare = [](bool) { return 1; };
  std::function<void(int)> on_run = [](int) {};
  std::function<void()> on_finish = [] {};
  std::function<void()> on_destroy = [] {};
  std::function<void()> on_abandon;
  ~Parts() override { on_destroy(); }
  int prepare(bool must) override { return on_prepare(must); }
  void run(int share) override { on_run(share); }
  void finish() override { on_finish(); }
  void abandon(const std::exception_ptr& reason) override {
    on_abandon ? on_abandon() : Task::abandon(reason);
  }
  std::string label() const override { return "parts"; }
};

inline std::unique_ptr<Parts> shares(int count, std::function<void(int)> run) {
  auto task = std::make_unique<Parts>();
  task->on_prepare = [count](bool) { return count; };
  task->on_run = std::move(run);
  return task;
}

/// Waits, ten seconds at most, until the condition holds; false if it never does.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = Clock::now() + 10s;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// A door that tasks stop at until it is opened. A thread that helps may stop at it as well, so a
/// test that waits before it opens the door first sees a worker arrive.
struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> arrived{0};
  void pass() {
    ++arrived;
    if (!eventually([&] { return open.load(); })) std::abort();
  }
  ~Gate() { open = true; }
};

inline void busy(std::chrono::nanoseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

}  // namespace support
