// SPDX-License-Identifier: Apache-2.0
// Tasks that put themselves off because they lack what others will give back.
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

constexpr int limits[] = {1, 2, 4};

/// How often a task was asked to prepare, and how.
struct Attempts {
  std::atomic<int> asked{0};
  std::atomic<int> pressed{0};
  int answer(bool must, bool can) {
    ++asked;
    pressed += must;
    return must || can ? 1 : not_now;
  }
};

/// A task that puts itself off unless `can` says that it need not, or it must.
std::unique_ptr<Parts> reluctant(
    Attempts& attempts, std::function<bool()> can, std::function<void()> run = [] {}) {
  auto task = std::make_unique<Parts>();
  task->on_prepare = [&attempts, can = std::move(can)](bool must) {
    return attempts.answer(must, can());
  };
  task->on_run = [run = std::move(run)](int) { run(); };
  return task;
}

std::uint64_t push(Engine& engine, std::unique_ptr<Task> task, Variables reads, Variables writes,
                   PushOptions options = {}) {
  return engine.push(std::move(task), span(reads), span(writes), options);
}
using support::push;

bool no() {
  return false;
}

}  // namespace

TEST("a task alone is asked once, then must, with or without somebody who waits") {
  for (int limit : limits)
    for (int way = 0; way < 4; ++way) {
      auto engine = make_threaded_engine(limit);
      Variable x, y;
      Attempts attempts;
      int value = 0;
      push(*engine, reluctant(attempts, no, [&] { value = 1; }), {}, {&x});
      push(*engine, [&] { value *= 5; }, {&x}, {&y});
      if (way == 0) CHECK(engine->wait(y) == WaitResult::done);
      if (way == 1) CHECK(engine->wait_all() == WaitResult::done);
      if (way == 2) CHECK(engine->wait_until(no) == WaitResult::done);
      if (way == 3) CHECK(eventually([&] { return y.idle(); }));
      CHECK_EQUAL(value, 5);
      CHECK_EQUAL(attempts.asked.load(), 2);
      CHECK_EQUAL(attempts.pressed.load(), 1);
    }
}

TEST("what a task gives back at its end, or when it is destroyed, serves a starved one") {
  for (bool destructor : {false, true}) {
    auto engine = make_threaded_engine(2);
    Variable x, y;
    Gate gate;
    Attempts attempts;
    std::atomic<bool> memory{false};
    auto holder = shares(1, [&](int) { gate.pass(); });
    (destructor ? holder->on_destroy : holder->on_finish) = [&] {
      busy(1ms);
      memory = true;
    };
    push(*engine, std::move(holder), {}, {&x});
    CHECK(eventually([&] { return gate.arrived == 1; }));
    push(*engine, reluctant(attempts, [&] { return memory.load(); }), {}, {&y});
    CHECK(eventually([&] { return attempts.asked == 1; }));
    gate.open = true;
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK_EQUAL(attempts.asked.load(), 2);
    CHECK_EQUAL(attempts.pressed.load(), 0);
  }
}

TEST("while another task runs, a starved one is asked when tasks end and not in between") {
  auto engine = make_threaded_engine(2);
  Variable x, y, z;
  Gate gate;
  Attempts attempts;
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, reluctant(attempts, no), {}, {&y});
  CHECK(engine->wait(y, WaitFor::read, {.timeout = 30ms}) == WaitResult::timed_out);
  CHECK(engine->wait_all({.timeout = 10ms}) == WaitResult::timed_out);
  CHECK_EQUAL(attempts.asked.load(), 1);
  for (int i = 2; i < 12; ++i) {
    push(*engine, [] {}, {}, {&z});
    CHECK(engine->wait(z) == WaitResult::done);
    CHECK(eventually([&] { return attempts.asked == i; }));
  }
  std::this_thread::sleep_for(10ms);
  CHECK_EQUAL(attempts.asked.load(), 11);
  CHECK_EQUAL(attempts.pressed.load(), 0);
  gate.open = true;
  CHECK(engine->wait(y) == WaitResult::done);
  CHECK_EQUAL(attempts.asked.load(), 13);
  CHECK_EQUAL(attempts.pressed.load(), 1);
}

