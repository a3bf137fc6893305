// SPDX-License-Identifier: Apache-2.0
// Workers: what they do, how they idle, and who is woken when there is something to run.
#include <algorithm>
#include <exception>
#include <string>

#include "engine/threads.h"

#if defined(__linux__)
#include <pthread.h>
#endif

namespace afterglow::engine {

namespace {

using namespace std::chrono_literals;

// A nudge leaves a worker in its timed sleep alone, so that sleep must be short.
constexpr auto longest_timed_sleep = 1ms;

}  // namespace

void ThreadedEngine::work(Worker& worker) {
  worker_index_ = worker.index;
  Hold hold(*this);
  // Invariant: here, with the lock held, this worker is counted in searching_.
  while (!shutting_) {
    const Claim claim = can_start_share() ? claim_any(0) : Claim{};
    if (!claim) {
      idle(hold, worker);
      continue;
    }
    --searching_;
    ++computing_;
    run_share(hold, claim, false);
    ++searching_;
    if (several_processors_) worker.spin_until = Clock::now() + spin_time;
  }
  --searching_;
}

bool ThreadedEngine::can_start_share() const {
  return computing_ < limit_ && !paused();
}

// True when the starved can count on nobody to give something back: nothing is ready, no other
// thread computes (those inside a task wait), and all that has ended is destroyed.
bool ThreadedEngine::starving(int own_slots) const {
  return scheduler_.has_starved() && scheduler_.unclaimed() == 0 && computing_ == own_slots &&
         asides_ == 0 && !scheduler_.has_aside() && destroyed_ / 2 >= scheduler_.ended();
}

// How many shares free workers could start.
int ThreadedEngine::startable() const {
  if (!can_start_share()) return 0;
  return scheduler_.startable() + (starving(0) && !scheduler_.oldest_starved().aside);
}

// So that there is always progress, the oldest starved task must run when nothing else does.
Claim ThreadedEngine::claim_any(int own_slots) {
  if (TaskRecord* task = scheduler_.next()) return scheduler_.claim(*task);
  if (!starving(own_slots) || scheduler_.oldest_starved().aside) return {};
  pressed_ = &scheduler_.oldest_starved();
  return scheduler_.claim_starved(*pressed_);
}

// Nothing to run: asks the hook, looks out for work for a moment, then sleeps.
void ThreadedEngine::idle(Hold& hold, Worker& worker) {
  plan_wakes(hold);
  Clock::time_point ask_again = never;
  if (hook_ && !watcher_) ask_again = ask_hook(hold, worker);
  if (worker_has_nothing()) spin(hold, worker, std::min(worker.spin_until, ask_again));
  if (worker_has_nothing()) sleep(hold, worker, ask_again);
  if (watcher_ == &worker) {
    // It is time to ask again, or this worker has got work: then another one should watch.
    watcher_ = nullptr;
    hook_wanted_ = true;
  }
}

bool ThreadedEngine::worker_has_nothing() const {
  if (shutting_ || startable() > 0) return false;
  return !hook_ || !hook_wanted_ || watcher_;
}

// Returns when to ask again; this worker then is the watcher.
ThreadedEngine::Clock::time_point ThreadedEngine::ask_hook(Hold& hold, Worker& worker) {
  const auto hook = hook_;
  watcher_ = &worker;
  hook_wanted_ = false;
  // Lowered before the hook looks: a nudge for what the hook does not see any more takes the slow
  // path and sets hook_wanted_.
  attentive_ = false;
  hold.let_go();
  std::chrono::nanoseconds answer = longest_timed_sleep;
  try {
    answer = (*hook)();
  } catch (...) {
    // A hook has nobody to tell; it is asked again soon.
  }
  hold.take();
  if (hook_wanted_ || answer == std::chrono::nanoseconds::max()) {
    watcher_ = nullptr;
    return never;
  }
  attentive_ = true;
  return Clock::now() + std::clamp<std::chrono::nanoseconds>(answer, 0ns, longest_timed_sleep);
}

// One worker at a time, the one that became idle last: the other processors belong to the threads
// that issue work.
void ThreadedEngine::spin(Hold& hold, Worker& worker, Clock::time_point until) {
  spinner_ = &worker;
  // Whatever changes after this hold of the lock changes the signal as well, for this worker is
  // counted as searching. Letting go here also does what is left to do before a sleep.
  const std::uint32_t seen = signal_.load(std::memory_order_relaxed);
  hold.let_go();
  // A woken worker may have taken the place of the thread that woke it. Spinning there would keep
  // the very thread from running that pushes the next task.
  const int waker = waker_processor_.load(std::memory_order_relaxed);
  while (signal_.load(std::memory_order_acquire) == seen && Clock::now() < until &&
         spinner_.load(std::memory_order_relaxed) == &worker) {
    const int processor = current_processor();
    if (processor == waker && processor != unknown_processor) break;
    for (int i = 0; i < 16 && signal_.load(std::memory_order_relaxed) == seen; ++i)
      pause_processor();
  }
  hold.take();
}

void ThreadedEngine::sleep(Hold& hold, Worker& worker, Clock::time_point until) {
  --searching_;
  worker.asleep = true;
  // The watcher is woken last: it has something to do as it is.
  if (watcher_ == &worker)
    sleepers_.push_back(worker);
  else
    sleepers_.push_front(worker);
  while (worker.asleep) {
    if (until == never) {
      worker.condition.wait(hold.lock());
    } else if (worker.condition.wait_until(hold.lock(), until) == std::cv_status::timeout &&
               worker.asleep) {
      sleepers_.remove(worker);
      worker.asleep = false;
      ++searching_;
    }
  }
}

// Counts the sleeper as searching at once, so that it is not woken twice for one piece of work.
void ThreadedEngine::wake_first_sleeper(Hold& hold) {
  Worker& worker = *sleepers_.front();
  sleepers_.remove(worker);
  worker.asleep = false;
  ++searching_;
  hold.wake(worker.condition);
}

void ThreadedEngine::wake(Hold& hold, Waiter& waiter) {
  waiter.asleep = false;
  waiter.spins ? hold.wake_spinning() : hold.wake(*waiter.condition);
}

// Where the system refuses, the threads there are do the work; those that wait help.
bool ThreadedEngine::start(std::vector<std::unique_ptr<Worker>>& workers, const char* kind,
                           void (ThreadedEngine::*body)(Worker&)) {
  try {
    const int index = static_cast<int>(workers.size());
    const std::string name = std::string("afterglow-") + kind + std::to_string(index);
    auto worker = std::make_unique<Worker>(index);
    workers.reserve(workers.size() + 1);
    worker->thread = std::thread([this, body, worker = worker.get()] { (this->*body)(*worker); });
#if defined(__linux__)
    const pthread_t thread = worker->thread.native_handle();
    pthread_setname_np(thread, name.c_str());
    // A batch thread that wakes up does not push the thread aside that woke it, which would cost
    // the statement that issued the work a time slice.
    const sched_param priority{};
    pthread_setschedparam(thread, SCHED_BATCH, &priority);
#endif
    workers.push_back(std::move(worker));
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

bool ThreadedEngine::start_worker() {
  if (!start(workers_, "", &ThreadedEngine::work)) return false;
  ++searching_;
  return true;
}

// Makes sure that as many threads are awake as there is work and slots for. To be called after
// every change that could give somebody something to do: a task became ready or was cut, a slot
// was released, a wait is over, the hook is wanted.
void ThreadedEngine::plan_wakes(Hold& hold) {
  WaiterList& waiters = scheduler_.waiters();
  for (Waiter* waiter = waiters.front(); waiter; waiter = WaiterList::after(*waiter)) {
    if (!waiter->asleep) continue;
    if (wants_slot(*waiter) && computing_ < limit_) {
      ++computing_;
      waiter->slot = true;
      wake(hold, *waiter);
    } else if (!waiter->leaving && (waiter->done || shutting_)) {
      wake(hold, *waiter);
    }
  }
  plan_aside(hold);
  if (!can_start_share()) return;
  const bool ask = hook_ && hook_wanted_ && !watcher_;
  const int wanted = std::min(limit_ - computing_, startable() + ask);
  if (wanted > 0 && searching_ > 0) hold.wake_spinning();
  while (wanted > searching_ && !hold.full()) {
    if (!sleepers_.empty())
      wake_first_sleeper(hold);
    else if (static_cast<int>(workers_.size()) == limit_ || !start_worker())
      break;
  }
  if (computing_ == 0 && searching_ == 0 && startable() > 0) replace_worker(hold);
}

// No worker is to be had, for all of them wait inside tasks or the system refuses them; nor does
// anybody else compute. A waiter then runs what a worker would, whatever it waits for. Rather one
// outside tasks: the task could wait for one that the waiter is inside of.
Waiter* ThreadedEngine::sleeping_waiter() {
  Waiter* chosen = nullptr;
  WaiterList& waiters = scheduler_.waiters();
  for (Waiter* waiter = waiters.front(); waiter; waiter = WaiterList::after(*waiter))
    if (waiter->asleep && (!chosen || (chosen->inside && !waiter->inside))) chosen = waiter;
  return chosen;
}

void ThreadedEngine::replace_worker(Hold& hold) {
  Waiter* const chosen = sleeping_waiter();
  if (!chosen) return;
  ++computing_;
  chosen->slot = true;
  chosen->stands_in = true;
  wake(hold, *chosen);
}

// While attentive_, the hook is going to be asked after now: by the watcher, whose sleep is short,
// or because hook_wanted_ is set, which plan_wakes() counts as work. Then there is nothing to do.
void ThreadedEngine::nudge() {
  if (attentive_) return;
  Hold hold(*this);
  if (!hook_ || shutting_) return;
  hook_wanted_ = true;
  attentive_ = true;
  plan_wakes(hold);
}

int worker_index() {
  return ThreadedEngine::worker_index_;
}

}  // namespace afterglow::engine
