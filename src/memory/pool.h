// SPDX-License-Identifier: Apache-2.0
// A caching pool for array buffers: a fresh page costs more than computing on it, so buffers are
// kept and handed out again. Knows bytes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace afterglow::memory {

inline constexpr std::size_t alignment = 64;

struct Figures {
  std::int64_t active = 0;  ///< handed out now, in rounded sizes
  std::int64_t peak = 0;    ///< most ever active (since reset_peak)
  std::int64_t cached = 0;  ///< kept for reuse
  std::int64_t cap = 0;     ///< most that may be active; 0 = no cap
};

/// Thread-safe. A block is released with the size it was asked for.
class Pool {
 public:
  /// Keeps at most `most_cached` bytes for reuse, and never more than twice what was ever active at
  /// once and a little: sizes that do not come again must not pile up.
  explicit Pool(std::int64_t most_cached);
  ~Pool();

  /// Throws Error(memory) when the cap or the system refuses, after giving caches back.
  void* allocate(std::size_t bytes);
  void release(void* block, std::size_t bytes) noexcept;

  /// Gives every cached block back to the system.
  void trim() noexcept;
  Figures figures() const;
  void reset_peak();
  void set_cap(std::int64_t bytes);

  /// For tests: `count` allocations fail, from that many allocations from now on; a negative number
  /// switches it off.
  void fail_allocation(std::int64_t allocations_from_now, std::int64_t count = 1);

  /// The pool stays still over a fork.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

 private:
  void* system_allocate(std::size_t size);
  void* take_cached(std::size_t size);
  /// Large blocks are mappings, of which parts and neighbours serve as well: a fresh one would
  /// cost page faults, and the process would hold more than it needs.
  void* take_neighbours(std::size_t size);
  /// Whether there was room to write it down.
  bool keep(void* block, std::size_t size, std::uint64_t used) noexcept;
  void forget(void* block, std::size_t size) noexcept;
  /// The blocks whose size has not been used for longest go back to the system first.
  void give_back(std::int64_t most_cached) noexcept;
  std::int64_t cache_limit() const;

  /// Blocks of one size.
  struct Shelf {
    std::vector<void*> blocks;
    std::uint64_t used = 0;  ///< when a block came last
  };

  mutable std::mutex mutex_;
  Figures figures_;
  std::int64_t allocations_until_failure_ = -1, failures_left_ = 0;
  const std::int64_t most_cached_;
  std::int64_t most_active_ = 0;  // ever: peak is reset by users
  std::uint64_t releases_ = 0;
  void* newest_ = nullptr;               // of the large blocks that the system gave
  std::map<std::size_t, Shelf> cached_;  // by rounded size
};

/// The size a request is rounded up to: four classes per doubling, whole huge pages from 2 MiB on.
std::size_t rounded_size(std::size_t bytes);

/// The pool of the process.
Pool& pool();

}  // namespace afterglow::memory
