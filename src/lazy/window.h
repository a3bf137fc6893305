// SPDX-License-Identifier: Apache-2.0
// The window of pending calls: everything issued and not yet handed to the engine.
//
// Publish rule, "bounded regret": a call is held only while waiting could pay and cannot cost more
// than a few per cent of the work that is held.
//   - A value is read: what it needs, at once. Tiny work runs right there on the reading thread.
//   - A large call that cannot be fused arrives (a matrix product): with all it depends on, at
//   once.
//   - The held work has waited for 5 % of its own estimated time: everything. A worker's timed
//   sleep
//     sees to it when Python does not come back.
//   - The window is full: everything, tiny calls inline, which is cheaper than waking a thread.
//
// Invariant: at any moment, in program order, every call is done, or in the engine, or pending; a
// call leaves the window only together with, or after, all calls it depends on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/spin_lock.h"
#include "engine/engine.h"
#include "lazy/call.h"
#include "lazy/failure.h"

namespace afterglow::lazy {

struct Statistics {
  std::int64_t issued = 0;
  std::int64_t run = 0;
  std::int64_t dropped = 0;
  std::int64_t fused = 0;
  std::int64_t pending = 0;        ///< issued and not finished
  std::int64_t pending_bytes = 0;  ///< outputs of unfinished calls
};

class Window {
 public:
  Window(std::unique_ptr<engine::Engine> engine, bool serial);
  /// Drops what is pending. Needs the issuing right.
  ~Window();

  /// Takes the call over. Needs the issuing right.
  void append(Call* call);

  /// Publishes what reading (or writing) the storage needs. True when its value is there on return.
  /// Needs the issuing right.
  bool make_ready(Storage& storage, engine::WaitFor what);
  /// Calls `look` while no writer of the storage can start, if none is unfinished; else returns
  /// false. Calls still pending may write it later. Keep `look` short: it runs under the window's
  /// lock.
  template <class Look>
  bool look_at(Storage& storage, Look&& look) {
    std::lock_guard lock(lock_);
    if (!storage.variable.readable()) return false;
    look();
    return true;
  }
  /// Publishes everything. Needs the issuing right.
  void publish_all();
  /// Releases what finished calls held. Needs the issuing right and no lock.
  void retire();

  /// Waits for what was published; needs nothing, and should not hold the issuing right.
  engine::WaitResult wait(Storage& storage, engine::WaitFor what,
                          const engine::WaitOptions& options) {
    return engine_->wait(storage.variable, what, options);
  }
  engine::WaitResult wait_all(const engine::WaitOptions& options);

  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;
  void shutdown();

  engine::Engine& engine() { return *engine_; }
  FailureLog& failures() { return failures_; }
  bool serial() const { return serial_; }
  /// How many threads the process was told to compute with. Products are cut for them, in the
  /// serial engine as well, so that both give the same bits.
  int configured_threads() const { return configured_threads_; }
  Statistics statistics();

 private:
  friend class CallsTask;
  using Clock = std::chrono::steady_clock;

  std::chrono::nanoseconds when_idle();
  bool held_work_is_due(Clock::time_point now) const;
  /// Takes the given calls (all, or a needed part in program order) out of the window and runs or
  /// pushes them. `inline_allowed`: this thread has the issuing right and may run tiny calls
  /// itself.
  void publish(std::vector<Call*> calls, bool inline_allowed);
  std::vector<Call*> take_pending();
  std::vector<Call*> take_needed(Storage& target, bool to_write);
  void push(std::vector<Call*> calls);
  /// Before waiters see the calls as finished, so that the figures never lag behind a wait.
  void count_run(std::span<Call* const> calls);
  void add_finished(std::span<Call* const> calls);

  const bool serial_;
  std::unique_ptr<engine::Engine> engine_;
  const int configured_threads_;
  FailureLog failures_;

  SpinLock lock_;
  // Guarded by lock_:
  std::vector<Call*> pending_;
  double held_cost_ = 0;            // nanoseconds
  Clock::time_point held_since_{};  // when the held work became worth a thread

  // A lock of its own: a worker that ends a task must not need the window's, which a forking thread
  // holds while it waits for workers.
  SpinLock finished_lock_;
  std::vector<Call*> finished_;  // to be retired by a thread with the issuing right
  std::atomic<bool> any_finished_{false};
  std::atomic<std::int64_t> tasks_alive_{0};  // pushed and not yet destroyed by the engine
  // Counters of the issuing threads and of all others: two lines instead of one that bounces.
  std::int64_t issued_ = 0, issued_bytes_ = 0;
  std::int64_t run_inline_ = 0, run_inline_bytes_ = 0;
  alignas(64) std::atomic<std::int64_t> run_elsewhere_{0}, run_elsewhere_bytes_{0}, discarded_{0};
};

/// The window of the process, made at first use: threaded, or serial when AFTERGLOW_ENGINE=serial
/// or MXNET_ENGINE_TYPE=NaiveEngine says so.
Window& window();

}  // namespace afterglow::lazy
