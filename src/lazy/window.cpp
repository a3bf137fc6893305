// SPDX-License-Identifier: Apache-2.0
#include "lazy/window.h"

#include <algorithm>
#include <thread>

#include "lazy/aggregate.h"
#include "lazy/costs.h"
#include "lazy/debug.h"
#include "lazy/trace.h"

namespace afterglow::lazy {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// Held work may wait for this part of its own estimated time.
constexpr double patience = 0.05;
// A product waits no longer than this for the next call, which may be able to join it.
constexpr auto product_patience = 5us;
// Tasks from here on ask before they start whether anybody still wants them.
constexpr double worth_a_look = 100e3;
bool is_product(const Call& call) {
  return call.op->kernel_then && !call.is_elementwise();
}

bool can_be_fused(const Call& call) {
  return call.is_elementwise() || call.op->reduction || call.op->kernel_then;
}

/// Whether an element can decide the result alone: then most passes end with their first block.
bool one_may_decide(const Call& call) {
  const auto reduction = call.op->reduction;
  return (reduction == kernels::Reduction::maximum || reduction == kernels::Reduction::minimum) &&
         call.inputs[0].dtype == DType::boolean && call.outputs[0].size() == 1;
}

}  // namespace

Window::Window(std::unique_ptr<engine::Engine> engine, bool serial)
    : serial_(serial),
      engine_(std::move(engine)),
      configured_threads_(serial ? engine::default_thread_limit() : engine_->thread_limit()) {
  pending_.reserve(most_pending);
  engine_->set_idle_hook([this] { return when_idle(); });
}

Window::~Window() {
  engine_->shutdown();
  retire();
  for (Call* call : pending_) Call::destroy(call);
}

// --- calls come in ---

void Window::append(Call* call) {
  if (any_finished_.load(std::memory_order_relaxed)) retire();
  add_alone(issued_, 1);
  call->output_bytes = 0;
  for (const Operand& output : call->outputs) {
    call->output_bytes += output.size() * static_cast<std::int64_t>(size_of(output.dtype));
  }
  add_alone(issued_bytes_, call->output_bytes);
  add_alone(issued_nanoseconds_, static_cast<std::int64_t>(call->cost));
  call->sequence = static_cast<std::uint64_t>(issued_.load(std::memory_order_relaxed));
  call->joined = true;
  if (any_batches.load(std::memory_order_relaxed) && current_batches) {
    call->batches = current_batches;
    for (const auto& batch : *call->batches) batch->add_call();
  }
  debug_call(*call);
  trace::note_issued(*call);
  if (serial_) {
    for_each_storage(*call, [](Storage& storage) { add_alone(storage.slots.all, 1); });
    Plan plan;
    plan.calls = {call};
    plan.separate();
    push(std::move(plan), call->cost);
    retire();
    return;
  }
  std::unique_lock lock(lock_);
  // What is due goes before a product comes, so that the product can be held for what follows it.
  const bool product = is_product(*call) && call->cost >= large_call;
  if (product && held_cost_ >= worth_a_thread && has_little_to_do() && Clock::now() >= due_) {
    drop_unobserved(false);
    publish(take_pending(), false);
  }
  pending_.push_back(call);
  for_each_storage(*call, [](Storage& storage) {
    ++storage.slots.pending;
    add_alone(storage.slots.all, 1);
  });
  pending_bytes_ += call->output_bytes;
  hold(*call, lock);
}

// Decides what becomes of the held calls now that one more has come.
void Window::hold(const Call& call, std::unique_lock<SpinLock>& lock) {
  const bool crowded = is_crowded(call);
  const bool full = crowded || pending_.size() >= most_pending;
  const bool was_worth = held_cost_ >= worth_a_thread;
  held_cost_ += call.cost;
  const bool is_worth = held_cost_ >= worth_a_thread;
  bool urgent = false;
  const bool large = !call.is_elementwise() && call.cost >= large_call;
  if (is_worth) {
    const auto set_times = [&] {
      const Clock::time_point now = Clock::now();
      if (!was_worth) held_since_ = now;
      if (!was_worth) no_later_than_ = Clock::time_point::max();
      if (large && !can_be_fused(call)) {
        no_later_than_ = now;
      } else if ((large && is_product(call)) || no_later_than_ != Clock::time_point::max()) {
        // What follows a product may be followed by more.
        no_later_than_ = now + product_patience;
      }
      due_ = std::min<Clock::time_point>(
          held_since_ + nanoseconds(static_cast<std::int64_t>(patience * held_cost_)),
          no_later_than_);
      urgent = now >= due_ && has_little_to_do();
    };
    set_times();
    if (!urgent && (!was_worth || (large && is_product(call)))) {
      // Somebody should look after the held work, should Python not come back. That takes longer
      // than the next call if a thread must be woken, so the time counts from here on.
      lock.unlock();
      engine_->nudge();
      lock.lock();
      set_times();
    }
  }
  if (urgent && large && !full) {
    publish(take_needed(*call.outputs[0].storage, true), false);
    no_later_than_ = Clock::time_point::max();
  } else if (urgent || full) {
    drop_unobserved(is_worth);
    if (urgent || crowded || pending_.size() > most_pending / 2) publish(take_pending(), !is_worth);
  }
}

