// SPDX-License-Identifier: Apache-2.0
// The window of pending calls: everything issued and not yet handed to the engine.
//
// Publish rule, "bounded regret": a call is held only while waiting could pay and cannot cost more
// than a few per cent of the work that is held.
//   - A value is read: what it needs, at once. Tiny work runs right there on the reading thread.
//   - The engine has nothing to do, and the held work has waited for 5 % of its own estimated time:
//     everything. A large call that cannot be fused waits for nothing, a product for a moment only,
//     since what follows it can join it. A worker's timed sleep sees to it when Python does not
//     come back.
//   - The engine has enough to do: holding costs nothing. Workers ask for more when they run dry.
//   - The window is full: what nobody can observe is dropped; if much is left, everything goes,
//     tiny calls inline, which is cheaper than waking a thread.
// What leaves the window goes through the passes (lazy/passes/passes.h) as a whole.
//
// The window decides what happens when; what it knows is kept by its members, a file each: the
// pending calls, how long their work may be held, the tasks they became, the counters and limits.
//
// Invariant: at any moment, in program order, every call is done, or in the engine, or pending, or
// dropped; a call leaves the window only together with, or after, all calls it depends on.
//
// Locks, in the order in which they are taken: the window's, that of its task register, the
// engine's, the pool's.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/rare_of_thread.h"
#include "engine/engine.h"
#include "lazy/batch.h"
#include "lazy/call.h"
#include "lazy/counters.h"
#include "lazy/failure.h"
#include "lazy/fork_lock.h"
#include "lazy/held_work.h"
#include "lazy/meeting.h"
#include "lazy/passes/passes.h"
#include "lazy/pending_calls.h"
#include "lazy/plan.h"
#include "lazy/run_ahead.h"
#include "lazy/task.h"
#include "lazy/task_register.h"

namespace afterglow::lazy {

/// While a thread has one of these its calls stay pending, as long as there are not too many: what
/// is between them need then not be in memory. `look_at_held_back()` ends that.
class HoldingBack {
 public:
  explicit HoldingBack(bool holds) : begins_(holds && !is_here()) {
    if (begins_) OfThread::set(true);
  }
  ~HoldingBack() {
    if (begins_) OfThread::set(false);
  }
  HoldingBack(const HoldingBack&) = delete;
  HoldingBack& operator=(const HoldingBack&) = delete;
  static bool is_here() { return OfThread::get(); }

 private:
  using OfThread = RareOfThread<HoldingBack, bool>;
  const bool begins_;
};

class Window {
 public:
  Window(std::unique_ptr<engine::Engine> engine, bool serial);
  /// Drops what is pending. Needs the issuing right.
  ~Window();

  /// Takes the call over. Needs the issuing right.
  void append(Call* call);
  /// Publishes what HoldingBack has kept pending, if it is worth a thread. Needs the issuing right.
  void look_at_held_back();

  // --- run-ahead ---
  /// Issuing more would go past a limit: make_room() first. Needs the issuing right.
  bool is_full() const {
    return !serial_ && run_ahead_.is_full(counters_.unfinished()) && !HalfWay::is_here() &&
           !HoldingBack::is_here() && !Meeting::any_open();
  }
  enum class Room { enough, when_caught_up, when_all_is_done };
  /// Drops what can be dropped and, if that is not enough, publishes everything pending. Says
  /// whether there is room now, or what to wait for. Needs the issuing right.
  Room make_room();
  /// Needs nothing, and should not hold the issuing right.
  engine::WaitResult wait_for_room(Room room, const engine::WaitOptions& options);
  void set_run_ahead(RunAheadLimits limits) { run_ahead_.limits = limits; }
  /// There is a cap on the pool's bytes.
  void set_capped(bool capped) { run_ahead_.capped = capped; }
  RunAheadLimits run_ahead() const { return run_ahead_.limits; }
  /// A handle of the storage is about to go. Needs the issuing right.
  void handle_goes(Storage& storage);

