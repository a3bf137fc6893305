// SPDX-License-Identifier: Apache-2.0
// The serial policy: push() runs the task. Pushes from several threads take turns; a push from
// inside a task runs at once, inside that task.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "engine/engine.h"
#include "engine/observed.h"

namespace afterglow::engine {

class SerialEngine final : public Engine {
 public:
  using Engine::push;
  std::uint64_t push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                     std::span<Variable* const> writes, PushOptions options) override;
  WaitResult wait(Variable& variable, WaitFor what, const WaitOptions& options) override;
  WaitResult wait_all(const WaitOptions& options) override;
  WaitResult wait_until(const std::function<bool()>& enough, const WaitOptions& options) override;
  void shutdown() override;

  void before_fork() noexcept override { fork_turn_.emplace(*this); }
  void after_fork_in_parent() noexcept override { fork_turn_.reset(); }
  void after_fork_in_child() noexcept override {
    // Other threads may have held or waited for these; they are gone.
    new (&mutex_) std::mutex;
    new (&free_) std::condition_variable;
    fork_turn_.reset();
  }

  // There is no worker to ask the hook.
  void set_idle_hook(std::function<std::chrono::nanoseconds()>) override {}
  void nudge() override {}
  void set_observer(std::shared_ptr<Observer> observer) override;

  std::int64_t unfinished() const override { return unfinished_; }
  int thread_limit() const override { return 1; }
  int workers_started() const override { return 0; }

 private:
  /// The right of one thread to use the engine; a thread that has it may take it again.
  class Turn {
   public:
    explicit Turn(SerialEngine& engine) : engine_(engine), outermost_(!engine.mine()) {
      if (!outermost_) return;
      std::unique_lock lock(engine_.mutex_);
      engine_.free_.wait(lock, [&] { return engine_.owner_ == std::thread::id(); });
      engine_.owner_ = std::this_thread::get_id();
    }
    Turn(const Turn&) = delete;
    ~Turn() {
      if (!outermost_) return;
      const std::lock_guard lock(engine_.mutex_);
      engine_.owner_ = std::thread::id();
      engine_.free_.notify_all();
    }

   private:
    SerialEngine& engine_;
    const bool outermost_;
  };

  bool mine() const {
    const std::lock_guard lock(mutex_);
    return owner_ == std::this_thread::get_id();
  }
  static void count(std::atomic<std::int32_t>& counter, int change) {
    counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_release);
  }
  static std::exception_ptr run(Task& task, std::uint64_t number, Observer* observer);
  template <class Enough>
  WaitResult wait(const WaitOptions& options, Enough enough, const Variable* variable,
                  std::exception_ptr& failure);
  static bool never() { return false; }

  mutable std::mutex mutex_;  // guards owner_ only; the owner uses the rest
  std::condition_variable free_;
  std::thread::id owner_;
  std::optional<Turn> fork_turn_;
  bool shut_down_ = false;
  std::uint64_t last_number_ = 0;
  std::atomic<std::int64_t> unfinished_{0};
  std::shared_ptr<Observer> observer_;
};

std::unique_ptr<Engine> make_serial_engine() {
  return std::make_unique<SerialEngine>();
}

std::uint64_t SerialEngine::push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                                 std::span<Variable* const> writes, PushOptions options) {
  const Turn turn(*this);
  if (shut_down_) return 0;
  const std::uint64_t number = ++last_number_;
  const std::shared_ptr<Observer> observer = observer_;
  if (observer) observer->pushed(number, task->label(), options.queue, options.priority);
  for (Variable* variable : reads) count(variable->unfinished_, 1);
  for (Variable* variable : writes) {
    count(variable->unfinished_, 1);
    count(variable->unfinished_writes_, 1);
  }
  ++unfinished_;
  const std::exception_ptr failure = run(*task, number, observer.get());
  if (observer) observer->finished(number, failure != nullptr);
  --unfinished_;
  // The last touch of a variable makes it idle: whoever sees that may destroy it.
  for (Variable* variable : writes) {
    variable->failure_ = failure;
    count(variable->unfinished_writes_, -1);
    count(variable->unfinished_, -1);
  }
  for (Variable* variable : reads) count(variable->unfinished_, -1);
  // In this thread's turn: what the task frees is there for the next one.
  task.reset();
  return number;
}

std::exception_ptr SerialEngine::run(Task& task, std::uint64_t number, Observer* observer) {
  try {
    const int shares = prepare(task, true);
    for (int share = 0; share < shares; ++share) run_observed(task, number, share, -1, observer);
    task.finish();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

WaitResult SerialEngine::wait(Variable& variable, WaitFor, const WaitOptions& options) {
  std::exception_ptr failure;
  const WaitResult result = wait(options, never, &variable, failure);
  if (failure) std::rethrow_exception(failure);
  return result;
}

WaitResult SerialEngine::wait_all(const WaitOptions& options) {
  std::exception_ptr none;
  return wait(options, never, nullptr, none);
}

WaitResult SerialEngine::wait_until(const std::function<bool()>& enough,
                                    const WaitOptions& options) {
  std::exception_ptr none;
  return wait(options, enough, nullptr, none);
}

// All there can be to wait for is a task that another thread is inside of.
template <class Enough>
WaitResult SerialEngine::wait(const WaitOptions& options, Enough enough, const Variable* variable,
                              std::exception_ptr& failure) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const Clock::time_point never = Clock::time_point::max();
  const Clock::time_point deadline =
      options.timeout < never - start ? start + options.timeout : never;
  const std::thread::id self = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  auto waits = [&] { return owner_ != std::thread::id() && owner_ != self && !enough(); };
  while (waits()) {
    free_.wait_until(lock, std::min(deadline, Clock::now() + std::chrono::milliseconds(20)));
    lock.unlock();
    if (options.interrupted && options.interrupted()) return WaitResult::interrupted;
    lock.lock();
    if (Clock::now() >= deadline) break;
  }
  if (waits()) return WaitResult::timed_out;
  if (shut_down_) return WaitResult::shut_down;
  if (variable) failure = variable->failure_;
  return WaitResult::done;
}

void SerialEngine::shutdown() {
  const Turn turn(*this);
  shut_down_ = true;
}

void SerialEngine::set_observer(std::shared_ptr<Observer> observer) {
  const Turn turn(*this);
  observer_.swap(observer);
}

}  // namespace afterglow::engine
