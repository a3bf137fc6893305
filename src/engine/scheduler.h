// SPDX-License-Identifier: Apache-2.0
// Which tasks may run: follows the variables from push to completion. Knows no threads and takes no
// lock; whoever owns the scheduler guards every call by one mutex.
//
// A task moves through: blocked -> ready -> running -> ended. One that puts itself off goes from
// running to starved, and from there back to ready or, when it must, straight to running. Each task
// keeps one Access per variable in that variable's list, in push order, until it ends. Invariants
// of such a list:
//   - a write is granted exactly when it is the first of the list;
//   - a read is granted exactly when no write stands before it;
//   - a task is blocked exactly as long as one of its accesses is not granted (or it is held).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>

#include "engine/engine.h"
#include "engine/list.h"
#include "engine/ready_queue.h"

namespace afterglow::engine {

struct TaskRecord;
struct Waiter;

/// One variable of one task.
struct Access {
  Variable* variable;
  TaskRecord* task;
  Access* previous;  // neighbours in the variable's list
  Access* next = nullptr;
  Access* writer;  // the nearest write before; alive as long as this access is not granted
  bool write;
  bool granted;
  std::exception_ptr outcome{};  // what the variable's failure becomes when the task ends
};

/// Threads that compute have homes, and shares that nobody has taken are divided among these: a
/// thread that gets the same part of one task after the other finds what it left in its caches.
constexpr int most_homes = 8;

/// A pushed task, in one allocation with its accesses.
struct TaskRecord {
  static TaskRecord* make(std::unique_ptr<Task> task, std::size_t accesses);
  static void destroy(TaskRecord* record);

  Access* accesses() { return reinterpret_cast<Access*>(this + 1); }

  std::unique_ptr<Task> task;
  std::uint64_t number = 0;
  ReadyQueue* queue = nullptr;
  int priority = 0;
  bool aside = false;
  int access_count = 0;
  int blocked = 0;    // accesses that are not granted, and holds
  int shares = 0;     // 0 until prepared
  int unclaimed = 1;  // shares nobody has taken; a task that is not prepared counts as one
  int running = 0;    // shares taken and not ended; the last one stays until the task has ended
  struct Shares {
    int begin = 0, end = 0;
  } left[most_homes]{};     // shares that no thread has chosen
  bool held = false;        // not to become ready yet, whatever its accesses
  bool stays_held = false;  // as who pushed it wanted
  std::exception_ptr failure{};
  std::size_t position = ReadyQueue::nowhere;  // in the ready queue: ready and something unclaimed
  Link<TaskRecord> starved_link{};             // among the starved: not ready and not running
  Link<TaskRecord> link{};                     // among the unfinished, or those to be destroyed
  Waiter* helper = nullptr;                    // waits for this task and may run it
  Link<TaskRecord> helper_link{};              // among what the helper can run now
  TaskRecord* walk = nullptr;                  // the stack of a walk over blocked tasks
  std::uint64_t mark = 0;                      // the last search that came upon it
};

using TaskList = List<TaskRecord, &TaskRecord::link>;

/// Destroys the tasks and says how many; call it without any lock held.
std::uint64_t destroy_all(TaskList& tasks);

/// A thread in wait(). A blocked task has at most one helper, the first that came upon it; workers
/// run it as well, so nothing is lost but a helping hand.
struct Waiter {
  Variable* variable = nullptr;  // null: waits for every task
  WaitFor what = WaitFor::read;
  const std::function<bool()>* enough = nullptr;  // ends a wait for every task early
  std::uint64_t last = 0;                         // number of the last task it waits for
  std::int64_t left = 0;  // if it waits for every task: how many of them are unfinished
  bool helps = true;
  bool done = false;
  List<TaskRecord, &TaskRecord::helper_link> ready{};  // it waits for these, and they can run now
  Link<Waiter> link{};

  // The engine's: how the thread sleeps and whether it may compute.
  std::thread::id thread = std::this_thread::get_id();
  std::condition_variable* condition = nullptr;
  bool asleep = false;
  bool spins = false;  // while asleep: it looks at the signal, not at the condition
  std::chrono::steady_clock::time_point spin_until{};
  bool slot = false;             // it is counted among the computing threads
  bool inside = false;           // it waits inside a task
  bool inherited = false;        // that task has a slot, and goes on computing after the wait
  bool leaving = false;          // only waits for its slot to come back
  bool stands_in = false;        // there is no worker: it runs what a worker would
  bool stands_in_aside = false;  // the same for tasks aside
};

using WaiterList = List<Waiter, &Waiter::link>;

/// One share of a task, taken by one thread, which chooses it. The first comes with the duty to
/// prepare the task.
struct Claim {
  TaskRecord* task = nullptr;
  bool must = false;  // the task cannot be put off any more
  explicit operator bool() const { return task != nullptr; }
};

class Scheduler {
 public:
  /// Adds a task; throws only before anything has changed. A held task does not become ready before
  /// it is let go.
  void add(TaskRecord& task, std::span<Variable* const> reads, std::span<Variable* const> writes,
           PushOptions options, bool hold);
  void let_go(TaskRecord& task);
  /// The task with this number, if it is held.
  void let_go(std::uint64_t number);
  /// But for those that were pushed to be held.
  void let_go_all();

