// SPDX-License-Identifier: Apache-2.0
// Forking with tasks in flight: both processes finish the queue.
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <mutex>
#include <new>

#include "engine_support.h"

using namespace support;

namespace {

/// Forks as the layer above does. The child runs `body` and exits with 0 if that returns true.
/// True in the parent when the child did so within half a minute.
bool forked(Engine& engine, const std::function<bool()>& body) {
  engine.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    engine.after_fork_in_child();
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  engine.after_fork_in_parent();
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Sums whose result shows any task that was lost, run twice or out of order.
struct Sums {
  std::deque<Variable> variables = std::deque<Variable>(4);
  std::uint64_t values[4] = {1, 2, 3, 4};

  void add(Engine& engine, int tasks) {
    for (int i = 0; i < tasks; ++i) {
      const int from = i % 4, to = (i * 3 + 1) % 4;
      push(engine,
           [this, from, to] {
             values[to] = values[to] * 31 + values[from];
             busy(20us);
           },
           {&variables[from]}, {&variables[to]});
    }
  }
  std::uint64_t total() const { return values[0] + 3 * values[1] + 5 * values[2] + 7 * values[3]; }
};

std::uint64_t serial_total(int tasks) {
  auto engine = make_serial_engine();
  Sums sums;
  sums.add(*engine, tasks);
  return sums.total();
}

}  // namespace

TEST("both processes finish the queue") {
  const std::uint64_t expected = serial_total(300), longer = serial_total(600);
  for (int limit : {1, 2, 4})
    for (int round = 0; round < 10; ++round) {
      auto engine = make_threaded_engine(limit);
      Sums sums;
      sums.add(*engine, 300);
      busy(std::chrono::microseconds(100 * round));
      CHECK(forked(*engine, [&] {
        engine->wait_all();
        if (sums.total() != expected || engine->unfinished() != 0) return false;
        sums.values[0] = 1, sums.values[1] = 2, sums.values[2] = 3, sums.values[3] = 4;
        sums.add(*engine, 600);
        engine->wait_all();
        const bool good = sums.total() == longer && engine->workers_started() <= limit;
        engine.reset();
        return good;
      }));
      engine->wait_all();
      CHECK_EQUAL(sums.total(), expected);
    }
}

TEST("a task half of whose shares have run goes on in both") {
  auto engine = make_threaded_engine(2);
  Variable x;
  std::atomic<int> runs{0};
  int finished = 0;
  auto task = shares(400, [&](int) {
    busy(100us);
    ++runs;
  });
  task->on_finish = [&] { finished = runs; };
  Variable* writes[] = {&x};
  engine->push(std::move(task), {}, writes);
  CHECK(eventually([&] { return runs > 10; }));
  const auto start = Clock::now();
  engine->before_fork();
  CHECK(Clock::now() - start < 1s);
  CHECK(runs < 400);
  engine->after_fork_in_parent();
  CHECK(forked(*engine, [&] {
    const bool unfinished = runs < 400;
    return engine->wait(x) == WaitResult::done && finished == 400 && unfinished;
  }));
  engine->wait(x);
  CHECK_EQUAL(finished, 400);
}

TEST("starved tasks run in both processes, with or without other threads inside tasks") {
  for (bool nested : {false, true})
    for (int round = 0; round < 10; ++round) {
      auto engine = make_threaded_engine(2);
      Variable x, waiting;
      std::deque<Variable> starved(3);
      std::atomic<int> runs{0}, asked{0}, starved_runs{0};
      Variable* writes[] = {&x};
      engine->push(shares(100,
                          [&](int) {
                            ++runs;
                            busy(100us);
                          }),
                   {}, writes);
      CHECK(eventually([&] { return runs > 0; }));
      for (Variable& variable : starved) {
        auto task = shares(2, [&](int) { ++starved_runs; });
        task->on_prepare = [&](bool must) {
          ++asked;
          return must ? 2 : not_now;
        };
        Variable* writes[] = {&variable};
        engine->push(std::move(task), {}, writes, {.priority = 1});
      }
      if (nested) push(*engine, [&] { engine->wait(starved[1]); }, {}, {&waiting}, {.priority = 1});
      CHECK(eventually([&] { return asked >= 3; }));
      busy(std::chrono::microseconds(50 * round));
      CHECK(forked(*engine, [&] {
        if (round % 2) return engine->wait_all() == WaitResult::done && starved_runs == 6;
        for (Variable& variable : starved) engine->wait(variable);
        return starved_runs == 6;
      }));
      CHECK(engine->wait_all() == WaitResult::done);
      CHECK_EQUAL(starved_runs.load(), 6);
    }
}

TEST("the child works after other threads waited and slept in the parent") {
  auto engine = make_threaded_engine(2);
  engine->set_idle_hook([] { return std::chrono::nanoseconds(1s); });
  Variable x, y;
  Gate gate;
  for (int i = 0; i < 50; ++i) push(*engine, [] { busy(200us); }, {}, {&x});
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back([&] { engine->wait(x); });
  std::this_thread::sleep_for(2ms);
  CHECK(forked(*engine, [&] {
    if (engine->workers_started() != 0 || engine->wait(x) != WaitResult::done) return false;
    std::atomic<bool> ran{false};
    push(*engine, [&] { ran = true; }, {}, {&y});
    return eventually([&] { return ran.load(); }) && engine->wait_all() == WaitResult::done;
  }));
  for (std::thread& waiter : waiters) waiter.join();
}

TEST("a nudge starts a worker in the child") {
  auto engine = make_threaded_engine(2);
  std::atomic<int> asked{0};
  engine->set_idle_hook([&] {
    ++asked;
    return std::chrono::nanoseconds(500us);
  });
  engine->nudge();
  CHECK(eventually([&] { return asked > 2; }));
  CHECK(forked(*engine, [&] {
    asked = 0;
    engine->nudge();
    return eventually([&] { return asked > 2; });
  }));
}

TEST("a task may fork, two of them at once") {
  for (int forks : {1, 2}) {
    auto engine = make_threaded_engine(2);
    std::deque<Variable> variables(2);
    std::atomic<int> good{0}, before{0};
    for (int i = 0; i < forks; ++i)
      push(*engine,
           [&] {
             ++before;
             eventually([&] { return before == forks; });
             good += forked(*engine, [] { return true; });
           },
           {}, {&variables[i]});
    engine->wait_all();
    CHECK_EQUAL(good.load(), forks);
  }
}

TEST("a task that waits while another thread forks goes on in the parent, fails in the child") {
  auto engine = make_threaded_engine(2);
  Variable x, y, gate_variable;
  Gate gate;
  std::atomic<bool> waiting{false};
  int value = 0;
  push(*engine, [&] { gate.pass(); }, {}, {&gate_variable});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine,
       [&] {
         waiting = true;
         engine->wait(gate_variable);
         value = 1;
       },
       {}, {&x});
  CHECK(eventually([&] { return waiting.load(); }));
  std::thread opener([&] {
    std::this_thread::sleep_for(20ms);
    gate.open = true;
  });
  // The gate is passed while before_fork() waits for it, the wait inside the task may then end.
  const bool good = forked(*engine, [&] {
    try {
      engine->wait(x);
      return value == 1;
    } catch (const std::runtime_error&) {
      return value == 0;
    }
  });
  opener.join();
  CHECK(good);
  engine->wait(x);
  CHECK_EQUAL(value, 1);
}

