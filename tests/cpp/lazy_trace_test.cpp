// SPDX-License-Identifier: Apache-2.0
// Recordings, made while workers run calls, and begun, paused, copied and ended meanwhile.
#include "lazy/trace.h"

#include <algorithm>
#include <map>
#include <set>

#include "lazy_support.h"

using namespace support;
namespace trace = lazy::trace;

namespace {

using Ids = std::set<std::uint64_t>;

/// The calls of all events of a kind.
Ids calls_of(const trace::Events& events, trace::Kind kind) {
  Ids result;
  for (const trace::ThreadEvents& thread : events.threads) {
    for (const trace::Event& event : thread.events) {
      if (event.kind == kind) result.insert(event.call);
    }
  }
  return result;
}

}  // namespace

TEST("every call is issued and then run, alone or as a member, or dropped") {
  auto window = threaded(2);
  trace::start(1 << 20);
  const Array x = filled({300, 300}, 1);
  Array sum = x, lost;
  for (int i = 0; i < 200; ++i) {
    sum = apply(*window, "add", sum, 1.0);
    let_go(*window, lost);
    lost = apply(*window, "multiply", x, 2.0);
  }
  CHECK_EQUAL(value(*window, sum), 201.0f);
  finish(*window);
  const trace::Events events = trace::events();
  trace::clear();
  const Ids issued = calls_of(events, trace::Kind::issued);
  const Ids dropped = calls_of(events, trace::Kind::dropped);
  Ids ended = dropped;
  for (const trace::Kind kind : {trace::Kind::run, trace::Kind::member}) {
    for (const std::uint64_t call : calls_of(events, kind)) {
      CHECK(!dropped.contains(call));
      ended.insert(call);
    }
  }
  CHECK_EQUAL(issued.size(), std::size_t{400});
  CHECK(issued == ended);
  CHECK_EQUAL(static_cast<std::int64_t>(dropped.size()), window->statistics().dropped);
  CHECK_EQUAL(events.lost, 0);
}

TEST("runs of a thread come one after another") {
  auto window = threaded(2);
  trace::start(1 << 20);
  const Array x = filled({400, 400}, 1);
  for (int i = 0; i < 20; ++i) call(*window, "exp", {apply(*window, "add", x, i)});
  finish(*window);
  for (const trace::ThreadEvents& thread : trace::events().threads) {
    std::int64_t last = 0;
    for (const trace::Event& event : thread.events) {
      if (event.kind != trace::Kind::run) continue;
      CHECK(event.begin >= last);
      CHECK(event.end >= event.begin);
      last = event.end;
    }
  }
  trace::clear();
}

TEST("recordings begin, are copied, pause and end while workers run") {
  auto window = threaded(2);
  const Array x = filled({200, 200}, 1);
  for (int round = 0; round < 100; ++round) {
    trace::start(round % 3 ? 1 << 20 : 1 << 15);
    std::vector<Array> kept;
    for (int i = 0; i < 20; ++i) kept.push_back(call(*window, "exp", {x}));
    if (round % 2) window->publish_all();
    CHECK(!calls_of(trace::events(), trace::Kind::issued).empty());
    trace::pause();
    for (int i = 0; i < 5; ++i) kept.push_back(apply(*window, "add", x, i));
    trace::resume();
    if (round % 5) trace::clear();
    CHECK_EQUAL(value(*window, kept.back()), 5.0f);
  }
  trace::clear();
  finish(*window);
  CHECK(!trace::exists());
}

TEST("there is a limit to events") {
  auto window = serial();
  trace::start(1);
  Array x = filled({1}, 0);
  for (int i = 0; i < 10000; ++i) x = apply(*window, "add", x, 1.0);
  const trace::Events events = trace::events();
  trace::clear();
  CHECK(events.lost > 0);
  std::size_t kept = 0;
  for (const trace::ThreadEvents& thread : events.threads) kept += thread.events.size();
  CHECK(kept < 10000);
}

TEST("calls with the same op and shapes have one signature") {
  auto window = serial();
  trace::start(1 << 20);
  const Array x = filled({2, 3}, 1);
  const Array y = filled({3, 2}, 1);
  for (int i = 0; i < 3; ++i) {
    apply(*window, "add", x, 1.0);
    apply(*window, "add", y, 1.0);
    call(*window, "exp", {x});
  }
  const trace::Events events = trace::events();
  trace::clear();
  CHECK_EQUAL(events.signatures.size(), std::size_t{3});
  CHECK_EQUAL(events.signatures[0].op, std::string("add"));
  CHECK_EQUAL(events.signatures[1].shapes,
              std::string("(3, 2) float32, a number -> (3, 2) float32"));
  CHECK_EQUAL(events.signatures[2].bytes, std::int64_t{24});
}

TEST("time of batches is counted without a recording") {
  auto window = serial();
  auto batch = std::make_shared<lazy::Batch>();
  lazy::any_batches = true;
  lazy::current_batches = std::make_shared<const lazy::Batches>(lazy::Batches{batch});
  const Array x = filled({500, 500}, 1);
  call(*window, "exp", {x});
  lazy::current_batches = nullptr;
  CHECK(batch->finished());
  const std::int64_t time = batch->computing_nanoseconds();
  CHECK(time > 0);
  call(*window, "exp", {x});
  CHECK_EQUAL(batch->computing_nanoseconds(), time);
}

CHECK_MAIN
