// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_limit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>
#include <thread>

#include "base/control_groups.h"
#include "engine/engine.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace afterglow::engine {

namespace {

constexpr int unlimited = std::numeric_limits<int>::max();

// The number in a variable such as "4", or the first of a list such as "4,2"; 0 if it is not one.
int number_in(const char* text) {
  if (!text) return 0;
  std::string_view value(text);
  value = value.substr(0, value.find(','));
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  int number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number > 0 ? number : 0;
}

int processors_of(double quota, double period) {
  if (quota <= 0 || period <= 0) return unlimited;
  return static_cast<int>(std::clamp((quota + period - 1) / period, 1.0, 1e9));
}

// One control group's own quota: version 2 keeps "max 100000" or "150000 100000" in one file,
// version 1 has two files.
int quota_in(const std::string& directory) {
  double quota = 0, period = 0;
  if (std::ifstream(directory + "/cpu.max") >> quota >> period) return processors_of(quota, period);
  if (std::ifstream(directory + "/cpu.cfs_quota_us") >> quota &&
      std::ifstream(directory + "/cpu.cfs_period_us") >> period)
    return processors_of(quota, period);
  return unlimited;
}

int quota_of_process(const std::string& root) {
  int quota = unlimited;
  each_control_group(root, "cpu", [&](const std::string& directory) {
    quota = std::min(quota, quota_in(directory));
  });
  return quota;
}

int allowed_processors() {
#if defined(__linux__)
  // A machine may have more processors than a cpu_set_t has bits.
  for (int bits = 1024; bits <= 1 << 20; bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(bits);
    if (!set) break;
    const bool known = sched_getaffinity(0, CPU_ALLOC_SIZE(bits), set) == 0;
    const int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(bits), set) : 0;
    CPU_FREE(set);
    if (known) return count;
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int thread_limit(const Machine& machine) {
  if (const int wanted = number_in(machine.environment("AFTERGLOW_NUM_THREADS"))) return wanted;
  const int available = std::max(1, std::min(machine.processors, quota_of_process(machine.root)));
  for (const char* name : {"MXNET_CPU_WORKER_NTHREADS", "OMP_NUM_THREADS"})
    if (const int wanted = number_in(machine.environment(name))) return std::min(wanted, available);
  return available;
}

int default_thread_limit() {
  return thread_limit(
      {[](const char* name) { return std::getenv(name); }, "", allowed_processors()});
}

}  // namespace afterglow::engine
