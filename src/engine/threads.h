// SPDX-License-Identifier: Apache-2.0
// The threaded policy. threads.cpp: push, shares, shutdown; workers.cpp: the workers, their sleep
// and who is woken; aside.cpp: tasks aside; waits.cpp: waiting and helping; fork.cpp: the fork
// protocol.
//
// One mutex guards everything below. Tasks, hooks and observers run, and tasks are destroyed,
// without it. At most `limit_` threads hold a slot, that is, compute; a slot is taken with a share
// and given back, or passed on, when the share has ended or waits for other tasks. Tasks aside have
// threads of their own and take no slot. Where queues have limits, a share takes a place in its
// queue as well, and only shares of open queues count as something to do. No thread ever waits for
// a place, so limits keep nobody from going on.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/processor.h"
#include "engine/engine.h"
#include "engine/list.h"
#include "engine/scheduler.h"

namespace afterglow::engine {

class ThreadedEngine final : public Engine {
 public:
  explicit ThreadedEngine(int thread_limit);
  ~ThreadedEngine() override;

  using Engine::push;
  std::uint64_t push(std::unique_ptr<Task> task, std::span<Variable* const> reads,
                     std::span<Variable* const> writes, PushOptions options) override;
  void let_go(std::uint64_t task) override;
  WaitResult wait(Variable& variable, WaitFor what, const WaitOptions& options) override;
  WaitResult wait_all(const WaitOptions& options) override;
  WaitResult wait_until(const std::function<bool()>& enough, const WaitOptions& options) override;
  void shutdown() override;
  void begin_outside_wait() override;
  void end_outside_wait() override;
  void hold_asides() noexcept override;
  void let_asides_go() noexcept override;
  void before_fork() noexcept override;
  void after_fork_in_parent() noexcept override;
  void after_fork_in_child() noexcept override;
  void set_idle_hook(std::function<std::chrono::nanoseconds()> hook) override;
  void nudge() override;
  void set_observer(std::shared_ptr<Observer> observer) override;
  void set_limit(int queue, int threads) override;
  std::int64_t unfinished() const override;
  bool stalled() const override;
  int thread_limit() const override { return limit_; }
  int workers_started() const override;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point never = Clock::time_point::max();

  struct Worker {
    explicit Worker(int index) : index(index) {}
    const int index;
    std::thread thread;
    std::condition_variable condition;
    bool asleep = false;
    Clock::time_point spin_until{};
    Link<Worker> link;
  };

  /// A share that a thread is inside of, innermost first along `outer`; lives on that thread's
  /// stack.
  struct Running {
    ThreadedEngine* engine;
    TaskRecord* task;
    Running* outer;
    int home = 0;
    bool waits = false;  // inside its task: it computes for nobody
    std::thread::id thread = std::this_thread::get_id();
    Link<Running> link{};
  };

  /// The lock, and what its holder has to do once it lets go of it.
  class Hold {
   public:
    explicit Hold(ThreadedEngine& engine) : engine_(engine) { take(); }
    Hold(ThreadedEngine& engine, std::adopt_lock_t)
        : engine_(engine), lock_(engine.mutex_, std::adopt_lock) {}
    Hold(const Hold&) = delete;
    ~Hold() { let_go(); }

    void take();
    /// Also destroys the tasks that have ended.
    void let_go();
    /// Lets go for as long as that takes; false when there is none to destroy.
    bool destroy_ended();
    /// Sends the wake-ups without letting go; needed where letting go is part of a sleep.
    void send_wakes();
    bool full() const { return count_ == capacity; }
    void wake(std::condition_variable& condition) {
      if (full()) send_wakes();
      conditions_[count_++] = &condition;
    }
    void wake_spinning() { signal_ = true; }
    std::unique_lock<std::mutex>& lock() { return lock_; }

    TaskList ended{};

   private:
    static constexpr int capacity = 8;  // whoever is woken wakes more if there is more to do
    ThreadedEngine& engine_;
    std::unique_lock<std::mutex> lock_{};
    std::condition_variable* conditions_[capacity];
    int count_ = 0;
    bool signal_ = false;
  };

  using RunningList = List<Running, &Running::link>;

  void run_share(Hold& hold, Claim claim, bool helping);
  static void finish(TaskRecord& task, Observer* observer);
  void release_slot(Hold& hold);
  void put_off(TaskRecord& task, std::uint64_t destroyed_before);
  void await_destruction() { destroyed_.fetch_or(awaited); }
  void serve_awaiting(Hold& hold);
  Running* innermost() const;
  bool holds_slot() const;
  int choose_home();

