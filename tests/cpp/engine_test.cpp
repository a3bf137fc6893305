// SPDX-License-Identifier: Apache-2.0
// The rules of the engine: order, waiting, helping, failures, shares, priorities, shutdown.
#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

std::vector<std::unique_ptr<Engine>> every_engine() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_serial_engine());
  for (int threads : {1, 2, 4}) engines.push_back(make_threaded_engine(threads));
  return engines;
}

/// Keeps count of the threads that compute at once.
struct Census {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  void enter() {
    const int count = ++now;
    int seen = most;
    while (count > seen && !most.compare_exchange_weak(seen, count)) {
    }
  }
  void leave() { --now; }
};

template <class Error>
bool wait_throws(Engine& engine, Variable& variable) {
  try {
    engine.wait(variable);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

TEST("writes and reads of one variable keep the order of their push") {
  for (auto& engine : every_engine()) {
    Variable x, y;
    std::vector<int> seen;
    int value = 0;
    for (int i = 0; i < 100; ++i) {
      push(*engine, [&] { ++value; }, {}, {&x});
      push(*engine, [&] { seen.push_back(value); }, {&x}, {&y});
    }
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK_EQUAL(seen.size(), 100u);
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(seen[i], i + 1);
    CHECK(engine->wait_all() == WaitResult::done);
    CHECK_EQUAL(engine->unfinished(), 0);
    CHECK(x.idle() && y.idle() && x.readable());
  }
}

TEST("readers of one version run side by side, the next writer after them") {
  auto engine = make_threaded_engine(2);
  Variable x;
  std::atomic<int> reading{0};
  bool written = false;
  for (int i = 0; i < 2; ++i)
    push(*engine,
         [&] {
           ++reading;
           CHECK(eventually([&] { return reading == 2; }));
         },
         {&x}, {});
  push(*engine, [&] { written = reading == 2; }, {}, {&x});
  engine->wait(x);
  CHECK(written);
}

TEST("a variable named twice counts once, as a write if it is written") {
  for (auto& engine : every_engine()) {
    Variable x;
    int value = 0;
    push(*engine, [&] { value = 1; }, {&x, &x}, {&x, &x});
    push(*engine, [&] { value *= 5; }, {&x, &x}, {&x});
    engine->wait(x, WaitFor::write);
    CHECK_EQUAL(value, 5);
    CHECK(x.idle());
  }
}

TEST("tasks are numbered from 1, and a task without variables runs") {
  for (auto& engine : every_engine()) {
    std::atomic<int> runs{0};
    for (std::uint64_t i = 1; i <= 5; ++i) CHECK_EQUAL(push(*engine, [&] { ++runs; }, {}, {}), i);
    engine->wait_all();
    CHECK_EQUAL(runs.load(), 5);
  }
}

TEST("readable and idle follow the unfinished tasks") {
  auto engine = make_threaded_engine(2);
  Variable x, y;
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {&x}, {&y});
  CHECK(x.readable() && !x.idle());
  CHECK(!y.readable() && !y.idle());
  CHECK_EQUAL(engine->unfinished(), 1);
  gate.open = true;
  engine->wait_all();
  CHECK(x.idle() && y.idle());
}

TEST("waiting to read does not wait for readers, waiting to write does") {
  auto engine = make_threaded_engine(2);
  Variable x;
  Gate gate;
  push(*engine, [] {}, {}, {&x});
  push(*engine, [&] { gate.pass(); }, {&x}, {});
  CHECK(engine->wait(x, WaitFor::read) == WaitResult::done);
  CHECK(eventually([&] { return gate.arrived == 1; }));  // at a worker, not at this thread
  CHECK(engine->wait(x, WaitFor::write, {.timeout = 5ms}) == WaitResult::timed_out);
  gate.open = true;
  CHECK(engine->wait(x, WaitFor::write) == WaitResult::done);
  CHECK(x.idle());
}

TEST("a wait is for tasks pushed before it and for nothing else") {
  auto engine = make_threaded_engine(2);
  Variable x, y;
  Gate gate, later;
  push(*engine, [&] { gate.pass(); }, {}, {&y});
  push(*engine, [] {}, {}, {&x});
  CHECK(engine->wait(x) == WaitResult::done);
  CHECK(!y.readable());
  CHECK(eventually([&] { return gate.arrived == 1; }));
  for (bool all : {false, true}) {
    std::atomic<bool> waiting{false};
    std::thread other([&] {
      eventually([&] { return waiting.load(); });
      push(*engine, [&] { later.pass(); }, {}, {&y});
      gate.open = true;
    });
    const WaitOptions options{.interrupted = [&] {
      waiting = true;
      return false;
    }};
    const WaitResult result =
        all ? engine->wait_all(options) : engine->wait(y, WaitFor::write, options);
    const bool readable = y.readable();
    other.join();
    CHECK(result == WaitResult::done && !readable);
    later.open = true;
    engine->wait_all();
    // Once more, with another pair of doors in place.
    gate.open = later.open = false;
    gate.arrived = 0;
    push(*engine, [&] { gate.pass(); }, {}, {&y});
    CHECK(eventually([&] { return gate.arrived == 1; }));
  }
  gate.open = true;
  engine->wait_all();
}

TEST("a failure is kept with what the task writes until a writer succeeds") {
  for (auto& engine : every_engine()) {
    Variable x, y;
    int ran = 0;
    push(*engine, [] { throw std::invalid_argument("no"); }, {}, {&x});
    push(*engine, [&] { ++ran; }, {&x}, {&y});
    for (int i = 0; i < 3; ++i) CHECK(wait_throws<std::invalid_argument>(*engine, x));
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK_EQUAL(ran, 1);
    CHECK(engine->wait_all() == WaitResult::done);
    push(*engine, [] { throw 42; }, {}, {&x, &y});
    CHECK(wait_throws<int>(*engine, x));
    CHECK(wait_throws<int>(*engine, y));
    push(*engine, [] {}, {}, {&x});
    CHECK(engine->wait(x) == WaitResult::done);
  }
}

TEST("prepare, run and finish may fail; finish is only called after success") {
  for (auto& engine : every_engine()) {
    for (int part = 0; part < 4; ++part) {
      Variable x;
      std::atomic<int> runs{0}, finishes{0};
      auto task = shares(1000, [&, part](int share) {
        ++runs;
        if (part == 1 && share == 0) throw std::runtime_error("run");
        if (part == 1) busy(100us);
      });
      if (part == 0) task->on_prepare = [](bool) -> int { throw std::runtime_error("prepare"); };
      task->on_finish = [&, part] {
        ++finishes;
        if (part == 2) throw std::runtime_error("finish");
      };
      Variable* writes[] = {&x};
      engine->push(std::move(task), {}, writes);
      CHECK_EQUAL(wait_throws<std::runtime_error>(*engine, x), part < 3);
      CHECK_EQUAL(finishes.load(), part < 2 ? 0 : 1);
      if (part == 0) CHECK_EQUAL(runs.load(), 0);
      if (part == 1) CHECK(runs < 1000);
      if (part >= 2) CHECK_EQUAL(runs.load(), 1000);
    }
  }
}

TEST("every share runs once, then finish; no shares means finish only") {
  for (auto& engine : every_engine()) {
    for (int count : {0, 1, 2, 7, 64}) {
      Variable x, y;
      std::vector<std::atomic<int>> runs(64);
      std::atomic<int> total{0};
      int at_finish = -1, after = -1;
      auto task = shares(count, [&](int share) {
        busy(10us);
        ++runs[share];
        ++total;
      });
      task->on_finish = [&] { at_finish = total; };
      Variable* writes[] = {&x};
      engine->push(std::move(task), {}, writes);
      push(*engine, [&] { after = at_finish; }, {&x}, {&y});
      engine->wait(y);
      CHECK_EQUAL(after, count);
      for (int i = 0; i < count; ++i) CHECK_EQUAL(runs[i].load(), 1);
    }
  }
}

TEST("workers and the waiting thread share the shares") {
  auto engine = make_threaded_engine(3);
  Variable x;
  std::atomic<int> inside{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Variable* writes[] = {&x};
  // Each share waits until all three threads have come.
  engine->push(shares(3,
                      [&](int) {
                        ++inside;
                        CHECK(eventually([&] { return inside == 3; }));
                        const std::lock_guard lock(mutex);
                        threads.insert(std::this_thread::get_id());
                      }),
               {}, writes);
  engine->wait(x);
  CHECK_EQUAL(threads.size(), 3u);
}

TEST("no more threads compute than the limit, helpers included") {
  for (int limit : {1, 2, 3}) {
    auto engine = make_threaded_engine(limit);
    Census census;
    std::deque<Variable> variables(6);
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          Variable* writes[] = {&variables[t]};
          engine->push(shares(1 + i % 4,
                              [&](int) {
                                census.enter();
                                busy(20us);
                                census.leave();
                              }),
                       {}, writes);
          if (i % 3 == 0) engine->wait(variables[t]);
        }
        engine->wait(variables[t]);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(census.most <= limit);
    CHECK(engine->workers_started() <= limit);
  }
}

TEST("a helper runs only what its target depends on") {
  auto engine = make_threaded_engine(2);
  Variable gate_variable, a, b, c, other;
  Gate gate;
  // The only worker that would run the rest sits in the gate; so does the one started next.
  push(*engine, [&] { gate.pass(); }, {}, {&gate_variable});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  const auto self = std::this_thread::get_id();
  std::atomic<int> others_by_me{0};
  for (int i = 0; i < 50; ++i)
    push(*engine,
         [&] {
           others_by_me += std::this_thread::get_id() == self;
           busy(50us);
         },
         {}, {&other});
  push(*engine, [] { busy(50us); }, {}, {&a});
  push(*engine, [] { busy(50us); }, {&a}, {&b});
  push(*engine, [] { busy(50us); }, {&a, &b}, {&c});
  CHECK(engine->wait(c) == WaitResult::done);
  CHECK_EQUAL(others_by_me.load(), 0);
  gate.open = true;
  engine->wait_all();
}

TEST("with all slots taken, a worker hands its slot to a waiting helper") {
  auto engine = make_threaded_engine(1);
  Variable x;
  Gate gate;
  std::atomic<int> mine{0};
  const auto self = std::this_thread::get_id();
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  for (int i = 0; i < 20; ++i)
    push(*engine,
         [&] {
           mine += std::this_thread::get_id() == self;
           busy(100us);
         },
         {&x}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  std::thread opener([&] {
    std::this_thread::sleep_for(5ms);
    gate.open = true;
  });
  engine->wait(x, WaitFor::write);
  opener.join();
  CHECK(mine >= 1);
}

TEST("helpers take turns where they hold all slots") {
  auto engine = make_threaded_engine(1);
  Variable x, y;
  for (int i = 0; i < 300; ++i) push(*engine, [] { busy(500us); }, {}, {&x});
  std::atomic<bool> x_done{false};
  std::thread first([&] {
    engine->wait(x);
    x_done = true;
  });
  std::this_thread::sleep_for(10ms);
  push(*engine, [] { busy(100us); }, {}, {&y});
  engine->wait(y);
  CHECK(!x_done);
  first.join();
}

TEST("a task may wait for other variables, even with one thread") {
  for (auto& engine : every_engine()) {
    Variable x, y, z;
    int value = 0;
    push(*engine,
         [&] {
           push(*engine, [&] { value = 2; }, {}, {&y});
           push(*engine, [&] { value *= 3; }, {}, {&y});
           CHECK(engine->wait(y) == WaitResult::done);
           value += 1;
         },
         {}, {&x});
    engine->wait(x);
    CHECK_EQUAL(value, 7);
  }
}

TEST("waits nested in tasks on all threads lend their slots") {
  auto engine = make_threaded_engine(2);
  Census census;
  std::deque<Variable> outer(8), inner(8);
  for (int i = 0; i < 8; ++i)
    push(*engine,
         [&, i] {
           for (int k = 0; k < 3; ++k)
             push(*engine,
                  [&] {
                    census.enter();
                    busy(100us);
                    census.leave();
                  },
                  {}, {&inner[i]});
           engine->wait(inner[i]);
         },
         {}, {&outer[i]});
  for (Variable& variable : outer) engine->wait(variable);
  CHECK(census.most <= 2);
}

TEST("a wait ends when its timeout has passed, and the engine stays usable") {
  auto engine = make_threaded_engine(1);
  Variable x;
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, [] {}, {}, {&x});
  for (int i = 0; i < 3; ++i) {
    const auto start = Clock::now();
    CHECK(engine->wait(x, WaitFor::read, {.timeout = 10ms}) == WaitResult::timed_out);
    CHECK(Clock::now() - start >= 10ms);
    CHECK(engine->wait_all({.timeout = 0ms}) == WaitResult::timed_out);
  }
  gate.open = true;
  CHECK(engine->wait(x, WaitFor::read, {.timeout = 10s}) == WaitResult::done);
}

TEST("an interruption is seen within 100 ms, asleep or helping") {
  auto engine = make_threaded_engine(1);
  Variable x, y;
  Gate gate;
  std::atomic<bool> stop{false};
  const WaitOptions options{.interrupted = [&] { return stop.load(); }};
  for (bool helping : {false, true}) {
    if (helping) {
      for (int i = 0; i < 400; ++i) push(*engine, [] { busy(1ms); }, {}, {&y});
    } else {
      push(*engine, [&] { gate.pass(); }, {}, {&x});
      CHECK(eventually([&] { return gate.arrived == 1; }));
    }
    Clock::time_point stopped;
    std::thread stopper([&] {
      std::this_thread::sleep_for(30ms);
      stopped = Clock::now();
      stop = true;
    });
    CHECK(engine->wait(helping ? y : x, WaitFor::read, options) == WaitResult::interrupted);
    stopper.join();
    CHECK(Clock::now() - stopped < 100ms);
    stop = false;
    gate.open = true;
    CHECK(engine->wait(x, WaitFor::read, options) == WaitResult::done);
  }
  CHECK(engine->wait(y, WaitFor::read, options) == WaitResult::done);
}

TEST("an exception from the interruption callback leaves the engine in order") {
  auto engine = make_threaded_engine(1);
  Variable x;
  for (int i = 0; i < 20; ++i) push(*engine, [] { busy(2ms); }, {}, {&x});
  const WaitOptions options{.interrupted = []() -> bool { throw std::runtime_error("stop"); }};
  CHECK_THROWS("stop", engine->wait(x, WaitFor::read, options));
  CHECK(engine->wait(x) == WaitResult::done);
}

TEST("a wait until: enough from the start runs nothing") {
  auto engine = make_threaded_engine(1);
  Gate gate;
  std::atomic<int> runs{0};
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  for (int i = 0; i < 5; ++i) push(*engine, [&] { ++runs; }, {}, {});
  CHECK(engine->wait_until([] { return true; }) == WaitResult::done);
  CHECK_EQUAL(runs.load(), 0);
  CHECK_EQUAL(engine->unfinished(), 6);
  gate.open = true;
  CHECK(engine->wait_until([] { return false; }) == WaitResult::done);
  CHECK_EQUAL(runs.load(), 5);
  CHECK(engine->wait_until([] { return false; }) == WaitResult::done);
}

TEST("a wait until: ends after some of the tasks, the rest go on") {
  for (int limit : {1, 2, 4})
    for (int threads : {1, 3}) {
      auto engine = make_threaded_engine(limit);
      std::atomic<int> runs{0}, good{0};
      Gate gate;
      for (int i = 0; i < 300; ++i)
        push(*engine,
             [&, i] {
               if (i >= 200) gate.pass();
               busy(20us);
               ++runs;
             },
             {}, {});
      std::vector<std::thread> waiters;
      for (int t = 0; t < threads; ++t)
        waiters.emplace_back([&, wanted = 20 + 60 * t] {
          const WaitResult result = engine->wait_until([&] { return runs >= wanted; });
          good += result == WaitResult::done && runs >= wanted;
        });
      for (std::thread& waiter : waiters) waiter.join();
      CHECK_EQUAL(good.load(), threads);
      CHECK(runs <= 200);
      gate.open = true;
      CHECK(engine->wait_until([] { return false; }) == WaitResult::done);
      CHECK_EQUAL(runs.load(), 300);
      CHECK_EQUAL(engine->unfinished(), 0);
    }
}

TEST("a wait until: a sleeper is woken by the task that makes it enough, also by its destructor") {
  for (bool destructor : {false, true}) {
    auto engine = make_threaded_engine(2);
    Gate first, second;
    std::atomic<bool> enough{false};
    auto task = shares(1, [&](int) { first.pass(); });
    (destructor ? task->on_destroy : task->on_finish) = [&] { enough = true; };
    engine->push(std::move(task), {}, {});
    push(*engine, [&] { second.pass(); }, {}, {});
    CHECK(eventually([&] { return first.arrived == 1 && second.arrived == 1; }));
    std::thread opener([&] {
      std::this_thread::sleep_for(5ms);
      first.open = true;
    });
    CHECK(engine->wait_until([&] { return enough.load(); }) == WaitResult::done);
    CHECK(enough);
    CHECK(!second.open);
    opener.join();
    second.open = true;
    engine->wait_all();
  }
}

TEST("a wait until: what a task frees counts before the next one is helped with") {
  auto engine = make_threaded_engine(1);
  Gate gate;
  std::atomic<int> freed{0}, runs{0};
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  for (int i = 0; i < 50; ++i) {
    auto task = shares(1, [&](int) { ++runs; });
    task->on_destroy = [&] { ++freed; };
    engine->push(std::move(task), {}, {});
  }
  std::thread opener([&] {
    std::this_thread::sleep_for(5ms);
    gate.open = true;
  });
  // The gate's worker passes its slot on to this thread, so this thread runs the tasks.
  bool exact = false;
  CHECK(engine->wait_until([&] { return exact = freed == 10 && runs == 10; }) == WaitResult::done);
  opener.join();
  CHECK(exact);
  engine->wait_all();
}

TEST("a wait until: tasks pushed later are not waited for") {
  auto engine = make_threaded_engine(2);
  Gate gate, later;
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  std::atomic<bool> asked{false};
  std::thread other([&] {
    eventually([&] { return asked.load(); });
    push(*engine, [&] { later.pass(); }, {}, {});
    eventually([&] { return later.arrived == 1; });
    gate.open = true;
  });
  CHECK(engine->wait_until([&] {
    asked = true;
    return false;
  }) == WaitResult::done);
  CHECK(!later.open);
  later.open = true;
  other.join();
  engine->wait_all();
}

TEST("a wait until: inside a task, even with one thread and others in front") {
  for (int limit : {1, 2}) {
    auto engine = make_threaded_engine(limit);
    Census census;
    Variable x;
    std::atomic<int> runs{0};
    std::atomic<bool> waiting{false};
    auto count = [&] {
      census.enter();
      busy(200us);
      ++runs;
      census.leave();
    };
    push(*engine,
         [&] {
           for (int i = 0; i < 20; ++i) push(*engine, count, {}, {});
           waiting = true;
           CHECK(engine->wait_until([&] { return runs >= 12; }) == WaitResult::done);
         },
         {}, {&x});
    CHECK(eventually([&] { return waiting.load(); }));
    for (int i = 0; i < 20; ++i) push(*engine, count, {}, {}, {.priority = 1});
    CHECK(eventually([&] { return x.idle(); }));
    CHECK(runs >= 12);
    engine->wait_all();
    CHECK_EQUAL(runs.load(), 40);
    CHECK(census.most <= limit);
  }
}

TEST("a wait until: timeouts, interruptions and shutdown") {
  auto engine = make_threaded_engine(1);
  Gate gate;
  const auto never = [] { return false; };
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  CHECK(engine->wait_until(never, {.timeout = 5ms}) == WaitResult::timed_out);
  CHECK(engine->wait_until(never, {.timeout = 0ms}) == WaitResult::timed_out);
  CHECK(engine->wait_until([] { return true; }, {.timeout = 0ms}) == WaitResult::done);
  CHECK(engine->wait_until(never, {.interrupted = [] { return true; }}) == WaitResult::interrupted);
  std::atomic<bool> shut_down{false};
  std::thread waiter([&] { shut_down = engine->wait_until(never) == WaitResult::shut_down; });
  std::this_thread::sleep_for(5ms);
  std::thread stopper([&] { engine->shutdown(); });
  waiter.join();
  CHECK(shut_down);
  gate.open = true;
  stopper.join();
}

TEST("a wait until: the serial engine") {
  auto engine = make_serial_engine();
  Gate gate;
  std::atomic<bool> enough{false};
  std::thread other([&] { push(*engine, [&] { gate.pass(); }, {}, {}); });
  CHECK(eventually([&] { return gate.arrived == 1; }));
  const auto asked = [&] { return enough.load(); };
  CHECK(engine->wait_until(asked, {.timeout = 1ms}) == WaitResult::timed_out);
  enough = true;
  CHECK(engine->wait_until(asked) == WaitResult::done);
  enough = false;
  gate.open = true;
  CHECK(engine->wait_until(asked) == WaitResult::done);
  other.join();
  bool inside = false;
  push(*engine, [&] { inside = engine->wait_until(asked) == WaitResult::done; }, {}, {});
  CHECK(inside);
  engine->shutdown();
  CHECK(engine->wait_until(asked) == WaitResult::shut_down);
}

TEST("ready tasks run by priority, then in the order of their push") {
  auto engine = make_threaded_engine(1);
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  std::vector<std::pair<int, int>> order, expected;
  for (int i = 0; i < 60; ++i) {
    const int priority = i * 7 % 5 - 2;
    expected.push_back({priority, i});
    push(*engine, [&order, priority, i] { order.push_back({priority, i}); }, {}, {},
         {.priority = priority});
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](auto& left, auto& right) { return left.first > right.first; });
  gate.open = true;
  CHECK(eventually([&] { return engine->unfinished() == 0; }));
  CHECK(order == expected);
}

