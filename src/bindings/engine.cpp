// SPDX-License-Identifier: Apache-2.0
// Engine, memory and process functions for afterglow/engine.py, memory.py and random.py.
#include <pthread.h>

#include <string>
#include <utility>

#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/waiting.h"
#include "kernels/blas.h"
#include "kernels/elementwise.h"
#include "lazy/issue.h"
#include "lazy/random_stream.h"
#include "memory/pool.h"

namespace afterglow::bindings {
namespace {

nb::dict statistics() {
  const lazy::Statistics counted = lazy::window().statistics();
  const memory::Figures bytes = memory::pool().figures();
  nb::dict result;
  result["issued"] = counted.issued;
  result["run"] = counted.run;
  result["dropped"] = counted.dropped;
  result["fused"] = counted.fused;
  result["fused_calls"] = counted.fused_calls;
  result["pending"] = counted.pending;
  result["pending_bytes"] = counted.pending_bytes;
  result["run_ahead_bytes"] = counted.run_ahead_bytes;
  result["live_bytes"] = bytes.active;
  result["peak_bytes"] = bytes.peak;
  result["cached_bytes"] = bytes.cached;
  return result;
}

nb::dict passes() {
  nb::dict result;
  for (const auto& [name, member] : lazy::PassSwitches::column()) {
    result[nb::str(name.data(), name.size())] = nb::bool_(lazy::window().passes().*member);
  }
  return result;
}

bool set_pass(const char* name, bool on) {
  for (const auto& [known, member] : lazy::PassSwitches::column()) {
    if (known == name) return std::exchange(lazy::window().passes().*member, on);
  }
  throw Error(ErrorKind::value,
              "there is no pass named '" + std::string(name) + "'; see engine.passes()");
}

/// One iteration of engine.pipeline().
class BatchHandle {
 public:
  ~BatchHandle() { end(); }  // of an iteration that was left by an interrupt

  void begin() {
    lazy::Batches batches = others();
    batches.push_back(batch_);
    lazy::any_batches = true;
    lazy::current_batches = std::make_shared<const lazy::Batches>(std::move(batches));
  }
  void end() {
    if (!lazy::current_batches) return;
    lazy::Batches batches = others();
    lazy::current_batches =
        batches.empty() ? nullptr : std::make_shared<const lazy::Batches>(std::move(batches));
  }
  void wait() const { wait_for_batch(*batch_); }
  std::int64_t computing_nanoseconds() const { return batch_->computing_nanoseconds(); }

