// SPDX-License-Identifier: Apache-2.0
// The window with real ops: order, publishing, poison, random programs against plain loops.
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "lazy/passes/needed.h"
#include "lazy_support.h"

using namespace support;

TEST("tiny work is held until it is read, then runs on the reading thread") {
  auto window = threaded(2);
  const Array x = filled({2}, 1);
  const Array y = apply(*window, "add", x, 1.0);
  CHECK_EQUAL(window->statistics().pending, 1);
  CHECK_EQUAL(value(*window, y), 2.0f);
  CHECK_EQUAL(window->engine().workers_started(), 0);
  CHECK_EQUAL(window->statistics().pending, 0);
}

TEST("held work that is worth a thread is published though nobody asks") {
  auto window = threaded(2);
  const Array x = filled({1000, 1000}, 1);
  const Array y = apply(*window, "add", x, 1.0);
  for (int i = 0; i < 2000 && !y.storage->variable.idle(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < 2000 && window->statistics().run == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK_EQUAL(window->statistics().run, 1);
  finish(*window);
}

TEST("a large product starts by itself with what it depends on") {
  auto window = threaded(2);
  const Array x = filled({400, 400}, 1);
  const Array scaled = apply(*window, "multiply", filled({2}, 1), 2.0);
  const Array y = dot(*window, apply(*window, "add", x, 1.0), x);
  for (int i = 0; i < 2000 && window->statistics().run < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(window->statistics().run >= 2);
  CHECK_EQUAL(value(*window, y), 800.0f);
  finish(*window);
}

TEST("reading publishes only what it needs") {
  auto window = threaded(1);
  const Array x = filled({2}, 1);
  const Array a = apply(*window, "add", x, 1.0);
  const Array b = apply(*window, "add", x, 2.0);
  const Array c = apply(*window, "multiply", a, 3.0);
  CHECK_EQUAL(value(*window, c), 6.0f);
  CHECK_EQUAL(window->statistics().pending, 1);
  CHECK_EQUAL(value(*window, b), 3.0f);
}

TEST("needed_for follows reads, writes and overwritten inputs") {
  const auto call = [](std::vector<Array> inputs, const Array& output) {
    auto* made = lazy::Call::create();
    for (const Array& input : inputs) static_cast<Array&>(made->inputs.emplace_back()) = input;
    static_cast<Array&>(made->outputs.emplace_back()) = output;
    return made;
  };
  const Array x = filled({2}, 0), y = filled({2}, 0), z = filled({2}, 0), other = filled({2}, 0);
  std::vector<lazy::Call*> pending = {call({x}, y), call({other}, other), call({y}, z),
                                      call({other}, y)};
  const auto for_z = needed_for(pending, *z.storage, false);
  CHECK_EQUAL(for_z.size(), 2u);  // y from x, z from y; the later write to y does not matter
  CHECK(for_z[0] == pending[0] && for_z[1] == pending[2]);
  const auto for_y = needed_for(pending, *y.storage, false);
  CHECK_EQUAL(for_y.size(), 4u);  // the write to y must wait for z's read of it
  CHECK_EQUAL(needed_for(pending, *x.storage, false).size(), 0u);
  CHECK_EQUAL(needed_for(pending, *x.storage, true).size(), 1u);  // its reader
  for (lazy::Call* made : pending) lazy::Call::destroy(made);
}

TEST("a write through an overlapping view computes the right side first") {
  for (auto& window : {threaded(2), serial()}) {
    Array x = filled({6}, 0);
    for (int i = 0; i < 6; ++i) reinterpret_cast<float*>(x.data())[i] = static_cast<float>(i);
    const Array target = slice(x, 1, 5);
    apply(*window, "add", slice(x, 0, 5), 1.0, &target);  // x[1:] = x[:-1] + 1
    for (int i = 0; i < 6; ++i) CHECK_EQUAL(value(*window, x, i), static_cast<float>(i));
    finish(*window);
  }
}

TEST("a failure poisons what depends on it and nothing else; a full overwrite heals") {
  for (auto& window : {threaded(2), serial()}) {
    const Array x = filled({2}, 1);
    lazy::inject_failure(0, ErrorKind::value);
    const Array bad = apply(*window, "add", x, 1.0);
    const Array worse = apply(*window, "add", bad, 1.0);
    const Array good = apply(*window, "add", x, 5.0);
    CHECK_EQUAL(value(*window, good), 6.0f);
    wait(*window, worse);
    CHECK(worse.storage->failure != nullptr);
    CHECK(worse.storage->failure->kind == ErrorKind::value);
    CHECK(worse.storage->failure->message.find("[add]") == 0);
    CHECK(worse.storage->failure->message.find("(2,) float32") != std::string::npos);
    apply(*window, "add", x, 7.0, &bad);
    CHECK_EQUAL(value(*window, bad), 8.0f);
    CHECK(!bad.storage->failure);
    finish(*window);
    CHECK(window->failures().take_first() != nullptr);
    CHECK(window->failures().take_first() == nullptr);
  }
}

TEST("a partial write leaves a poisoned storage poisoned") {
  auto window = threaded(2);
  const Array x = filled({4}, 1);
  lazy::inject_failure(0, ErrorKind::mxnet);
  apply(*window, "add", x, 1.0, &x);
  const Array part = slice(x, 0, 2);
  apply(*window, "add", filled({2}, 1), 1.0, &part);
  wait(*window, x);
  CHECK(x.storage->failure != nullptr);
  finish(*window);
}

TEST("an allocation that fails once is tried again") {
  auto window = threaded(2);
  const Array x = filled({100, 100}, 1);
  memory::pool().fail_allocation(0);
  CHECK_EQUAL(value(*window, apply(*window, "add", x, 1.0)), 2.0f);
  finish(*window);
  memory::pool().fail_allocation(-1);
}

TEST("an allocation that keeps failing poisons its call only") {
  auto window = threaded(2);
  const Array x = filled({100, 100}, 1);
  memory::pool().fail_allocation(0, 1000);
  const Array bad = apply(*window, "add", x, 1.0);
  wait(*window, bad);
  memory::pool().fail_allocation(-1);
  const Array good = apply(*window, "add", x, 2.0);
  wait(*window, good);
  CHECK(bad.storage->failure && bad.storage->failure->kind == ErrorKind::memory);
  CHECK_EQUAL(value(*window, good), 3.0f);
  finish(*window);
}

namespace {

/// A random program over a few arrays and slices of them, in floats that stay exact integers.
void run_random_program(unsigned seed, Window& window, std::vector<std::vector<float>>& state,
                        std::vector<Array>& arrays, bool large) {
  std::mt19937 random(seed);
  const std::int64_t length = large ? 70000 : 24;
  const int count = 4;
  state.assign(count, std::vector<float>(static_cast<std::size_t>(length)));
  arrays.clear();
  for (int i = 0; i < count; ++i) {
    arrays.push_back(filled({length}, static_cast<float>(i + 1)));
    state[i].assign(static_cast<std::size_t>(length), static_cast<float>(i + 1));
  }
  const auto wrapped = [](float number) { return std::fmod(number, 4096.0f); };
  for (int step = 0; step < 30; ++step) {
    const std::int64_t run = 1 + random() % (length / 3), stride = 1 + random() % 2;
    const auto start = [&] { return random() % (length - run * stride + 1); };
    const std::int64_t from = start(), other = start(), to = start();
    const auto a = random() % count, b = random() % count, c = random() % count;
    const Array left = slice(arrays[a], from, run, stride);
    const Array right = slice(arrays[b], other, run, stride);
    const Array target = slice(arrays[c], to, run, stride);
    const Array sum = apply(window, "add", left, right);
    apply(window, "modulo", sum, 4096.0, &target);
    std::vector<float> result(static_cast<std::size_t>(run));
    for (std::int64_t i = 0; i < run; ++i) {
      result[i] = wrapped(state[a][from + i * stride] + state[b][other + i * stride]);
    }
    for (std::int64_t i = 0; i < run; ++i) state[c][to + i * stride] = result[i];
    if (random() % 8 == 0) CHECK_EQUAL(value(window, arrays[c], to), state[c][to]);
    if (random() % 16 == 0) finish(window);
  }
}

}  // namespace

TEST("random programs with overlapping slices equal plain loops") {
  const unsigned programs = random_programs(600);
  for (auto& window : {threaded(1), threaded(2), threaded(4), serial()}) {
    std::vector<std::vector<float>> state;
    std::vector<Array> arrays;
    for (unsigned seed = 0; seed < programs; ++seed) {
      run_random_program(seed, *window, state, arrays, seed % 10 == 0);
      finish(*window);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto bytes = state[i].size() * sizeof(float);
        if (std::memcmp(arrays[i].data(), state[i].data(), bytes) != 0) {
          check::fail(__FILE__, __LINE__, "program " + std::to_string(seed) + " differs");
        }
      }
    }
    CHECK_EQUAL(window->statistics().pending, 0);
  }
}

TEST("shutdown with work held and queued is clean") {
  auto window = threaded(2);
  const Array x = filled({500, 500}, 1);
  std::vector<Array> kept;
  for (int i = 0; i < 200; ++i) kept.push_back(apply(*window, "add", x, 1.0));
  window->shutdown();
  window->retire();
}

CHECK_MAIN
