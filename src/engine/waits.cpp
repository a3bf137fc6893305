// SPDX-License-Identifier: Apache-2.0
// Waiting. A thread that waits helps: it takes a slot and runs what its target depends on.
#include <algorithm>
#include <utility>

#include "engine/threads.h"

namespace afterglow::engine {

namespace {

using namespace std::chrono_literals;

constexpr auto ask_interval = 20ms;  // how often signals are looked at
constexpr auto longest_turn = 20ms;  // after that a helper passes its slot on to another

}  // namespace

WaitResult ThreadedEngine::wait(Variable& variable, WaitFor what, const WaitOptions& options) {
  Hold hold(*this);
  Waiter waiter{.variable = &variable, .what = what};
  const WaitResult result = wait(hold, waiter, options);
  if (result != WaitResult::done) return result;
  if (const std::exception_ptr failure = scheduler_.failure(variable)) {
    hold.let_go();
    std::rethrow_exception(failure);
  }
  return result;
}

WaitResult ThreadedEngine::wait_all(const WaitOptions& options) {
  Hold hold(*this);
  Waiter waiter;
  return wait(hold, waiter, options);
}

WaitResult ThreadedEngine::wait_until(const std::function<bool()>& enough,
                                      const WaitOptions& options) {
  Hold hold(*this);
  Waiter waiter{.enough = &enough};
  return wait(hold, waiter, options);
}

WaitResult ThreadedEngine::wait(Hold& hold, Waiter& waiter, const WaitOptions& options) {
  if (shutting_) return WaitResult::shut_down;
  std::unique_ptr<std::condition_variable> condition = borrow_condition();
  waiter.condition = condition.get();
  waiter.inside = innermost() != nullptr;
  waiter.slot = waiter.inherited = holds_slot();
  waiter.helps = options.timeout > 0ns;  // one that only asks need not know what it could run
  if (waiter.enough) await_destruction();
  WaitResult result = WaitResult::done;
  if (!start_waiting(waiter)) {
    result = WaitResult::itself;
  } else if (!waiter.done) {
    lend_place(hold);
    try {
      result = help(hold, waiter, options);
    } catch (...) {  // from options.interrupted, which is called without the lock
      hold.take();
      leave(hold, waiter);
      conditions_.push_back(std::move(condition));
      throw;
    }
    leave(hold, waiter);
  }
  conditions_.push_back(std::move(condition));
  return result;
}

bool ThreadedEngine::start_waiting(Waiter& waiter) {
  std::vector<TaskRecord*> inside;
  for (Running* running = innermost_; running; running = running->outer)
    if (running->engine == this) inside.push_back(running->task);
  return scheduler_.start_waiting(waiter, inside);
}

std::unique_ptr<std::condition_variable> ThreadedEngine::borrow_condition() {
  if (conditions_.empty()) {
    // Room to take all of them back.
    conditions_.reserve(conditions_made_ + 1);
    auto made = std::make_unique<std::condition_variable>();
    ++conditions_made_;
    return made;
  }
  auto borrowed = std::move(conditions_.back());
  conditions_.pop_back();
  return borrowed;
}

WaitResult ThreadedEngine::help(Hold& hold, Waiter& waiter, const WaitOptions& options) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline =
      options.timeout < never - start ? start + options.timeout : never;
  Clock::time_point ask_at = options.interrupted ? start + ask_interval : never;
  Clock::time_point turn_start = start;
  for (Clock::time_point now = start;; now = Clock::now()) {
    if (waiter.enough) {
      hold.destroy_ended();  // what the last task gives back counts before the next one starts
      if ((*waiter.enough)()) waiter.done = true;
    }
    if (waiter.done) return WaitResult::done;
    if (shutting_) return WaitResult::shut_down;
    if (now >= ask_at) {
      if (interrupted(hold, waiter, options)) return WaitResult::interrupted;
      ask_at = Clock::now() + ask_interval;
      continue;
    }
    if (now >= deadline) return WaitResult::timed_out;
    if (now - turn_start > longest_turn) pass_turn(hold, waiter);
    if (!waiter.slot) turn_start = now;
    if (const Claim claim = claim_for(hold, waiter)) {
      run_share(hold, claim, true);
      if (several_processors_) waiter.spin_until = Clock::now() + spin_time;
    } else {
      sleep(hold, waiter, std::min(deadline, ask_at));
    }
  }
}

