// SPDX-License-Identifier: Apache-2.0
// Tasks aside: one at a time, on a thread that runs nothing else.
#include "engine/threads.h"

namespace afterglow::engine {

void ThreadedEngine::work_aside(Worker& worker) {
  Hold hold(*this);
  // Invariant: here, with the lock held, this thread is counted in asides_searching_.
  while (!shutting_) {
    if (const Claim claim = claim_aside()) {
      --asides_searching_;
      run_share(hold, claim, false);
      ++asides_searching_;
      plan_wakes(hold);
      continue;
    }
    if (hold.destroy_ended()) continue;
    hold.send_wakes();
    --asides_searching_;
    worker.asleep = true;
    aside_sleepers_.push_front(worker);
    while (worker.asleep) worker.condition.wait(hold.lock());
  }
  --asides_searching_;
}

bool ThreadedEngine::can_start_aside() const {
  if (asides_ > 0 || asides_held_ > 0 || paused()) return false;
  return scheduler_.has_aside() || (starving(0) && scheduler_.oldest_starved().aside);
}

Claim ThreadedEngine::claim_aside() {
  if (!can_start_aside()) return {};
  ++asides_;
  if (TaskRecord* task = scheduler_.next_aside()) return scheduler_.claim(*task);
  pressed_ = &scheduler_.oldest_starved();
  return scheduler_.claim_starved(*pressed_);
}

void ThreadedEngine::release_aside() {
  --asides_;
  if (asides_held_ > 0) quiet_.notify_all();
}

void ThreadedEngine::wake_aside(Hold& hold) {
  Worker& worker = *aside_sleepers_.front();
  aside_sleepers_.remove(worker);
  worker.asleep = false;
  ++asides_searching_;
  hold.wake(worker.condition);
}

// Wakes or starts a thread where a task aside could start. Where the system refuses one, a thread
// that waits runs the task.
void ThreadedEngine::plan_aside(Hold& hold) {
  if (asides_searching_ > 0 || !can_start_aside()) return;
  if (!aside_sleepers_.empty()) {
    wake_aside(hold);
  } else if (start(aside_workers_, "aside-", &ThreadedEngine::work_aside)) {
    ++asides_searching_;
  } else if (Waiter* const chosen = sleeping_waiter()) {
    chosen->stands_in_aside = true;
    wake(hold, *chosen);
  }
}

bool ThreadedEngine::runs_aside() const {
  const Running* const inside = innermost();
  return inside && inside->task->aside && !inside->waits;
}

// A task that waits leaves its place in the queue to others, and one aside lets the next one start:
// it may be what it waits for.
void ThreadedEngine::lend_place(Hold& hold) {
  Running* const inside = innermost();
  if (!inside) return;
  const bool aside = runs_aside();
  inside->waits = true;
  inside->task->queue->exit();
  if (aside) release_aside();
  plan_wakes(hold);
}

void ThreadedEngine::take_place_back(Hold& hold) {
  Running* const inside = innermost();
  if (!inside || !inside->waits) return;
  if (inside->task->aside) {
    hold.send_wakes();
    quiet_.wait(hold.lock(), [&] { return asides_held_ == 0; });
    ++asides_;
  }
  inside->waits = false;
  inside->task->queue->enter();
}

void ThreadedEngine::begin_outside_wait() {
  Hold hold(*this);
  lend_place(hold);
}

void ThreadedEngine::end_outside_wait() {
  Hold hold(*this);
  take_place_back(hold);
}

void ThreadedEngine::hold_asides() noexcept {
  std::unique_lock lock(mutex_);
  ++asides_held_;
  // A fork inside a task aside does not wait for that task; nor do two of them wait for each other.
  const bool inside = runs_aside();
  asides_ -= inside;
  quiet_.notify_all();
  quiet_.wait(lock, [&] { return asides_ == 0; });
  asides_ += inside;
}

void ThreadedEngine::let_asides_go() noexcept {
  Hold hold(*this);
  --asides_held_;
  quiet_.notify_all();
  plan_wakes(hold);
}

}  // namespace afterglow::engine
