// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
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

/// Large blocks start on a huge page, so that the kernel can back them with few faults.
void* map_large(std::size_t size) {
  const std::size_t reserved = size + huge_page;
  // Reserved for real: a size that the machine cannot hold is refused here instead of ending the
  // process when it is written.
  void* area = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(area);
  const auto aligned = (start + huge_page - 1) / huge_page * huge_page;
  if (aligned > start) munmap(area, aligned - start);
  const std::size_t tail = start + reserved - (aligned + size);
  if (tail) munmap(reinterpret_cast<void*>(aligned + size), tail);
  void* block = reinterpret_cast<void*>(aligned);
  madvise(block, size, MADV_HUGEPAGE);
  return block;
}

void* system_allocate(std::size_t size) {
  return is_large(size) ? map_large(size) : std::aligned_alloc(alignment, size);
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

void* Pool::take_cached(std::size_t size) {
  // A block up to a quarter larger serves too: a fresh one would cost page faults.
  auto found = cached_.lower_bound(size);
  if (found == cached_.end() || found->first > size + size / 4) return nullptr;
  if (found->first != size && !is_large(size)) return nullptr;
  void* block = found->second.blocks.back();
  found->second.blocks.pop_back();
  set_extent(block, found->first, found->first);
  if (found->first != size) {
    // The surplus of a larger mapping goes back, so that sizes stay exact.
    munmap(static_cast<char*>(block) + size, found->first - size);
  }
  figures_.cached -= static_cast<std::int64_t>(found->first);
  if (found->second.blocks.empty()) cached_.erase(found);
  return block;
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
  try {
    Shelf& shelf = cached_[size];
    shelf.used = ++releases_;
    shelf.blocks.push_back(block);
  } catch (const std::bad_alloc&) {
    // Nowhere to write it down. A shelf without blocks must not stay.
    if (const auto made = cached_.find(size); made != cached_.end() && made->second.blocks.empty())
      cached_.erase(made);
    system_release(block, size);
    return;
  }
  figures_.cached += signed_size;
  give_back(cache_limit());
}

void Pool::give_back(std::int64_t most_cached) noexcept {
  while (!cached_.empty() && figures_.cached > most_cached) {
    const auto oldest = std::ranges::min_element(cached_, [](const auto& one, const auto& other) {
      return one.second.used < other.second.used;
    });
    system_release(oldest->second.blocks.back(), oldest->first);
    figures_.cached -= static_cast<std::int64_t>(oldest->first);
    oldest->second.blocks.pop_back();
    if (oldest->second.blocks.empty()) cached_.erase(oldest);
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
