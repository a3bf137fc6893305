// SPDX-License-Identifier: Apache-2.0
// "Run this after those." The engine knows tasks and variables, nothing else.
//
// A task names the variables it reads and writes. Readers of one version of a variable run side by
// side; a writer waits for every earlier reader and the earlier writer. The outcome therefore
// equals running the tasks one after another in the order of their push, for any number of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace afterglow::engine {

/// What a task answers that cannot be prepared yet.
constexpr int not_now = -1;

/// A piece of work, owned by the engine from push to completion.
///
/// One thread calls prepare(), which says into how many shares the work is cut; any threads, also
/// several at once, then call run() once per share; the thread that ends the last share calls
/// finish(), and only after it may dependants start. A share should take at most about 20 ms:
/// between shares threads look at signals, timeouts, forks and shutdown. An exception from any of
/// the three ends the task as failed (the remaining shares are not started); finish() is then not
/// called. A task is destroyed when its variables have been released, outside all locks; what its
/// destructor frees counts as given back at its end. The destructor must not wait for tasks.
class Task {
 public:
  virtual ~Task() = default;
  /// `must`: it cannot be put off any more, and succeeds or throws. Otherwise it may return
  /// not_now: it lacks something that other tasks will give back when they end (memory). It is then
  /// starved: it does not run, keeps its place in the order of every variable, and is asked again
  /// when another task has ended. When nothing else runs or could start, the oldest starved task
  /// must; nothing starts until it has answered, so it must not wait for tasks.
  virtual int prepare(bool /*must*/) { return 1; }
  virtual void run(int share) = 0;
  virtual void finish() {}
  /// It will not run, or not to its end: the engine is shut down, or its thread did not come along
  /// into a forked process. Nothing else touches what it writes. Called with the engine's lock
  /// held: it must be quick and take no lock. What it throws, by default the reason, is kept by the
  /// variables.
  virtual void abandon(const std::exception_ptr& reason) { std::rethrow_exception(reason); }
  /// For observers and stall reports.
  virtual std::string label() const { return "task"; }
};

/// A place that tasks read and write. Embedded in what it guards; must be idle when destroyed.
class Variable {
 public:
  Variable() = default;
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  /// True when no unfinished task writes it: its value may be read by whoever keeps writers from
  /// being pushed meanwhile. Lock-free; pairs with the end of a task (acquire/release).
  bool readable() const { return unfinished_writes_.load(std::memory_order_acquire) == 0; }
  /// True when no unfinished task touches it.
  bool idle() const { return unfinished_.load(std::memory_order_acquire) == 0; }
  /// How many unfinished tasks touch it.
  int unfinished() const { return unfinished_.load(std::memory_order_acquire); }
  /// An idle variable that is to guard something else forgets what it kept.
  void reset() {
    if (failure_) failure_ = nullptr;
  }

 private:
  friend class Scheduler;
  friend class SerialEngine;
  // Changed under the engine's lock only, so plain loads and stores do.
  std::atomic<std::int32_t> unfinished_{0};
  std::atomic<std::int32_t> unfinished_writes_{0};
  // The rest is guarded by the engine's lock: the accesses of unfinished tasks in push order, the
  // last of them that writes, and what the last finished writer threw.
  struct Access* first_ = nullptr;
  struct Access* last_ = nullptr;
  struct Access* last_writer_ = nullptr;
  std::exception_ptr failure_;
};

struct PushOptions {
  int priority = 0;  ///< higher runs earlier among ready tasks of one queue; a hint
  int queue = 0;     ///< device context; queues are served in turn, see Engine::set_limit
  /// It may block on what threads outside hold (the lock of an interpreter), so no worker and no
  /// thread that helps runs it, but a thread for such tasks, one at a time. That thread is started
  /// when the first of them is ready and is not counted among those that compute. A task aside that
  /// waits lets the next one start meanwhile. Where the system refuses the thread, one that waits
  /// runs it after all.
  bool aside = false;
  /// It does not start before let_go(), also in a forked process: what it waits for is no task that
  /// was pushed before. Not for the serial engine.
  bool held = false;
};

enum class WaitFor {
  read,   ///< every earlier writer of the variable has finished
  write,  ///< every earlier task that touches the variable has finished
};

enum class WaitResult {
  done,
  timed_out,
  interrupted,
  shut_down,
  itself,  ///< the target depends on a task that this thread is inside of: it would wait for ever
};

struct WaitOptions {
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  /// Asked every 20 ms, when a share has ended, without any engine lock held; true ends the
  /// wait.
  std::function<bool()> interrupted{};
};

