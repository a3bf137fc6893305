// SPDX-License-Identifier: Apache-2.0
#include "lazy/window.h"

#include <algorithm>
#include <thread>

#include "lazy/aggregate.h"
#include "lazy/costs.h"
#include "lazy/debug.h"
#include "lazy/row_chain.h"
#include "lazy/trace.h"

namespace afterglow::lazy {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// Tasks from here on ask before they start whether anybody still wants them.
constexpr double worth_a_look = 100e3;

/// Whether an element can decide the result alone: then most passes end with their first block.
bool one_may_decide(const Call& call) {
  const auto reduction = call.op->reduction;
  return (reduction == kernels::Reduction::maximum || reduction == kernels::Reduction::minimum) &&
         call.inputs[0].dtype == DType::boolean && call.outputs[0].size() == 1;
}

/// To be asked about a storage of a task that is running, with the window's lock.
bool dies_in_engine(const Storage& storage) {
  return !storage.held_outside() && storage.slots.pending == 0 &&
         storage.variable.unfinished() <= 1;
}

}  // namespace

Window::Window(std::unique_ptr<engine::Engine> engine, bool serial)
    : serial_(serial),
      engine_(std::move(engine)),
      configured_threads_(serial ? engine::default_thread_limit() : engine_->thread_limit()) {
  engine_->set_idle_hook([this] { return when_idle(); });
}

Window::~Window() {
  engine_->shutdown();
  retire();
  for (Call* call : pending_.calls()) Call::destroy(call);
}

// --- calls come in ---

void Window::append(Call* call) {
  if (tasks_.any_finished()) retire();
  counters_.issue(*call);
  call->joined = true;
  if (any_batches.load(std::memory_order_relaxed) && current_batches) {
    call->batches = current_batches;
    for (const auto& batch : *call->batches) batch->add_call();
  }
  debug_call(*call);
  trace::note_issued(*call);
  if (serial_) return push_at_once(call);
  std::unique_lock lock(lock_);
  // What is due goes before a product comes, so that the product can be held for what follows it.
  if (together_.empty() && is_large_product(*call) && held_.is_worth_a_thread() &&
      has_little_to_do() && HeldWork::Clock::now() >= held_.due()) {
    drop_unobserved(false);
    publish(take_pending(), false);
  }
  pending_.add(call);
  if (call->goes_on) {
    together_.push_back(call);
  } else if (!HoldingBack::is_here() || pending_.size() >= most_pending) {
    hold(*call, lock);
  }
}

void Window::look_at_held_back() {
  const std::lock_guard lock(lock_);
  drop_unobserved(false);
  held_.clear();
  for (const Call* call : pending_.calls()) held_.add(*call);
  if (held_.is_worth_a_thread()) publish(take_pending(), false);
}

// Serially: with the calls that leave together with it.
void Window::push_at_once(Call* call) {
  for_each_storage(*call, [](Storage& storage) { add_alone(storage.slots.all, 1); });
  together_.push_back(call);
  if (call->goes_on) return;
  Plan plan;
  plan.calls.swap(together_);
  plan.ends = {static_cast<std::uint32_t>(plan.calls.size())};
  const double cost = total_cost(plan.calls);
  if (plan.calls.size() == 1 || (switches_.fuse && row_chain(plan.calls))) {
    push(std::move(plan), cost);
  } else {
    for (Call* each : plan.calls) {
      Plan alone;
      alone.calls = {each};
      alone.separate();
      push(std::move(alone), each->cost);
    }
  }
  retire();
}

// Decides what becomes of the held calls now that one more has come.
void Window::hold(const Call& call, std::unique_lock<ForkLock>& lock) {
  const bool crowded = is_crowded(call);
  const bool full = crowded || pending_.size() >= most_pending;
  const bool was_worth = held_.is_worth_a_thread();
  for (const Call* before : together_) held_.add(*before);
  together_.clear();
  held_.add(call);
  const bool is_worth = held_.is_worth_a_thread();
  bool urgent = false;
  if (call.host && call.host->is_awaited()) {
    publish(take_needed(*call.outputs[0].storage, true), false);
  } else if (is_worth) {
    urgent = held_.set_times(call, !was_worth) && has_little_to_do();
    if (!urgent && (!was_worth || is_large_product(call))) {
      // Somebody should look after the held work, should Python not come back. That takes longer
      // than the next call if a thread must be woken, so the time counts from here on.
      lock.unlock();
      engine_->nudge();
      lock.lock();
      urgent = held_.set_times(call, !was_worth) && has_little_to_do();
    }
  }
  if (urgent && is_large(call) && !full) {
    publish(take_needed(*call.outputs[0].storage, true), false);
    held_.forget_large();
  } else if (urgent || full) {
    drop_unobserved(is_worth);
    if (urgent || crowded || pending_.size() > most_pending / 2) publish(take_pending(), !is_worth);
  }
}

