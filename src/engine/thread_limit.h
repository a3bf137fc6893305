// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace afterglow::engine {

/// What default_thread_limit() looks at, so that tests can show it another machine.
struct Machine {
  std::function<const char*(const char* name)> environment;
  std::string root;  ///< stands before /proc and /sys
  int processors;    ///< that this process may run on
};

int thread_limit(const Machine& machine);

}  // namespace afterglow::engine