TEST("queues are served in turn") {
  auto engine = make_threaded_engine(1);
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  std::vector<int> order;
  for (int queue : {0, 7, -3})
    for (int i = 0; i < 20; ++i)
      push(*engine, [&order, queue] { order.push_back(queue); }, {}, {},
           {.priority = queue, .queue = queue});
  gate.open = true;
  CHECK(eventually([&] { return engine->unfinished() == 0; }));
  for (int i = 0; i < 60; i += 3)
    CHECK_EQUAL((std::set<int>{order[i], order[i + 1], order[i + 2]}).size(), 3u);
}

TEST("workers start lazily and only as many as there is work for") {
  auto engine = make_threaded_engine(4);
  CHECK_EQUAL(engine->thread_limit(), 4);
  CHECK_EQUAL(engine->workers_started(), 0);
  Variable x;
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK_EQUAL(engine->workers_started(), 1);
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, [] {}, {}, {&x});
  CHECK_EQUAL(engine->workers_started(), 1);
  for (int i = 0; i < 8; ++i) push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 4; }));
  CHECK_EQUAL(engine->workers_started(), 4);
  gate.open = true;
  engine->wait_all();
}

TEST("observers see every event of a task in order") {
  struct Recorder : Observer {
    std::mutex mutex;
    std::vector<std::string> events;
    void add(std::uint64_t task, std::string text) {
      const std::lock_guard lock(mutex);
      if (task == 2) events.push_back(std::move(text));
    }
    void pushed(std::uint64_t task, const char* label, int queue, int priority) override {
      add(task, std::string("pushed ") + label + std::to_string(queue) + std::to_string(priority));
    }
    void share_started(std::uint64_t task, const char*, int share, int) override {
      add(task, "started " + std::to_string(share));
    }
    void share_finished(std::uint64_t task, const char*, int share, int) override {
      add(task, "finished " + std::to_string(share));
    }
    void finished(std::uint64_t task, bool failed) override {
      add(task, failed ? "failed" : "done");
    }
  };
  for (auto& engine : every_engine()) {
    auto recorder = std::make_shared<Recorder>();
    engine->set_observer(recorder);
    Variable x;
    push(*engine, [] { busy(50us); }, {}, {&x});
    Variable* writes[] = {&x};
    engine->push(shares(1, [](int) { throw 1; }), {}, writes, {.priority = 3, .queue = 2});
    engine->wait_all();
    engine->set_observer(nullptr);
    push(*engine, [] {}, {}, {&x});
    engine->wait_all();
    const std::vector<std::string> expected = {"pushed parts23", "started 0", "finished 0",
                                               "failed"};
    CHECK(recorder->events == expected);
  }
}

