// SPDX-License-Identifier: Apache-2.0
// The serial policy: push() runs the task, also one aside. Pushes from several threads take turns;
// a push from inside a task runs at once, inside that task.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "engine/engine.h"
#include "engine/list.h"
#include "engine/observed.h"

namespace afterglow::engine {

namespace {

std::atomic<void (*)(const std::function<void()>&)> blocking_hook{[](const auto& body) { body(); }};

}  // namespace

void set_blocking_hook(void (*hook)(const std::function<void()>&)) {
  blocking_hook = hook;
}

class SerialEngine final : public Engine {
 public:
  using Engine::push;
  std::uint64_t push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                     std::span<Variable* const> writes, PushOptions options) override;
  void let_go(std::uint64_t) override {}
  WaitResult wait(Variable& variable, WaitFor what, const WaitOptions& options) override;
  WaitResult wait_all(const WaitOptions& options) override;
  WaitResult wait_until(const std::function<bool()>& enough, const WaitOptions& options) override;
  void shutdown() override;

  void begin_outside_wait() override {}
  void end_outside_wait() override {}
  void hold_asides() noexcept override;
  void let_asides_go() noexcept override;
  void before_fork() noexcept override;
  void after_fork_in_parent() noexcept override { mutex_.unlock(); }
  void after_fork_in_child() noexcept override;

  // There is no worker to ask the hook.
  void set_idle_hook(std::function<std::chrono::nanoseconds()>) override {}
  void nudge() override {}
  void set_observer(std::shared_ptr<Observer> observer) override;
  // One thread computes at a time.
  void set_limit(int, int) override {}

  std::int64_t unfinished() const override { return unfinished_; }
  bool stalled() const override { return false; }
  int thread_limit() const override { return 1; }
  int workers_started() const override { return 0; }

 private:
  /// The right of one thread to use the engine; a thread that has it may take it again.
  class Turn {
   public:
    explicit Turn(SerialEngine& engine, bool aside = false)
        : engine_(engine), outermost_(!engine.mine()) {
      if (!outermost_) return;
      std::unique_lock lock(engine_.mutex_);
      Waiting waiting{.aside = aside};
      engine_.waiting_.push_back(waiting);
      const auto is_next = [&] { return engine_.is_next(waiting); };
      // The turn itself is taken outside of the hook, with all that this thread had: otherwise one
      // that forks could wait for the turn and its owner for what the forking thread has.
      while (!is_next()) {
        lock.unlock();
        blocking_hook.load()([&] {
          std::unique_lock wait(engine_.mutex_);
          engine_.free_.wait(wait, is_next);
        });
        lock.lock();
      }
      engine_.waiting_.remove(waiting);
      engine_.owner_ = std::this_thread::get_id();
      engine_.runs_aside_ = aside;
    }
    Turn(const Turn&) = delete;
    ~Turn() {
      if (!outermost_) return;
      const std::lock_guard lock(engine_.mutex_);
      engine_.owner_ = std::thread::id();
      engine_.runs_aside_ = false;
      engine_.free_.notify_all();
    }

   private:
    SerialEngine& engine_;
    const bool outermost_;
  };

  /// A thread that wants the turn; lives on its stack.
  struct Waiting {
    bool aside;
    Link<Waiting> link{};
  };
  using WaitingList = List<Waiting, &Waiting::link>;

  /// In the order in which they came, but for those that a fork ahead keeps waiting. Threads that
  /// never come back while the process ends hold nobody up.
  bool is_next(const Waiting& thread) const {
    const auto may_go = [&](const Waiting& any) { return !any.aside || asides_held_ == 0; };
    if (owner_ != std::thread::id() || !may_go(thread)) return false;
    const Waiting* first = waiting_.front();
    while (first != &thread && !may_go(*first)) first = WaitingList::after(*first);
    return first == &thread || shut_down_;
  }
  /// No other thread is inside a task, but for one aside.
  bool is_quiet() const {
    return owner_ == std::thread::id() || owner_ == std::this_thread::get_id() || runs_aside_;
  }
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

  mutable std::mutex mutex_;  // guards these five; the owner uses the rest
  std::condition_variable free_;
  std::thread::id owner_;
  bool runs_aside_ = false;  // the owner's outermost task is aside
  WaitingList waiting_;
  int asides_held_ = 0;
  std::atomic<bool> shut_down_{false};
  std::uint64_t last_number_ = 0;
  std::atomic<std::int64_t> unfinished_{0};
  std::shared_ptr<Observer> observer_;
};

std::unique_ptr<Engine> make_serial_engine() {
  return std::make_unique<SerialEngine>();
}

std::uint64_t SerialEngine::push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                                 std::span<Variable* const> writes, PushOptions options) {
  const Turn turn(*this, options.aside);
  if (shut_down_) {
    try {
      task->abandon(std::make_exception_ptr(std::runtime_error(shut_down_reason)));
    } catch (...) {
      // Whoever waits is told anyway.
    }
    return 0;
  }
  const std::uint64_t number = ++last_number_;
  const std::shared_ptr<Observer> observer = observer_;
  if (observer) observer->pushed(number, task->label().c_str(), options.queue, options.priority);
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
  // Only a task that this thread is inside of can be unfinished here.
  if (variable && owner_ == self && !variable->readable()) return WaitResult::itself;
  if (shut_down_) return WaitResult::shut_down;
  if (variable) failure = variable->failure_;
  return WaitResult::done;
}

void SerialEngine::hold_asides() noexcept {
  std::unique_lock lock(mutex_);
  ++asides_held_;
  free_.wait(lock, [&] { return !runs_aside_ || owner_ == std::this_thread::get_id(); });
}

void SerialEngine::let_asides_go() noexcept {
  const std::lock_guard lock(mutex_);
  --asides_held_;
  free_.notify_all();
}

// A task aside may wait for what the forking thread has: it is not waited for.
void SerialEngine::before_fork() noexcept {
  std::unique_lock lock(mutex_);
  free_.wait(lock, [&] { return is_quiet(); });
  lock.release();
}

void SerialEngine::after_fork_in_child() noexcept {
  // Other threads may have held or waited for these; they are gone.
  new (&mutex_) std::mutex;
  new (&free_) std::condition_variable;
  asides_held_ = 0;
  waiting_ = {};
  if (owner_ == std::this_thread::get_id()) return;
  owner_ = std::thread::id();
  runs_aside_ = false;
  unfinished_ = 0;
}

void SerialEngine::shutdown() {
  std::unique_lock lock(mutex_);
  free_.wait(lock, [&] { return is_quiet(); });
  shut_down_ = true;
}

void SerialEngine::set_observer(std::shared_ptr<Observer> observer) {
  const Turn turn(*this);
  observer_.swap(observer);
}

}  // namespace afterglow::engine