// The callback may block for a while, even on a thread that is about to fork: the slot is given up
// for that time. It usually comes back in a moment, so nobody is woken for it.
bool ThreadedEngine::interrupted(Hold& hold, Waiter& waiter, const WaitOptions& options) {
  const bool lent = waiter.slot && !waiter.inherited;
  if (lent) {
    waiter.slot = false;
    --computing_;
    if (pausers_ > 0 || shutting_) quiet_.notify_all();
  }
  hold.let_go();
  const bool stop = options.interrupted();
  hold.take();
  if (lent && computing_ < limit_) {
    ++computing_;
    waiter.slot = true;
  }
  return stop;
}

// Where helpers hold all slots, those that hold none get their turn.
void ThreadedEngine::pass_turn(Hold& hold, Waiter& waiter) {
  if (!waiter.slot || waiter.inherited || computing_ < limit_ || !heir()) return;
  waiter.slot = false;
  release_slot(hold);
  scheduler_.waiters().remove(waiter);
  scheduler_.waiters().push_back(waiter);
}

Claim ThreadedEngine::claim_for(Hold& hold, Waiter& waiter) {
  const bool stands_in = std::exchange(waiter.stands_in, false);
  if (std::exchange(waiter.stands_in_aside, false)) {
    give_up_slot(hold, waiter);
    if (const Claim claim = claim_aside()) return claim;
  }
  if (paused()) return {};
  if (!waiter.slot && computing_ == limit_) return {};
  Claim claim;
  if (TaskRecord* task =
          waiter.variable ? Scheduler::next_for(waiter) : scheduler_.next(waiter.last))
    claim = scheduler_.claim(*task);
  else if (stands_in)
    claim = claim_any(waiter.slot);
  if (!claim) return {};
  if (!waiter.slot) ++computing_;
  waiter.slot = true;
  return claim;
}

bool ThreadedEngine::wants_slot(const Waiter& waiter) const {
  if (waiter.leaving) return true;
  if (waiter.done || paused()) return false;
  return waiter.variable ? Scheduler::next_for(waiter) != nullptr
                         : scheduler_.has_ready(waiter.last);
}

Waiter* ThreadedEngine::heir() {
  Waiter* waiter = scheduler_.waiters().front();
  while (waiter && !(waiter->asleep && wants_slot(*waiter))) waiter = WaiterList::after(*waiter);
  return waiter;
}

// Sleeps, without a slot, until woken or `until`; may return early.
void ThreadedEngine::sleep(Hold& hold, Waiter& waiter, Clock::time_point until) {
  if (hold.destroy_ended()) return;
  give_up_slot(hold, waiter);
  // Asleep before the plan is made, which may have this very waiter stand in.
  waiter.asleep = true;
  plan_wakes(hold);
  if (waiter.asleep) spin(hold, waiter);
  hold.send_wakes();
  if (waiter.asleep && until == never)
    waiter.condition->wait(hold.lock());
  else if (waiter.asleep)
    waiter.condition->wait_until(hold.lock(), until);
  waiter.asleep = false;
}

// A thread that has just helped looks out for more for a moment, while others compute what that may
// depend on and leave a processor to it.
void ThreadedEngine::spin(Hold& hold, Waiter& waiter) {
  const auto is_worth_it = [&] {
    return waiter.asleep && computing_ > 0 && computing_ < limit_ && !paused() &&
           Clock::now() < waiter.spin_until;
  };
  waiter.spins = true;
  while (is_worth_it()) {
    const std::uint32_t seen = signal_.load(std::memory_order_relaxed);
    hold.let_go();
    while (signal_.load(std::memory_order_acquire) == seen && Clock::now() < waiter.spin_until) {
      for (int i = 0; i < 16 && signal_.load(std::memory_order_relaxed) == seen; ++i)
        pause_processor();
    }
    hold.take();
  }
  waiter.spins = false;
}

void ThreadedEngine::give_up_slot(Hold& hold, Waiter& waiter) {
  if (std::exchange(waiter.slot, false)) release_slot(hold);
}

void ThreadedEngine::leave(Hold& hold, Waiter& waiter) {
  // Not later: it touches the engine, which may be destroyed once nobody waits any more.
  hold.destroy_ended();
  // Before anything that a fork may hold up, which waits for slots.
  if (!waiter.inherited) give_up_slot(hold, waiter);
  take_place_back(hold);
  waiter.leaving = waiter.inherited;
  while (waiter.leaving && !waiter.slot) {
    if (computing_ == limit_) {
      sleep(hold, waiter, never);
      continue;
    }
    ++computing_;
    waiter.slot = true;
  }
  scheduler_.stop_waiting(waiter);
  plan_wakes(hold);
  // While the lock is held: as soon as it is not, the engine may be destroyed.
  hold.send_wakes();
  if (shutting_) quiet_.notify_all();
}

}  // namespace afterglow::engine
