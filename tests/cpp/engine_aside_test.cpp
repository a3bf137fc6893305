// SPDX-License-Identifier: Apache-2.0
// Tasks aside: on a thread of their own, whatever the others do.
#include <algorithm>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

constexpr PushOptions aside{.aside = true};

}  // namespace

TEST("neither workers nor threads that wait run a task aside") {
  for (int limit : {1, 2}) {
    auto engine = make_threaded_engine(limit);
    Variable x, busy_variable;
    Gate gate;
    // All workers are busy: such tasks do not wait for a slot.
    for (int i = 0; i < limit; ++i) push(*engine, [&] { gate.pass(); }, {&busy_variable}, {});
    std::vector<int> order;
    std::set<std::thread::id> threads;
    std::atomic<int> workers{0};
    for (int i = 0; i < 50; ++i)
      push(
          *engine,
          [&, i] {
            order.push_back(i);
            threads.insert(std::this_thread::get_id());
            workers += worker_index() >= 0;
          },
          {&x}, {}, aside);
    CHECK(engine->wait_all({.timeout = 0ns}) == WaitResult::timed_out);
    Variable y;
    push(*engine, [] {}, {}, {&y}, aside);
    CHECK(engine->wait(y) == WaitResult::done);
    CHECK(std::is_sorted(order.begin(), order.end()) && order.size() == 50);
    CHECK_EQUAL(threads.size(), 1u);
    CHECK(!threads.contains(std::this_thread::get_id()));
    CHECK_EQUAL(workers.load(), 0);
    gate.open = true;
    engine->wait_all();
    CHECK(engine->workers_started() <= limit);
  }
}

TEST("one at a time, but for those that wait") {
  auto engine = make_threaded_engine(2);
  std::deque<Variable> variables(3);
  std::atomic<int> inside{0}, most{0};
  const auto enter = [&] {
    const int now = ++inside;
    most = std::max(most.load(), now);
    busy(50us);
    --inside;
  };
  for (int i = 0; i < 100; ++i) push(*engine, enter, {}, {&variables[i % 3]}, aside);
  engine->wait_all();
  CHECK_EQUAL(most.load(), 1);
  // The one that waits needs one that comes later.
  Variable x, y;
  WaitResult result{};
  push(
      *engine,
      [&] {
        push(*engine, enter, {}, {&y}, aside);
        result = engine->wait(y);
      },
      {}, {&x}, aside);
  CHECK(engine->wait(x) == WaitResult::done);
  CHECK(result == WaitResult::done);
}

TEST("a wait inside a task for what depends on it is refused") {
  for (bool is_aside : {false, true}) {
    auto engine = make_threaded_engine(2);
    Variable x, y, z, other;
    WaitResult own{}, dependent{}, read{}, elsewhere{}, all{}, some{};
    std::atomic<bool> pushed{false}, later{false};
    push(*engine,
         [&] {
           eventually([&] { return pushed.load(); });
           own = engine->wait(x, WaitFor::write);
           dependent = engine->wait(z);
           read = engine->wait(y, WaitFor::write, {.timeout = 0ns});
           elsewhere = engine->wait(other);
           some = engine->wait_until([] { return false; });
           all = engine->wait_all();
           CHECK(!later);
         },
         {}, {&x}, {.aside = is_aside});
    push(*engine, [&] { later = true; }, {&x}, {&y});
    push(*engine, [] {}, {&y}, {&z}, {.aside = true});
    push(*engine, [] { busy(2ms); }, {}, {&other});
    push(*engine, [] { busy(2ms); }, {}, {&other}, {.aside = true});
    pushed = true;
    CHECK(engine->wait(z) == WaitResult::done);
    CHECK(own == WaitResult::itself);
    CHECK(dependent == WaitResult::itself);
    CHECK(read == WaitResult::itself);
    CHECK(elsewhere == WaitResult::done);
    CHECK(some == WaitResult::done);
    CHECK(all == WaitResult::done);
    CHECK(later);
  }
}

