// SPDX-License-Identifier: Apache-2.0
// What ops say of their calls in graphs, where there are no arrays: names, and shapes from shapes.
#pragma once

#include "bindings/array_type.h"

namespace afterglow::bindings {

void bind_nodes(nb::module_& module);

}  // namespace afterglow::bindings
