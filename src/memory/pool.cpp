// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "base/error.h"

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
  if (is_large(size)) {
    munmap(block, size);
  } else {
    std::free(block);
  }
}

/// Kept at most: a quarter of the machine's memory.
std::size_t cache_limit() {
  static const std::size_t limit =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE) / 4;
  return limit;
}

}  // namespace

std::size_t rounded_size(std::size_t bytes) {
  if (bytes >= huge_page) return (bytes + huge_page - 1) / huge_page * huge_page;
  const std::size_t size = std::max<std::size_t>(bytes, 4 * alignment);
  const std::size_t step = std::max(alignment, std::bit_floor(size) / 4);
  return (size + step - 1) / step * step;
}

Pool::~Pool() {
  trim();
}

void* Pool::take_cached(std::size_t size) {
  // A block up to a quarter larger serves too: a fresh one would cost page faults.
  auto found = cached_.lower_bound(size);
  if (found == cached_.end() || found->first > size + size / 4) return nullptr;
  if (found->first != size && !is_large(size)) return nullptr;
  void* block = found->second.back();
  found->second.pop_back();
  if (found->first != size) {
    // The surplus of a larger mapping goes back, so that sizes stay exact.
    munmap(static_cast<char*>(block) + size, found->first - size);
  }
  figures_.cached -= static_cast<std::int64_t>(found->first);
  if (found->second.empty()) cached_.erase(found);
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
      give_back(static_cast<std::size_t>(figures_.cap - figures_.active - signed_size));
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
  return block;
}

void Pool::release(void* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded_size(bytes);
  std::lock_guard lock(mutex_);
  figures_.active -= static_cast<std::int64_t>(size);
  if (static_cast<std::size_t>(figures_.cached) + size > cache_limit()) {
    system_release(block, size);
    return;
  }
  cached_[size].push_back(block);
  figures_.cached += static_cast<std::int64_t>(size);
}

void Pool::give_back(std::size_t most_cached) noexcept {
  while (!cached_.empty() && static_cast<std::size_t>(figures_.cached) > most_cached) {
    auto largest = std::prev(cached_.end());
    system_release(largest->second.back(), largest->first);
    figures_.cached -= static_cast<std::int64_t>(largest->first);
    largest->second.pop_back();
    if (largest->second.empty()) cached_.erase(largest);
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
  static Pool* const instance = new Pool;
  return *instance;
}

}  // namespace afterglow::memory
