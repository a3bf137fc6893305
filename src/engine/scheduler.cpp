// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "engine/observed.h"

namespace afterglow::engine {

namespace {

// The counters of a variable change under the lock only. The release store pairs with the lock-free
// readable() and idle().
void add(std::atomic<std::int32_t>& counter, int change) {
  counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_release);
}

}  // namespace

TaskRecord* TaskRecord::make(std::unique_ptr<Task> task, std::size_t accesses) {
  static_assert(sizeof(TaskRecord) % alignof(Access) == 0);
  void* memory = ::operator new(sizeof(TaskRecord) + accesses * sizeof(Access));
  return new (memory) TaskRecord{.task = std::move(task)};
}

void TaskRecord::destroy(TaskRecord* record) {
  for (int i = 0; i < record->access_count; ++i) record->accesses()[i].~Access();
  record->~TaskRecord();
  ::operator delete(record);
}

std::uint64_t destroy_all(TaskList& tasks) {
  std::uint64_t count = 0;
  while (TaskRecord* task = tasks.front()) {
    tasks.remove(*task);
    TaskRecord::destroy(task);
    ++count;
  }
  return count;
}

ReadyQueue& Scheduler::queue(int id) {
  for (ReadyQueue& queue : queues_)
    if (queue.id() == id) return queue;
  return queues_.emplace_back(id);
}

void Scheduler::add(TaskRecord& task, std::span<Variable* const> reads,
                    std::span<Variable* const> writes, PushOptions options, bool hold) {
  ReadyQueue& home = options.aside ? aside_ : queue(options.queue);
  home.join();
  task.aside = options.aside;
  task.number = ++last_number_;
  task.queue = &home;
  task.priority = options.priority;
  task.held = hold;
  task.stays_held = options.held;
  task.blocked = hold;
  for (Variable* variable : writes) append(task, *variable, true);
  for (Variable* variable : reads) append(task, *variable, false);
  unfinished_.push_back(task);
  ++unfinished_count_;
  if (task.blocked == 0) make_ready(task);
}

void Scheduler::append(TaskRecord& task, Variable& variable, bool write) {
  // Named before by this task. Writes are appended first, so the stronger mode has won.
  if (variable.last_ && variable.last_->task == &task) return;
  const bool granted = write ? !variable.first_ : !variable.last_writer_;
  Access* access =
      new (task.accesses() + task.access_count++) Access{.variable = &variable,
                                                         .task = &task,
                                                         .previous = variable.last_,
                                                         .writer = variable.last_writer_,
                                                         .write = write,
                                                         .granted = granted};
  (variable.last_ ? variable.last_->next : variable.first_) = access;
  variable.last_ = access;
  if (write) {
    variable.last_writer_ = access;
    engine::add(variable.unfinished_writes_, 1);
  }
  engine::add(variable.unfinished_, 1);
  if (!granted) ++task.blocked;
}

void Scheduler::let_go(TaskRecord& task) {
  if (std::exchange(task.held, false) && --task.blocked == 0) make_ready(task);
}

void Scheduler::let_go_all() {
  for (TaskRecord* task = unfinished_.front(); task; task = TaskList::after(*task))
    if (!task->stays_held) let_go(*task);
}

void Scheduler::let_go(std::uint64_t number) {
  TaskRecord* task = unfinished_.front();
  while (task && task->number < number) task = TaskList::after(*task);
  if (task && task->number == number) let_go(*task);
}

void Scheduler::make_ready(TaskRecord& task) {
  task.queue->insert(task);
  if (task.aside) return;
  task.queue->add_unclaimed(task.unclaimed);
  if (task.helper) task.helper->ready.push_back(task);
}

void Scheduler::make_unready(TaskRecord& task) {
  task.queue->erase(task);
  if (task.aside) return;
  task.queue->add_unclaimed(-task.unclaimed);
  if (task.helper) task.helper->ready.remove(task);
}

