// SPDX-License-Identifier: Apache-2.0
// Where an array lives. Numbers are MXNet's device types.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace afterglow {

struct Context {
  enum Type : std::int8_t { cpu = 1, gpu = 2, cpu_pinned = 3, cpu_shared = 5 };
  Type type = cpu;
  std::int16_t id = 0;

  bool operator==(const Context&) const = default;
};

/// From {type, id}, as Python has it.
inline Context to_context(std::span<const std::int64_t> numbers) {
  if (numbers.size() != 2 || numbers[0] < Context::cpu || numbers[0] > Context::cpu_shared ||
      numbers[1] < INT16_MIN || numbers[1] > INT16_MAX) {
    throw Error(ErrorKind::value, "a device is a type and a number of at most 16 bits");
  }
  return {static_cast<Context::Type>(numbers[0]), static_cast<std::int16_t>(numbers[1])};
}

/// How many GPUs are pretended: their arrays live in the memory of the machine, and their work is
/// queued apart. Guarded by the issuing right.
inline int pretended_gpus = 0;

/// Memory can be had there.
inline bool exists(Context context) {
  return context.type != Context::gpu || (context.id >= 0 && context.id < pretended_gpus);
}

/// The engine's queue for the work of a context.
inline int queue_of(Context context) {
  return context.type == Context::gpu ? context.id + (1 << 16) : context.id;
}

/// Where results of arrays of a context are: memory that is pinned or shared is for copies only.
inline Context computing(Context context) {
  const bool is_host = context.type == Context::cpu_pinned || context.type == Context::cpu_shared;
  return is_host ? Context{Context::cpu, context.id} : context;
}

inline std::string to_string(Context context) {
  const char* name = context.type == Context::gpu          ? "gpu"
                     : context.type == Context::cpu_pinned ? "cpu_pinned"
                     : context.type == Context::cpu_shared ? "cpu_shared"
                                                           : "cpu";
  return name + ("(" + std::to_string(context.id) + ")");
}

/// What is said where no memory can be had.
inline std::string absence(Context context) {
  return to_string(context) + " was asked for, but there is no such device (num_gpus() is " +
         std::to_string(pretended_gpus) + "); use cpu()";
}

}  // namespace afterglow
