// SPDX-License-Identifier: Apache-2.0
// Where a call was issued: two words that mean something to the language above (in Python a code object
// and an instruction), resolved to a file and line only when an error is raised.
#pragma once

#include <cstdint>
#include <utility>

namespace afterglow::lazy {

/// Owns one reference of the language above; given back through the hook, from whatever thread.
class Site {
 public:
  using Release = void (*)(void* code);
  static void set_release_hook(Release hook) { release_ = hook; }

  Site() = default;
  Site(void* code, std::int32_t instruction) : code_(code), instruction_(instruction) {}
  Site(Site&& other) noexcept
      : code_(std::exchange(other.code_, nullptr)), instruction_(other.instruction_) {}
  Site& operator=(Site&& other) noexcept {
    std::swap(code_, other.code_);
    std::swap(instruction_, other.instruction_);
    return *this;
  }
  ~Site() { reset(); }

  void reset() {
    if (code_) release_(std::exchange(code_, nullptr));
  }
  void* code() const { return code_; }
  std::int32_t instruction() const { return instruction_; }

 private:
  static inline Release release_ = [](void*) {};
  void* code_ = nullptr;
  std::int32_t instruction_ = -1;
};

}  // namespace afterglow::lazy
