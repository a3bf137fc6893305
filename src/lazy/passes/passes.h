// SPDX-License-Identifier: Apache-2.0
// The passes, in the order in which they see the calls.
#pragma once

#include <array>
#include <string_view>

#include "lazy/passes/drop.h"    // what nobody can observe is not run
#include "lazy/passes/fuse.h"    // calls over the same elements become one pass over memory
#include "lazy/passes/needed.h"  // what one value needs: always on
#include "lazy/passes/reuse.h"   // results take over the buffers of dying inputs

namespace afterglow::lazy {

/// Which passes are on. Results are the same with any choice.
struct PassSwitches {
  bool drop = true;
  bool fuse = true;
  bool reuse = true;

  static constexpr std::array<std::pair<std::string_view, bool PassSwitches::*>, 3> column() {
    return {{{"drop", &PassSwitches::drop},
             {"fuse", &PassSwitches::fuse},
             {"reuse", &PassSwitches::reuse}}};
  }
};

}  // namespace afterglow::lazy
