// SPDX-License-Identifier: Apache-2.0
// Writing down the calls of a thread while they are issued, to issue them again later as a whole:
// see lazy/recipe.h. The calls themselves go to the window as always.
//
// What a call reads is told by the handle through which it came, not by its memory: an input may
// share that with a parameter or another array now, and not when the calls are issued again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy {

/// A call that is in no window.
struct DestroyCall {
  void operator()(Call* call) const { Call::destroy(call); }
};
using OwnedCall = std::unique_ptr<Call, DestroyCall>;

/// Larger results without inputs are computed again each time rather than kept.
inline constexpr std::int64_t largest_constant = 64 << 10;

/// Made, used and destroyed by one thread, with the issuing right; one at a time.
class Capture {
 public:
  /// Writes down from now on, until it is destroyed.
  explicit Capture(std::span<const Array> inputs);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// That of this thread, or nullptr. Calls ask all the time, so where no thread captures the
  /// answer is at hand.
  static Capture* current() {
    return alive_.load(std::memory_order_relaxed) ? of_thread() : nullptr;
  }

  /// The handles by which inputs are known: those given, marked.
  std::span<const Array> inputs() const { return inputs_; }
  /// The input through whose handle an array was reached, or -1.
  std::int32_t input_of(const Array& array) const {
    const std::uint32_t index = array.source - first_source_;
    return index < inputs_.size() ? static_cast<std::int32_t>(index) : -1;
  }

  void add(const Call& call);
  /// What stands for a storage in the calls that were written down: itself, or for a large result
  /// one without memory, so that the result goes when nothing else needs it.
  const Reference<Storage>& written_down(const Reference<Storage>& storage) const;
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
  static inline std::uint32_t next_source_ = 1;

  std::vector<Array> inputs_;
  std::uint32_t first_source_;
  std::vector<OwnedCall> calls_;
  std::unordered_map<std::uint64_t, Reference<Storage>> stand_ins_;  ///< by serial number
  std::size_t second_part_ = ~std::size_t{0};
  std::string refusal_;
  std::uint64_t first_serial_;
};

/// All that a call is but its operands' storages and its place in the window.
void copy_call(const Call& from, Call& to);

}  // namespace afterglow::lazy