TaskRecord* Scheduler::next(std::uint64_t last) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    ReadyQueue& queue = queues_[turn_];
    turn_ = (turn_ + 1) % queues_.size();
    if (!queue.empty() && queue.open() && queue.front().number <= last) return &queue.front();
  }
  return nullptr;
}

bool Scheduler::has_ready(std::uint64_t last) const {
  for (const ReadyQueue& queue : queues_)
    if (!queue.empty() && queue.open() && queue.front().number <= last) return true;
  return false;
}

TaskRecord* Scheduler::next_for(const Waiter& waiter) {
  TaskRecord* task = waiter.ready.front();
  while (task && !task->queue->open()) task = waiter.ready.after(*task);
  return task;
}

int Scheduler::unclaimed() const {
  int shares = 0;
  for (const ReadyQueue& queue : queues_) shares += queue.unclaimed();
  return shares;
}

int Scheduler::startable() const {
  int shares = 0;
  for (const ReadyQueue& queue : queues_) shares += queue.startable();
  return shares;
}

void Scheduler::forget_threads(const TaskRecord* inside) {
  for (ReadyQueue& queue : queues_) queue.forget_threads();
  aside_.forget_threads();
  if (inside) inside->queue->enter();
}

Claim Scheduler::claim(TaskRecord& task) {
  // STATE CHANGE: ready -> running, for one share. The task stays in its queue as long as others
  // can join in; before it is prepared, nobody can.
  ++task.running;
  if (task.unclaimed == 1)
    make_unready(task);
  else if (!task.aside)
    task.queue->add_unclaimed(-1);
  --task.unclaimed;
  task.queue->enter();
  return {&task};
}

Claim Scheduler::claim_starved(TaskRecord& task) {
  revive(task);
  Claim first = claim(task);
  first.must = true;
  return first;
}

void Scheduler::put_off(TaskRecord& task) {
  // STATE CHANGE: running -> starved. As before its claim, but in no queue; its accesses stay
  // granted, so dependants stay blocked.
  task.running = 0;
  task.unclaimed = 1;
  starved_.push_back(task);
}

void Scheduler::revive(TaskRecord& task) {
  // STATE CHANGE: starved -> ready.
  starved_.remove(task);
  make_ready(task);
}

void Scheduler::revive_all() {
  while (TaskRecord* task = starved_.front()) revive(*task);
}

TaskRecord& Scheduler::oldest_starved() const {
  TaskRecord* oldest = starved_.front();
  for (TaskRecord* task = oldest; task; task = starved_.after(*task))
    if (task->number < oldest->number) oldest = task;
  return *oldest;
}

void Scheduler::cut(TaskRecord& task, int shares, int homes) {
  task.shares = shares;
  task.unclaimed = shares - 1;
  int begin = 0;
  for (int home = 0; home < homes; ++home) {
    const int count = shares / homes + (home < shares % homes);
    task.left[home] = {begin, begin + count};
    begin += count;
  }
  if (task.unclaimed > 0) make_ready(task);
}

int Scheduler::choose_share(TaskRecord& task, int home) {
  TaskRecord::Shares& own = task.left[home];
  if (own.begin < own.end) return own.begin++;
  // What its owner comes to last.
  const auto most = std::ranges::max_element(
      task.left, {}, [](const TaskRecord::Shares& shares) { return shares.end - shares.begin; });
  return --most->end;
}

bool Scheduler::end_share(TaskRecord& task, std::exception_ptr failure) {
  if (failure && !task.failure) task.failure = std::move(failure);
  if (task.failure && task.unclaimed > 0) {
    make_unready(task);
    task.unclaimed = 0;
  }
  if (task.running == 1 && task.unclaimed == 0) return true;
  --task.running;
  return false;
}

void Scheduler::set_outcome(TaskRecord& task) {
  for (int i = 0; i < task.access_count; ++i)
    if (task.accesses()[i].write) task.accesses()[i].outcome = task.failure;
}

