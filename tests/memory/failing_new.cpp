// SPDX-License-Identifier: Apache-2.0
// Preloaded by test_allocations.py: lets a chosen `operator new` of the compiled module fail. Calls
// from anywhere else, NumPy or Python, are none of ours and are let through.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<long> left{-1};  // calls until the one that fails; negative: none does
std::atomic<bool> failed{false};
std::uintptr_t first = 0, last = 0;  // the code of the module

int find_module(dl_phdr_info* library, std::size_t, void*) {
  const char* name = std::strrchr(library->dlpi_name, '/');
  if (!name || std::strncmp(name, "/_core.", 7) != 0) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    first = library->dlpi_addr + part.p_vaddr;
    last = first + part.p_memsz;
  }
  return 1;
}

bool fails(void* caller) {
  if (left.load(std::memory_order_relaxed) < 0) return false;
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  if (place < first || place >= last) return false;
  if (left.fetch_sub(1) != 0) return false;
  failed = true;
  return true;
}

void* taken(std::size_t bytes, void* caller) {
  void* memory = fails(caller) ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* taken(std::size_t bytes, std::align_val_t alignment, void* caller) {
  const auto align = static_cast<std::size_t>(alignment);
  void* memory =
      fails(caller) ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

/// Lets the call after `number` more of them fail; none for a negative number.
extern "C" void fail_new(long number) {
  if (!last) dl_iterate_phdr(find_module, nullptr);
  failed = false;
  left = number;
}

/// Tells whether a call has failed since then.
extern "C" int new_has_failed() {
  return failed;
}

void* operator new(std::size_t bytes) {
  return taken(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return taken(bytes, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return taken(bytes, alignment, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return taken(bytes, alignment, __builtin_return_address(0));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
