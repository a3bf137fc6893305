// SPDX-License-Identifier: Apache-2.0
#include "lazy/window.h"

#include <algorithm>
#include <thread>

#include "lazy/passes/needed.h"
#include "lazy/run.h"

namespace afterglow::lazy {
namespace {

using std::chrono::nanoseconds;

// Waking a sleeping worker costs the caller about 7 us and the work about 50 us. What is smaller in
// sum is not worth a thread.
constexpr double worth_a_thread = 50e3;
// A call from here on that cannot be fused is published with what it needs as soon as it is issued.
constexpr double large_call = 30e3;
// Held work may wait for this part of its own estimated time.
constexpr double patience = 0.05;
// Calls held at most: with their storages they stay in the first-level cache.
constexpr std::size_t most_pending = 64;

std::int64_t output_bytes(const Call& call) {
  std::int64_t bytes = 0;
  for (const Operand& output : call.outputs) {
    bytes += output.size() * static_cast<std::int64_t>(size_of(output.dtype));
  }
  return bytes;
}

template <class Function>
void for_each_storage(const Call& call, Function&& function) {
  for (const Operand& input : call.inputs) {
    if (!input.is_immediate()) function(*input.storage);
  }
  for (const Operand& output : call.outputs) function(*output.storage);
}

/// No unfinished task stands in the way of running the call here and now.
bool unblocked(const Call& call) {
  for (const Operand& input : call.inputs) {
    if (!input.is_immediate() && !input.storage->variable.readable()) return false;
  }
  for (const Operand& output : call.outputs) {
    if (!output.storage->variable.idle()) return false;
  }
  return true;
}

double total_cost(std::span<Call* const> calls) {
  double cost = 0;
  for (const Call* call : calls) cost += call->cost;
  return cost;
}

}  // namespace

/// Calls that the engine runs as one task: a single call in shares, or several tiny ones in a row.
class CallsTask : public engine::Task {
 public:
  CallsTask(Window& window, std::vector<Call*> calls) : window_(window), calls_(std::move(calls)) {
    window_.tasks_alive_.fetch_add(1, std::memory_order_relaxed);
  }
  // The engine destroys a task after it has let go of the variables: only now may storages be
  // freed.
  ~CallsTask() override {
    if (!ran_) window_.discarded_ += static_cast<std::int64_t>(calls_.size());
    window_.add_finished(calls_);
    window_.tasks_alive_.fetch_sub(1, std::memory_order_release);
  }

  int prepare() override {
    if (calls_.size() > 1) return 1;
    return single_.emplace(*calls_[0], window_.failures_).prepare();
  }
  void run(int share) override {
    if (single_) return single_->run(share);
    for (Call* call : calls_) run_call(*call, window_.failures_);
  }
  void finish() override {
    if (single_) single_->finish();
    single_.reset();
    ran_ = true;
    window_.count_run(calls_);
  }
  const char* label() const override { return calls_[0]->op->name.data(); }