void Scheduler::end(TaskRecord& task, TaskList& ended) {
  // STATE CHANGE: running -> ended. All of it happens in one hold of the lock, so that a dependant
  // never starts before every variable of this task has been released.
  for (int i = 0; i < task.access_count; ++i) release(task.accesses()[i]);
  hand_out(task, ended);
  for (Waiter* waiter = waiters_.front(); waiter; waiter = WaiterList::after(*waiter))
    if (!waiter->variable && task.number <= waiter->last && --waiter->left == 0)
      waiter->done = true;
}

void Scheduler::hand_out(TaskRecord& task, TaskList& ended) {
  unfinished_.remove(task);
  --unfinished_count_;
  ++ended_count_;
  task.queue->leave();
  ended.push_back(task);
}

void Scheduler::unlink(Access& access) {
  Variable& variable = *access.variable;
  (access.previous ? access.previous->next : variable.first_) = access.next;
  (access.next ? access.next->previous : variable.last_) = access.previous;
  if (variable.last_writer_ == &access) variable.last_writer_ = nullptr;
}

void Scheduler::release(Access& access) {
  Variable& variable = *access.variable;
  unlink(access);
  // The displaced failure is destroyed with the task, outside the lock.
  if (access.write) std::swap(variable.failure_, access.outcome);

  // STATE CHANGE: those that now stand at the head are granted: one write, or all reads up to the
  // next write. After a read, a read at the head has been granted before.
  Access* head = variable.first_;
  if (head && head->write)
    grant(*head);
  else if (access.write)
    for (; head && !head->write; head = head->next) grant(*head);

  for (Waiter* waiter = waiters_.front(); waiter; waiter = WaiterList::after(*waiter)) {
    if (waiter->variable != &variable) continue;
    if (waiter->what == WaitFor::write)
      waiter->done = !variable.first_ || variable.first_->task->number > waiter->last;
    else if (access.task->number == waiter->last)
      waiter->done = true;
  }

  // Last of all: an idle variable may be destroyed at once by whoever sees it idle.
  if (access.write) engine::add(variable.unfinished_writes_, -1);
  engine::add(variable.unfinished_, -1);
}

void Scheduler::grant(Access& access) {
  access.granted = true;
  if (--access.task->blocked == 0) make_ready(*access.task);
}

void Scheduler::abandon(TaskRecord& task, const char* reason) {
  try {
    task.task->abandon(std::make_exception_ptr(std::runtime_error(reason)));
  } catch (...) {
    task.failure = std::current_exception();
  }
}

void Scheduler::drop(TaskList& dropped) {
  // In the order of their push: what a task depends on and is not in its lists any more is gone.
  const auto stands_behind = [](TaskRecord& task) {
    for (int i = 0; i < task.access_count; ++i) {
      const Access& access = task.accesses()[i];
      if (access.write && access.previous) return true;
      for (Access* before = access.previous; before; before = before->previous)
        if (before->write) return true;
    }
    return false;
  };
  for (TaskRecord *task = unfinished_.front(), *next; task; task = next) {
    next = TaskList::after(*task);
    if (task->running > 0 || stands_behind(*task)) continue;
    abandon(*task, shut_down_reason);
    if (starved_.contains(*task)) starved_.remove(*task);
    if (task->position != ReadyQueue::nowhere) make_unready(*task);
    for (int i = 0; i < task->access_count; ++i) {
      Access& access = task->accesses()[i];
      unlink(access);
      if (access.write) engine::add(access.variable->unfinished_writes_, -1);
      engine::add(access.variable->unfinished_, -1);
    }
    hand_out(*task, dropped);
  }
}

