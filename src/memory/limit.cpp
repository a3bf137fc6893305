// SPDX-License-Identifier: Apache-2.0
#include "memory/limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/control_groups.h"

namespace afterglow::memory {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t resource_limit(int resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(unlimited))
    return unlimited;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

std::int64_t control_group_limit(const std::string& root) {
  std::int64_t limit = unlimited;
  each_control_group(root, "memory", [&](const std::string& directory) {
    // Version 2 says "max" where there is no limit, version 1 a number that no machine has. What is
    // reclaimed from "high" on would be slow before it is refused.
    for (const char* name : {"/memory.max", "/memory.high", "/memory.limit_in_bytes"}) {
      std::int64_t bytes = 0;
      if (std::ifstream(directory + name) >> bytes && bytes > 0) limit = std::min(limit, bytes);
    }
  });
  return limit;
}

std::int64_t memory_limit() {
  const std::int64_t machine =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return std::min(
      {machine, control_group_limit(""), resource_limit(RLIMIT_AS), resource_limit(RLIMIT_DATA)});
}

}  // namespace afterglow::memory
