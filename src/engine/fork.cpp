// SPDX-License-Identifier: Apache-2.0
// fork(): no share runs and the lock is held while the process is copied, so both copies find the
// queue in order. In the child only the forking thread lives on.
#include <new>
#include <stdexcept>
#include <utility>

#include "engine/threads.h"

namespace afterglow::engine {

void ThreadedEngine::before_fork() noexcept {
  std::unique_lock lock(mutex_);
  ++pausers_;
  // A fork inside a task does not wait for that task; nor do two of them wait for each other.
  const bool inside = inside_share();
  computing_ -= inside;
  quiet_.notify_all();
  quiet_.wait(lock, [&] { return computing_ == 0; });
  computing_ += inside;
  lock.release();
}

void ThreadedEngine::after_fork_in_parent() noexcept {
  Hold hold(*this, std::adopt_lock);
  --pausers_;
  plan_wakes(hold);
}

void ThreadedEngine::after_fork_in_child() noexcept {
  // What other threads may have been using is made anew, never destroyed: they are gone.
  new (&mutex_) std::mutex;
  new (&quiet_) std::condition_variable;
  for (auto& condition : conditions_) condition.release();
  conditions_.clear();
  const std::thread::id self = std::this_thread::get_id();
  std::erase_if(workers_, [&](std::unique_ptr<Worker>& worker) {
    if (worker->thread.get_id() != self) return worker.release() != nullptr;
    new (&worker->condition) std::condition_variable;
    return false;
  });
  sleepers_ = {};
  watcher_ = nullptr;
  hook_wanted_ = false;
  attentive_ = false;
  searching_ = 0;
  pausers_ = 0;
  pressed_ = nullptr;
  computing_ = inside_share();
  destroyed_ = 2 * scheduler_.ended();  // what others were about to destroy is lost

  Hold hold(*this);
  for (Waiter *waiter = scheduler_.waiters().front(), *next; waiter; waiter = next) {
    next = WaiterList::after(*waiter);
    if (waiter->thread != self) {
      scheduler_.forget(*waiter);
      continue;
    }
    new (waiter->condition) std::condition_variable;
    if (waiter->enough) await_destruction();
  }
  scheduler_.let_go_all();
  scheduler_.revive_all();
  // Shares of other threads that were waiting inside their task cannot go on here.
  for (Running *running = running_.front(), *next; running; running = next) {
    next = RunningList::after(*running);
    if (running->thread == self) continue;
    running_.remove(*running);
    TaskRecord& task = *running->task;
    if (scheduler_.end_share(task, std::make_exception_ptr(std::runtime_error(
                                       "the process was forked while this task was waiting")))) {
      Scheduler::set_outcome(task);
      scheduler_.end(task, hold.ended);
    }
  }
}

}  // namespace afterglow::engine