// Goes backwards from what the waiter waits for, through blocked tasks, to those that block them.
// visit(task) says whether the task is new to the walk. The stack is threaded through the tasks and
// each task is expanded once, so a walk is linear in the tasks it reaches.
template <class Visit>
void Scheduler::walk(const Waiter& waiter, Visit visit) {
  TaskRecord* stack = nullptr;
  auto reach = [&](TaskRecord& task) {
    if (visit(task) && task.blocked > 0) task.walk = std::exchange(stack, &task);
  };
  for (Access* access = waiter.variable->first_; access && access->task->number <= waiter.last;
       access = access->next)
    if (access->write || waiter.what == WaitFor::write) reach(*access->task);
  while (stack) {
    TaskRecord& task = *std::exchange(stack, stack->walk);
    for (int i = 0; i < task.access_count; ++i) {
      const Access& access = task.accesses()[i];
      if (access.granted) continue;
      if (!access.write) {
        reach(*access.writer->task);
        continue;
      }
      for (Access* before = access.previous; before; before = before->previous) {
        reach(*before->task);
        if (before->write) break;
      }
    }
  }
}

bool Scheduler::depends_on(const Waiter& waiter, std::span<TaskRecord* const> tasks) {
  const std::uint64_t search = ++searches_;
  bool found = false;
  walk(waiter, [&](TaskRecord& task) {
    if (task.mark == search) return false;
    task.mark = search;
    found = found || std::ranges::find(tasks, &task) != tasks.end();
    return true;
  });
  return found;
}

/// The tasks themselves and all unfinished ones that cannot run before they have ended.
std::int64_t Scheduler::count_dependants(std::span<TaskRecord* const> tasks) {
  if (tasks.empty()) return 0;
  const std::uint64_t search = ++searches_;
  std::int64_t count = 0;
  for (TaskRecord* task : tasks) {
    count += task->mark != search;
    task->mark = search;
  }
  const auto is_behind = [&](TaskRecord& task) {
    for (int i = 0; i < task.access_count; ++i) {
      const Access& access = task.accesses()[i];
      if (access.granted) continue;
      if (!access.write && access.writer->task->mark == search) return true;
      for (Access* before = access.write ? access.previous : nullptr; before;
           before = before->write ? nullptr : before->previous)
        if (before->task->mark == search) return true;
    }
    return false;
  };
  // In the order of their push: what a task depends on has been looked at.
  for (TaskRecord* task = unfinished_.front(); task; task = TaskList::after(*task)) {
    if (task->mark == search || !is_behind(*task)) continue;
    task->mark = search;
    ++count;
  }
  return count;
}

bool Scheduler::start_waiting(Waiter& waiter, std::span<TaskRecord* const> inside) {
  const Variable* variable = waiter.variable;
  const Access* target = nullptr;
  if (variable) target = waiter.what == WaitFor::write ? variable->last_ : variable->last_writer_;
  waiter.last = variable ? (target ? target->task->number : 0) : last_number_;
  if (!variable) waiter.left = unfinished_count_ - count_dependants(inside);
  waiter.done = variable ? !target : waiter.left == 0;
  if (waiter.done) return true;
  if (variable && !inside.empty() && depends_on(waiter, inside)) return false;
  waiters_.push_back(waiter);
  if (!variable || !waiter.helps) return true;
  walk(waiter, [&](TaskRecord& task) {
    if (task.helper) return false;
    task.helper = &waiter;
    if (task.position != ReadyQueue::nowhere && !task.aside) waiter.ready.push_back(task);
    return true;
  });
  return true;
}

void Scheduler::stop_waiting(Waiter& waiter) {
  if (!WaiterList::contains(waiter)) return;
  waiters_.remove(waiter);
  // When the wait is over, every task it could have helped with has ended.
  if (!waiter.variable || !waiter.helps || waiter.done) return;
  walk(waiter, [&](TaskRecord& task) {
    if (task.helper != &waiter) return false;
    if (waiter.ready.contains(task)) waiter.ready.remove(task);
    task.helper = nullptr;
    return true;
  });
}

void Scheduler::forget(Waiter& waiter) {
  waiters_.remove(waiter);
  for (TaskRecord* task = unfinished_.front(); task; task = TaskList::after(*task)) {
    if (task->helper != &waiter) continue;
    task->helper = nullptr;
    task->helper_link = {};
  }
}

}  // namespace afterglow::engine
