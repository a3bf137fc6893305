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
//   tiny
//     calls inline, which is cheaper than waking a thread.
// What leaves the window goes through the passes (lazy/passes/passes.h) as a whole.
//
// Invariant: at any moment, in program order, every call is done, or in the engine, or pending, or
// dropped; a call leaves the window only together with, or after, all calls it depends on.
//
// Locks, in the order in which they are taken: the window's, that of its tasks, the engine's, the
// pool's.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/spin_lock.h"
#include "engine/engine.h"
#include "lazy/batch.h"
#include "lazy/call.h"
#include "lazy/failure.h"
#include "lazy/passes/passes.h"
#include "lazy/plan.h"
#include "lazy/task.h"

namespace afterglow::lazy {

struct Statistics {
  std::int64_t issued = 0;
  std::int64_t run = 0;
  std::int64_t dropped = 0;
  std::int64_t fused = 0;          ///< passes that ran several calls
  std::int64_t fused_calls = 0;    ///< the calls in them
  std::int64_t pending = 0;        ///< issued and not finished
  std::int64_t pending_bytes = 0;  ///< outputs of unfinished calls
  std::int64_t run_ahead_bytes = 0;
  double run_ahead_seconds = 0;
};

/// How far the issuing threads may run ahead of the backend.
struct RunAheadLimits {
  /// Bytes that exist now only because unfinished calls will read them, and the calls' records:
  /// this much more than a synchronised program may take.
  double held_bytes = 8 << 20;
  /// The same and the results of unfinished calls, which take memory one after another.
  double bytes = 1 << 30;
  /// Estimated time of unfinished calls.
  double seconds = 10;
};

class Window {
 public:
  Window(std::unique_ptr<engine::Engine> engine, bool serial);
  /// Drops what is pending. Needs the issuing right.
  ~Window();

  /// Takes the call over. Needs the issuing right.
  void append(Call* call);

  // --- run-ahead (run_ahead.cpp) ---
  /// Issuing more would go past a limit: make_room() first. Needs the issuing right.
  bool is_full() const;
  enum class Room { enough, when_caught_up, when_all_is_done };
  /// Drops what can be dropped and, if that is not enough, publishes everything pending. Says
  /// whether there is room now, or what to wait for. Needs the issuing right.
  Room make_room();
  /// Needs nothing, and should not hold the issuing right.
  engine::WaitResult wait_for_room(Room room, const engine::WaitOptions& options);
  void set_run_ahead(RunAheadLimits limits) { limits_ = limits; }
  /// There is a cap on the pool's bytes.
  void set_capped(bool capped) { capped_ = capped; }
  RunAheadLimits run_ahead() const { return limits_; }
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
  void retire();

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

  /// Guarded by the issuing right where they are changed.
  PassSwitches& passes() { return switches_; }
  FuseOptions& fuse_options() { return fuse_options_; }

 private:
  friend class GroupTask;
  using Clock = std::chrono::steady_clock;

  // --- what tasks tell and ask (task.cpp) ---
  void task_made(GroupTask& task);
  void task_gone(GroupTask& task, bool ran);
  /// Drops what nobody can observe any more, perhaps the task itself. Returns, for each group of
  /// the task, the storages that nobody can read once it has run.
  std::vector<Dying> look_before_start(GroupTask& task);
  /// Gives buffers back that nobody can read any more, and counts the calls as run.
  void look_after_end(GroupTask& task);
  RunTerms run_terms(bool must) { return {failures_, must, switches_.reuse}; }

  static bool dies_in_engine(const Storage& storage);
  bool is_near_cap() const;
  bool is_crowded(const Call& newest);

  std::chrono::nanoseconds when_idle();
  void hold(const Call& call, std::unique_lock<SpinLock>& lock);
  bool has_little_to_do() const;
  bool try_lock_unless_forking();
  void await_destruction() const;
  /// Takes the given calls (all, or a needed part in program order) out of the window and runs or
  /// pushes them. `inline_allowed`: this thread has the issuing right and may run tiny calls
  /// itself.
  void publish(std::vector<Call*> calls, bool inline_allowed);
  std::vector<Call*> take_pending();
  std::vector<Call*> take_needed(Storage& target, bool to_write);
  void drop_unobserved(bool also_in_engine);
  void leave_held(std::span<Call* const> calls);
  bool run_at_once(std::span<Call* const> group, int most_shares = std::numeric_limits<int>::max());
  /// Runs the call that writes `target` if it is the only one pending, and tiny or decided by its
  /// first elements. The caller is to destroy it once the lock is released.
  Call* run_only_call(const Storage& target);
  std::size_t push_groups(const Plan& plan, std::size_t first);
  void push(Plan plan, double cost);
  static void leave_pending(std::span<Call* const> calls);
  bool is_over(double part) const;
  double held_bytes() const;
  double result_bytes() const;
  double unfinished_bytes() const;
  double unfinished_seconds() const;
  void add_finished(std::span<Call* const> calls);
  static void end_in_batches(std::span<Call* const> calls);

  const bool serial_;
  std::unique_ptr<engine::Engine> engine_;
  const int configured_threads_;
  FailureLog failures_;
  PassSwitches switches_;
  std::vector<Call*> retired_;  // empty; guarded by the issuing right
  FuseOptions fuse_options_;
  RunAheadLimits limits_;
  bool capped_ = false;

  SpinLock lock_;
  std::atomic<bool> forking_{false};
  // Guarded by lock_:
  std::vector<Call*> pending_;
  double held_cost_ = 0;            // nanoseconds
  std::int64_t pending_bytes_ = 0;  // outputs; some of them may not be wanted any more
  // Once the held work is worth a thread: since when, until when at most because of large calls in
  // it, and when it has waited long enough.
  Clock::time_point held_since_{}, no_later_than_{}, due_{};

  // A lock of its own: a worker that ends a task must not need the window's, which a forking thread
  // holds while it waits for workers.
  SpinLock tasks_lock_;
  std::vector<Call*> finished_;  // to be retired by a thread with the issuing right
  using TaskList = engine::List<GroupTask, &GroupTask::link>;
  TaskList in_engine_;  // pushed and not yet destroyed by the engine
  std::atomic<bool> any_finished_{false};
  std::atomic<std::int64_t> tasks_alive_{0};
  // Counters of the issuing threads and of all others: two lines instead of one that bounces.
  using Counter = std::atomic<std::int64_t>;
  Counter issued_{0}, issued_bytes_{0}, issued_nanoseconds_{0};
  struct alignas(64) Ended {
    const bool alone;  // changed by one thread at a time
    Counter run{0}, dropped{0}, bytes{0}, nanoseconds{0}, fused{0}, fused_calls{0};
    void count(std::span<Call* const> calls, bool were_run);
    void count_fused(std::size_t calls);
    void add(Counter& counter, std::int64_t change) {
      if (alone) {
        counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
      } else {
        counter.fetch_add(change, std::memory_order_relaxed);
      }
    }
  } ended_here_{true}, ended_elsewhere_{false};
};

/// The window of the process, made at first use: threaded, or serial when AFTERGLOW_ENGINE=serial
/// or MXNET_ENGINE_TYPE=NaiveEngine says so.
Window& window();

}  // namespace afterglow::lazy
