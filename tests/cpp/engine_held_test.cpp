// SPDX-License-Identifier: Apache-2.0
// Held tasks: they start when they are let go, and not before.
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

struct Silent final : Observer {};

}  // namespace

TEST("a held task keeps its place until it is let go, with and without an observer") {
  for (const bool observed : {false, true}) {
    auto engine = make_threaded_engine(2);
    if (observed) engine->set_observer(std::make_shared<Silent>());
    Variable x, other;
    std::vector<int> order;
    push(*engine, [&] { order.push_back(1); }, {}, {&x});
    const auto held = push(*engine, [&] { order.push_back(2); }, {}, {&x}, {.held = true});
    push(*engine, [&] { order.push_back(3); }, {}, {&x});
    push(*engine, [] {}, {}, {&other});
    CHECK(engine->wait(other) == WaitResult::done);
    CHECK(engine->wait(x, WaitFor::read, {.timeout = 5ms}) == WaitResult::timed_out);
    CHECK(eventually([&] { return engine->stalled(); }));
    engine->let_go(held);
    CHECK(engine->wait(x) == WaitResult::done);
    CHECK(order == (std::vector{1, 2, 3}));
    engine->let_go(held);  // it has ended
    CHECK(!engine->stalled());
  }
}

TEST("a task that lets another one go wakes who waits for it") {
  for (const int threads : {1, 2, 4}) {
    auto engine = make_threaded_engine(threads);
    for (int round = 0; round < 50; ++round) {
      Variable x, trigger;
      std::atomic<bool> opened{false};
      const auto held = push(*engine, [&] { CHECK(opened); }, {}, {&x}, {.held = true});
      push(*engine, [&, held] { opened = true, engine->let_go(held); }, {}, {&trigger});
      CHECK(engine->wait(x) == WaitResult::done);
      CHECK(engine->wait(trigger, WaitFor::write) == WaitResult::done);
    }
  }
}

TEST("a task may be let go before what it depends on has ended") {
  auto engine = make_threaded_engine(2);
  Gate gate;
  Variable x, y;
  push(*engine, [&] { gate.pass(); }, {}, {&x});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  const auto held = push(*engine, [&] { CHECK(gate.open); }, {&x}, {&y}, {.held = true});
  engine->let_go(held);
  CHECK(!engine->stalled());
  gate.open = true;
  CHECK(engine->wait(y) == WaitResult::done);
}

TEST("a held task is held in both processes of a fork") {
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
  engine->before_fork();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    engine->after_fork_in_child();
    _exit(finish() ? 0 : 1);
  }
  engine->after_fork_in_parent();
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(finish());
}

TEST("shutdown drops held tasks") {
  auto engine = make_threaded_engine(2);
  Variable x;
  bool ran = false;
  push(*engine, [&] { ran = true; }, {}, {&x}, {.held = true});
  engine->shutdown();
  CHECK(!ran);
  CHECK(x.idle());
}

CHECK_MAIN
