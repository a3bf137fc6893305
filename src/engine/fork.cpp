// SPDX-License-Identifier: Apache-2.0
// fork(): no share runs and the lock is held while the process is copied, so both copies find the
// queue in order. In the child only the forking thread lives on.
#include <new>
#include <stdexcept>

#include "engine/threads.h"

namespace afterglow::engine {

void ThreadedEngine::before_fork() noexcept {
  std::unique_lock lock(mutex_);
  ++pausers_;
  // A fork inside a task does not wait for that task; nor do two of them wait for each other.
  const bool inside = holds_slot();
  computing_ -= inside;
  quiet_.notify_all();
  // Nor may a task be lost that has ended and that another thread is about to destroy.
  quiet_.wait(lock, [&] {
    await_destruction();
    return computing_ == 0 && destroyed_ / 2 >= scheduler_.ended();
  });
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
  for (auto* workers : {&workers_, &aside_workers_})
    std::erase_if(*workers, [&](std::unique_ptr<Worker>& worker) {
      if (worker->thread.get_id() != self) return worker.release() != nullptr;
      new (&worker->condition) std::condition_variable;
      return false;
    });
  sleepers_ = {};
  aside_sleepers_ = {};
  asides_searching_ = 0;
  asides_held_ = 0;
  asides_ = runs_aside();
  watcher_ = nullptr;
  hook_wanted_ = false;
  attentive_ = false;
  searching_ = 0;
  pausers_ = 0;
  pressed_ = nullptr;
  computing_ = holds_slot();
  const Running* const inside = innermost();
  scheduler_.forget_threads(inside && !inside->waits ? inside->task : nullptr);

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
  // Shares of other threads that were waiting inside their task, or ran aside, cannot go on here.
  for (Running *running = running_.front(), *next; running; running = next) {
    next = RunningList::after(*running);
    if (running->thread == self) continue;
    running_.remove(*running);
    --at_home_[running->home];
    TaskRecord& task = *running->task;
    constexpr auto lost = "the process was forked while another thread was inside this task";
    // The failure keeps further shares from starting; the task may know better what to do.
    if (scheduler_.end_share(task, std::make_exception_ptr(std::runtime_error(lost)))) {
      task.failure = nullptr;
      Scheduler::abandon(task, lost);
      Scheduler::set_outcome(task);
      scheduler_.end(task, hold.ended);
    }
  }
}

}  // namespace afterglow::engine
