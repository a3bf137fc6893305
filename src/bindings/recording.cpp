// SPDX-License-Identifier: Apache-2.0
// A record of what the engine did, for tests, benchmarks and curious users: engine.record() in
// Python.
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/functions.h"

namespace afterglow::bindings {
namespace {

struct Event {
  const char* what;
  std::int64_t nanoseconds;
  std::uint64_t task;
  std::string label;  // the engine's pointer is good for the call only
  int share;
  int thread;
};

class Recorder : public engine::Observer {
 public:
  void pushed(std::uint64_t task, const char* label, int, int) override {
    add("pushed", task, label, -1, -1);
  }
  void share_started(std::uint64_t task, const char* label, int share, int thread) override {
    add("started", task, label, share, thread);
  }
  void share_finished(std::uint64_t task, const char* label, int share, int thread) override {
    add("finished", task, label, share, thread);
  }
  std::vector<Event> take() {
    std::lock_guard lock(mutex_);
    return std::move(events_);
  }

 private:
  void add(const char* what, std::uint64_t task, const char* label, int share, int thread) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    std::lock_guard lock(mutex_);
    events_.push_back({what, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                       task, label, share, thread});
  }
  std::mutex mutex_;
  std::vector<Event> events_;
};

std::shared_ptr<Recorder> recorder;  // guarded by the GIL

void start_recording() {
  recorder = std::make_shared<Recorder>();
  lazy::window().engine().set_observer(recorder);
}

nb::list stop_recording() {
  lazy::window().engine().set_observer(nullptr);
  nb::list events;
  if (const auto stopped = std::exchange(recorder, nullptr)) {
    for (const Event& event : stopped->take()) {
      events.append(nb::make_tuple(event.what, event.nanoseconds, event.task, event.label.c_str(),
                                   event.share, event.thread));
    }
  }
  return events;
}

}  // namespace

void bind_recording(nb::module_& module) {
  module.def("start_recording", start_recording);
  module.def(
      "stop_recording", stop_recording,
      "(what, nanoseconds, task, op, share, thread) for every event since the start; the clock "
      "is that of time.monotonic_ns(), thread is -1 for a thread that helps while it waits.");
}

}  // namespace afterglow::bindings