nanoseconds Window::when_idle() {
  std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock || !together_.empty()) return 20us;
  if (!held_.is_worth_a_thread()) return nanoseconds::max();
  auto now = HeldWork::Clock::now();
  // So short a sleep would last several times as long.
  while (now < held_.due() && held_.due() - now < 20us && held_.is_worth_a_thread()) {
    lock.unlock();
    std::this_thread::yield();
    if (!lock.try_lock()) return 20us;
    now = HeldWork::Clock::now();
  }
  if (!held_.is_worth_a_thread()) return nanoseconds::max();
  if (!together_.empty()) return 20us;
  if (now < held_.due()) return held_.due() - now;
  drop_unobserved(false);
  if (!pending_.empty()) publish(take_pending(), false);
  return nanoseconds::max();
}

bool Window::make_ready(Storage& storage, engine::WaitFor what, std::shared_ptr<Failure>* failure) {
  if (Diversion* const diversion = Diversion::current()) diversion->give_up(*this);
  if (tasks_.any_finished()) retire();
  const bool to_write = what == engine::WaitFor::write;
  Call* done = nullptr;
  bool is_ready;
  {
    std::lock_guard lock(lock_);
    if (storage.slots.pending) {
      done = run_only_call(storage);
      if (!done) publish(take_needed(storage, to_write), true);
    }
    is_ready = to_write ? storage.variable.idle() : storage.variable.readable();
    if (is_ready && failure && storage.failure) *failure = storage.failure;
  }
  if (done) Call::destroy(done);
  return is_ready;
}

// One tiny call whose value is read at once: what programs without any lead look like. It needs no
// plan, for there is nothing to choose.
Call* Window::run_only_call(const Storage& target) {
  if (pending_.size() != 1 || debug_level()) return nullptr;
  Call* const group[] = {pending_.calls()[0]};
  const bool tiny = group[0]->cost < worth_a_thread;
  if (group[0]->outputs[0].storage.get() != &target || !(tiny || one_may_decide(*group[0])) ||
      !run_at_once(group, tiny ? std::numeric_limits<int>::max() : 1)) {
    return nullptr;
  }
  pending_.clear();
  held_.clear();
  return group[0];
}

void Window::publish_all() {
  if (Diversion* const diversion = Diversion::current()) diversion->give_up(*this);
  std::lock_guard lock(lock_);
  drop_unobserved(true);
  if (!pending_.empty()) publish(take_pending(), true);
}

// --- run-ahead ---

/// The held results that somebody outside will see take memory as soon as they are published. Those
/// of a few large calls do not count: they may still be overwritten and dropped, or become one
/// pass.
bool Window::is_crowded(const Call& newest) {
  const auto most =
      std::max(run_ahead_.most_pending_bytes(), 4.0 * static_cast<double>(newest.output_bytes));
  if (static_cast<double>(pending_.bytes()) <= most) return false;
  drop_unobserved(true);
  pending_.count_observed_bytes();
  return static_cast<double>(pending_.bytes()) > most;
}

Window::Room Window::make_room() {
  retire();
  std::lock_guard lock(lock_);
  drop_unobserved(true);
  if (!is_full()) return Room::enough;
  if (!pending_.empty()) publish(take_pending(), true);
  const Unfinished unfinished = counters_.unfinished();
  if (run_ahead_.is_near_cap(unfinished)) return Room::when_all_is_done;
  return run_ahead_.is_half_full(unfinished) ? Room::when_caught_up : Room::enough;
}

engine::WaitResult Window::wait_for_room(Room room, const engine::WaitOptions& options) {
  if (room == Room::when_all_is_done) return wait_all(options);
  const engine::WaitResult result = engine_->wait_until(
      [this] { return !run_ahead_.is_half_full(counters_.unfinished()); }, options);
  if (engine_->unfinished() == 0) tasks_.await_destruction();
  return result;
}

