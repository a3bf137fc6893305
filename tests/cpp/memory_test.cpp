// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "check.h"

using afterglow::Error;
using afterglow::ErrorKind;
using afterglow::memory::Pool;
using afterglow::memory::rounded_size;

TEST("sizes are rounded up by a quarter at most, to whole lines and huge pages") {
  for (std::size_t bytes = 1; bytes < (std::size_t{64} << 20); bytes = bytes * 9 / 8 + 1) {
    const std::size_t rounded = rounded_size(bytes);
    CHECK(rounded >= bytes);
    CHECK_EQUAL(rounded % 64, 0u);
    if (bytes >= 256 && bytes < (2u << 20)) CHECK(rounded <= bytes + bytes / 4 + 64);
    if (bytes >= (2u << 20)) CHECK_EQUAL(rounded % (2u << 20), 0u);
    CHECK_EQUAL(rounded_size(rounded), rounded);
  }
}

TEST("a released block is handed out again") {
  Pool pool;
  for (std::size_t bytes : {100u, 5000u, 3000000u}) {
    void* first = pool.allocate(bytes);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, bytes);
    pool.release(first, bytes);
    void* second = pool.allocate(bytes);
    CHECK_EQUAL(first, second);
    pool.release(second, bytes);
  }
}

TEST("figures tell what is active, what is cached and the peak") {
  Pool pool;
  void* block = pool.allocate(1 << 20);
  CHECK_EQUAL(pool.figures().active, 1 << 20);
  void* other = pool.allocate(1 << 20);
  pool.release(other, 1 << 20);
  CHECK_EQUAL(pool.figures().active, 1 << 20);
  CHECK_EQUAL(pool.figures().cached, 1 << 20);
  CHECK_EQUAL(pool.figures().peak, 2 << 20);
  pool.trim();
  CHECK_EQUAL(pool.figures().cached, 0);
  pool.reset_peak();
  CHECK_EQUAL(pool.figures().peak, 1 << 20);
  pool.release(block, 1 << 20);
  CHECK_EQUAL(pool.figures().active, 0);
}

TEST("past the cap allocation throws, below it caches give way") {
  Pool pool;
  pool.set_cap(8 << 20);
  void* cached = pool.allocate(6 << 20);
  pool.release(cached, 6 << 20);
  void* block = pool.allocate(4 << 20);
  CHECK(pool.figures().active + pool.figures().cached <= 8 << 20);
  bool thrown = false;
  try {
    pool.allocate(6 << 20);
  } catch (const Error& error) {
    thrown = error.kind() == ErrorKind::memory;
    CHECK(std::string(error.what()).find("limit") != std::string::npos);
  }
  CHECK(thrown);
  void* still_works = pool.allocate(2 << 20);
  pool.release(still_works, 2 << 20);
  pool.release(block, 4 << 20);
}

TEST("the chosen allocation fails, the next one does not") {
  Pool pool;
  pool.fail_allocation(1);
  void* block = pool.allocate(1000);
  CHECK_THROWS(pool.allocate(1000));
  void* next = pool.allocate(1000);
  pool.release(block, 1000);
  pool.release(next, 1000);
}

TEST("an impossible size is refused, the pool lives on") {
  Pool pool;
  CHECK_THROWS(pool.allocate(std::size_t{1} << 60));
  pool.release(pool.allocate(100), 100);
}

TEST("threads allocate and release at once without mixing blocks up") {
  Pool pool;
  std::vector<std::thread> threads;
  std::atomic<bool> clean{true};
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&pool, &clean, number] {
      std::mt19937 random(static_cast<unsigned>(number));
      std::vector<std::pair<unsigned char*, std::size_t>> held;
      for (int step = 0; step < 5000; ++step) {
        if (held.size() < 20 && random() % 2) {
          const std::size_t bytes = 1 + random() % 20000;
          auto* block = static_cast<unsigned char*>(pool.allocate(bytes));
          std::memset(block, number, bytes);
          held.emplace_back(block, bytes);
        } else if (!held.empty()) {
          auto [block, bytes] = held.back();
          held.pop_back();
          if (block[0] != number || block[bytes - 1] != number) clean = false;
          pool.release(block, bytes);
        }
      }
      for (auto [block, bytes] : held) pool.release(block, bytes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(clean);
  CHECK_EQUAL(pool.figures().active, 0);
}

CHECK_MAIN