 private:
  lazy::Batches others() const {
    lazy::Batches batches;
    if (lazy::current_batches) batches = *lazy::current_batches;
    std::erase(batches, batch_);
    return batches;
  }
  const std::shared_ptr<lazy::Batch> batch_ = std::make_shared<lazy::Batch>();
};

// Locks are taken within fork() itself: other handlers registered with Python may let another
// thread have the GIL, which would wait for our locks for ever. Whoever calls it, in C or in
// Python, waits for no more than running shares, whose threads need nothing of Python.
// (Subprocesses are started with vfork(), which comes by none of this.)
void prepare_fork() {
  lazy::window().before_fork();
  memory::pool().before_fork();
}

thread_local bool holds_host_calls = false;

void end_fork_in_parent() {
  memory::pool().after_fork();
  lazy::window().after_fork_in_parent();
}

void end_fork_in_child() {
  memory::pool().after_fork();
  lazy::window().after_fork_in_child();
  holds_host_calls = false;
}

// A host call may want the GIL, which the forking thread has, or a lock of NumPy's: the fork waits
// for the one that runs, and the others run in both processes.
void before_fork() {
  const WithoutGil released;
  lazy::window().engine().hold_asides();
  holds_host_calls = true;
}

void after_fork() {
  if (std::exchange(holds_host_calls, false)) lazy::window().engine().let_asides_go();
}

void shut_down() {
  begin_exit();
  WithoutGil released;
  lazy::window().shutdown();
}

}  // namespace

void bind_engine(nb::module_& module) {
  module.def("waitall", wait_for_all);
  module.def("statistics", statistics);
  module.def("live_handles", live_handles, "Array handles that Python holds now.");
  module.def("thread_limit", [] { return lazy::window().engine().thread_limit(); });
  module.def(
      "set_share",
      [](int type, int id, int threads) {
        const std::int64_t device[] = {type, id};
        lazy::window().engine().set_limit(queue_of(to_context(device)), threads);
      },
      "Lets at most so many threads compute for a device; 0 for all.");
  module.def("pretended_gpus", [] { return pretended_gpus; });
  module.def("set_pretended_gpus", [](int count) { pretended_gpus = count; });
  module.def("workers_started", [] { return lazy::window().engine().workers_started(); });
  module.def("is_serial", [] { return lazy::window().serial(); });
  module.def("set_run_ahead", [](double held_bytes, double bytes, double seconds) {
    lazy::window().set_run_ahead({.held_bytes = held_bytes, .bytes = bytes, .seconds = seconds});
  });
  module.def("run_ahead", [] {
    const lazy::RunAheadLimits limits = lazy::window().run_ahead();
    return nb::make_tuple(limits.held_bytes, limits.bytes, limits.seconds);
  });
  module.def("passes", passes, "Which passes are on, in their order.");
  module.def("set_pass", set_pass);
  module.def(
      "set_smallest_fused",
      [](std::int64_t elements) {
        return std::exchange(lazy::window().fuse_options().smallest, elements);
      },
      "For tests: passes over fewer elements are not fused.");
  module.def(
      "held_calls", [] { return lazy::window().held_calls(); },
      "For tests: how many calls wait in the window.");
  nb::class_<BatchHandle>(module, "Batch")
      .def(nb::init<>())
      .def("begin", &BatchHandle::begin, "Calls that this thread issues from now on belong to it.")
      .def("end", &BatchHandle::end)
      .def("wait", &BatchHandle::wait)
      .def("computing_nanoseconds", &BatchHandle::computing_nanoseconds,
           "Time that threads computed for it, summed up.");
  module.def("instruction_set", [] { return kernels::instruction_set(); });
  module.def(
      "set_blas_path", [](const char* path) { kernels::set_blas_path(path); },
      "Where the maths library lies; opened when the first product needs it.");

  module.def("seed", [](std::uint64_t seed) { lazy::seed_random(seed); });
  module.def("seed_context", [](std::uint64_t seed, int type, int id) {
    const std::int64_t device[] = {type, id};
    lazy::seed_random(to_context(device), seed);
  });
  module.def(
      "random_state",
      [] {
        const lazy::RandomState state = lazy::random_state();
        nb::list streams;
        for (const auto& [place, draw] : state.streams)
          streams.append(nb::make_tuple(place.first, place.second, draw.key, draw.counter));
        return nb::make_tuple(state.seed, streams);
      },
      "The seed, and (type, id, key, counter) of each stream that was drawn from.");
  module.def(
      "set_random_state",
      [](std::uint64_t seed, nb::list streams) {
        lazy::RandomState state{.seed = seed, .streams = {}};
        for (nb::handle stream : streams) {
          const auto part = [&](int number) { return stream[number]; };
          state.streams[{nb::cast<int>(part(0)), nb::cast<int>(part(1))}] = {
              nb::cast<std::uint64_t>(part(2)), nb::cast<std::uint64_t>(part(3))};
        }
        lazy::set_random_state(std::move(state));
      },
      "Go on where random_state() was called.");
  module.def(
      "draw_iteration",
      [] {
        // The stream of a context that nobody has: what is drawn elsewhere stays as it is.
        const lazy::Draw drawn = lazy::draw_random({Context::cpu_shared, -1}, 1);
        return nb::make_tuple(drawn.key, drawn.counter);
      },
      "From the seed, and how often this was called since: for the draws of other processes.");

  module.def("trim_memory", [] { memory::pool().trim(); });
  module.def("reset_peak_memory", [] { memory::pool().reset_peak(); });
  module.def("set_memory_cap", [](std::int64_t bytes) {
    memory::pool().set_cap(bytes);
    lazy::window().set_capped(bytes > 0);
  });
  module.def("memory_cap", [] { return memory::pool().figures().cap; });

  module.def(
      "inject_failure",
      [](std::int64_t calls_from_now, int kind) {
        lazy::inject_failure(calls_from_now, static_cast<ErrorKind>(kind));
      },
      "For tests: the call issued after that many others fails when it runs.");
  module.def(
      "fail_allocation",
      [](std::int64_t first, std::int64_t count) { memory::pool().fail_allocation(first, count); },
      nb::arg("first"), nb::arg("count") = 1,
      "For tests: that many allocations fail, from the given one on.");

  pthread_atfork(prepare_fork, end_fork_in_parent, end_fork_in_child);
  module.def("before_fork", before_fork);
  module.def("after_fork", after_fork);
  module.def("shut_down", shut_down);
  // Here, before any module of the package is imported: what they end at exit is ended first, with
  // the engine there.
  nb::module_::import_("atexit").attr("register")(module.attr("shut_down"));
  engine::set_blocking_hook([](const std::function<void()>& body) {
    if (!PyGILState_Check()) return body();
    const WithoutGil released;
    body();
  });
}

}  // namespace afterglow::bindings
