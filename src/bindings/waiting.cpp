// SPDX-License-Identifier: Apache-2.0
#include "bindings/waiting.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "bindings/functions.h"
#include "bindings/site.h"
#include "lazy/capture.h"
#include "lazy/trace.h"

namespace afterglow::bindings {
namespace {

std::atomic<bool> exiting{false};
std::atomic<int> entering{0};  // threads that are about to take the GIL
pthread_t exiting_thread;

/// Longer timeouts than this are no timeout: the sum with now must not overflow.
constexpr double longest_timeout = 1e9;

/// Devices that wait for others wait for ever where the only thread that could issue their calls
/// waits as well. Needs the GIL.
void give_up_meetings() {
  if (!lazy::Meeting::any_open() || !lazy::window().engine().stalled()) return;
  const nb::object threads = nb::module_::import_("threading").attr("active_count")();
  if (nb::cast<int>(threads) == 1) lazy::Meeting::give_up();
}

engine::WaitOptions options_for(WithoutGil& released, std::optional<double> timeout_seconds) {
  engine::WaitOptions options;
  if (timeout_seconds && *timeout_seconds < longest_timeout) {
    options.timeout =
        std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, *timeout_seconds) * 1e9));
  }
  // The GIL is here for a moment: time to look at signals, and to free what finished meanwhile.
  options.interrupted = [&released] {
    return released.with_gil([] {
      lazy::window().retire();
      give_up_meetings();
      return PyErr_CheckSignals() != 0;
    });
  };
  return options;
}

void raise_unless_done(engine::WaitResult result, std::optional<double> timeout_seconds) {
  raise_interruption();
  switch (result) {
    case engine::WaitResult::done:
      return;
    case engine::WaitResult::interrupted:
      throw nb::python_error();
    case engine::WaitResult::timed_out: {
      const std::string text = "the array is not ready after " +
                               std::to_string(timeout_seconds.value_or(0)) + " seconds";
      throw Error(ErrorKind::timeout, text);
    }
    case engine::WaitResult::shut_down:
      throw Error(ErrorKind::mxnet, "the engine is shut down: the process is ending");
    case engine::WaitResult::itself:
      throw Error(ErrorKind::mxnet,
                  "a wait inside of a queued Python function for a value that depends on that very "
                  "function; it would wait for itself, so read the value elsewhere");
  }
}

/// What Python does next may depend on a value: such calls cannot be issued again for others.
void note_read() {
  lazy::Capture* capture = lazy::Capture::current();
  if (!capture || !capture->refusal().empty()) return;
  const std::string place = describe_site(capture_site());
  capture->refuse("the value of an array was read" + (place.empty() ? "" : " at " + place));
}

/// A wait as a recording shows it; made and destroyed with the GIL.
class NotedWait {
 public:
  explicit NotedWait(lazy::trace::Wait what) : what_(what) {
    if (lazy::trace::is_on()) begin_ = lazy::trace::now();
  }
  /// For a value: no wait if it is there.
  NotedWait(lazy::trace::Wait what, Storage& storage) : what_(what) {
    if (lazy::trace::is_on() && !lazy::window().is_settled(storage)) begin_ = lazy::trace::now();
  }
  ~NotedWait() {
    if (!begin_) return;
    lazy::trace::note_wait(what_, capture_site(), begin_, lazy::trace::now());
    // A call that had to wait for room is put together from here on.
    lazy::trace::note_begin();
  }
  NotedWait(const NotedWait&) = delete;
  NotedWait& operator=(const NotedWait&) = delete;

 private:
  const lazy::trace::Wait what_;
  std::int64_t begin_ = 0;
};

/// Others run Python meanwhile; then what has finished is let go.
template <class Wait>
void wait_without_gil(const Wait& wait, std::optional<double> timeout_seconds = {}) {
  engine::WaitResult result;
  {
    WithoutGil released;
    result = wait(options_for(released, timeout_seconds));
  }
  lazy::window().retire();
  raise_unless_done(result, timeout_seconds);
}

/// Copies an array out as a task of its own, so that later writers wait for it.
class ReadTask : public engine::Task {
 public:
  ReadTask(const Array& array, void* target, std::shared_ptr<Failure>& failure,
           std::uint64_t number)
      : array_(array),
        number_(number),
        bytes_(array.size() * static_cast<std::int64_t>(size_of(array.dtype))),
        target_(static_cast<std::byte*>(target)),
        failure_(failure) {}
  int prepare(bool) override {
    failure_ = array_.storage->failure;
    if (!failure_) check_value(array_);
    return failure_ ? 0 : static_cast<int>((bytes_ + share_bytes - 1) / share_bytes);
  }
  void run(int share) override {
    const std::int64_t begin = share * share_bytes;
    const auto count = static_cast<std::size_t>(std::min(share_bytes, bytes_ - begin));
    const std::int64_t began = number_ ? lazy::trace::now() : 0;
    std::memcpy(target_ + begin, array_.data() + begin, count);
    if (number_) lazy::trace::note_run(number_, share, began, lazy::trace::now());
  }
  std::string label() const override { return "asnumpy"; }

 private:
  static constexpr std::int64_t share_bytes = 4 << 20;
  const Array& array_;
  const std::uint64_t number_;  ///< in a recording; 0 for none
  std::int64_t bytes_;
  std::byte* target_;
  std::shared_ptr<Failure>& failure_;
};