TEST("a serial task that waits for itself is told so") {
  auto engine = make_serial_engine();
  Variable x, y;
  WaitResult own{}, other{}, all{};
  push(
      *engine,
      [&] {
        own = engine->wait(x);
        other = engine->wait(y);
        all = engine->wait_all();
      },
      {}, {&x}, aside);
  CHECK(own == WaitResult::itself);
  CHECK(other == WaitResult::done);
  CHECK(all == WaitResult::done);
}

TEST("shutting down waits for no task aside, and abandons what it drops") {
  auto engine = make_threaded_engine(2);
  Variable x, y, z, w, v;
  Gate gate, started;
  std::atomic<int> abandoned{0};
  const auto counted = [&] {
    auto task = std::make_unique<Parts>();
    task->on_abandon = [&] { ++abandoned; };
    return task;
  };
  const auto add = [&](Variable& reads, Variable& writes, PushOptions options = {}) {
    Variable* const read[] = {&reads};
    Variable* const written[] = {&writes};
    return engine->push(counted(), read, written, options);
  };
  push(*engine, [&] { gate.pass(); }, {}, {&x}, aside);
  CHECK(eventually([&] { return gate.arrived == 1; }));
  add(x, y);         // depends on what runs: stays
  add(w, z, aside);  // the next one: dropped
  add(z, v);         // depends on what is dropped: dropped
  engine->shutdown();
  CHECK_EQUAL(abandoned.load(), 2);
  CHECK(z.idle() && v.idle() && !x.idle() && !y.idle());
  CHECK(engine->wait(y) == WaitResult::shut_down);
  CHECK_EQUAL(add(w, z), 0u);
  CHECK_EQUAL(abandoned.load(), 3);
  CHECK_EQUAL(add(w, y), 0u);  // another task may still write it
  CHECK_EQUAL(abandoned.load(), 3);
  gate.open = true;
  engine.reset();
  CHECK_EQUAL(abandoned.load(), 4);
  CHECK(x.idle() && y.idle());
}

TEST("a task aside that starves is tried again, and must run when nothing else does") {
  for (int limit : {1, 2}) {
    auto engine = make_threaded_engine(limit);
    std::deque<Variable> variables(4);
    std::atomic<int> asked{0}, pressed{0};
    for (int i = 0; i < 4; ++i) {
      auto task = std::make_unique<Parts>();
      task->on_prepare = [&](bool must) {
        ++asked;
        pressed += must;
        return must ? 1 : not_now;
      };
      Variable* writes[] = {&variables[i]};
      engine->push(std::move(task), {}, writes, {.aside = i % 2 == 0});
    }
    CHECK(engine->wait_all() == WaitResult::done);
    CHECK_EQUAL(pressed.load(), 4);
    CHECK(asked >= 8);
  }
}

// Threads that push, wait and hold at random, with a lock that every task aside takes and that the
// pushing threads hold, as an interpreter has one.
TEST("random schedules with the lock of an interpreter") {
  for (int seed = 0; seed < 20; ++seed) {
    auto engine = make_threaded_engine(1 + seed % 3);
    std::mutex interpreter;
    std::deque<Variable> variables(5);
    std::vector<int> sums(5), expected(5);
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(seed * 10 + t);
        for (int i = 0; i < 60; ++i) {
          const std::size_t to = random() % 5;
          const bool waits = random() % 8 == 0, is_aside = random() % 2;
          if (random() % 10 == 0) {
            engine->hold_asides();
            interpreter.lock();
            engine->before_fork();
            engine->after_fork_in_parent();
            interpreter.unlock();
            engine->let_asides_go();
          }
          {
            const std::lock_guard lock(interpreter);
            ++expected[to];
            push(*engine,
                 [&, to, waits, is_aside] {
                   if (is_aside) {
                     const std::lock_guard taken(interpreter);
                     busy(10us);
                   }
                   if (waits && is_aside) {
                     refused += engine->wait(variables[to]) == WaitResult::itself;
                     engine->wait_all({.timeout = 1ms});
                   }
                   ++sums[to];
                 },
                 {}, {&variables[to]}, {.aside = is_aside});
          }
          if (random() % 6 == 0) engine->wait(variables[random() % 5]);
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(engine->wait_all() == WaitResult::done);
    CHECK(sums == expected);
    CHECK(refused > 0);
  }
}

CHECK_MAIN