  /// Lets at most so many threads compute for a queue; 0 for no limit.
  void set_limit(int id, int threads) { queue(id).set_limit(threads); }
  /// Threads other than the one that is inside of this share (or null) are gone.
  void forget_threads(const TaskRecord* inside);

  /// The next ready task of an open queue with a number of at most `last`, queues in turn; null
  /// when none leads.
  TaskRecord* next(std::uint64_t last = UINT64_MAX);
  /// The next ready task aside; null for none.
  TaskRecord* next_aside() { return aside_.empty() ? nullptr : &aside_.front(); }
  bool has_ready(std::uint64_t last) const;
  /// The next ready task of an open queue that the waiter helps; null for none.
  static TaskRecord* next_for(const Waiter& waiter);
  Claim claim(TaskRecord& task);
  /// The thread that claimed a share has ended it, or has put the task off.
  static void leave(const TaskRecord& task) { task.queue->exit(); }
  /// The first share of a starved task, which now must.
  Claim claim_starved(TaskRecord& task);
  /// The claimed task could not be prepared yet: it is starved.
  void put_off(TaskRecord& task);
  /// The starved tasks are ready once more.
  void revive_all();
  bool has_starved() const { return !starved_.empty(); }
  /// The starved task that was pushed first; there must be one.
  TaskRecord& oldest_starved() const;
  /// The task has been prepared and is cut into this many shares, of which one is claimed, for
  /// threads of so many homes.
  void cut(TaskRecord& task, int shares, int homes);
  /// The share that a thread with this home gets for a claim.
  static int choose_share(TaskRecord& task, int home);
  /// True when this was the last share to end: the task is then to be finished and ended.
  bool end_share(TaskRecord& task, std::exception_ptr failure);
  /// Releases the dependants and moves the task to `ended`. Its outcome must be set.
  void end(TaskRecord& task, TaskList& ended);
  /// Says what a task's end means to the variables it writes; needs no lock.
  static void set_outcome(TaskRecord& task);
  /// Abandons every task that neither runs nor depends on one that does, and leaves its variables
  /// idle.
  void drop(TaskList& dropped);
  /// Lets the task say what becomes of what it writes, for it will not run to its end.
  static void abandon(TaskRecord& task, const char* reason);

  /// Fills in what the waiter waits for and makes it the helper of those tasks; nothing to wait for
  /// is noted as done. `inside` are the tasks that its thread is inside of. False when the target
  /// depends on one of them: then it does not wait.
  bool start_waiting(Waiter& waiter, std::span<TaskRecord* const> inside);
  void stop_waiting(Waiter& waiter);
  /// The thread of this waiter is gone: nobody helps those tasks any more.
  void forget(Waiter& waiter);
  WaiterList& waiters() { return waiters_; }

  std::exception_ptr failure(const Variable& variable) const { return variable.failure_; }
  std::int64_t unfinished() const { return unfinished_count_; }
  /// How many tasks have been handed out to be destroyed.
  std::uint64_t ended() const { return ended_count_; }
  /// Shares of ready tasks that nobody has taken, whether their queues are open or full.
  int unclaimed() const;
  /// How many of those threads could take: queues let in no more than their limits.
  int startable() const;
  bool has_aside() const { return !aside_.empty(); }

 private:
  ReadyQueue& queue(int id);
  void append(TaskRecord& task, Variable& variable, bool write);
  static void unlink(Access& access);
  void release(Access& access);
  void grant(Access& access);
  void make_ready(TaskRecord& task);
  void make_unready(TaskRecord& task);
  void revive(TaskRecord& task);
  void hand_out(TaskRecord& task, TaskList& ended);
  template <class Visit>
  void walk(const Waiter& waiter, Visit visit);
  bool depends_on(const Waiter& waiter, std::span<TaskRecord* const> tasks);
  std::int64_t count_dependants(std::span<TaskRecord* const> tasks);

  std::deque<ReadyQueue> queues_;
  ReadyQueue aside_{-1};
  std::size_t turn_ = 0;  // the queue to be served next
  TaskList unfinished_;   // in push order
  List<TaskRecord, &TaskRecord::starved_link> starved_;
  WaiterList waiters_;
  std::uint64_t last_number_ = 0;
  std::int64_t unfinished_count_ = 0;
  std::uint64_t ended_count_ = 0;
  std::uint64_t searches_ = 0;
};

}  // namespace afterglow::engine
