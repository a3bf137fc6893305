// SPDX-License-Identifier: Apache-2.0
// Why a value could not be computed. It rides on the storages it poisoned, and every read raises
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "lazy/site.h"

namespace afterglow {

struct Failure {
  ErrorKind kind = ErrorKind::mxnet;
  std::string message;  ///< "[op] what went wrong; inputs ..."
  lazy::Site site;      ///< of the call that failed
  std::int32_t layer = 0;
  std::uint64_t sequence = 0;
  std::atomic<bool> raised{false};
};

namespace lazy {

/// Failures that nobody was told of yet: waitall raises them in issue order, also when every handle
/// is gone. Keeps the earliest thousand.
class FailureLog {
 public:
  void add(std::shared_ptr<Failure> failure);
  /// The first in issue order that was not raised yet, marked as raised; or nullptr.
  std::shared_ptr<Failure> take_first();
  /// How many have been added so far, to all logs.
  static std::uint64_t count() { return count_.load(std::memory_order_relaxed); }

 private:
  static inline std::atomic<std::uint64_t> count_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Failure>> failures_;
};

}  // namespace lazy
}  // namespace afterglow