TEST("a variable may be destroyed as soon as it is idle, a task may own its variables") {
  auto engine = make_threaded_engine(2);
  for (int i = 0; i < 2000; ++i) {
    auto owned = std::make_shared<Variable>();
    auto variable = std::make_unique<Variable>();
    push(*engine, [owned] {}, {owned.get()}, {variable.get()});
    owned.reset();
    while (!variable->idle()) std::this_thread::yield();
    variable.reset();
  }
  engine->wait_all();
}

TEST("a chain of a million tasks is waited for and destroyed without recursion") {
  const int length = thread_sanitizer ? 50'000 : 1'000'000;
  for (bool drop : {false, true}) {
    auto engine = make_threaded_engine(2);
    Variable x;
    Gate gate;
    std::atomic<int> runs{0};
    push(*engine, [&] { gate.pass(); }, {}, {&x});
    for (int i = 0; i < length; ++i) push(*engine, [&] { ++runs; }, {}, {&x});
    if (drop) {
      std::thread opener([&] {
        std::this_thread::sleep_for(5ms);
        gate.open = true;
      });
      engine->shutdown();
      opener.join();
      CHECK(x.idle());
    } else {
      gate.open = true;
      engine->wait(x);
      CHECK_EQUAL(runs.load(), length);
    }
  }
}

