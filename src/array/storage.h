// SPDX-License-Identifier: Apache-2.0
// The memory behind arrays and views. A storage owns the engine variable that orders its readers
// and writers, and takes its buffer only when the first call writes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "array/context.h"
#include "base/reference.h"
#include "engine/engine.h"

namespace afterglow {

struct Failure;  // why a value could not be computed: lazy/failure.h

class Storage : public Counted {
 public:
  static Reference<Storage> create(std::int64_t bytes, Context context);
  static void destroy(Storage* storage);

  std::int64_t bytes() const { return bytes_; }
  Context context() const { return context_; }
  std::byte* data() const { return data_; }
  /// Only for the call that has the right to write: the engine's order, or nobody else running.
  void take_buffer();

  engine::Variable variable;
  /// Number of writes issued so far. Guarded by the issuing right.
  std::uint32_t version = 0;
  /// Set by a call that failed to write, cleared by one that overwrites everything. Ordered like
  /// data.
  std::shared_ptr<Failure> failure;

  /// The window's notes, guarded by its lock: pending calls that touch this storage, and the marks
  /// of passes/needed.
  std::int32_t pending_calls = 0;
  bool marked_touched = false;
  bool marked_written = false;

 private:
  // Tiny values live inside: no allocation, no lock, and the cache line is at hand.
  static constexpr std::int64_t inside_bytes = 64;

  std::int64_t bytes_ = 0;
  Context context_;
  std::byte* data_ = nullptr;
  alignas(16) std::array<std::byte, inside_bytes> inside_;
};

}  // namespace afterglow