TEST("a starved task keeps its place: earlier tasks end before it, dependants wait") {
  auto engine = make_threaded_engine(2);
  Variable x, y, other;
  Gate gate;
  Attempts attempts;
  std::vector<int> order;
  push(*engine, [&] { gate.pass(); }, {}, {&other});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, [&] { order.push_back(1); }, {}, {&x});
  push(*engine, reluctant(attempts, no, [&] { order.push_back(2); }), {&x}, {&y});
  push(*engine, [&] { order.push_back(3); }, {}, {&x}, {.priority = 9});
  push(*engine, [&] { order.push_back(4); }, {&y}, {&x}, {.queue = 1});
  CHECK(eventually([&] { return attempts.asked >= 1; }));
  CHECK(engine->wait(x, WaitFor::write, {.timeout = 10ms}) == WaitResult::timed_out);
  CHECK(order == std::vector<int>{1});
  CHECK_EQUAL(engine->unfinished(), 4);
  gate.open = true;
  engine->wait_all();
  CHECK(order == (std::vector<int>{1, 2, 3, 4}));
}

TEST("of several starved tasks the oldest must, one at a time, whatever their priority") {
  for (int limit : limits) {
    auto engine = make_threaded_engine(limit);
    constexpr int count = 20;
    std::vector<Variable> variables(count);
    Attempts attempts[count];
    Gate gate;
    std::atomic<int> running{0};
    std::atomic<bool> alone{true};
    std::vector<int> order;
    push(*engine, [&] { gate.pass(); }, {}, {});
    CHECK(eventually([&] { return gate.arrived == 1; }));
    for (int i = 0; i < count; ++i) {
      auto task = reluctant(attempts[i], no, [&, i] {
        order.push_back(i);
        busy(50us);
        --running;
      });
      task->on_prepare = [&, i](bool must) {
        if (must && ++running > 1) alone = false;
        return attempts[i].answer(must, false);
      };
      push(*engine, std::move(task), {}, {&variables[i]}, {.priority = i, .queue = i % 3});
    }
    gate.open = true;
    for (Variable& variable : variables) CHECK(engine->wait(variable) == WaitResult::done);
    CHECK(alone);
    for (int i = 0; i < count; ++i) {
      CHECK_EQUAL(order[i], i);
      CHECK_EQUAL(attempts[i].pressed.load(), 1);
    }
  }
}

TEST("nothing starts while a task that must is asked, also when it then fails") {
  for (bool fails : {false, true}) {
    auto engine = make_threaded_engine(2);
    Variable x, y;
    Gate gate;
    std::atomic<int> runs{0};
    auto task = shares(1, [](int) {});
    task->on_prepare = [&](bool must) {
      if (!must) return not_now;
      gate.pass();
      if (fails) throw std::runtime_error("no memory");
      return 1;
    };
    push(*engine, std::move(task), {}, {&x});
    CHECK(eventually([&] { return gate.arrived == 1; }));
    push(*engine, [&] { ++runs; }, {}, {&y});
    CHECK(engine->wait(y, WaitFor::read, {.timeout = 5ms}) == WaitResult::timed_out);
    CHECK_EQUAL(runs.load(), 0);
    gate.open = true;
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK(engine->wait_all() == WaitResult::done);
  }
}

TEST("a starved task that must may fail, and fails when it puts itself off again") {
  for (bool throws : {false, true}) {
    auto engine = make_threaded_engine(2);
    Variable x, y;
    int ran = 0, finished = 0;
    auto task = shares(1, [&](int) { ++ran; });
    task->on_prepare = [throws](bool must) {
      if (must && throws) throw std::logic_error("no memory");
      return not_now;
    };
    task->on_finish = [&] { ++finished; };
    push(*engine, std::move(task), {}, {&x});
    push(*engine, [&] { ran += 10; }, {&x}, {&y});
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK_THROWS(throws ? "no memory" : "put itself off", engine->wait(x));
    CHECK_EQUAL(ran, 10);
    CHECK_EQUAL(finished, 0);
  }
}