TEST("waiting for a long queue with many readers is not quadratic") {
  const int length = thread_sanitizer ? 10'000 : 100'000;
  auto engine = make_threaded_engine(2);
  Variable x;
  std::deque<Variable> outputs(length);
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  for (Variable& output : outputs) push(*engine, [] {}, {&x}, {&output});
  push(*engine, [] {}, {}, {&x});
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { engine->wait(x, WaitFor::write); });
  for (int i = 0; i < length; i += length / 100)
    engine->wait(outputs[i], WaitFor::read, {.timeout = 0ms});
  gate.open = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(Clock::now() - start < 10s);
}

TEST("shutdown drops what has not started and leaves variables idle") {
  auto engine = make_threaded_engine(2);
  Variable x, y;
  Gate gate;
  std::atomic<int> runs{0}, destroyed{0};
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  for (int i = 0; i < 10; ++i) {
    auto task = shares(2, [&](int) { ++runs; });
    task->on_destroy = [&] { ++destroyed; };
    Variable* writes[] = {&x, &y};
    engine->push(std::move(task), {}, writes);
  }
  std::atomic<int> shut_down{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i)
    waiters.emplace_back([&, i] {
      shut_down += (i == 0 ? engine->wait_all() : engine->wait(y)) == WaitResult::shut_down;
    });
  std::this_thread::sleep_for(10ms);
  std::thread stopper([&] { engine->shutdown(); });
  for (std::thread& waiter : waiters) waiter.join();
  CHECK_EQUAL(shut_down.load(), 3);
  gate.open = true;
  stopper.join();
  CHECK_EQUAL(runs.load(), 0);
  CHECK_EQUAL(destroyed.load(), 10);
  CHECK(x.idle() && y.idle());
  CHECK_EQUAL(engine->unfinished(), 0);
  CHECK_EQUAL(engine->workers_started(), 0);
  CHECK_EQUAL(push(*engine, [&] { ++runs; }, {}, {&x}), 0u);
  CHECK(engine->wait(x) == WaitResult::shut_down);
  engine->shutdown();
  CHECK_EQUAL(runs.load(), 0);
}