bool Window::has_little_to_do() const {
  return tasks_alive_.load(std::memory_order_relaxed) < engine_->thread_limit();
}

nanoseconds Window::when_idle() {
  std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock) return 20us;
  if (held_cost_ < worth_a_thread) return nanoseconds::max();
  Clock::time_point now = Clock::now();
  // So short a sleep would last several times as long.
  while (now < due_ && due_ - now < 20us && held_cost_ >= worth_a_thread) {
    lock.unlock();
    std::this_thread::yield();
    if (!lock.try_lock()) return 20us;
    now = Clock::now();
  }
  if (held_cost_ < worth_a_thread) return nanoseconds::max();
  if (now < due_) return due_ - now;
  drop_unobserved(false);
  if (!pending_.empty()) publish(take_pending(), false);
  return nanoseconds::max();
}

bool Window::make_ready(Storage& storage, engine::WaitFor what, std::shared_ptr<Failure>* failure) {
  if (Diversion* const diversion = Diversion::current()) diversion->give_up(*this);
  if (any_finished_.load(std::memory_order_relaxed)) retire();
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
  Call* const group[] = {pending_[0]};
  const bool tiny = group[0]->cost < worth_a_thread;
  if (group[0]->outputs[0].storage.get() != &target || !(tiny || one_may_decide(*group[0])) ||
      !run_at_once(group, tiny ? std::numeric_limits<int>::max() : 1)) {
    return nullptr;
  }
  pending_.clear();
  held_cost_ = 0;
  pending_bytes_ = 0;
  return group[0];
}

void Window::publish_all() {
  if (Diversion* const diversion = Diversion::current()) diversion->give_up(*this);
  std::lock_guard lock(lock_);
  drop_unobserved(true);
  if (!pending_.empty()) publish(take_pending(), true);
}

std::vector<Call*> Window::take_pending() {
  std::vector<Call*> calls;
  calls.reserve(most_pending);
  calls.swap(pending_);
  held_cost_ = 0;
  pending_bytes_ = 0;
  return calls;
}

void Window::leave_held(std::span<Call* const> calls) {
  held_cost_ = std::max(0.0, held_cost_ - total_cost(calls));
  for (const Call* call : calls) pending_bytes_ -= call->output_bytes;
  pending_bytes_ = std::max<std::int64_t>(pending_bytes_, 0);
}

std::vector<Call*> Window::take_needed(Storage& target, bool to_write) {
  std::vector<Call*> calls = needed_for(pending_, target, to_write);
  if (calls.size() == pending_.size()) return take_pending();
  // Both lists are in program order: one walk takes the needed ones out.
  auto next = calls.begin();
  std::erase_if(pending_, [&](Call* call) {
    if (next == calls.end() || *next != call) return false;
    ++next;
    return true;
  });
  leave_held(calls);
  return calls;
}

// --- tasks ---

void Window::task_made(GroupTask& task) {
  tasks_alive_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(tasks_lock_);
  in_engine_.push_back(task);
}

void Window::end_in_batches(std::span<Call* const> calls) {
  for (const Call* call : calls) {
    if (!call->batches) continue;
    for (const auto& batch : *call->batches) batch->end_call();
  }
}

void Window::task_gone(GroupTask& task, bool ran) {
  // The engine has let go of the variables: whoever sees the batch finished finds its values ready.
  end_in_batches(task.plan().calls);
  if (!ran) ended_elsewhere_.count(task.plan().calls, false);
  {
    std::lock_guard lock(tasks_lock_);
    in_engine_.remove(task);
    finished_.insert(finished_.end(), task.plan().calls.begin(), task.plan().calls.end());
    any_finished_.store(true, std::memory_order_relaxed);
  }
  tasks_alive_.fetch_sub(1, std::memory_order_release);
}

