// SPDX-License-Identifier: Apache-2.0
// How far issuing threads run ahead: the limits hold, nobody waits for ever, and the account comes
// back to zero.
#include <mutex>
#include <thread>

#include "lazy_program.h"

using namespace support;

namespace {

// What a call is counted with besides its result.
constexpr double record = 4096;

void make_room(Window& window) {
  if (!window.is_full()) return;
  const Window::Room room = window.make_room();
  if (room != Window::Room::enough)
    CHECK(window.wait_for_room(room, {}) == engine::WaitResult::done);
  window.retire();
}

double run_ahead(Window& window) {
  return static_cast<double>(window.statistics().run_ahead_bytes);
}

}  // namespace

TEST("the bytes of unfinished results stay within the limit and one call") {
  constexpr std::int64_t size = 50000;
  constexpr double call_bytes = size * sizeof(float);
  for (const int threads : {1, 2}) {
    for (const double limit : {0.0, 1000.0, call_bytes, 3.5 * call_bytes, 100 * call_bytes}) {
      auto window = threaded(threads);
      window->set_run_ahead({.held_bytes = 1e12, .bytes = limit, .seconds = 1e9});
      const Array x = filled({size}, 1);
      std::vector<Array> results;
      bool waited = false;
      for (int i = 0; i < 60; ++i) {
        waited = waited || window->is_full();
        make_room(*window);
        results.push_back(apply(*window, "add", x, i));
        CHECK(run_ahead(*window) <= limit + call_bytes + record);
      }
      CHECK_EQUAL(waited, limit < 60 * call_bytes);
      for (int i = 0; i < 60; ++i) CHECK_EQUAL(value(*window, results[i]), 1.0f + i);
      finish(*window);
      CHECK_EQUAL(window->statistics().run_ahead_bytes, 0);
    }
  }
}

TEST("the estimated time of unfinished calls stays within its limit") {
  for (const double limit : {0.0, 1e-3}) {
    auto window = threaded(1);
    window->set_run_ahead({.held_bytes = 1e12, .bytes = 1e12, .seconds = limit});
    const Array x = filled({500, 500}, 1);
    std::vector<Array> results;
    for (int i = 0; i < 60; ++i) {
      make_room(*window);
      results.push_back(apply(*window, "add", x, i));
      CHECK(window->statistics().run_ahead_seconds <= limit + 1e-4);
    }
    finish(*window);
    CHECK_EQUAL(window->statistics().run_ahead_seconds, 0.0);
  }
}

TEST("what the program made and forgot is charged until nobody reads it") {
  auto window = threaded(1);
  constexpr std::int64_t size = 100000, bytes = size * 4;
  std::vector<Array> results;
  {
    Gate gate(*window);
    for (int i = 0; i < 5; ++i) {
      Array batch = filled({size}, static_cast<float>(i));
      results.push_back(apply(*window, "add", batch, 1.0));
      CHECK_EQUAL(Storage::charged_bytes(), i * bytes);
      let_go(*window, batch);
      CHECK_EQUAL(Storage::charged_bytes(), (i + 1) * bytes);
    }
    window->publish_all();
    CHECK_EQUAL(Storage::charged_bytes(), 5 * bytes);
    gate.open();
    window->wait_all({});
    CHECK_EQUAL(Storage::charged_bytes(), 0);  // before anybody retires anything
  }
  CHECK_EQUAL(value(*window, results[4]), 5.0f);
  finish(*window);
}

TEST("only the last handle of a value that exists and is needed is charged") {
  auto window = threaded(1);
  constexpr std::int64_t size = 100000;
  {
    Gate gate(*window);
    Array x = filled({size}, 1), small = filled({10}, 1), unused = filled({size}, 1);
    const Array also = x;
    const Array y = apply(*window, "add", x, 1.0);
    const Array z = apply(*window, "add", small, 1.0);
    Array unmade = apply(*window, "add", x, 2.0);
    const Array reader = apply(*window, "add", unmade, 2.0);
    let_go(*window, x);       // another handle is left
    let_go(*window, small);   // not worth an account
    let_go(*window, unused);  // no call reads it
    let_go(*window, unmade);  // counted as the result of its call
    CHECK_EQUAL(Storage::charged_bytes(), 0);
    window->publish_all();
  }
  finish(*window);
  CHECK_EQUAL(Storage::charged_bytes(), 0);
}

