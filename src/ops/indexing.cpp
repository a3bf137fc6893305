// SPDX-License-Identifier: Apache-2.0
// Elements picked by index arrays.
#include "ops/table.h"

namespace afterglow::ops {

void declare_indexing(Table&) {}

}  // namespace afterglow::ops
