// SPDX-License-Identifier: Apache-2.0
// Random programs leave the same bits with any choice of passes, on any engine, from any threads.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "lazy_program.h"

using namespace support;

namespace {

constexpr int steps = 25;

struct Setting {
  int threads;  // 0: serial
  lazy::PassSwitches passes;
  lazy::FuseOptions fusion;

  std::string text() const {
    return std::to_string(threads) + " threads, drop " + std::to_string(passes.drop) + ", fuse " +
           std::to_string(passes.fuse) + ", reuse " + std::to_string(passes.reuse);
  }
  std::unique_ptr<Window> window() const {
    auto made = threads ? threaded(threads) : serial();
    made->passes() = passes;
    made->fuse_options() = fusion;
    return made;
  }
};

/// Every choice of passes.
std::vector<Setting> settings(int threads, unsigned seed) {
  std::vector<Setting> all;
  for (const bool drop : {false, true}) {
    for (const bool fuse : {false, true}) {
      for (const bool reuse : {false, true}) {
        all.push_back({threads, {drop, fuse, reuse}, {0, seed % 3 ? 0 : 20000}});
      }
    }
  }
  return all;
}

/// After a program: nothing is left of it, in the window or anywhere.
void check_end(Window& window, const std::string& where) {
  const lazy::Statistics figures = window.statistics();
  if (figures.issued != figures.run + figures.dropped || figures.pending || figures.pending_bytes) {
    check::fail(__FILE__, __LINE__, where + ": calls are missing");
  }
  if (const auto failure = window.failures().take_first()) {
    check::fail(__FILE__, __LINE__, where + ": " + failure->message);
  }
}

/// Steps of one program, taken in turn by several threads. Whoever's turn it is has the issuing
/// right.
void run_in_turns(Program& program, Window& window, int threads) {
  std::mutex right;
  std::condition_variable turn_came;
  int next = 0;
  std::vector<std::thread> issuers;
  for (int me = 0; me < threads; ++me) {
    issuers.emplace_back([&, me] {
      for (;;) {
        std::unique_lock lock(right);
        turn_came.wait(lock, [&] { return next >= steps || next % threads == me; });
        if (next >= steps) return;
        std::optional<Array> read = program.step();
        ++next;
        turn_came.notify_all();
        if (!read) continue;
        // Others go on while this one waits.
        if (!window.make_ready(*read->storage, engine::WaitFor::read)) {
          Storage& storage = *read->storage;
          lock.unlock();
          window.wait(storage, engine::WaitFor::read, {});
          lock.lock();
        }
        read.reset();
        window.retire();
      }
    });
  }
  for (std::thread& issuer : issuers) issuer.join();
}

}  // namespace

TEST("random programs leave the same bits with any passes on any engine") {
  const unsigned programs = random_programs(200);
  std::int64_t fused = 0, dropped = 0;
  for (unsigned seed = 0; seed < programs; ++seed) {
    const std::vector<std::string> expected = expected_values(seed, steps);
    for (const Setting& setting : settings(std::array{0, 1, 2, 4}[seed % 4], seed)) {
      const std::string where = "program " + std::to_string(seed) + ", " + setting.text();
      const std::int64_t active = memory::pool().figures().active;
      auto window = setting.window();
      {
        Program program(seed, *window);
        for (int i = 0; i < steps; ++i) {
          const std::optional<Array> read = program.step();
          if (read) wait(*window, *read);
        }
        finish(*window);
        check_values(program.values(), expected, where);
        program.forget_all();
      }
      finish(*window);
      check_end(*window, where);
      fused += window->statistics().fused;
      dropped += window->statistics().dropped;
      if (!setting.passes.fuse) CHECK_EQUAL(window->statistics().fused, 0);
      if (!setting.passes.drop) CHECK_EQUAL(window->statistics().dropped, 0);
      // A worker may still be letting go of its last task.
      const auto is_clean = [&] {
        return !Storage::charged_bytes() && memory::pool().figures().active == active;
      };
      for (int i = 0; i < 1000 && !is_clean(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        finish(*window);
      }
      CHECK_EQUAL(Storage::charged_bytes(), 0);
      CHECK_EQUAL(memory::pool().figures().active, active);
    }
  }
  CHECK(programs < 4 || (fused && dropped));
}

TEST("programs that several threads issue in turns leave the same bits") {
  const unsigned programs = random_programs(100);
  for (unsigned seed = 1000; seed < 1000 + programs; ++seed) {
    const std::vector<std::string> expected = expected_values(seed, steps);
    for (const int threads : {1, 2, 4}) {
      const Setting setting{threads, {}, {0, 0}};
      const std::string where = "program " + std::to_string(seed) + ", " + setting.text();
      auto window = setting.window();
      Program program(seed, *window);
      run_in_turns(program, *window, 3);
      finish(*window);
      check_values(program.values(), expected, where);
      program.forget_all();
      finish(*window);
      check_end(*window, where);
    }
  }
}

CHECK_MAIN
