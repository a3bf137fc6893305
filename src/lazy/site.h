// SPDX-License-Identifier: Apache-2.0
// Where a call was issued: two words that mean something to the language above (in Python a code
// object and an instruction), resolved to a file and line only when an error is raised.
#pragma once

#include <cstdint>
#include <utility>

namespace afterglow::lazy {

/// Owns one reference of the language above, given back through one of two hooks: at once by
/// reset(), which needs the issuing right and no lock of ours held; later when destroyed by
/// whatever thread.
class Site {
 public:
  using Hook = void (*)(void* code);
  static void set_hooks(Hook retain, Hook release_at_once, Hook release_later) {
    retain_ = retain;
    release_at_once_ = release_at_once;
    release_later_ = release_later;
  }

  Site() = default;
  Site(void* code, std::int32_t instruction) : code_(code), instruction_(instruction) {}
  Site(Site&& other) noexcept
      : code_(std::exchange(other.code_, nullptr)), instruction_(other.instruction_) {}
  Site& operator=(Site&& other) noexcept {
    std::swap(code_, other.code_);
    std::swap(instruction_, other.instruction_);
    return *this;
  }
  ~Site() {
    if (code_) release_later_(code_);
  }

  /// A second owner of the same place. Needs the issuing right.
  Site copy() const {
    if (code_) retain_(code_);
    return {code_, instruction_};
  }

  void reset() {
    if (code_) release_at_once_(std::exchange(code_, nullptr));
  }
  void* code() const { return code_; }
  std::int32_t instruction() const { return instruction_; }

 private:
  static inline Hook retain_ = [](void*) {};
  static inline Hook release_at_once_ = [](void*) {};
  static inline Hook release_later_ = [](void*) {};
  void* code_ = nullptr;
  std::int32_t instruction_ = -1;
};

}  // namespace afterglow::lazy
