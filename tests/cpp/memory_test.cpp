// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "made_up_machine.h"
#include "memory/extent.h"
#include "memory/limit.h"

using afterglow::Error;
using afterglow::ErrorKind;
using afterglow::memory::control_group_limit;
using afterglow::memory::Pool;
using afterglow::memory::rounded_size;

namespace {
constexpr std::int64_t plenty = std::int64_t{1} << 40;
}

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
  Pool pool(plenty);
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

#if defined(__SANITIZE_ADDRESS__)
TEST("the address sanitizer sees the end of what was asked for, and what was given back") {
  Pool pool(plenty);
  for (std::size_t bytes : {100u, 5000u, 3000000u, 2900000u}) {
    char* block = static_cast<char*>(pool.allocate(bytes));
    CHECK(!__asan_region_is_poisoned(block, bytes));
    CHECK(__asan_address_is_poisoned(block + bytes));
    CHECK(__asan_address_is_poisoned(block + rounded_size(bytes) - 1));
    pool.release(block, bytes);
    CHECK(__asan_address_is_poisoned(block));
  }
}
#endif

TEST("figures tell what is active, what is cached and the peak") {
  Pool pool(plenty);
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
  Pool pool(plenty);
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
  Pool pool(plenty);
  pool.fail_allocation(1);
  void* block = pool.allocate(1000);
  CHECK_THROWS("made to fail", pool.allocate(1000));
  void* next = pool.allocate(1000);
  pool.release(block, 1000);
  pool.release(next, 1000);
}

TEST("an impossible size is refused, the pool lives on") {
  Pool pool(plenty);
  CHECK_THROWS("the system refused", pool.allocate(std::size_t{1} << 60));
  pool.release(pool.allocate(100), 100);
}

TEST("threads allocate and release at once without mixing blocks up") {
  Pool pool(plenty);
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

TEST("sizes that do not come again do not pile up") {
  Pool pool(plenty);
  const std::size_t step = 4 << 20;
  for (std::size_t count = 1; count <= 60; ++count) {
    pool.release(pool.allocate(count * step), count * step);
    const std::int64_t most_active = static_cast<std::int64_t>(count * step);
    CHECK(pool.figures().cached <= 2 * most_active + (64 << 20));
  }
  // The last sizes are the ones that stay.
  const std::int64_t cached = pool.figures().cached;
  void* block = pool.allocate(60 * step);
  CHECK_EQUAL(pool.figures().cached, cached - static_cast<std::int64_t>(60 * step));
  pool.release(block, 60 * step);
  // Not even when the peak is counted anew: it is for users to read.
  pool.reset_peak();
  pool.release(pool.allocate(step), step);
  CHECK(pool.figures().cached >= static_cast<std::int64_t>(60 * step));
}

TEST("a full cache makes room for the sizes that are used now") {
  Pool pool(16 << 20);
  for (int i = 0; i < 4; ++i) pool.release(pool.allocate(4 << 20), 4 << 20);
  std::vector<void*> old;
  for (int i = 0; i < 4; ++i) old.push_back(pool.allocate(4 << 20));
  for (void* block : old) pool.release(block, 4 << 20);
  CHECK_EQUAL(pool.figures().cached, 16 << 20);
  void* block = pool.allocate(6 << 20);
  pool.release(block, 6 << 20);
  CHECK(pool.figures().cached <= 16 << 20);
  void* again = pool.allocate(6 << 20);
  CHECK_EQUAL(again, block);
  pool.release(again, 6 << 20);
}

TEST("parts of a large block, and neighbours, are handed out before the system is asked") {
  Pool pool(plenty);
  const std::size_t page = 2 << 20;
  char* const whole = static_cast<char*>(pool.allocate(10 * page));
  pool.release(whole, 10 * page);
  std::vector<char*> parts;
  for (const std::size_t count : {3, 1, 4}) {
    parts.push_back(static_cast<char*>(pool.allocate(count * page)));
    CHECK(parts.back() >= whole && parts.back() + count * page <= whole + 10 * page);
    std::memset(parts.back(), 1, count * page);
  }
  CHECK_EQUAL(pool.figures().cached, static_cast<std::int64_t>(2 * page));
  pool.release(parts[0], 3 * page);
  pool.release(parts[2], 4 * page);
  pool.release(parts[1], page);
  CHECK_EQUAL(static_cast<char*>(pool.allocate(10 * page)), whole);
  CHECK_EQUAL(pool.figures().cached, 0);
  pool.release(whole, 10 * page);
}

TEST("the block with the least surplus is divided") {
  Pool pool(plenty);
  const std::size_t page = 2 << 20;
  std::vector<void*> blocks;
  for (const std::size_t count : {9, 5, 7}) {
    blocks.push_back(pool.allocate(count * page));
    pool.allocate(page);  // no neighbours
  }
  pool.release(blocks[0], 9 * page);
  pool.release(blocks[1], 5 * page);
  pool.release(blocks[2], 7 * page);
  CHECK_EQUAL(pool.allocate(4 * page), blocks[1]);
  CHECK_EQUAL(pool.allocate(page), static_cast<char*>(blocks[1]) + 4 * page);
}

TEST("large blocks of many sizes never overlap") {
  Pool pool(plenty);
  std::mt19937 random(7);
  std::vector<std::pair<char*, std::size_t>> held;
  std::int64_t active = 0;
  for (int step = 0; step < 3000; ++step) {
    if (held.size() < 12 && random() % 2) {
      const std::size_t bytes = (1 + random() % 12) << 21;
      auto* const block = static_cast<char*>(pool.allocate(bytes));
      for (const auto& [other, size] : held) CHECK(block + bytes <= other || other + size <= block);
      block[0] = block[bytes - 1] = 1;
      held.emplace_back(block, bytes);
      active += static_cast<std::int64_t>(bytes);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      pool.release(held.back().first, held.back().second);
      active -= static_cast<std::int64_t>(held.back().second);
      held.pop_back();
    }
    CHECK_EQUAL(pool.figures().active, active);
  }
  for (const auto& [block, bytes] : held) pool.release(block, bytes);
  pool.trim();
  CHECK_EQUAL(pool.figures().cached, 0);
}

TEST("control groups limit the memory: version 2, its own group or one above") {
  MadeUpMachine machine;
  const auto limit = [&] { return control_group_limit(machine.root); };
  const std::int64_t none = std::numeric_limits<std::int64_t>::max();
  CHECK_EQUAL(limit(), none);
  machine.write("proc/self/cgroup", "0::/user/session\n");
  machine.write("sys/fs/cgroup/user/session/memory.max", "max\n");
  CHECK_EQUAL(limit(), none);
  machine.write("sys/fs/cgroup/user/memory.max", "8589934592\n");
  CHECK_EQUAL(limit(), 8589934592);
  machine.write("sys/fs/cgroup/user/session/memory.max", "1073741824\n");
  CHECK_EQUAL(limit(), 1073741824);
  machine.write("sys/fs/cgroup/memory.high", "536870912\n");
  CHECK_EQUAL(limit(), 536870912);
}

TEST("control groups limit the memory: version 1, and a container that sees only its own group") {
  MadeUpMachine machine;
  const auto limit = [&] { return control_group_limit(machine.root); };
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(limit() > std::int64_t{1} << 50);
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");
  CHECK_EQUAL(limit(), 268435456);
  CHECK(afterglow::memory::memory_limit() > 0);
}
