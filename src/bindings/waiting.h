// SPDX-License-Identifier: Apache-2.0
// Every wait of Python: with the GIL released, awake for signals and timeouts.
#pragma once

#include <memory>
#include <optional>

#include "array/array.h"
#include "bindings/python.h"
#include "lazy/failure.h"

namespace afterglow::bindings {

/// Waits for the array's value (or, for writing, also for its readers) and raises what poisoned it.
/// Throws nb::python_error for KeyboardInterrupt, TimeoutError and failures.
void wait_for(const Array& array, engine::WaitFor what = engine::WaitFor::read,
              std::optional<double> timeout_seconds = {});
/// The same for reading, but what poisoned it is returned.
std::shared_ptr<Failure> wait_for_value(const Array& array);
/// Waits until issuing one more call keeps within the run-ahead limits.
void wait_for_room();
/// Waits until a batch of data that Python is about to make keeps within the limit on such data;
/// one beside the one that is being read is always allowed.
void wait_for_room(std::int64_t bytes);
/// Takes the storage's buffer for a value from outside; where memory is short, after all unfinished
/// calls have given back theirs.
void take_buffer_or_wait(Storage& storage);
/// Waits for all calls of a batch.
void wait_for_batch(const lazy::Batch& batch);
/// Waits for everything issued so far and raises the first failure not raised yet.
void wait_for_all();
/// Waits and copies the contiguous array out; a later write cannot get in between.
void read_value(const Array& array, void* target);
/// Publishes what the array needs and tells whether its value is there. Never blocks.
bool is_ready(const Array& array);

/// Copies longer than this give other Python threads the GIL.
inline constexpr std::int64_t bytes_worth_releasing = 64 << 10;

/// Releases the GIL for a scope. A thread that comes back after the interpreter began to end must
/// not touch it again: it stays here until the process is gone.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take(); }
  /// Has the GIL for a moment.
  template <class Body>
  auto with_gil(Body&& body) {
    take();
    auto result = body();
    state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take();
  PyThreadState* state_;
};

/// The interpreter is about to end: called once, by the thread that ends it, with the GIL.
void begin_exit();
/// It has begun: no thread may take the GIL any more.
bool is_exiting();
/// The GIL, for a thread that Python need not know; nothing once the interpreter is about to end.
std::optional<PyGILState_STATE> take_gil_unless_exiting();

}  // namespace afterglow::bindings