TEST("a fork from the interruption callback of a wait") {
  auto engine = make_threaded_engine(2);
  Sums sums;
  sums.add(*engine, 2000);
  const std::uint64_t expected = serial_total(2000);
  bool child_good = false, done = false;
  WaitOptions options;
  options.interrupted = [&] {
    if (std::exchange(done, true)) return false;
    child_good = forked(*engine, [&] {
      engine->wait_all();
      return sums.total() == expected;
    });
    return false;
  };
  engine->wait_all(options);
  CHECK_EQUAL(sums.total(), expected);
  CHECK(child_good || !done);
}

// The lock of an interpreter: tasks aside take it, and whoever forks has it.
TEST("a thread that holds what tasks aside want forks while others queue them") {
  for (int round = 0; round < 3; ++round) {
    auto engine = round < 2 ? make_threaded_engine(1 + round) : make_serial_engine();
    std::mutex interpreter;
    static std::mutex* current = &interpreter;
    current = &interpreter;
    set_blocking_hook([](const std::function<void()>& body) {
      current->unlock();
      body();
      current->lock();
    });
    std::deque<Variable> variables(4);
    std::atomic<int> pushed{0}, ran{0};
    std::atomic<bool> stop{false};
    std::thread pusher([&] {
      for (int i = 0; !stop; ++i) {
        if (pushed - ran > 20) std::this_thread::sleep_for(1ms);
        const std::lock_guard lock(interpreter);
        push(*engine,
             [&, serial = round == 2] {
               // In a serial engine the pushing thread itself is here, which lets go in between.
               if (serial) interpreter.unlock();
               busy(50us);
               interpreter.lock();
               ++ran;
               if (!serial) interpreter.unlock();
             },
             {}, {&variables[i % 4]}, {.aside = true});
        ++pushed;
      }
    });
    int good = 0;
    for (int i = 0; i < 20; ++i) {
      eventually([&] { return ran > 3 * i; });
      engine->hold_asides();
      interpreter.lock();
      good += forked(*engine, [&] {
        new (&interpreter) std::mutex;
        engine->wait_all();
        const int before = ran;
        if (round == 2) interpreter.lock();
        push(*engine, [&] { ++ran; }, {}, {&variables[0]}, {.aside = true});
        return engine->wait_all() == WaitResult::done && ran == before + 1;
      });
      interpreter.unlock();
      engine->let_asides_go();
    }
    stop = true;
    pusher.join();
    CHECK_EQUAL(good, 20);
    engine->wait_all();
    CHECK_EQUAL(ran.load(), pushed.load());
    set_blocking_hook([](const std::function<void()>& body) { body(); });
  }
}