TEST("a starved task may be cut into shares") {
  for (int limit : limits) {
    auto engine = make_threaded_engine(limit);
    Variable x;
    std::atomic<int> runs{0};
    auto task = shares(9, [&](int) { ++runs; });
    task->on_prepare = [](bool must) { return must ? 9 : not_now; };
    push(*engine, std::move(task), {}, {&x});
    engine->wait(x);
    CHECK_EQUAL(runs.load(), 9);
  }
}

TEST("the serial engine never lets a task put itself off") {
  auto engine = make_serial_engine();
  Variable x;
  Attempts attempts;
  push(*engine, reluctant(attempts, no), {}, {&x});
  CHECK_EQUAL(attempts.asked.load(), 1);
  CHECK(engine->wait(x) == WaitResult::done);
  auto refusing = shares(1, [](int) {});
  refusing->on_prepare = [](bool) { return not_now; };
  push(*engine, std::move(refusing), {}, {&x});
  CHECK_THROWS("put itself off", engine->wait(x));
}

TEST("observers do not see that a task was put off") {
  struct Recorder : Observer {
    std::mutex mutex;
    std::string events;
    void add(std::uint64_t task, char event) {
      const std::lock_guard lock(mutex);
      if (task == 1) events += event;
    }
    void pushed(std::uint64_t task, const char*, int, int) override { add(task, 'p'); }
    void share_started(std::uint64_t task, const char*, int, int) override { add(task, 's'); }
    void share_finished(std::uint64_t task, const char*, int, int) override { add(task, 'e'); }
    void finished(std::uint64_t task, bool) override { add(task, 'f'); }
  };
  auto engine = make_threaded_engine(2);
  auto recorder = std::make_shared<Recorder>();
  engine->set_observer(recorder);
  Attempts attempts;
  push(*engine, reluctant(attempts, no), {}, {});
  engine->wait_all();
  engine->set_observer(nullptr);
  CHECK_EQUAL(recorder->events, "psef");
}

TEST("a task that waits for a starved one counts as not running") {
  for (int limit : limits) {
    auto engine = make_threaded_engine(limit);
    std::vector<Variable> outer(6), inner(6);
    Attempts attempts;
    std::atomic<int> runs{0};
    for (int i = 0; i < 6; ++i)
      push(*engine,
           [&, i] {
             push(*engine, reluctant(attempts, no, [&] { ++runs; }), {}, {&inner[i]});
             CHECK(engine->wait(inner[i]) == WaitResult::done);
           },
           {}, {&outer[i]});
    for (Variable& variable : outer) CHECK(engine->wait(variable) == WaitResult::done);
    CHECK_EQUAL(runs.load(), 6);
  }
}

TEST("with every worker inside a waiting task, an older starved task does not stand in the way") {
  for (bool helped : {false, true}) {
    auto engine = make_threaded_engine(1);
    Variable outer, inner, older;
    Gate gate;
    Attempts attempts;
    std::atomic<int> runs{0};
    push(*engine,
         [&] {
           gate.pass();
           push(*engine, reluctant(attempts, no, [&] { ++runs; }), {}, {&inner});
           CHECK(engine->wait(inner) == WaitResult::done);
           ++runs;
         },
         {}, {&outer});
    CHECK(eventually([&] { return gate.arrived == 1; }));
    push(*engine, reluctant(attempts, no, [&] { ++runs; }), {}, {&older});
    push(*engine, [&] { ++runs; }, {}, {});
    gate.open = true;
    if (helped) CHECK(engine->wait(outer) == WaitResult::done);
    CHECK(eventually([&] { return engine->unfinished() == 0; }));
    CHECK_EQUAL(runs.load(), 4);
  }
}

TEST("starved tasks wait for a task that waits and for one that computes") {
  auto engine = make_threaded_engine(3);
  Variable outer, inner, x;
  Gate gate;
  Attempts attempts;
  std::atomic<bool> waiting{false};
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine,
       [&] {
         push(*engine, reluctant(attempts, no), {}, {&inner});
         waiting = true;
         CHECK(engine->wait(inner) == WaitResult::done);
       },
       {}, {&outer});
  CHECK(eventually([&] { return waiting && attempts.asked == 1; }));
  std::this_thread::sleep_for(10ms);
  CHECK_EQUAL(attempts.asked.load(), 1);
  gate.open = true;
  CHECK(engine->wait(outer) == WaitResult::done);
  CHECK_EQUAL(attempts.pressed.load(), 1);
}

