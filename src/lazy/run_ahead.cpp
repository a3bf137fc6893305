// SPDX-License-Identifier: Apache-2.0
// How far issuing threads may run ahead. Counted are the bytes that only unfinished calls keep
// alive, the results of unfinished calls, and the records of the calls.
//
// Results take their memory when their call runs, and workers give back what nobody will read any
// more when it ends; calls run oldest first. So a long queue of results costs little by itself.
// What piles up is what Python makes itself and forgets: batches of data. Hence two limits.
#include <algorithm>

#include "lazy/window.h"
#include "memory/pool.h"

namespace afterglow::lazy {
namespace {

// A call with its operands, site and small storages.
constexpr double record_bytes = 768;
// A thread that had to wait goes on when this part of a limit is left: the backend then still has
// something to do.
constexpr double part_to_go_on = 0.5;
// Pending results are published when they reach this part of the limit.
constexpr double part_pending = 0.5;

}  // namespace

double Window::held_bytes() const {
  const std::int64_t calls = issued_ - ended_here_.run - ended_here_.dropped -
                             ended_elsewhere_.run - ended_elsewhere_.dropped;
  return static_cast<double>(Storage::charged_bytes()) +
         record_bytes * static_cast<double>(std::max<std::int64_t>(calls, 0));
}

double Window::result_bytes() const {
  const std::int64_t results = issued_bytes_ - ended_here_.bytes - ended_elsewhere_.bytes;
  return static_cast<double>(std::max<std::int64_t>(results, 0));
}

double Window::unfinished_bytes() const {
  return held_bytes() + result_bytes();
}

double Window::unfinished_seconds() const {
  const std::int64_t left =
      issued_nanoseconds_ - ended_here_.nanoseconds - ended_elsewhere_.nanoseconds;
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(left, 0));
}

bool Window::is_over(double part) const {
  const double held = held_bytes();
  return held > limits_.held_bytes * part || held + result_bytes() > limits_.bytes * part ||
         unfinished_seconds() > limits_.seconds * part;
}

/// Near a cap on all memory nobody runs ahead: everything unfinished must fit at once.
bool Window::is_near_cap() const {
  const memory::Figures figures = memory::pool().figures();
  if (!figures.cap) return false;
  return static_cast<double>(figures.active) + unfinished_bytes() >
         0.5 * static_cast<double>(figures.cap);
}

bool Window::is_full() const {
  if (serial_) return false;
  return is_over(1) || (capped_ && unfinished_seconds() > 0 && is_near_cap());
}

/// The held results that somebody outside will see take memory as soon as they are published. Those
/// of a few large calls do not count: they may still be overwritten and dropped, or become one
/// pass.
bool Window::is_crowded(const Call& newest) {
  const auto most =
      std::max(limits_.bytes * part_pending, 4.0 * static_cast<double>(newest.output_bytes));
  if (static_cast<double>(pending_bytes_) <= most) return false;
  drop_unobserved(true);
  pending_bytes_ = 0;
  for (const Call* call : pending_) {
    for (const Operand& output : call->outputs) {
      if (output.storage->held_outside()) pending_bytes_ += output.storage->bytes();
    }
  }
  return static_cast<double>(pending_bytes_) > most;
}

Window::Room Window::make_room() {
  retire();
  std::lock_guard lock(lock_);
  drop_unobserved(true);
  if (!is_full()) return Room::enough;
  if (!pending_.empty()) publish(take_pending(), true);
  if (capped_ && is_near_cap()) return Room::when_all_is_done;
  return is_over(part_to_go_on) ? Room::when_caught_up : Room::enough;
}

engine::WaitResult Window::wait_for_room(Room room, const engine::WaitOptions& options) {
  if (room == Room::when_all_is_done) return wait_all(options);
  const engine::WaitResult result =
      engine_->wait_until([this] { return !is_over(part_to_go_on); }, options);
  if (engine_->unfinished() == 0) await_destruction();
  return result;
}

void Window::handle_goes(Storage& storage) {
  if (storage.bytes() < Storage::smallest_charge || serial_) return;
  if (storage.count() != storage.slots.all.load(std::memory_order_relaxed) + 1) return;
  std::lock_guard lock(lock_);
  // A value that does not exist yet is counted as the result of its call.
  const bool exists = storage.variable.readable() && storage.data();
  if (exists && (storage.slots.pending > 0 || !storage.variable.idle())) storage.charge();
}

}  // namespace afterglow::lazy
