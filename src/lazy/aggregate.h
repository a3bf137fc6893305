// SPDX-License-Identifier: Apache-2.0
// One call for many rows of arrays: what a few elementwise calls do to the first row is done to
// each of them. Optimizers update all their small parameters so. The calls are diverted while they
// are issued for the first row, so a formula is written once, with ordinary calls.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "kernels/program.h"
#include "lazy/call.h"
#include "lazy/window.h"

namespace afterglow::lazy {

/// While it lives, the calls that its thread issues are kept here and do not join the window.
class Diversion {
 public:
  Diversion();
  /// Calls that nobody took are forgotten. Needs the issuing right.
  ~Diversion();
  Diversion(const Diversion&) = delete;
  Diversion& operator=(const Diversion&) = delete;

  /// Of this thread, or nullptr; see Capture::current().
  static Diversion* current() {
    return alive_.load(std::memory_order_relaxed) ? of_thread() : nullptr;
  }
  void add(Call* call) { calls_.push_back(call); }
  std::span<Call* const> calls() const { return calls_; }
  /// Ends it: the calls join the window after all.
  void give_up(Window& window);
  /// Somebody outside of the calls holds what one of them makes beside the given arrays.
  bool is_observed(std::span<const Array> arrays) const;

 private:
  static Diversion* of_thread();
  static inline std::atomic<int> alive_{0};  ///< in all threads

  Diversion* const outer_;  ///< of this thread before
  std::vector<Call*> calls_;
};

/// What the call does to each row.
struct Aggregate {
  /// The diverted calls as a program over the arrays of a row; nullptr where one of them is not
  /// elementwise or touches anything else.
  static std::unique_ptr<Aggregate> make(std::span<Call* const> calls, std::span<const Array> row);

  std::size_t width = 0;     ///< arrays of a row
  std::vector<int> read;     ///< those that the program only reads: the inputs of the call
  std::vector<int> written;  ///< those that it writes: the outputs
  kernels::Program program;  ///< without the data of arrays
  /// For each operand, its place among those read and then those written; -1 for numbers.
  std::vector<int> places;
  std::array<std::array<std::byte, 8>, kernels::most_operands> numbers;
  double cost = 0;  ///< of an element
};

/// All arrays, row after row, suit one call: each array of a row is contiguous, as large as the
/// others and of the type that it has in the first row; and no two of all of them share memory.
bool suit_one_call(std::span<const Array> arrays, std::size_t width);

/// Issues the call for all arrays, row after row. A row with a poisoned array is left out, and what
/// would be written of it is poisoned. Needs the issuing right.
void issue_aggregate(Window& window, std::unique_ptr<Aggregate> aggregate,
                     std::vector<Array> arrays, Site site);

}  // namespace afterglow::lazy
