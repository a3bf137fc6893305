// SPDX-License-Identifier: Apache-2.0
// Where devices meet: each brings numbers and gets the sums of all. What the others bring may be
// issued later than what needs the sums, which variables of the engine cannot say. So a device has
// two calls: one brings its numbers, and one gives the sums, which the engine holds until all have
// come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "lazy/host.h"

namespace afterglow::lazy {

class Meeting : public std::enable_shared_from_this<Meeting> {
 public:
  /// The first meeting of this name that the device is not part of, with so many devices in all.
  /// Needs the issuing right, as do the next four.
  static std::shared_ptr<Meeting> join(const std::string& name, Context device,
                                       std::size_t devices);
  /// There is one that some device has not joined.
  static bool any_open();
  /// There is one to which not all have brought their numbers. Then calls that do not depend on
  /// each other may share no task: one could need the sums, and another be what a device is to
  /// bring.
  static bool any_incomplete() { return incomplete_.load(std::memory_order_relaxed) > 0; }
  /// Nobody else will come: those that have joined open meetings are told.
  static void give_up();
  /// What the call of the device writes that brings its numbers. Held as long as the meeting is
  /// there, it keeps that call from being dropped when only the other devices need it.
  void hold(const Array& token) { tokens_.push_back(token); }

  /// For a call whose first input has the numbers, and for one whose output gets the sums.
  std::shared_ptr<HostFunction> bring(Context device);
  std::shared_ptr<HostFunction> take();

  Meeting(std::string name, std::size_t devices) : name_(std::move(name)), devices_(devices) {
    ++incomplete_;
  }
  ~Meeting() {
    if (!complete_) --incomplete_;
  }
  Meeting(const Meeting&) = delete;

 private:
  class Bring;
  class Take;
  using Place = std::pair<int, int>;

  bool is_open() const { return joined_.size() < devices_; }
  void arrive(Context device, std::vector<double> numbers);
  void fail(const std::string& text);
  void complete(std::unique_lock<std::mutex> lock);

  static inline std::atomic<int> incomplete_{0};
  const std::string name_;
  const std::size_t devices_;
  // Guarded by the issuing right:
  std::vector<Context> joined_;
  std::vector<Array> tokens_;
  // Guarded by the mutex, which a push to the engine may be made under:
  std::mutex mutex_;
  std::map<Place, std::vector<double>> brought_;  // in the order of devices, whoever came first
  std::string failure_;
  bool complete_ = false;
  engine::Engine* engine_ = nullptr;
  std::vector<std::uint64_t> held_;  // tasks to be let go
};

}  // namespace afterglow::lazy
