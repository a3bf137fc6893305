// SPDX-License-Identifier: Apache-2.0
// Writing down the calls of a thread while they are issued, to issue them again later as a whole:
// see lazy/recipe.h. The calls themselves go to the window as always.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

/// A call that is in no window.
struct DestroyCall {
  void operator()(Call* call) const { Call::destroy(call); }
};
using OwnedCall = std::unique_ptr<Call, DestroyCall>;

/// Made, used and destroyed by one thread, with the issuing right; one at a time.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// That of this thread, or nullptr. Calls ask all the time, so where no thread captures the
  /// answer is at hand.
  static Capture* current() {
    return alive_.load(std::memory_order_relaxed) ? of_thread() : nullptr;
  }

  void add(const Call& call);
  /// What follows is the second part: gradients.
  void begin_second_part() { second_part_ = calls_.size(); }
  /// The calls cannot be issued again for this reason; the first one stays.
  void refuse(std::string reason);

  const std::string& refusal() const { return refusal_; }
  std::vector<OwnedCall>& calls() { return calls_; }
  std::size_t second_part() const { return second_part_; }
  /// Made while capturing.
  bool has_seen_made(const Storage& storage) const { return storage.serial() >= first_serial_; }

 private:
  static Capture* of_thread();
  static inline std::atomic<int> alive_{0};  ///< in all threads

  std::vector<OwnedCall> calls_;
  std::size_t second_part_ = ~std::size_t{0};
  std::string refusal_;
  std::uint64_t first_serial_;
};

/// All that a call is but its operands' storages and its place in the window.
void copy_call(const Call& from, Call& to);

}  // namespace afterglow::lazy
