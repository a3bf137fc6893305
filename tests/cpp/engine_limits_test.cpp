// SPDX-License-Identifier: Apache-2.0
// Limits of queues: how many threads compute for one, that nothing else waits for it, and that
// nothing hangs with waits, starved tasks, forks and shutdown.
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "engine_support.h"

using namespace support;

namespace {

/// Threads that compute at once, by queue.
struct Census {
  std::array<std::atomic<int>, 3> now{}, most{};
  void run(int queue, std::chrono::nanoseconds time) {
    const int count = ++now[queue];
    int seen = most[queue];
    while (count > seen && !most[queue].compare_exchange_weak(seen, count)) {
    }
    busy(time);
    --now[queue];
  }
};

void push_cut(Engine& engine, int count, std::function<void(int)> run, Variables writes,
              PushOptions options) {
  engine.push(shares(count, std::move(run)), {}, span(writes), options);
}

}  // namespace

TEST("no more threads compute for a queue than its limit, helpers included") {
  for (const bool helps : {false, true}) {
    auto engine = make_threaded_engine(4);
    engine->set_limit(0, 1);
    engine->set_limit(1, 2);
    Census census;
    Variable variables[60];
    for (int i = 0; i < 60; ++i)
      push_cut(*engine, 1 + i % 3, [&, queue = i % 3](int) { census.run(queue, 20us); },
               {&variables[i]}, {.queue = i % 3});
    if (helps)
      for (Variable& variable : variables) engine->wait(variable);
    CHECK(eventually([&] { return engine->unfinished() == 0; }));
    CHECK_EQUAL(census.most[0].load(), 1);
    CHECK(census.most[1] <= 2);
    CHECK(census.most[2] <= 4);
  }
}

TEST("a full queue keeps neither workers nor helpers from another") {
  auto engine = make_threaded_engine(3);
  engine->set_limit(0, 1);
  Gate gate;
  Variable first, second, other;
  push(*engine, [&] { gate.pass(); }, {}, {&first}, {.queue = 0});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, [] {}, {}, {&second}, {.priority = 5, .queue = 0});
  push(*engine, [] {}, {}, {&other}, {.queue = 1});
  CHECK(engine->wait(other) == WaitResult::done);
  CHECK(engine->wait(second, WaitFor::read, {.timeout = 5ms}) == WaitResult::timed_out);
  gate.open = true;
  CHECK(engine->wait(second) == WaitResult::done);
}

TEST("a limit that is raised or taken away lets more threads in at once") {
  for (const int raised : {0, 2}) {
    auto engine = make_threaded_engine(2);
    engine->set_limit(0, 1);
    std::atomic<int> arrived{0};
    for (int i = 0; i < 2; ++i)
      push(*engine,
           [&] {
             ++arrived;
             CHECK(eventually([&] { return arrived == 2; }));
           },
           {}, {});
    CHECK(eventually([&] { return arrived == 1; }));
    engine->set_limit(0, raised);
    CHECK(eventually([&] { return engine->unfinished() == 0; }));
  }
}

TEST("a limit that is lowered while more threads compute holds from the next share on") {
  auto engine = make_threaded_engine(4);
  Gate gate;
  Census census;
  for (int i = 0; i < 3; ++i) push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 3; }));
  engine->set_limit(0, 1);
  for (int i = 0; i < 20; ++i) push(*engine, [&] { census.run(0, 10us); }, {}, {});
  gate.open = true;
  CHECK(eventually([&] { return engine->unfinished() == 0; }));
  CHECK_EQUAL(census.most[0].load(), 1);
}

TEST("a task that waits for another one of its full queue lends its place") {
  for (const int threads : {1, 2}) {
    auto engine = make_threaded_engine(threads);
    engine->set_limit(0, 1);
    std::atomic<int> ended{0};
    for (int i = 0; i < 8; ++i)
      push(*engine,
           [&] {
             Variable inner;
             push_cut(*engine, 3, [](int) {}, {&inner}, {});
             if (engine->wait(inner, WaitFor::write) == WaitResult::done) ++ended;
           },
           {}, {});
    CHECK(eventually([&] { return engine->unfinished() == 0; }));
    CHECK_EQUAL(ended.load(), 8);
  }
}

TEST("a starved task behind a full queue runs when its time has come") {
  auto engine = make_threaded_engine(2);
  engine->set_limit(0, 1);
  Variable starved, after;
  auto task = std::make_unique<Parts>();
  task->on_prepare = [](bool must) { return must ? 2 : not_now; };
  Variable* const writes[] = {&starved};
  engine->push(std::move(task), {}, writes, {});
  for (int i = 0; i < 20; ++i) push(*engine, [] { busy(10us); }, {}, {});
  push(*engine, [] {}, {&starved}, {&after}, {.queue = 1});
  CHECK(engine->wait(after) == WaitResult::done);
  CHECK(engine->wait_all() == WaitResult::done);
}

TEST("both processes of a fork go on under limits, also from inside a task") {
  for (const bool inside : {false, true}) {
    auto engine = make_threaded_engine(2);
    engine->set_limit(0, 1);
    std::atomic<int> ran{0};
    std::atomic<bool> good{false};
    const auto fork_now = [&] {
      engine->before_fork();
      const pid_t child = fork();
      if (child == 0) {
        alarm(30);
        engine->after_fork_in_child();
        if (!inside && engine->wait_all() == WaitResult::done && ran == 40) _exit(0);
        if (inside) {
          // The place of this very task is taken: what it waits for needs it lent.
          Variable last;
          push(*engine, [] {}, {}, {&last});
          if (engine->wait(last) == WaitResult::done) _exit(0);
        }
        _exit(1);
      }
      engine->after_fork_in_parent();
      int status = -1;
      waitpid(child, &status, 0);
      good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
    for (int i = 0; i < 40; ++i) push(*engine, [&] { busy(10us), ++ran; }, {}, {});
    if (inside)
      push(*engine, fork_now, {}, {});
    else
      fork_now();
    CHECK(engine->wait_all() == WaitResult::done);
    CHECK(good);
    CHECK_EQUAL(ran.load(), 40);
  }
}

TEST("shutdown drops what a full queue keeps back, and wakes who waits for it") {
  auto engine = make_threaded_engine(2);
  engine->set_limit(0, 1);
  Gate gate;
  Variable first, second;
  bool ran = false;
  push(*engine, [&] { gate.pass(); }, {}, {&first});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  push(*engine, [&] { ran = true; }, {}, {&second});
  std::atomic<bool> told{false};
  std::thread waiter([&] { told = engine->wait(second) == WaitResult::shut_down; });
  std::thread opener([&] {
    CHECK(eventually([&] { return told.load(); }));
    gate.open = true;
  });
  engine->shutdown();
  waiter.join();
  opener.join();
  CHECK(!ran);
  CHECK(second.idle());
}

CHECK_MAIN
