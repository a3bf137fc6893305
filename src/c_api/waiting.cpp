// SPDX-License-Identifier: Apache-2.0
#include "c_api/waiting.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "c_api/front_end.h"
#include "c_api/right.h"
#include "lazy/meeting.h"

namespace afterglow::c_api {
namespace {

/// Longer timeouts than this are no timeout: the sum with now must not overflow.
constexpr double longest_timeout = 1e9;
/// Smaller values are copied under the window's lock.
constexpr std::int64_t bytes_worth_a_task = 64 << 10;

void raise_unless_done(engine::WaitResult result, std::optional<double> timeout_seconds) {
  switch (result) {
    case engine::WaitResult::done:
      return;
    case engine::WaitResult::timed_out:
      throw Error(ErrorKind::timeout, "the array is not ready after " +
                                          std::to_string(timeout_seconds.value_or(0)) + " seconds");
    case engine::WaitResult::interrupted:
    case engine::WaitResult::itself:
    case engine::WaitResult::shut_down:
      throw Error(ErrorKind::mxnet, "the engine is shut down: the process is ending");
  }
}

/// Others issue meanwhile; then what has finished is let go.
template <class Wait>
void wait_without_right(const Wait& wait, std::optional<double> timeout_seconds = {}) {
  engine::WaitOptions options;
  if (timeout_seconds && *timeout_seconds < longest_timeout)
    options.timeout =
        std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, *timeout_seconds) * 1e9));
  options.interrupted = [] {
    const Right right;
    lazy::window().retire();
    // Devices that wait for others (lazy/meeting.h) would wait for ever.
    if (lazy::Meeting::any_open() && all_wait() && lazy::window().engine().stalled())
      lazy::Meeting::give_up();
    return false;
  };
  engine::WaitResult result;
  {
    const Waiting here;
    const WithoutRight released;
    result = wait(options);
  }
  lazy::window().retire();
  raise_unless_done(result, timeout_seconds);
}

void read_as_task(const Array& array, void* target) {
  lazy::Window& window = lazy::window();
  engine::Variable copied;
  std::shared_ptr<Failure> failure;
  engine::Variable* const reads[] = {&array.storage->variable};
  engine::Variable* const writes[] = {&copied};
  const auto copy = [&] {
    failure = array.storage->failure;
    if (failure) return;
    check_value(array);
    std::memcpy(target, array.data(),
                static_cast<std::size_t>(array.size()) * size_of(array.dtype));
  };
  // Pushed at a moment when no writer is unfinished, so nothing is ahead of it but the copy itself:
  // it may borrow everything from this frame, since the last wait has no other end than its own.
  do {
    wait_for(array);
  } while (!window.look_at(*array.storage, [&] {
    window.engine().push(std::function<void()>(copy), reads, writes,
                         {.priority = 1, .queue = queue_of(array.context())});
  }));
  engine::WaitResult result;
  {
    const WithoutRight released;
    result = window.engine().wait(copied);
  }
  raise_unless_done(result, {});
  if (failure) raise_failure(*failure);
}

}  // namespace

std::shared_ptr<Failure> wait_quietly(Array array, engine::WaitFor what,
                                      std::optional<double> timeout_seconds) {
  lazy::Window& window = lazy::window();
  std::shared_ptr<Failure> failure;
  if (!window.make_ready(*array.storage, what, &failure)) {
    wait_without_right(
        [&](const engine::WaitOptions& options) {
          return window.wait(*array.storage, what, options);
        },
        timeout_seconds);
    // When another thread has begun to write again, the value that was waited for was there.
    window.look_at(*array.storage, [&] { failure = array.storage->failure; });
  }
  return failure;
}

void wait_for(Array array, engine::WaitFor what, std::optional<double> timeout_seconds) {
  if (const auto failure = wait_quietly(std::move(array), what, timeout_seconds))
    raise_failure(*failure);
}

void wait_for_room() {
  lazy::Window& window = lazy::window();
  const lazy::Window::Room room = window.make_room();
  if (room == lazy::Window::Room::enough) return;
  wait_without_right(
      [&](const engine::WaitOptions& options) { return window.wait_for_room(room, options); });
}

void wait_for_all() {
  lazy::Window& window = lazy::window();
  window.publish_all();
  wait_without_right([&](const engine::WaitOptions& options) { return window.wait_all(options); });
  if (const auto failure = window.failures().take_first()) raise_failure(*failure);
}

void read_value(const Array& array, void* target) {
  const std::int64_t bytes = array.size() * static_cast<std::int64_t>(size_of(array.dtype));
  if (bytes > bytes_worth_a_task) return read_as_task(array, target);
  for (;;) {
    wait_for(array);
    if (!bytes) return;
    const bool copied = lazy::window().look_at(*array.storage, [&] {
      check_value(array);
      std::memcpy(target, array.data(), static_cast<std::size_t>(bytes));
    });
    if (copied) return;
  }
}

void make_room_from_host(const Array& array) {
  lazy::Window& window = lazy::window();
  const std::int64_t bytes = array.storage->bytes();
  const double most = std::max(window.run_ahead().held_bytes, 2 * static_cast<double>(bytes));
  const auto fits = [&] { return static_cast<double>(Storage::charged_bytes() + bytes) <= most; };
  if (bytes >= Storage::smallest_charge && !fits()) {
    window.retire();
    if (!fits()) {
      window.publish_all();
      wait_without_right([&](const engine::WaitOptions& options) {
        return window.engine().wait_until(fits, options);
      });
    }
  }
  try {
    return array.storage->take_buffer();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  }
  // What unfinished calls hold may be all that is missing.
  window.publish_all();
  wait_without_right([&](const engine::WaitOptions& options) { return window.wait_all(options); });
  array.storage->take_buffer();
}

}  // namespace afterglow::c_api
