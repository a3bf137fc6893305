// SPDX-License-Identifier: Apache-2.0
// A recording of what happened when: calls issued and dropped, passes run, waits of Python threads.
//
// Every thread writes events of its own; nothing is formatted before somebody asks. While no
// recording is on, a hook costs one load of a flag that never changes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lazy/call.h"

namespace afterglow::lazy::trace {

enum class Kind : std::uint16_t {
  issued,   ///< begin, end, call; first: site, second: signature; layer
  dropped,  ///< begin, call
  member,   ///< call ran in the pass that begins with the call `begin`
  run,      ///< begin, end; call: first of the pass; share
  wait,     ///< begin, end; first: site, second: Wait
  memory,   ///< begin; call: bytes in use
};

/// The layout is known to afterglow/trace/recorder.py.
struct Event {
  std::int64_t begin = 0;  ///< nanoseconds on the clock of time.monotonic_ns()
  std::int64_t end = 0;
  std::uint64_t call = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::int32_t layer = 0;
  Kind kind = Kind::issued;
  std::uint16_t share = 0;
};
static_assert(sizeof(Event) == 40);

/// What a Python thread waits for.
enum class Wait : std::uint32_t { read, write, all, room, batch, memory };

inline std::atomic<bool> recording{false};
inline bool is_on() {
  return recording.load(std::memory_order_relaxed);
}

inline std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// --- what the window and its tasks tell ---

/// This thread begins to put a call together.
void note_begin();
/// Needs the issuing right.
void note_issued(const Call& call);
void note_dropped(std::span<Call* const> calls);
/// Of what is not a call but runs like one (copying a large array out): takes a number for it.
/// Needs the issuing right.
std::uint64_t note_issued(const char* name, const Array& array, const Site& site);
void note_run(std::uint64_t call, int share, std::int64_t begin, std::int64_t end);
/// Needs the issuing right.
void note_wait(Wait what, const Site& site, std::int64_t begin, std::int64_t end);

/// One share of a pass on this thread, from construction to destruction. Counts its time for the
/// batch that the first call belongs to, too.
class Running {
 public:
  Running(std::span<Call* const> calls, int share)
      : calls_(calls), share_(share), counts_(is_on() || calls[0]->batches) {
    if (counts_) begin_ = now();
  }
  ~Running() {
    if (counts_) end();
  }
  /// It did not run after all.
  void forget() { counts_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void end() const;

  std::span<Call* const> calls_;
  int share_;
  bool counts_;
  std::int64_t begin_ = 0;
};

// --- recordings; all of these need the issuing right ---

struct ThreadEvents {
  std::int64_t thread;  ///< the system's number
  int worker;           ///< -1 for a thread of Python
  std::vector<Event> events;
};
struct Signature {
  std::string op, shapes;
  std::int64_t bytes;  ///< of all outputs
  double cost;         ///< estimated nanoseconds on one thread
  Context device;      ///< of the first output
  Context source;      ///< where a copy to another device comes from; else as `device`
};
/// All events so far, each thread's in its order. Sites are given as owned by the recording.
struct Events {
  std::int64_t start, end;
  std::int64_t lost;  ///< that were too many
  std::vector<ThreadEvents> threads;
  std::vector<const Site*> sites;
  std::vector<Signature> signatures;
};

/// Forgets what was recorded before.
void start(std::int64_t most_events);
/// Nothing is recorded until it is taken up again.
void pause();
void resume();
/// Between start() and clear(), paused or not.
bool exists();
Events events();
/// Ends the recording and gives its memory back.
void clear();
/// A child of a fork records nothing until it is told to.
void after_fork_in_child() noexcept;

}  // namespace afterglow::lazy::trace
