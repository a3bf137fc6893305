// SPDX-License-Identifier: Apache-2.0
#include "engine/threads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/observed.h"

namespace afterglow::engine {

std::unique_ptr<Engine> make_threaded_engine(int thread_limit) {
  return std::make_unique<ThreadedEngine>(thread_limit);
}

void ThreadedEngine::join(Worker& worker) {
  if (worker.thread.get_id() == std::this_thread::get_id())
    worker.thread.detach();
  else
    worker.thread.join();
}

ThreadedEngine::ThreadedEngine(int thread_limit)
    : limit_(std::max(1, thread_limit)), homes_(std::min(limit_, most_homes)) {}

ThreadedEngine::~ThreadedEngine() {
  shutdown();
  Hold hold(*this);
  std::vector<std::unique_ptr<Worker>> workers = std::exchange(aside_workers_, {});
  hold.let_go();
  for (std::unique_ptr<Worker>& worker : workers) join(*worker);
  hold.take();
  scheduler_.drop(hold.ended);  // what depended on tasks aside
  quiet_.wait(hold.lock(), [&] { return scheduler_.waiters().empty(); });
}

void ThreadedEngine::Hold::take() {
  // The lock is held for well under a microsecond; blocking on it would cost two system calls.
  lock_ = std::unique_lock(engine_.mutex_, std::try_to_lock);
  for (int i = 0; i < 100 && !lock_.owns_lock(); ++i) {
    pause_processor();
    lock_.try_lock();
  }
  if (!lock_.owns_lock()) lock_.lock();
}

void ThreadedEngine::Hold::let_go() {
  if (!lock_.owns_lock()) return;
  lock_.unlock();
  send_wakes();
  if (ended.empty()) return;
  const std::uint64_t count = destroy_all(ended);
  if (!(engine_.destroyed_.fetch_add(2 * count) & awaited)) return;
  take();
  engine_.serve_awaiting(*this);
  lock_.unlock();
  send_wakes();
}

bool ThreadedEngine::Hold::destroy_ended() {
  if (ended.empty()) return false;
  let_go();
  take();
  return true;
}

void ThreadedEngine::Hold::send_wakes() {
  if (std::exchange(signal_, false)) engine_.signal_.fetch_add(1, std::memory_order_release);
  if (count_ > 0) engine_.waker_processor_.store(current_processor(), std::memory_order_relaxed);
  while (count_ > 0) conditions_[--count_]->notify_one();
}

std::uint64_t ThreadedEngine::push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                                   std::span<Variable* const> writes, PushOptions options) {
  auto destroy = [](TaskRecord* record) { TaskRecord::destroy(record); };
  std::unique_ptr<TaskRecord, decltype(destroy)> record(
      TaskRecord::make(std::move(task), reads.size() + writes.size()));
  Hold hold(*this);
  const std::shared_ptr<Observer> observer = observer_;
  std::string label;
  if (observer) {
    hold.let_go();
    label = record->task->label();
    hold.take();
  }
  if (shutting_) {
    const auto is_idle = [](const Variable* variable) { return variable->idle(); };
    if (std::ranges::all_of(writes, is_idle)) Scheduler::abandon(*record, shut_down_reason);
    return 0;
  }
  scheduler_.add(*record, reads, writes, options, options.held || observer != nullptr);
  TaskRecord& added = *record.release();
  const std::uint64_t number = added.number;
  if (observer) {
    // Held meanwhile, so that nobody sees the task start before it was pushed.
    hold.let_go();
    observer->pushed(number, label.c_str(), options.queue, options.priority);
    hold.take();
    if (shutting_) return number;
    if (!options.held) scheduler_.let_go(added);
  }
  plan_wakes(hold);
  return number;
}

void ThreadedEngine::let_go(std::uint64_t task) {
  Hold hold(*this);
  scheduler_.let_go(task);
  plan_wakes(hold);
}

bool ThreadedEngine::stalled() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.unfinished() > 0 && computing_ == 0 && asides_ == 0 && !paused() &&
         scheduler_.unclaimed() == 0 && !scheduler_.has_aside() && !scheduler_.has_starved();
}

/// The share of this engine that the calling thread is inside of, or nullptr.
ThreadedEngine::Running* ThreadedEngine::innermost() const {
  Running* running = innermost_;
  while (running && running->engine != this) running = running->outer;
  return running;
}

bool ThreadedEngine::holds_slot() const {
  const Running* const inside = innermost();
  return inside && !inside->task->aside;
}

// That of its last share, unless as many as belong there compute in it.
int ThreadedEngine::choose_home() {
  const int most = (limit_ + homes_ - 1) / homes_;
  if (last_home_ >= homes_ || at_home_[last_home_] >= most)
    last_home_ = static_cast<int>(std::min_element(at_home_, at_home_ + homes_) - at_home_);
  return last_home_;
}

