// SPDX-License-Identifier: Apache-2.0
// The op that a thread is composing of others: errors name it, for it is what the user called.
#pragma once

#include <string>

#include "base/rare_of_thread.h"
#include "lazy/op.h"

namespace afterglow::lazy {

/// The outermost composition counts.
class Composing {
 public:
  explicit Composing(const Op& op) : outer_(of_thread()) {
    if (!outer_) OfThread::set(&op);
  }
  ~Composing() {
    if (!outer_) OfThread::set(nullptr);
  }
  Composing(const Composing&) = delete;
  Composing& operator=(const Composing&) = delete;
  /// nullptr for none.
  static const Op* of_thread() { return OfThread::get(); }

 private:
  using OfThread = RareOfThread<Composing, const Op*>;
  const Op* const outer_;
};

/// "[dot] ", or "[FullyConnected] dot: " for one that `outer` is composed of.
inline std::string named(const Op& op, const Op* outer) {
  if (!outer) return "[" + std::string(op.name) + "] ";
  return "[" + std::string(outer->name) + "] " + std::string(op.name) + ": ";
}

}  // namespace afterglow::lazy