  /// Publishes what reading (or writing) the storage needs. True when its value is there on return,
  /// with what poisoned it, if anything did. Needs the issuing right.
  bool make_ready(Storage& storage, engine::WaitFor what,
                  std::shared_ptr<Failure>* failure = nullptr);
  /// Nothing issued so far will write the storage.
  bool is_settled(Storage& storage) {
    std::lock_guard lock(lock_);
    return storage.slots.pending == 0 && storage.variable.readable();
  }
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
  /// Publishes everything that can be observed. Needs the issuing right.
  void publish_all();
  /// Releases what finished calls held. Needs the issuing right and no lock.
  void retire() { tasks_.retire(); }

  /// Waits for what was published; needs nothing, and should not hold the issuing right.
  engine::WaitResult wait(Storage& storage, engine::WaitFor what,
                          const engine::WaitOptions& options) {
    return engine_->wait(storage.variable, what, options);
  }
  engine::WaitResult wait_all(const engine::WaitOptions& options);
  /// All calls of the batch must be published.
  engine::WaitResult wait(const Batch& batch, const engine::WaitOptions& options) {
    return engine_->wait_until([&] { return batch.finished(); }, options);
  }

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
  /// Calls that it holds: neither dropped nor handed to the engine yet.
  std::size_t held_calls();

  /// Guarded by the issuing right where they are changed.
  PassSwitches& passes() { return switches_; }
  FuseOptions& fuse_options() { return fuse_options_; }

 private:
  friend class GroupTask;

  // --- what tasks tell and ask ---
  void task_made(GroupTask& task) { tasks_.add(task); }
  void task_gone(GroupTask& task, bool ran);
  /// Drops what nobody can observe any more, perhaps the task itself. Returns, for each group of
  /// the task, the storages that nobody can read once it has run.
  std::vector<Dying> look_before_start(GroupTask& task);
  /// Gives buffers back that nobody can read any more, and counts the calls as run.
  void look_after_end(GroupTask& task);
  RunTerms run_terms(bool must) {
    return {failures_, must, switches_.reuse, engine_->thread_limit()};
  }

  // --- when calls leave ---
  std::chrono::nanoseconds when_idle();
  void hold(const Call& call, std::unique_lock<ForkLock>& lock);
  void push_at_once(Call* call);
  bool has_little_to_do() const { return tasks_.alive() < engine_->thread_limit(); }
  bool is_crowded(const Call& newest);

  // --- how they leave (publish.cpp) ---
  /// Takes the given calls (all, or a needed part in program order) out of the window and runs or
  /// pushes them. `inline_allowed`: this thread has the issuing right and may run tiny calls
  /// itself.
  void publish(std::vector<Call*> calls, bool inline_allowed);
  std::vector<Call*> take_pending();
  std::vector<Call*> take_needed(Storage& target, bool to_write);
  void drop_unobserved(bool also_in_engine);
  bool run_at_once(std::span<Call* const> group, int most_shares = std::numeric_limits<int>::max());
  /// Runs the call that writes `target` if it is the only one pending, and tiny or decided by its
  /// first elements. The caller is to destroy it once the lock is released.
  Call* run_only_call(const Storage& target);
  std::size_t push_groups(const Plan& plan, std::size_t first);
  void push(Plan plan, double cost);

  const bool serial_;
  std::unique_ptr<engine::Engine> engine_;
  const int configured_threads_;
  FailureLog failures_;
  PassSwitches switches_;
  FuseOptions fuse_options_;
  RunAhead run_ahead_;

  ForkLock lock_;
  // Guarded by lock_:
  PendingCalls pending_;
  HeldWork held_;
  std::vector<Call*> together_;  ///< pending calls that leave together with the next one

  TaskRegister tasks_;
  Counters counters_;
};

/// The window of the process, made at first use: threaded, or serial when AFTERGLOW_ENGINE=serial
/// or MXNET_ENGINE_TYPE=NaiveEngine says so.
Window& window();

}  // namespace afterglow::lazy
