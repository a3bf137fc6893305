// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "base/error.h"
#include "memory/extent.h"
#include "memory/limit.h"

namespace afterglow::memory {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

bool is_large(std::size_t size) {
  return size >= huge_page;
}

void* map(void* hint, std::size_t size) {
  // Reserved for real: a size that the machine cannot hold is refused here instead of ending the
  // process when it is written.
  void* area = mmap(hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return area == MAP_FAILED ? nullptr : area;
}

/// Large blocks start on a huge page, so that the kernel can back them with few faults; right
/// before another block, if that place is free, so that they can serve as one later.
void* map_large(std::size_t size, void* neighbour) {
  const auto place = reinterpret_cast<std::uintptr_t>(neighbour);
  void* const before = reinterpret_cast<void*>(place > size ? place - size : 0);
  void* block = before ? map(before, size) : nullptr;
  if (block && block != before) {
    munmap(block, size);
    block = nullptr;
  }
  if (!block) {
    const std::size_t reserved = size + huge_page;
    void* const area = map(nullptr, reserved);
    if (!area) return nullptr;
    const auto start = reinterpret_cast<std::uintptr_t>(area);
    const auto aligned = (start + huge_page - 1) / huge_page * huge_page;
    if (aligned > start) munmap(area, aligned - start);
    const std::size_t tail = start + reserved - (aligned + size);
    if (tail) munmap(reinterpret_cast<void*>(aligned + size), tail);
    block = reinterpret_cast<void*>(aligned);
  }
  madvise(block, size, MADV_HUGEPAGE);
  return block;
}

void system_release(void* block, std::size_t size) {
  set_extent(block, size, size);
  if (is_large(size)) {
    munmap(block, size);
  } else {
    std::free(block);
  }
}

}  // namespace

std::size_t rounded_size(std::size_t bytes) {
  if (bytes >= huge_page) return (bytes + huge_page - 1) / huge_page * huge_page;
  const std::size_t size = std::max<std::size_t>(bytes, 4 * alignment);
  const std::size_t step = std::max(alignment, std::bit_floor(size) / 4);
  return (size + step - 1) / step * step;
}

Pool::Pool(std::int64_t most_cached) : most_cached_(most_cached) {}

Pool::~Pool() {
  trim();
}

std::int64_t Pool::cache_limit() const {
  constexpr std::int64_t a_little = std::int64_t{64} << 20;
  return std::min(most_cached_, 2 * most_active_ + a_little);
}

void* Pool::system_allocate(std::size_t size) {
  if (!is_large(size)) return std::aligned_alloc(alignment, size);
  void* const block = map_large(size, newest_);
  if (block) newest_ = block;
  return block;
}

void* Pool::take_cached(std::size_t size) {
  const auto found = cached_.find(size);
  if (found == cached_.end()) return is_large(size) ? take_neighbours(size) : nullptr;
  void* const block = found->second.blocks.back();
  forget(block, size);
  return block;
}

void* Pool::take_neighbours(std::size_t size) {
  struct Block {
    char* begin;
    std::size_t size;
  };
  std::vector<Block> blocks;
  try {
    for (auto shelf = cached_.lower_bound(huge_page); shelf != cached_.end(); ++shelf)
      for (void* const block : shelf->second.blocks)
        blocks.push_back({static_cast<char*>(block), shelf->first});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::ranges::sort(blocks, {}, &Block::begin);
  // From each block on as many neighbours as it takes; those with the least surplus are taken.
  std::size_t best = 0, best_end = 0, surplus = std::numeric_limits<std::size_t>::max();
  for (std::size_t first = 0; first < blocks.size(); ++first) {
    std::size_t end = first, total = 0;
    do {
      total += blocks[end++].size;
    } while (total < size && end < blocks.size() &&
             blocks[end - 1].begin + blocks[end - 1].size == blocks[end].begin);
    if (total >= size && total - size < surplus)
      best = first, best_end = end, surplus = total - size;
  }
  if (best == best_end) return nullptr;
  // What is too much stays, as old as it was.
  if (surplus && !keep(blocks[best].begin + size, surplus, cached_[blocks[best_end - 1].size].used))
    return nullptr;
  for (std::size_t i = best; i < best_end; ++i) forget(blocks[i].begin, blocks[i].size);
  return blocks[best].begin;
}

bool Pool::keep(void* block, std::size_t size, std::uint64_t used) noexcept {
  try {
    Shelf& shelf = cached_[size];
    shelf.blocks.push_back(block);
    shelf.used = std::max(shelf.used, used);
  } catch (const std::bad_alloc&) {
    // Nowhere to write it down. A shelf without blocks must not stay.
    if (const auto made = cached_.find(size); made != cached_.end() && made->second.blocks.empty())
      cached_.erase(made);
    return false;
  }
  figures_.cached += static_cast<std::int64_t>(size);
  return true;
}

void Pool::forget(void* block, std::size_t size) noexcept {
  const auto shelf = cached_.find(size);
  std::vector<void*>& blocks = shelf->second.blocks;
  // Nearly always the last one.
  blocks.erase(std::prev(std::find(blocks.rbegin(), blocks.rend(), block).base()));
  figures_.cached -= static_cast<std::int64_t>(size);
  if (blocks.empty()) cached_.erase(shelf);
}

void* Pool::allocate(std::size_t bytes) {
  const std::size_t size = rounded_size(bytes);
  const auto signed_size = static_cast<std::int64_t>(size);
  std::lock_guard lock(mutex_);
  if (allocations_until_failure_ > 0) {
    --allocations_until_failure_;
  } else if (allocations_until_failure_ == 0) {
    if (--failures_left_ == 0) allocations_until_failure_ = -1;
    throw Error(ErrorKind::memory, "out of memory: allocation of " + std::to_string(bytes) +
                                       " bytes was made to fail");
  }
  if (figures_.cap && figures_.active + signed_size > figures_.cap) {
    throw Error(ErrorKind::memory, "out of memory: " + std::to_string(bytes) + " bytes wanted, " +
                                       std::to_string(figures_.active) +
                                       " bytes in use, the limit is " +
                                       std::to_string(figures_.cap) + " bytes");
  }
  void* block = take_cached(size);
  if (!block) {
    if (figures_.cap) {
      // What is cached counts against the cap as well: the process holds it.
      give_back(figures_.cap - figures_.active - signed_size);
    }
    block = system_allocate(size);
    if (!block) {
      give_back(0);
      block = system_allocate(size);
    }
    if (!block) {
      throw Error(ErrorKind::memory, "out of memory: the system refused " + std::to_string(bytes) +
                                         " bytes, " + std::to_string(figures_.active) +
                                         " bytes in use");
    }
  }
  figures_.active += signed_size;
  figures_.peak = std::max(figures_.peak, figures_.active);
  most_active_ = std::max(most_active_, figures_.active);
  set_extent(block, size, bytes);
  return block;
}

void Pool::release(void* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded_size(bytes);
  const auto signed_size = static_cast<std::int64_t>(size);
  std::lock_guard lock(mutex_);
  figures_.active -= signed_size;
  set_extent(block, size, 0);
  if (!keep(block, size, ++releases_)) return system_release(block, size);
  give_back(cache_limit());
}

void Pool::give_back(std::int64_t most_cached) noexcept {
  while (!cached_.empty() && figures_.cached > most_cached) {
    const auto oldest = std::ranges::min_element(cached_, [](const auto& one, const auto& other) {
      return one.second.used < other.second.used;
    });
    void* const block = oldest->second.blocks.back();
    const std::size_t size = oldest->first;
    forget(block, size);
    system_release(block, size);
  }
}

void Pool::trim() noexcept {
  std::lock_guard lock(mutex_);
  give_back(0);
}

Figures Pool::figures() const {
  std::lock_guard lock(mutex_);
  return figures_;
}

void Pool::reset_peak() {
  std::lock_guard lock(mutex_);
  figures_.peak = figures_.active;
}

void Pool::set_cap(std::int64_t bytes) {
  std::lock_guard lock(mutex_);
  figures_.cap = bytes;
}

void Pool::fail_allocation(std::int64_t allocations_from_now, std::int64_t count) {
  std::lock_guard lock(mutex_);
  allocations_until_failure_ = allocations_from_now;
  failures_left_ = count;
}

Pool& pool() {
  // Never destroyed: arrays may outlive static destructors.
  static Pool* const instance = new Pool(memory_limit() / 4);
  return *instance;
}

}  // namespace afterglow::memory
