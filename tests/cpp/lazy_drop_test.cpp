// SPDX-License-Identifier: Apache-2.0
// What nobody can observe is not run, wherever it is: in the window or in the engine's queues.
#include "lazy_support.h"

using namespace support;

namespace {

void check_sums(Window& window) {
  const lazy::Statistics figures = window.statistics();
  CHECK_EQUAL(figures.issued, figures.run + figures.dropped);
  CHECK_EQUAL(figures.pending, 0);
  CHECK_EQUAL(figures.pending_bytes, 0);
}

/// Hands the call over to the engine.
void publish(Window& window, const Array& array) {
  window.make_ready(*array.storage, engine::WaitFor::read);
}

}  // namespace

TEST("of a thousand overwritten results a few are computed") {
  auto window = threaded(2);
  const Array x = filled({1000, 1000}, 1);
  Array y;
  {
    Gate gate(*window);
    for (int i = 0; i < 1000; ++i) {
      let_go(*window, y);
      y = apply(*window, "add", x, i);
    }
    window->publish_all();
  }
  CHECK_EQUAL(value(*window, y), 1000.0f);
  finish(*window);
  // Without the gates: the last one.
  CHECK_EQUAL(window->statistics().run - window->engine().thread_limit(), 1);
  check_sums(*window);
}

TEST("results that are overwritten while the engine is free are dropped as well") {
  auto window = threaded(1);
  const Array x = filled({1000, 1000}, 1);
  Array y;
  for (int i = 0; i < 1000; ++i) y = apply(*window, "add", x, i);
  CHECK_EQUAL(value(*window, y), 1000.0f);
  finish(*window);
  CHECK(window->statistics().dropped > 0);
  check_sums(*window);
}

TEST("with the pass off everything runs") {
  auto window = threaded(1);
  window->passes().drop = false;
  const Array x = filled({100, 100}, 1);
  for (int i = 0; i < 50; ++i) apply(*window, "add", x, i);
  finish(*window);
  CHECK_EQUAL(window->statistics().run, 50);
  CHECK_EQUAL(window->statistics().dropped, 0);
}

TEST("calls in the engine are dropped when their handles die, by whoever would start them") {
  auto window = threaded(1);
  const Array x = filled({1000, 1000}, 1);
  std::vector<Array> results;
  Array kept;
  {
    Gate gate(*window);
    for (int i = 0; i < 20; ++i)
      publish(*window, results.emplace_back(apply(*window, "add", x, i)));
    CHECK(window->engine().unfinished() > 20);
    kept = results[7];
    results.clear();
    gate.open();
    window->wait_all({});
  }
  CHECK_EQUAL(window->statistics().dropped, 19);
  CHECK_EQUAL(window->statistics().run, 2);  // the gate and the one that was kept
  CHECK_EQUAL(value(*window, kept), 8.0f);
  finish(*window);
  check_sums(*window);
}

TEST("a chain in the engine goes with its end; a part that is held does not") {
  auto window = threaded(1);
  window->passes().fuse = false;
  const Array x = filled({1000, 1000}, 1);
  Array middle, end;
  {
    Gate gate(*window);
    middle = apply(*window, "add", apply(*window, "multiply", x, 2.0), 1.0);
    end = call(*window, "negative", {apply(*window, "add", middle, 5.0)});
    publish(*window, end);
    end = {};
    gate.open();
    window->wait_all({});
  }
  CHECK_EQUAL(window->statistics().dropped, 2);
  CHECK_EQUAL(value(*window, middle), 3.0f);
  finish(*window);
  check_sums(*window);
}

TEST("a task that is kept finds what all of its calls read") {
  for (const bool fuse : {false, true}) {
    auto window = threaded(1);
    window->passes().fuse = fuse;
    window->fuse_options() = {0, 0};
    const Array x = filled({1000, 1000}, 1), other = filled({30000}, 3);
    Array second;
    {
      Gate gate(*window);
      // A task of its own, which only the first call of the next task reads.
      Array made = apply(*window, "add", x, 1.0);
      publish(*window, made);
      // Two calls that go to the engine as one task; only the second stays wanted.
      made.layout = Layout::contiguous(Shape{30000});
      Array first = apply(*window, "add", made, other);
      second = apply(*window, "multiply", other, 2.0);
      let_go(*window, made);
      window->publish_all();
      CHECK_EQUAL(window->engine().unfinished(), 3);
      let_go(*window, first);
      window->publish_all();  // looks at what is in the engine again
      gate.open();
      window->wait_all({});
    }
    CHECK_EQUAL(value(*window, second), 6.0f);
    finish(*window);
    check_sums(*window);
  }
}

TEST("a write into a held storage stays though its own handle dies") {
  for (auto& window : {threaded(1), threaded(2)}) {
    const Array x = filled({1000, 1000}, 1);
    const Array y = filled({1000, 1000}, 0);
    {
      Gate gate(*window);
      {
        const Array part = rows_of(y, 10, 20);
        apply(*window, "add", rows_of(x, 10, 20), 1.0, &part);
        publish(*window, part);
      }
      window->publish_all();
    }
    CHECK_EQUAL(value(*window, y, 10 * 1000), 2.0f);
    CHECK_EQUAL(value(*window, y, 9 * 1000), 0.0f);
    finish(*window);
    CHECK_EQUAL(window->statistics().dropped, 0);
    check_sums(*window);
  }
}

TEST("a dropped call raises nothing") {
  for (const bool in_engine : {false, true}) {
    for (const bool drop : {false, true}) {
      auto window = threaded(1);
      window->passes().drop = drop;
      const Array x = filled({1000, 1000}, 1);
      {
        Gate gate(*window);
        lazy::inject_failure(0, ErrorKind::value);
        const Array bad = apply(*window, "add", x, 1.0);
        if (in_engine) publish(*window, bad);
      }
      finish(*window);
      CHECK((window->failures().take_first() == nullptr) == drop);
      CHECK_EQUAL(window->statistics().dropped, drop ? 1 : 0);
      check_sums(*window);
    }
  }
}

TEST("a call is dropped from the window when room is made, before anything runs") {
  auto window = threaded(1);
  window->set_run_ahead({.held_bytes = 1e12, .bytes = 5e6, .seconds = 1e9});
  const Array x = filled({1000, 1000}, 1);
  {
    Gate gate(*window);
    Array y;
    for (int i = 0; i < 10; ++i) {
      y = apply(*window, "add", x, i);
      if (window->is_full()) CHECK(window->make_room() == Window::Room::enough);
    }
    CHECK(window->statistics().dropped > 0);
  }
  finish(*window);
  check_sums(*window);
}

CHECK_MAIN
