// SPDX-License-Identifier: Apache-2.0
// The op that a thread is composing of others: errors name it, for it is what the user called.
#pragma once

#include <string>

#include "lazy/op.h"

namespace afterglow::lazy {

/// Of this thread; nullptr for none.
inline thread_local const Op* composing = nullptr;

/// The outermost composition counts.
class Composing {
 public:
  explicit Composing(const Op& op) : outer_(composing) {
    if (!outer_) composing = &op;
  }
  ~Composing() { composing = outer_; }
  Composing(const Composing&) = delete;
  Composing& operator=(const Composing&) = delete;

 private:
  const Op* const outer_;
};

/// "[dot] ", or "[FullyConnected] dot: " for one that `outer` is composed of.
inline std::string named(const Op& op, const Op* outer) {
  if (!outer) return "[" + std::string(op.name) + "] ";
  return "[" + std::string(outer->name) + "] " + std::string(op.name) + ": ";
}

}  // namespace afterglow::lazy