void Window::handle_goes(Storage& storage) {
  if (storage.bytes() < Storage::smallest_charge || serial_) return;
  if (storage.count() != storage.slots.all.load(std::memory_order_relaxed) + 1) return;
  std::lock_guard lock(lock_);
  RunAhead::charge(storage);
}

// --- tasks ---

void Window::task_gone(GroupTask& task, bool ran) {
  // The engine has let go of the variables: whoever sees the batch finished finds its values ready.
  end_in_batches(task.plan().calls);
  if (!ran) counters_.elsewhere.count_dropped(task.plan().calls);
  tasks_.remove(task);
}

std::vector<Dying> Window::look_before_start(GroupTask& task) {
  const Plan& plan = task.plan();
  std::vector<Dying> dying(plan.groups());
  // A thread that issues serially may be inside append(), which holds no lock then.
  if (serial_) {
    for (const Call* call : plan.calls) {
      if (call->passing && plan.groups() == 1) dying[0].add(*call->outputs[0].storage);
    }
    dying[0].sort();
    return dying;
  }
  // The thread that issued has had them in its caches, and is not to wait for the lock meanwhile.
  fetch_storages_ahead(plan.calls);
  if (!lock_.lock_unless_forking()) return dying;
  std::lock_guard lock(lock_, std::adopt_lock);
  if (task.cost() >= worth_a_look) drop_unobserved(true);
  for (std::size_t i = 0; i < plan.groups(); ++i) {
    for (const Call* call : plan.group(i)) {
      for_each_storage(*call, [&](Storage& storage) {
        storage.notes.last_toucher = static_cast<std::int32_t>(i);
      });
    }
  }
  for (std::size_t i = 0; i < plan.groups(); ++i) {
    for (const Call* call : plan.group(i)) {
      for_each_storage(*call, [&](Storage& storage) {
        // Once for each storage: the first look takes the mark away.
        if (storage.notes.last_toucher != static_cast<std::int32_t>(i)) return;
        storage.notes.last_toucher = -1;
        if (dies_in_engine(storage)) dying[i].add(storage);
      });
    }
    dying[i].sort();
  }
  return dying;
}

void Window::look_after_end(GroupTask& task) {
  const Plan& plan = task.plan();
  counters_.elsewhere.count_run(plan.calls);
  for (std::size_t i = 0; i < plan.groups(); ++i)
    counters_.elsewhere.count_pass(plan.group(i).size());
  bool small = true;
  for (const Call* call : plan.calls) {
    for_each_storage(*call, [&](const Storage& storage) { small = small && storage.is_inside(); });
  }
  if (serial_ || small || !lock_.lock_unless_forking()) return;
  std::lock_guard lock(lock_, std::adopt_lock);
  for (const Call* call : plan.calls) {
    for_each_storage(*call, [&](Storage& storage) {
      if (dies_in_engine(storage)) {
        storage.release_buffer();
        storage.discharge();
      }
    });
  }
}

engine::WaitResult Window::wait_all(const engine::WaitOptions& options) {
  const engine::WaitResult result = engine_->wait_all(options);
  tasks_.await_destruction();
  return result;
}

// --- fork and end ---

void Window::before_fork() noexcept {
  lock_.lock_for_fork();
  engine_->before_fork();
  tasks_.lock();
}

void Window::after_fork_in_parent() noexcept {
  tasks_.unlock();
  engine_->after_fork_in_parent();
  lock_.unlock_after_fork();
}

void Window::after_fork_in_child() noexcept {
  tasks_.unlock();
  engine_->after_fork_in_child();
  trace::after_fork_in_child();
  lock_.unlock_after_fork();
}

void Window::shutdown() {
  engine_->shutdown();
}

std::size_t Window::held_calls() {
  std::lock_guard lock(lock_);
  return pending_.size();
}

Statistics Window::statistics() {
  Statistics result = counters_.statistics();
  const Unfinished unfinished = counters_.unfinished();
  result.run_ahead_bytes = static_cast<std::int64_t>(RunAhead::bytes(unfinished));
  result.run_ahead_seconds = RunAhead::seconds(unfinished);
  return result;
}

}  // namespace afterglow::lazy
