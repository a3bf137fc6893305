// SPDX-License-Identifier: Apache-2.0
// Where an array lives. Numbers are MXNet's device types.
#pragma once

#include <cstdint>
#include <string>

namespace afterglow {

struct Context {
  enum Type : std::int8_t { cpu = 1, gpu = 2, cpu_pinned = 3, cpu_shared = 5 };
  Type type = cpu;
  std::int16_t id = 0;

  bool operator==(const Context&) const = default;
};

inline std::string to_string(Context context) {
  const char* name = context.type == Context::gpu          ? "gpu"
                     : context.type == Context::cpu_pinned ? "cpu_pinned"
                     : context.type == Context::cpu_shared ? "cpu_shared"
                                                           : "cpu";
  return name + ("(" + std::to_string(context.id) + ")");
}

}  // namespace afterglow