/// Sees what the engine does, a task's events in this order. Called without engine locks, possibly
/// from several threads at once; must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void pushed(std::uint64_t /*task*/, const char* /*label*/, int /*queue*/,
                      int /*priority*/) {}
  /// `thread` is 0.. for workers, -1 for a thread that helps while it waits or pushes serially.
  virtual void share_started(std::uint64_t /*task*/, const char* /*label*/, int /*share*/,
                             int /*thread*/) {}
  virtual void share_finished(std::uint64_t /*task*/, const char* /*label*/, int /*share*/,
                              int /*thread*/) {}
  virtual void finished(std::uint64_t /*task*/, bool /*failed*/) {}
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Queues `task`. A variable named twice, or in both lists, counts once, as a write if in
  /// `writes`. Returns the task's number (1, 2, ...), or 0 when the engine is shut down (the task
  /// is destroyed).
  virtual std::uint64_t push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                             std::span<Variable* const> writes, PushOptions options = {}) = 0;
  /// The same for a plain function.
  std::uint64_t push(std::function<void()> function, std::span<Variable* const> reads,
                     std::span<Variable* const> writes, PushOptions options = {});

  /// Lets a held task start when what it depends on has ended; nothing happens for others.
  virtual void let_go(std::uint64_t task) = 0;

  /// Waits for the tasks pushed so far that `what` names. The waiting thread helps: it runs shares
  /// of tasks its target depends on (only those), standing in for a worker. Rethrows the exception
  /// of the variable's last writer if that failed; it stays until a later writer succeeds.
  virtual WaitResult wait(Variable& variable, WaitFor what = WaitFor::read,
                          const WaitOptions& options = {}) = 0;
  /// Waits until every task pushed before the call has finished; inside a task, every one that does
  /// not depend on it. Throws nothing of the tasks'.
  virtual WaitResult wait_all(const WaitOptions& options = {}) = 0;
  /// Waits until `enough` says so or every task pushed before the call has finished, whichever
  /// comes first; returns done in both cases. The waiting thread helps to run any of those tasks,
  /// standing in for a worker, as wait_all does. `enough` is asked when a task has ended and
  /// between shares, with the engine's lock held: it must be quick, take no lock, and not throw (it
  /// reads atomics).
  virtual WaitResult wait_until(const std::function<bool()>& enough,
                                const WaitOptions& options = {}) = 0;

  /// Drops what has not started, lets running shares end, joins the workers. Waits return
  /// shut_down, pushes are refused; what is dropped or refused is abandoned. A task aside that runs
  /// is not waited for, and what depends on it stays where it is. May be called twice.
  virtual void shutdown() = 0;

  /// A thread inside a task aside is about to wait for something outside of the engine (another
  /// process), or has done so: as during a wait for tasks, the next task aside may start and a fork
  /// waits for neither. They do nothing on other threads, nor in the serial engine.
  virtual void begin_outside_wait() = 0;
  virtual void end_outside_wait() = 0;

  /// Waits until no task aside runs, but for those that wait, and lets none go on before the same
  /// thread calls the second. For a thread that is about to fork: to be called without what such
  /// tasks may block on, which it may take afterwards. In the child nothing is held.
  virtual void hold_asides() noexcept = 0;
  virtual void let_asides_go() noexcept = 0;
  /// Fork protocol, called by the forking thread in this order. before_fork() waits for running
  /// shares only, not for tasks aside, and keeps the engine still until one of the other two;
  /// queued tasks then run in both processes. What runs aside all the same is abandoned in the
  /// child.
  virtual void before_fork() noexcept = 0;
  virtual void after_fork_in_parent() noexcept = 0;
  virtual void after_fork_in_child() noexcept = 0;

  /// Called by an idle worker before it sleeps, without engine locks held: it may push. Returns how
  /// long the worker should sleep before asking again (max(): until the next push or nudge; else it
  /// is asked again after a millisecond at the latest). The serial engine has no worker to ask it.
  virtual void set_idle_hook(std::function<std::chrono::nanoseconds()> hook) = 0;
  /// Makes sure that some worker asks the idle hook soon: returns at once when one is awake or in a
  /// timed sleep, else wakes one.
  virtual void nudge() = 0;

  virtual void set_observer(std::shared_ptr<Observer> observer) = 0;

  /// Lets at most so many threads compute at once for the tasks of a queue; 0, as at first, for all
  /// there are. Holds from the next share on. A thread that helps while it waits counts for the
  /// queue of the task that it runs. A task that waits for others counts for none meanwhile, and
  /// goes on without asking.
  virtual void set_limit(int queue, int threads) = 0;

  virtual std::int64_t unfinished() const = 0;  ///< pushed and not finished
  /// Nothing runs and nothing can, until somebody lets a held task go or pushes another one.
  virtual bool stalled() const = 0;
  virtual int thread_limit() const = 0;     ///< threads that may compute at once
  virtual int workers_started() const = 0;  ///< worker threads that exist now
};

/// The number of the worker that asks, 0.., or -1 for any other thread.
int worker_index();

/// Workers start lazily, at the first push that needs one. A thread that helps takes one of
/// `thread_limit` slots, so that never more than that many threads compute.
std::unique_ptr<Engine> make_threaded_engine(int thread_limit);
/// Runs every task inside push(), on the calling thread.
std::unique_ptr<Engine> make_serial_engine();
/// A push to a serial engine blocks while a task of another thread runs. The hook, one for the
/// whole process and set once, then calls what it is given without that on which tasks aside may
/// block.
void set_blocking_hook(void (*hook)(const std::function<void()>& body));

/// How many threads this process should compute with: AFTERGLOW_NUM_THREADS as it stands; else what
/// is available, which is the smaller of CPU affinity and cgroup (v1 and v2) quota, at least 1, and
/// at most MXNET_CPU_WORKER_NTHREADS or, where that is not set, OMP_NUM_THREADS.
int default_thread_limit();

}  // namespace afterglow::engine
