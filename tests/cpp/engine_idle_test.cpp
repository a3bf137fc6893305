// SPDX-License-Identifier: Apache-2.0
// The idle hook, nudges, and how many threads there should be.
#include <map>
#include <mutex>

#include "engine/thread_limit.h"
#include "engine_support.h"
#include "made_up_machine.h"

using namespace support;

namespace {

constexpr auto until_nudged = std::chrono::nanoseconds::max();

/// Work held back by a layer above, which publishes it when the hook asks.
struct Held {
  explicit Held(Engine& engine) : engine(engine) {}

  Engine& engine;
  std::mutex mutex;
  int pending = 0;
  std::atomic<int> published{0};

  void hold() {
    {
      const std::lock_guard lock(mutex);
      ++pending;
    }
    engine.nudge();
  }
  std::chrono::nanoseconds publish() {
    int count;
    {
      const std::lock_guard lock(mutex);
      count = std::exchange(pending, 0);
    }
    for (int i = 0; i < count; ++i) push(engine, [this] { ++published; }, {}, {});
    return until_nudged;
  }
};

}  // namespace

TEST("a worker with nothing to run asks the hook, which may push") {
  auto engine = make_threaded_engine(2);
  std::atomic<int> asked{0}, ran{0};
  engine->set_idle_hook([&] {
    if (asked++ < 10) push(*engine, [&] { ++ran; }, {}, {});
    return until_nudged;
  });
  CHECK_EQUAL(engine->workers_started(), 0);
  push(*engine, [] {}, {}, {});
  CHECK(eventually([&] { return ran == 10; }));
}

TEST("a nudge starts or wakes a worker, and none is lost") {
  for (int limit : {1, 2}) {
    auto engine = make_threaded_engine(limit);
    Held held(*engine);
    engine->set_idle_hook([&] { return held.publish(); });
    for (int i = 1; i <= 3000; ++i) {
      held.hold();
      // Pauses of all lengths around the spinning time meet workers in every state.
      if (i % 3 == 0) busy(std::chrono::microseconds(i % 90));
      if (i % 500 == 0) std::this_thread::sleep_for(2ms);
      if (i % 7 == 0) CHECK(eventually([&] { return held.published == i; }));
    }
    CHECK(eventually([&] { return held.published == 3000; }));
  }
}

TEST("a nudge is answered while another worker runs a long task") {
  auto engine = make_threaded_engine(2);
  Held held(*engine);
  engine->set_idle_hook([&] { return held.publish(); });
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  held.hold();
  CHECK(eventually([&] { return held.published == 1; }));
  gate.open = true;
  engine->wait_all();
}

TEST("the hook is asked again after the time it named, at the latest after a millisecond") {
  for (auto answer : {std::chrono::nanoseconds(300us), std::chrono::nanoseconds(10s)}) {
    auto engine = make_threaded_engine(1);
    std::atomic<int> asked{0};
    engine->set_idle_hook([&] {
      ++asked;
      return answer;
    });
    engine->nudge();
    CHECK(eventually([&] { return asked >= 20; }));
    // In its timed sleep the worker still takes work at once.
    std::atomic<bool> ran{false};
    push(*engine, [&] { ran = true; }, {}, {});
    CHECK(eventually([&] { return ran.load(); }));
    engine->set_idle_hook(nullptr);
  }
}

TEST("a timed sleep goes on while its worker runs a task") {
  auto engine = make_threaded_engine(2);
  std::atomic<int> asked{0};
  engine->set_idle_hook([&] {
    ++asked;
    return std::chrono::nanoseconds(200us);
  });
  engine->nudge();
  CHECK(eventually([&] { return asked >= 5; }));
  Gate gate;
  push(*engine, [&] { gate.pass(); }, {}, {});
  CHECK(eventually([&] { return gate.arrived == 1; }));
  asked = 0;
  CHECK(eventually([&] { return asked >= 5; }));
  gate.open = true;
  engine->wait_all();
}

TEST("a hook that throws is asked again, one that is gone is not") {
  auto engine = make_threaded_engine(1);
  std::atomic<int> asked{0};
  engine->set_idle_hook([&]() -> std::chrono::nanoseconds {
    ++asked;
    throw 1;
  });
  engine->nudge();
  CHECK(eventually([&] { return asked >= 3; }));
  engine->set_idle_hook(nullptr);
  engine->nudge();
  push(*engine, [] {}, {}, {});
  engine->wait_all();
}

namespace {

/// With environment variables.
struct Fake : MadeUpMachine {
  std::map<std::string, std::string> variables;
  int limit(int processors = 16) {
    return thread_limit({[&](const char* name) {
                           auto found = variables.find(name);
                           return found == variables.end() ? nullptr : found->second.c_str();
                         },
                         root.string(), processors});
  }
};

}  // namespace

TEST("the thread limit is what affinity and quota leave, at least one") {
  Fake fake;
  CHECK_EQUAL(fake.limit(), 16);
  CHECK_EQUAL(fake.limit(0), 1);
  CHECK(default_thread_limit() >= 1);
}

TEST("the quota of a control group of version 2, its own or its parents'") {
  Fake fake;
  fake.write("proc/self/cgroup", "0::/user/session\n");
  fake.write("sys/fs/cgroup/user/session/cpu.max", "max 100000\n");
  CHECK_EQUAL(fake.limit(), 16);
  fake.write("sys/fs/cgroup/user/session/cpu.max", "450000 100000\n");
  CHECK_EQUAL(fake.limit(), 5);
  CHECK_EQUAL(fake.limit(2), 2);
  fake.write("sys/fs/cgroup/user/cpu.max", "50000 100000\n");
  CHECK_EQUAL(fake.limit(), 1);
}

TEST("inside a container the mount is the group, whatever the path says") {
  Fake fake;
  fake.write("proc/self/cgroup", "0::/../elsewhere\n");
  fake.write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  CHECK_EQUAL(fake.limit(), 3);
}

TEST("the quota of a control group of version 1") {
  Fake fake;
  fake.write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a/b\n0::/\n");
  fake.write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  fake.write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  CHECK_EQUAL(fake.limit(), 16);
  fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
  fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK_EQUAL(fake.limit(), 3);
}

TEST("environment variables: ours as it stands, the others up to what is available") {
  Fake fake;
  fake.variables["OMP_NUM_THREADS"] = "3,2";
  CHECK_EQUAL(fake.limit(), 3);
  CHECK_EQUAL(fake.limit(2), 2);
  fake.variables["MXNET_CPU_WORKER_NTHREADS"] = "5";
  CHECK_EQUAL(fake.limit(), 5);
  CHECK_EQUAL(fake.limit(4), 4);
  fake.variables["AFTERGLOW_NUM_THREADS"] = " 40 ";
  CHECK_EQUAL(fake.limit(4), 40);
  for (const char* invalid : {"", "0", "-2", "many", "3x", "99999999999"}) {
    fake.variables["AFTERGLOW_NUM_THREADS"] = invalid;
    CHECK_EQUAL(fake.limit(), 5);
  }
}

CHECK_MAIN