  bool start(std::vector<std::unique_ptr<Worker>>& workers, const char* kind,
             void (ThreadedEngine::*body)(Worker&));
  static void join(Worker& worker);
  bool start_worker();
  void work(Worker& worker);
  void idle(Hold& hold, Worker& worker);
  bool paused() const { return pausers_ > 0 || pressed_ || shutting_; }
  bool can_start_share() const;
  bool starving(int own_slots) const;
  int startable() const;
  Claim claim_any(int own_slots);
  bool worker_has_nothing() const;
  Clock::time_point ask_hook(Hold& hold, Worker& worker);
  void spin(Hold& hold, Worker& worker, Clock::time_point until);
  void sleep(Hold& hold, Worker& worker, Clock::time_point until);
  void plan_wakes(Hold& hold);
  static void wake(Hold& hold, Waiter& waiter);
  void wake_first_sleeper(Hold& hold);
  Waiter* sleeping_waiter();
  void replace_worker(Hold& hold);

  void work_aside(Worker& worker);
  bool can_start_aside() const;
  Claim claim_aside();
  void release_aside();
  void plan_aside(Hold& hold);
  void wake_aside(Hold& hold);
  void lend_place(Hold& hold);
  void take_place_back(Hold& hold);
  bool runs_aside() const;

  WaitResult wait(Hold& hold, Waiter& waiter, const WaitOptions& options);
  WaitResult help(Hold& hold, Waiter& waiter, const WaitOptions& options);
  std::unique_ptr<std::condition_variable> borrow_condition();
  bool interrupted(Hold& hold, Waiter& waiter, const WaitOptions& options);
  void pass_turn(Hold& hold, Waiter& waiter);
  bool start_waiting(Waiter& waiter);
  Claim claim_for(Hold& hold, Waiter& waiter);
  void give_up_slot(Hold& hold, Waiter& waiter);
  bool wants_slot(const Waiter& waiter) const;
  Waiter* heir();
  void sleep(Hold& hold, Waiter& waiter, Clock::time_point until);
  void spin(Hold& hold, Waiter& waiter);
  void leave(Hold& hold, Waiter& waiter);

  // A sleeping thread costs about 50 us to wake: spinning that long at most doubles the price.
  static constexpr std::chrono::microseconds spin_time{50};
  static inline const bool several_processors_ = std::thread::hardware_concurrency() > 1;
  static inline thread_local Running* innermost_ = nullptr;
  friend int worker_index();
  static inline thread_local int worker_index_ = -1;
  static inline thread_local int last_home_ = 0;

  const int limit_;
  const int homes_;
  mutable std::mutex mutex_;
  Scheduler scheduler_;
  int computing_ = 0;              // slots taken; at most limit_
  int searching_ = 0;              // workers awake without a share: they will look for one
  int pausers_ = 0;                // forks under way: no share starts
  TaskRecord* pressed_ = nullptr;  // must be prepared, and is: no share starts, nothing is taken
  bool shutting_ = false;
  // How many tasks have been destroyed, times two. Invariant: odd as long as there are starved
  // tasks or waits that `enough` may end; whoever destroys tasks then serves them. In one word, so
  // that who begins to wait either sees a destruction or is seen by it.
  static constexpr std::uint64_t awaited = 1;
  std::atomic<std::uint64_t> destroyed_{0};
  RunningList running_;
  int at_home_[most_homes]{};      // running shares
  std::condition_variable quiet_;  // a share ended, or a waiter left, while somebody waits for that

  int asides_ = 0;            // tasks aside that run and do not wait
  int asides_held_ = 0;       // forks ahead: no task aside starts or comes back from a wait
  int asides_searching_ = 0;  // threads for tasks aside that are awake without one
  std::vector<std::unique_ptr<Worker>> aside_workers_;
  List<Worker, &Worker::link> aside_sleepers_;

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> retired_;  // joined; a late wake-up may still touch them
  List<Worker, &Worker::link> sleepers_;          // those to be woken first in front
  // Changes when a searching worker, or a waiter that spins, should look again.
  std::atomic<std::uint32_t> signal_{0};
  std::atomic<Worker*> spinner_{nullptr};  // only compared, never followed
  // Where the last wake-up was sent from: see spin().
  std::atomic<int> waker_processor_{unknown_processor};
  // A late wake-up may touch the condition of a wait that is over, so those are kept and used
  // again.
  std::vector<std::unique_ptr<std::condition_variable>> conditions_;
  std::size_t conditions_made_ = 0;

  std::shared_ptr<const std::function<std::chrono::nanoseconds()>> hook_;
  Worker* watcher_ = nullptr;  // asks the hook now, or will when its timed sleep ends
  bool hook_wanted_ = false;   // the next idle worker should ask the hook
  // True only if the hook will be asked after now; see nudge().
  std::atomic<bool> attentive_{false};
  std::shared_ptr<Observer> observer_;
};

}  // namespace afterglow::engine
