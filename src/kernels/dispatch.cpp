// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels for this machine at first use.
#include <cstdlib>
#include <cstring>

#include "kernels/table.h"

namespace afterglow::kernels {

#if defined(__x86_64__)
namespace x86_64_v2 {
const KernelTable& table();
}
namespace x86_64_v3 {
const KernelTable& table();
}
namespace x86_64_v4 {
const KernelTable& table();
}
#endif
#if !defined(__x86_64__) || defined(AFTERGLOW_PORTABLE)
namespace portable {
const KernelTable& table();
}
#endif

namespace {

struct Choice {
  const char* name;
  const KernelTable* table;
};

Choice choose() {
#if defined(__x86_64__)
  const char* wanted = std::getenv("AFTERGLOW_INSTRUCTION_SET");
  const auto at_most = [&](const char* name) { return wanted && std::strcmp(wanted, name) == 0; };
#if defined(AFTERGLOW_PORTABLE)
  if (at_most("portable")) return {"portable", &portable::table()};
#endif
  const bool only_v2 = at_most("x86-64-v2"), only_v3 = at_most("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v4") && !only_v3 && !only_v2)
    return {"x86-64-v4", &x86_64_v4::table()};
  if (__builtin_cpu_supports("x86-64-v3") && !only_v2) return {"x86-64-v3", &x86_64_v3::table()};
  return {"x86-64-v2", &x86_64_v2::table()};
#else
  return {"portable", &portable::table()};
#endif
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

}  // namespace

const KernelTable& kernel_table() {
  return *choice().table;
}

const char* instruction_set() {
  return choice().name;
}

}  // namespace afterglow::kernels