TEST("a task aside that nobody held is abandoned in the child") {
  auto engine = make_threaded_engine(2);
  Variable x, y;
  Gate gate;
  bool abandoned = false;
  auto task = shares(1, [&](int) { gate.pass(); });
  task->on_abandon = [&] { abandoned = true; };
  Variable* writes[] = {&x};
  engine->push(std::move(task), {}, writes, {.aside = true});
  push(*engine, [] {}, {&x}, {&y});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  CHECK(forked(*engine, [&] { return engine->wait(y) == WaitResult::done && abandoned; }));
  CHECK(!abandoned);
  gate.open = true;
  CHECK(engine->wait(y) == WaitResult::done);
}

TEST("what has ended is destroyed in both processes") {
  for (int round = 0; round < 50; ++round) {
    auto engine = make_threaded_engine(2);
    std::deque<Variable> variables(100);
    std::atomic<int> destroyed{0};
    for (Variable& variable : variables) {
      auto task = std::make_unique<Parts>();
      task->on_destroy = [&] {
        busy(5us);
        ++destroyed;
      };
      Variable* writes[] = {&variable};
      engine->push(std::move(task), {}, writes);
    }
    busy(std::chrono::microseconds(20 * round));
    CHECK(forked(*engine, [&] {
      engine->wait_all();
      return eventually([&] { return destroyed == 100; });
    }));
    engine->wait_all();
    CHECK(eventually([&] { return destroyed == 100; }));
  }
}

TEST("both processes go on under limits of queues, also where a task forks") {
  for (const bool inside : {false, true}) {
    auto engine = make_threaded_engine(2);
    engine->set_limit(0, 1);
    std::atomic<int> ran{0};
    std::atomic<bool> good{false};
    for (int i = 0; i < 40; ++i) push(*engine, [&] { busy(10us), ++ran; }, {}, {});
    // Inside, the place of this very task is lent to what it waits for.
    const auto waits = [&] {
      Variable last;
      push(*engine, [] {}, {}, {&last});
      return engine->wait(last) == WaitResult::done;
    };
    const auto finishes = [&] { return engine->wait_all() == WaitResult::done && ran == 40; };
    if (inside)
      push(*engine, [&] { good = forked(*engine, waits); }, {}, {});
    else
      good = forked(*engine, finishes);
    CHECK(engine->wait_all() == WaitResult::done);
    CHECK(good);
    CHECK_EQUAL(ran.load(), 40);
  }
}

TEST("a held task is held in both processes") {
  auto engine = make_threaded_engine(2);
  Variable x;
  std::atomic<bool> opened{false};
  bool in_order = false;
  const auto held = push(*engine, [&] { in_order = opened; }, {}, {&x}, {.held = true});
  const auto finish = [&] {
    if (engine->wait(x, WaitFor::read, {.timeout = 5ms}) != WaitResult::timed_out) return false;
    opened = true;
    engine->let_go(held);
    return engine->wait(x) == WaitResult::done && in_order;
  };
  CHECK(forked(*engine, finish));
  CHECK(finish());
}

TEST("the serial engine forks, also from inside a task") {
  auto engine = make_serial_engine();
  Variable x;
  int value = 0;
  bool inside = false;
  push(*engine,
       [&] {
         inside = forked(*engine, [&] {
           push(*engine, [&] { value = 2; }, {}, {&x});
           return value == 2;
         });
       },
       {}, {&x});
  CHECK(inside);
  CHECK(forked(*engine, [&] {
    push(*engine, [&] { value = 3; }, {}, {&x});
    return engine->wait(x) == WaitResult::done && value == 3;
  }));
  CHECK_EQUAL(value, 0);
}

int main(int count, char** arguments) {
#if defined(__SANITIZE_THREAD__)
  const char* reason = "the thread sanitizer does not support threads in forked children";
#elif defined(__SANITIZE_ADDRESS__)
  const char* reason =
      "a fork may catch the address sanitizer's allocator locked, in the child for ever";
#else
  const char* reason = nullptr;
#endif
  // Naming tests runs them all the same.
  if (reason && count < 2) {
    std::printf("skipped: %s\n", reason);
    return 0;
  }
  return check::run(count, arguments);
}