TEST("shutdown drops starved tasks") {
  auto engine = make_threaded_engine(2);
  Variable x, y, z;
  Gate gate;
  Attempts attempts;
  std::atomic<int> destroyed{0}, runs{0};
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  for (int i = 0; i < 3; ++i) {
    auto task = reluctant(attempts, no, [&] { ++runs; });
    task->on_destroy = [&] { ++destroyed; };
    push(*engine, std::move(task), {&y}, {});
  }
  push(*engine, [&] { ++runs; }, {}, {&y});
  CHECK(eventually([&] { return attempts.asked == 3; }));
  std::atomic<bool> shut_down{false};
  std::thread waiter([&] { shut_down = engine->wait(y) == WaitResult::shut_down; });
  std::thread stopper([&] { engine->shutdown(); });
  waiter.join();
  gate.open = true;
  stopper.join();
  CHECK(shut_down);
  CHECK_EQUAL(runs.load(), 0);
  CHECK_EQUAL(destroyed.load(), 3);
  CHECK_EQUAL(attempts.pressed.load(), 0);
  CHECK(x.idle() && y.idle());
  CHECK_EQUAL(engine->unfinished(), 0);
}

TEST("an attempt that is under way when the engine shuts down ends, and its task is dropped") {
  auto engine = make_threaded_engine(2);
  Variable x;
  Gate gate;
  std::atomic<bool> destroyed{false};
  auto task = shares(1, [](int) {});
  task->on_prepare = [&](bool) {
    gate.pass();
    return not_now;
  };
  task->on_destroy = [&] { destroyed = true; };
  push(*engine, std::move(task), {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  std::thread opener([&] {
    std::this_thread::sleep_for(5ms);
    gate.open = true;
  });
  engine->shutdown();
  opener.join();
  CHECK(destroyed && x.idle());
}

TEST("a fork does not wait for starved tasks") {
  auto engine = make_threaded_engine(2);
  Variable x, y;
  Attempts attempts;
  std::atomic<int> runs{0};
  push(*engine,
       shares(1000,
              [&](int) {
                ++runs;
                busy(50us);
              }),
       {}, {&x});
  CHECK(eventually([&] { return runs > 0; }));
  push(*engine, reluctant(attempts, no), {}, {&y}, {.priority = 1});
  CHECK(eventually([&] { return attempts.asked == 1; }));
  for (int i = 0; i < 5; ++i) {
    engine->before_fork();
    engine->after_fork_in_parent();
  }
  CHECK(runs < 1000);
  CHECK(engine->wait(y) == WaitResult::done);
  CHECK_EQUAL(runs.load(), 1000);
}

TEST("the wait of a helper that gave up leaves nobody stuck") {
  // The task that is waited for inside another has a helper outside, who leaves before it is ready.
  for (bool starved : {false, true}) {
    auto engine = make_threaded_engine(1);
    Variable outer, first, second;
    Gate outer_gate, first_gate;
    Attempts attempts;
    std::atomic<bool> waiting{false};
    push(*engine,
         [&] {
           outer_gate.pass();
           waiting = true;
           CHECK(engine->wait(second) == WaitResult::done);
         },
         {}, {&outer});
    CHECK(eventually([&] { return outer_gate.arrived == 1; }));
    push(*engine, [&] { first_gate.pass(); }, {}, {&first});
    push(*engine, reluctant(attempts, [=] { return !starved; }), {&first}, {&second});
    std::thread runner([&] { engine->wait(first); });
    std::this_thread::sleep_for(5ms);
    std::thread leaver([&] { engine->wait(second, WaitFor::read, {.timeout = 30ms}); });
    std::this_thread::sleep_for(5ms);
    outer_gate.open = true;
    CHECK(eventually([&] { return first_gate.arrived == 1; }));
    leaver.join();
    first_gate.open = true;
    runner.join();
    CHECK(eventually([&] { return outer.idle(); }));
  }
}

CHECK_MAIN
