// SPDX-License-Identifier: Apache-2.0
// Values of threads that are asked for on the path of every call, and that hardly any thread has.
#pragma once

#include <atomic>

namespace afterglow {

/// `Owner` tells one from another. What a thread keeps for itself is found by a function of the
/// loader, which takes about 2 ns; so whoever asks looks first whether any thread has one.
template <class Owner, class Value>
class RareOfThread {
 public:
  static Value get() { return holders_.load(std::memory_order_relaxed) ? value_ : Value{}; }
  /// Needs the issuing right, which guards the count.
  static void set(Value value) {
    const int more = (value != Value{}) - (value_ != Value{});
    holders_.store(holders_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    value_ = value;
  }

 private:
  static inline std::atomic<int> holders_{0};  // threads that have another value than Value{}
  static inline constinit thread_local Value value_{};
};

}  // namespace afterglow