// Runs a claimed share, and ends the task if that was its last, or puts it off. Entered and left
// with the lock held. The caller has a slot, unless the task is aside; a helper keeps it, a worker
// gives it back.
void ThreadedEngine::run_share(Hold& hold, Claim claim, bool helping) {
  TaskRecord& task = *claim.task;
  Running running{this, &task, innermost_, choose_home()};
  running_.push_back(running);
  ++at_home_[running.home];
  innermost_ = &running;
  int shares = task.shares;
  int share = shares > 1 ? Scheduler::choose_share(task, running.home) : 0;
  const std::shared_ptr<Observer> observer = observer_;
  plan_wakes(hold);
  hold.let_go();

  std::exception_ptr failure;
  std::uint64_t destroyed_before = 0;
  try {
    if (shares == 0) {
      destroyed_before = destroyed_;
      shares = prepare(*task.task, claim.must);
      if (shares > 1 || claim.must) {
        hold.take();
        if (shares > 1) {
          scheduler_.cut(task, shares, homes_);
          share = Scheduler::choose_share(task, running.home);
        }
        if (claim.must) pressed_ = nullptr;
        plan_wakes(hold);
        hold.let_go();
      }
    }
    if (shares > 0) run_observed(*task.task, task.number, share, worker_index_, observer.get());
  } catch (...) {
    failure = std::current_exception();
  }

  // Of a task that was not cut, this is the last share without asking.
  bool last = shares != not_now;
  if (!last) {
    hold.take();
  } else if (shares > 1) {
    hold.take();
    last = scheduler_.end_share(task, std::move(failure));
    if (last) hold.let_go();
  } else {
    task.failure = std::move(failure);
  }
  if (last) {
    finish(task, observer.get());
    hold.take();
  }
  running_.remove(running);
  --at_home_[running.home];
  innermost_ = running.outer;
  const bool was_full = !task.queue->open();
  Scheduler::leave(task);
  if (pressed_ == &task) pressed_ = nullptr;  // prepare() threw
  // Before the dependants are released: they are best run by this thread, which is awake.
  if (task.aside)
    release_aside();
  else if (!helping)
    release_slot(hold);
  if (last) scheduler_.end(task, hold.ended);
  if (shares == not_now) put_off(task, destroyed_before);
  // A worker takes the place itself. A helper may have other things to do.
  if (helping && was_full) plan_wakes(hold);
}

// What was given back during the attempt may have come too late for it, and nobody was starved then
// to be served: the task is tried again at once.
void ThreadedEngine::put_off(TaskRecord& task, std::uint64_t destroyed_before) {
  scheduler_.put_off(task);
  if ((destroyed_.fetch_or(awaited) | awaited) != (destroyed_before | awaited))
    scheduler_.revive_all();
}

// Tasks have been destroyed, and with that have given everything back: the starved are tried again,
// and `enough` is asked.
void ThreadedEngine::serve_awaiting(Hold& hold) {
  destroyed_.fetch_and(~awaited);
  scheduler_.revive_all();
  WaiterList& waiters = scheduler_.waiters();
  for (Waiter* waiter = waiters.front(); waiter; waiter = WaiterList::after(*waiter)) {
    if (!waiter->enough) continue;
    await_destruction();
    if ((*waiter->enough)()) waiter->done = true;
  }
  if (pausers_ > 0) quiet_.notify_all();
  plan_wakes(hold);
}

void ThreadedEngine::finish(TaskRecord& task, Observer* observer) {
  if (!task.failure) {
    try {
      task.task->finish();
    } catch (...) {
      task.failure = std::current_exception();
    }
  }
  Scheduler::set_outcome(task);
  if (observer) observer->finished(task.number, task.failure != nullptr);
}

// A waiter that could not help because all slots were taken is served before any worker.
void ThreadedEngine::release_slot(Hold& hold) {
  if (Waiter* waiter = heir()) {
    waiter->slot = true;
    wake(hold, *waiter);
  } else {
    --computing_;
  }
  if (pausers_ > 0 || shutting_) quiet_.notify_all();
}

void ThreadedEngine::shutdown() {
  Hold hold(*this);
  shutting_ = true;  // from here on nothing is claimed and nothing is added
  while (!sleepers_.empty()) wake_first_sleeper(hold);
  while (!aside_sleepers_.empty()) wake_aside(hold);
  hold.wake_spinning();
  plan_wakes(hold);
  hold.send_wakes();
  quiet_.wait(hold.lock(), [&] {
    for (Running* running = running_.front(); running; running = RunningList::after(*running))
      if (!running->task->aside && running->thread != std::this_thread::get_id()) return false;
    return true;
  });
  scheduler_.drop(hold.ended);
  std::vector<std::unique_ptr<Worker>> workers = std::exchange(workers_, {});
  hold.let_go();
  for (std::unique_ptr<Worker>& worker : workers) join(*worker);
  hold.take();
  for (std::unique_ptr<Worker>& worker : workers) retired_.push_back(std::move(worker));
}

void ThreadedEngine::set_idle_hook(std::function<std::chrono::nanoseconds()> hook) {
  using Hook = const std::function<std::chrono::nanoseconds()>;
  std::shared_ptr<Hook> shared = hook ? std::make_shared<Hook>(std::move(hook)) : nullptr;
  Hold hold(*this);
  hook_.swap(shared);
  attentive_ = false;
}

void ThreadedEngine::set_observer(std::shared_ptr<Observer> observer) {
  Hold hold(*this);
  observer_.swap(observer);
}

void ThreadedEngine::set_limit(int queue, int threads) {
  Hold hold(*this);
  scheduler_.set_limit(queue, threads);
  plan_wakes(hold);
}

std::int64_t ThreadedEngine::unfinished() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.unfinished();
}

int ThreadedEngine::workers_started() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(workers_.size());
}

}  // namespace afterglow::engine