TEST("shutdown ends a running task at the end of its shares") {
  auto engine = make_threaded_engine(2);
  Variable x;
  std::atomic<int> runs{0}, finishes{0};
  auto task = shares(100'000, [&](int) {
    ++runs;
    busy(100us);
  });
  task->on_finish = [&] { ++finishes; };
  Variable* writes[] = {&x};
  engine->push(std::move(task), {}, writes);
  CHECK(eventually([&] { return runs > 2; }));
  const auto start = Clock::now();
  engine->shutdown();
  CHECK(Clock::now() - start < 1s);
  CHECK_EQUAL(finishes.load(), 0);
  CHECK(x.idle());
}

TEST("shutdown is safe while threads push and wait") {
  for (int round = 0; round < 50; ++round) {
    auto engine = make_threaded_engine(2);
    std::deque<Variable> variables(3);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        while (push(*engine, [] { busy(5us); }, {&variables[(t + 1) % 3]}, {&variables[t]}))
          if (engine->wait(variables[t]) == WaitResult::shut_down) break;
      });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 40));
    engine->shutdown();
    for (std::thread& thread : threads) thread.join();
    for (Variable& variable : variables) CHECK(variable.idle());
  }
}

TEST("the serial engine runs tasks inside push, threads take turns") {
  auto engine = make_serial_engine();
  Variable x;
  int value = 0;
  push(*engine,
       [&] {
         value = 1;
         CHECK(!x.readable());
       },
       {}, {&x});
  CHECK_EQUAL(value, 1);
  CHECK(x.idle());
  CHECK_EQUAL(engine->workers_started(), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) push(*engine, [&] { ++value; }, {}, {&x});
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(value, 2001);
  Gate gate;
  std::thread busy_thread([&] { push(*engine, [&] { gate.pass(); }, {}, {&x}); });
  CHECK(eventually([&] { return gate.arrived == 1; }));
  CHECK(engine->wait(x, WaitFor::read, {.timeout = 1ms}) == WaitResult::timed_out);
  CHECK(engine->wait_all({.interrupted = [] { return true; }}) == WaitResult::interrupted);
  gate.open = true;
  CHECK(engine->wait(x) == WaitResult::done);
  busy_thread.join();
  engine->shutdown();
  CHECK_EQUAL(push(*engine, [] {}, {}, {&x}), 0u);
  CHECK(engine->wait(x) == WaitResult::shut_down);
}

CHECK_MAIN