void read_as_task(const Array& array, void* target) {
  lazy::Window& window = lazy::window();
  engine::Variable copied;
  std::shared_ptr<Failure> failure;
  engine::Variable* const reads[] = {&array.storage->variable};
  engine::Variable* const writes[] = {&copied};
  const std::uint64_t number =
      lazy::trace::is_on() ? lazy::trace::note_issued("asnumpy", array, capture_site()) : 0;
  // Pushed at a moment when no writer is unfinished, so nothing is ahead of it but the copy itself.
  // That is why the last wait need not look at signals, and may borrow everything from this frame.
  do {
    wait_for(array);
  } while (!window.look_at(*array.storage, [&] {
    window.engine().push(std::make_unique<ReadTask>(array, target, failure, number), reads, writes,
                         {.priority = 1, .queue = queue_of(array.context())});
  }));
  engine::WaitResult result;
  const NotedWait noted(lazy::trace::Wait::read);
  {
    WithoutGil released;
    result = window.engine().wait(copied);
  }
  raise_unless_done(result, {});
  if (failure) raise_failure(*failure);
}

}  // namespace

void begin_exit() {
  exiting_thread = pthread_self();
  exiting = true;
  // Those that did not see it yet get the GIL while there still is one.
  WithoutGil released;
  while (entering > 0) std::this_thread::yield();
}

bool is_exiting() {
  return exiting;
}

std::optional<PyGILState_STATE> take_gil_unless_exiting() {
  std::optional<PyGILState_STATE> gil;
  ++entering;
  if (!exiting) gil = PyGILState_Ensure();
  --entering;
  return gil;
}

void WithoutGil::take() {
  while (exiting && !pthread_equal(exiting_thread, pthread_self())) pause();
  PyEval_RestoreThread(state_);
}

namespace {

/// Part of both that call it: most values are there, or are computed in less time than calls take.
[[gnu::always_inline]] inline std::shared_ptr<Failure> wait_quietly(
    const Array& array, engine::WaitFor what, std::optional<double> timeout_seconds) {
  release_sites_left_behind();
  note_read();
  lazy::Window& window = lazy::window();
  const NotedWait noted(
      what == engine::WaitFor::read ? lazy::trace::Wait::read : lazy::trace::Wait::write,
      *array.storage);
  std::shared_ptr<Failure> failure;
  if (!window.make_ready(*array.storage, what, &failure)) {
    wait_without_gil(
        [&](const engine::WaitOptions& options) {
          return window.wait(*array.storage, what, options);
        },
        timeout_seconds);
    // When another thread has begun to write again, the value that was waited for was there.
    window.look_at(*array.storage, [&] { failure = array.storage->failure; });
  }
  return failure;
}

}  // namespace

void wait_for(const Array& array, engine::WaitFor what, std::optional<double> timeout_seconds) {
  if (const auto failure = wait_quietly(array, what, timeout_seconds)) raise_failure(*failure);
}

std::shared_ptr<Failure> wait_for_value(const Array& array) {
  return wait_quietly(array, engine::WaitFor::read, {});
}

void wait_for_room() {
  lazy::Window& window = lazy::window();
  const lazy::Window::Room room = window.make_room();
  if (room == lazy::Window::Room::enough) return;
  const NotedWait noted(lazy::trace::Wait::room);
  wait_without_gil(
      [&](const engine::WaitOptions& options) { return window.wait_for_room(room, options); });
}

void wait_for_room(std::int64_t bytes) {
  if (bytes < Storage::smallest_charge) return;
  lazy::Window& window = lazy::window();
  const double most = std::max(window.run_ahead().held_bytes, 2 * static_cast<double>(bytes));
  const auto fits = [&] { return static_cast<double>(Storage::charged_bytes() + bytes) <= most; };
  if (fits()) return;
  window.retire();
  if (fits()) return;
  const NotedWait noted(lazy::trace::Wait::room);
  window.publish_all();
  wait_without_gil([&](const engine::WaitOptions& options) {
    return window.engine().wait_until(fits, options);
  });
}

void take_buffer_or_wait(Storage& storage) {
  try {
    return storage.take_buffer();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  }
  // What unfinished calls hold may be all that is missing.
  lazy::Window& window = lazy::window();
  const NotedWait noted(lazy::trace::Wait::memory);
  window.publish_all();
  wait_without_gil([&](const engine::WaitOptions& options) { return window.wait_all(options); });
  storage.take_buffer();
}

void wait_for_batch(const lazy::Batch& batch) {
  release_sites_left_behind();
  lazy::Window& window = lazy::window();
  if (batch.finished()) return;
  const NotedWait noted(lazy::trace::Wait::batch);
  window.publish_all();
  wait_without_gil([&](const engine::WaitOptions& options) { return window.wait(batch, options); });
}

void wait_for_all() {
  release_sites_left_behind();
  lazy::Window& window = lazy::window();
  const NotedWait noted(lazy::trace::Wait::all);
  window.publish_all();
  wait_without_gil([&](const engine::WaitOptions& options) { return window.wait_all(options); });
  if (const auto failure = window.failures().take_first()) raise_failure(*failure);
}

void read_value(const Array& array, void* target) {
  release_sites_left_behind();
  const std::int64_t bytes = array.size() * static_cast<std::int64_t>(size_of(array.dtype));
  if (bytes > bytes_worth_releasing) return read_as_task(array, target);
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

bool is_ready(const Array& array) {
  release_sites_left_behind();
  note_read();
  return lazy::window().make_ready(*array.storage, engine::WaitFor::read);
}

}  // namespace afterglow::bindings