bool Window::try_lock_unless_forking() {
  while (!lock_.try_lock()) {
    if (forking_.load(std::memory_order_relaxed)) return false;
    std::this_thread::yield();
  }
  return true;
}

std::vector<Dying> Window::look_before_start(GroupTask& task) {
  const Plan& plan = task.plan();
  std::vector<Dying> dying(plan.groups());
  // A thread that issues serially may be inside append(), which holds no lock then.
  if (serial_ || !try_lock_unless_forking()) return dying;
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

/// To be asked about a storage of a task that is running.
bool Window::dies_in_engine(const Storage& storage) {
  return !storage.held_outside() && storage.slots.pending == 0 &&
         storage.variable.unfinished() <= 1;
}

void Window::look_after_end(GroupTask& task) {
  const Plan& plan = task.plan();
  ended_elsewhere_.count(plan.calls, true);
  for (std::size_t i = 0; i < plan.groups(); ++i)
    ended_elsewhere_.count_fused(plan.group(i).size());
  bool small = true;
  for (const Call* call : plan.calls) {
    for_each_storage(*call, [&](const Storage& storage) { small = small && storage.is_inside(); });
  }
  if (serial_ || small || !try_lock_unless_forking()) return;
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

void Window::add_finished(std::span<Call* const> calls) {
  std::lock_guard lock(tasks_lock_);
  finished_.insert(finished_.end(), calls.begin(), calls.end());
  any_finished_.store(true, std::memory_order_relaxed);
}

void Window::retire() {
  // The list's memory is used again. Destroying a call may lead here once more, with a new list.
  std::vector<Call*> finished = std::move(retired_);
  {
    std::lock_guard lock(tasks_lock_);
    finished.swap(finished_);
    any_finished_.store(false, std::memory_order_relaxed);
  }
  for (Call* call : finished) Call::destroy(call);
  finished.clear();
  retired_ = std::move(finished);
}

engine::WaitResult Window::wait_all(const engine::WaitOptions& options) {
  const engine::WaitResult result = engine_->wait_all(options);
  await_destruction();
  return result;
}

// The last tasks are about to be destroyed by the workers that ran them. A moment's patience, and
// what they held is free when the caller looks; others may push on, so it is a moment only.
void Window::await_destruction() const {
  const auto patience_ends = Clock::now() + 2ms;
  while (tasks_alive_.load(std::memory_order_acquire) && Clock::now() < patience_ends) {
    std::this_thread::yield();
  }
}

// --- fork and end ---

void Window::before_fork() noexcept {
  forking_ = true;
  lock_.lock();
  engine_->before_fork();
  tasks_lock_.lock();
}

void Window::after_fork_in_parent() noexcept {
  tasks_lock_.unlock();
  engine_->after_fork_in_parent();
  forking_ = false;
  lock_.unlock();
}

void Window::after_fork_in_child() noexcept {
  tasks_lock_.unlock();
  engine_->after_fork_in_child();
  trace::after_fork_in_child();
  forking_ = false;
  lock_.unlock();
}

void Window::shutdown() {
  engine_->shutdown();
}

// --- figures ---

void Window::Ended::count(std::span<Call* const> calls, bool were_run) {
  std::int64_t outputs = 0, cost = 0;
  for (const Call* call : calls) {
    outputs += call->output_bytes;
    cost += static_cast<std::int64_t>(call->cost);
  }
  if (!were_run) trace::note_dropped(calls);
  add(were_run ? run : dropped, static_cast<std::int64_t>(calls.size()));
  add(bytes, outputs);
  add(nanoseconds, cost);
}

void Window::Ended::count_fused(std::size_t calls) {
  if (calls < 2) return;
  add(fused, 1);
  add(fused_calls, static_cast<std::int64_t>(calls));
}

Statistics Window::statistics() {
  Statistics result;
  result.issued = issued_;
  result.run = ended_here_.run + ended_elsewhere_.run;
  result.dropped = ended_here_.dropped + ended_elsewhere_.dropped;
  result.fused = ended_here_.fused + ended_elsewhere_.fused;
  result.fused_calls = ended_here_.fused_calls + ended_elsewhere_.fused_calls;
  result.pending = result.issued - result.run - result.dropped;
  result.pending_bytes = issued_bytes_ - ended_here_.bytes - ended_elsewhere_.bytes;
  result.run_ahead_bytes = static_cast<std::int64_t>(unfinished_bytes());
  result.run_ahead_seconds = unfinished_seconds();
  return result;
}

}  // namespace afterglow::lazy