TEST("a dropped call lets go of what was charged for it") {
  auto window = threaded(1);
  {
    Gate gate(*window);
    Array batch = filled({100000}, 1);
    Array result = apply(*window, "add", batch, 1.0);
    let_go(*window, batch);
    CHECK(Storage::charged_bytes() > 0);
    let_go(*window, result);
    window->publish_all();
    window->retire();
    CHECK_EQUAL(Storage::charged_bytes(), 0);
  }
  finish(*window);
}

TEST("forgotten batches keep to the limit for held bytes") {
  constexpr std::int64_t size = 100000;
  constexpr double bytes = size * 4;
  for (const int threads : {1, 2}) {
    for (const double limit : {0.0, 2.5 * bytes}) {
      auto window = threaded(threads);
      window->set_run_ahead({.held_bytes = limit, .bytes = 1e12, .seconds = 1e9});
      Array sum = filled({size}, 0);
      for (int i = 0; i < 60; ++i) {
        Array batch = filled({size}, 1);
        make_room(*window);
        apply(*window, "add", sum, batch, &sum);
        let_go(*window, batch);
        CHECK(static_cast<double>(Storage::charged_bytes()) <= limit + bytes);
      }
      CHECK_EQUAL(value(*window, sum), 60.0f);
      finish(*window);
      CHECK_EQUAL(Storage::charged_bytes(), 0);
    }
  }
}

TEST("random programs under small limits end, with the same bits and an empty account") {
  constexpr int steps = 15;
  for (unsigned seed = 0; seed < random_programs(40); ++seed) {
    const auto expected = expected_values(seed, steps);
    for (const int threads : {1, 2}) {
      auto window = threaded(threads);
      window->fuse_options() = {0, 0};
      const double limit = std::array{0.0, 500.0, 1e5, 1e6}[seed % 4];
      window->set_run_ahead({.held_bytes = limit, .bytes = limit, .seconds = 1e9});
      Program program(seed, *window, [&] { make_room(*window); });
      for (int i = 0; i < steps; ++i) {
        if (const auto read = program.step()) wait(*window, *read);
      }
      finish(*window);
      check_values(program.values(), expected, "program " + std::to_string(seed));
      program.forget_all();
      finish(*window);
      CHECK_EQUAL(Storage::charged_bytes(), 0);
      CHECK_EQUAL(window->statistics().run_ahead_bytes, 0);
    }
  }
}

TEST("several threads that wait for room all get on") {
  constexpr int rounds = 60;
  constexpr std::int64_t size = 30000;
  for (const int workers : {1, 2}) {
    for (const double limit : {0.0, 5e5}) {
      auto window = threaded(workers);
      window->set_run_ahead({.held_bytes = limit, .bytes = limit, .seconds = 1e9});
      std::mutex right;
      std::vector<Array> sums;
      for (int i = 0; i < 3; ++i) sums.push_back(filled({size}, 0));
      std::vector<std::thread> issuers;
      for (int me = 0; me < 3; ++me) {
        issuers.emplace_back([&, me] {
          for (int i = 0; i < rounds; ++i) {
            std::unique_lock lock(right);
            if (window->is_full()) {
              const Window::Room room = window->make_room();
              if (room != Window::Room::enough) {
                lock.unlock();
                window->wait_for_room(room, {});
                lock.lock();
              }
              window->retire();
            }
            apply(*window, "add", sums[static_cast<std::size_t>(me)], 1.0,
                  &sums[static_cast<std::size_t>(me)]);
          }
        });
      }
      for (std::thread& issuer : issuers) issuer.join();
      for (const Array& sum : sums) CHECK_EQUAL(value(*window, sum), static_cast<float>(rounds));
      finish(*window);
      CHECK_EQUAL(window->statistics().run_ahead_bytes, 0);
    }
  }
}

TEST("the serial engine never waits for room") {
  auto window = serial();
  window->set_run_ahead({.held_bytes = 0, .bytes = 0, .seconds = 0});
  const Array x = filled({1000}, 1);
  const Array y = apply(*window, "add", x, 1.0);
  CHECK(!window->is_full());
  CHECK_EQUAL(value(*window, y), 2.0f);
}

CHECK_MAIN
