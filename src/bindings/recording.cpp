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

/// Fills a list when it ends. In C++ like all scopes, so that an interrupt cannot leave it on.
class RecordScope {
 public:
  explicit RecordScope(nb::callable make_event) : make_event_(std::move(make_event)) {}

  nb::list enter() {
    recorder = std::make_shared<Recorder>();
    lazy::window().engine().set_observer(recorder);
    return events_;
  }
  void exit(nb::args) {
    lazy::window().engine().set_observer(nullptr);
    const auto stopped = std::exchange(recorder, nullptr);
    if (!stopped) return;
    for (const Event& event : stopped->take())
      events_.append(make_event_(nb::make_tuple(event.what, event.nanoseconds, event.task,
                                                event.label.c_str(), event.share, event.thread)));
  }

 private:
  const nb::callable make_event_;
  nb::list events_;
};

}  // namespace

void bind_recording(nb::module_& module) {
  nb::class_<RecordScope>(module, "RecordScope",
                          "`make_event` is given (what, nanoseconds, task, op, share, thread).")
      .def(nb::init<nb::callable>(), nb::arg("make_event"))
      .def("__enter__", &RecordScope::enter)
      .def("__exit__", &RecordScope::exit);
}

}  // namespace afterglow::bindings