 private:
  Window& window_;
  std::vector<Call*> calls_;
  std::optional<CallRun> single_;
  bool ran_ = false;
};

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

bool Window::held_work_is_due(Clock::time_point now) const {
  return now - held_since_ >= nanoseconds(static_cast<std::int64_t>(patience * held_cost_));
}

void Window::append(Call* call) {
  if (any_finished_.load(std::memory_order_relaxed)) retire();
  call->sequence = static_cast<std::uint64_t>(++issued_);
  issued_bytes_ += output_bytes(*call);
  if (serial_) {
    push({call});
    retire();
    return;
  }
  const bool large = !call->op->formula && call->cost >= large_call;
  std::unique_lock lock(lock_);
  if (large && pending_.empty()) return push({call});
  pending_.push_back(call);
  for_each_storage(*call, [](Storage& storage) { ++storage.pending_calls; });
  const bool was_worth = held_cost_ >= worth_a_thread;
  held_cost_ += call->cost;
  if (large) {
    publish(take_needed(*call->outputs[0].storage, true), false);
  } else if (held_cost_ >= worth_a_thread) {
    const auto now = Clock::now();
    if (!was_worth) held_since_ = now;
    if (pending_.size() >= most_pending || held_work_is_due(now)) {
      publish(take_pending(), false);
    } else if (!was_worth) {
      lock.unlock();
      engine_->nudge();
    }
  } else if (pending_.size() >= most_pending) {
    publish(take_pending(), true);
  }
}

bool Window::make_ready(Storage& storage, engine::WaitFor what) {
  if (any_finished_.load(std::memory_order_relaxed)) retire();
  const bool to_write = what == engine::WaitFor::write;
  {
    std::lock_guard lock(lock_);
    if (storage.pending_calls) publish(take_needed(storage, to_write), true);
  }
  return to_write ? storage.variable.idle() : storage.variable.readable();
}

void Window::publish_all() {
  std::lock_guard lock(lock_);
  if (!pending_.empty()) publish(take_pending(), true);
}

std::vector<Call*> Window::take_pending() {
  std::vector<Call*> calls;
  calls.reserve(most_pending);
  calls.swap(pending_);
  held_cost_ = 0;
  return calls;
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
  held_cost_ = std::max(0.0, held_cost_ - total_cost(calls));
  return calls;
}

void Window::publish(std::vector<Call*> calls, bool inline_allowed) {
  for (Call* call : calls) {
    for_each_storage(*call, [](Storage& storage) { --storage.pending_calls; });
  }
  inline_allowed = inline_allowed && total_cost(calls) < worth_a_thread;
  std::vector<Call*> run_here;
  // Tiny calls that cannot run here go to the engine together; whatever follows one of them joins
  // it, so that program order is kept.
  std::vector<Call*> batch;
  double batch_cost = 0;
  const auto push_batch = [&] {
    if (!batch.empty()) push(std::move(batch));
    batch.clear();
    batch_cost = 0;
  };
  for (Call* call : calls) {
    if (inline_allowed && batch.empty() && unblocked(*call)) {
      run_call(*call, failures_);
      ++run_inline_;
      run_inline_bytes_ += output_bytes(*call);
      run_here.push_back(call);
      continue;
    }
    if (call->cost >= large_call) {
      push_batch();
      push({call});
      continue;
    }
    if (batch_cost >= worth_a_thread) push_batch();
    batch.push_back(call);
    batch_cost += call->cost;
  }
  push_batch();
  if (!run_here.empty()) add_finished(run_here);
}

engine::WaitResult Window::wait_all(const engine::WaitOptions& options) {
  const engine::WaitResult result = engine_->wait_all(options);
  // The last tasks are about to be destroyed by the workers that ran them. A moment's patience, and
  // what they held is free when the caller looks; others may push on, so it is a moment only.
  const auto patience_ends = Clock::now() + std::chrono::milliseconds(2);
  while (tasks_alive_.load(std::memory_order_acquire) && Clock::now() < patience_ends) {
    std::this_thread::yield();
  }
  return result;
}

void Window::push(std::vector<Call*> calls) {
  std::vector<engine::Variable*> reads, writes;
  for (const Call* call : calls) {
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate()) reads.push_back(&input.storage->variable);
    }
    for (const Operand& output : call->outputs) writes.push_back(&output.storage->variable);
  }
  const int queue = calls[0]->outputs[0].storage->context().id;
  engine_->push(std::make_unique<CallsTask>(*this, std::move(calls)), reads, writes,
                {.priority = 0, .queue = queue});
}

void Window::count_run(std::span<Call* const> calls) {
  std::int64_t bytes = 0;
  for (const Call* call : calls) bytes += output_bytes(*call);
  run_elsewhere_.fetch_add(static_cast<std::int64_t>(calls.size()), std::memory_order_relaxed);
  run_elsewhere_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void Window::add_finished(std::span<Call* const> calls) {
  std::lock_guard lock(finished_lock_);
  finished_.insert(finished_.end(), calls.begin(), calls.end());
  any_finished_.store(true, std::memory_order_relaxed);
}

void Window::retire() {
  std::vector<Call*> finished;
  {
    std::lock_guard lock(finished_lock_);
    finished.swap(finished_);
    any_finished_.store(false, std::memory_order_relaxed);
  }
  for (Call* call : finished) Call::destroy(call);
}

nanoseconds Window::when_idle() {
  std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock) return std::chrono::microseconds(20);
  if (held_cost_ < worth_a_thread) return nanoseconds::max();
  const auto due = held_since_ + nanoseconds(static_cast<std::int64_t>(patience * held_cost_));
  const auto now = Clock::now();
  if (now < due) return due - now;
  publish(take_pending(), false);
  return nanoseconds::max();
}

void Window::before_fork() noexcept {
  lock_.lock();
  engine_->before_fork();
  finished_lock_.lock();
}

void Window::after_fork_in_parent() noexcept {
  finished_lock_.unlock();
  engine_->after_fork_in_parent();
  lock_.unlock();
}

void Window::after_fork_in_child() noexcept {
  finished_lock_.unlock();
  engine_->after_fork_in_child();
  // A task that a worker of the parent was just destroying is gone with that worker.
  tasks_alive_ = engine_->unfinished();
  lock_.unlock();
}

void Window::shutdown() {
  engine_->shutdown();
}

Statistics Window::statistics() {
  Statistics result;
  result.issued = issued_;
  result.run = run_inline_ + run_elsewhere_.load(std::memory_order_relaxed);
  result.dropped = discarded_.load(std::memory_order_relaxed);
  result.pending = result.issued - result.run - result.dropped;
  result.pending_bytes =
      issued_bytes_ - run_inline_bytes_ - run_elsewhere_bytes_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace afterglow::lazy
