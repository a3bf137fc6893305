// SPDX-License-Identifier: Apache-2.0
// DLPack's name of our element types.
#pragma once

#include <nanobind/ndarray.h>

#include "base/dtype.h"

namespace afterglow::bindings {

nanobind::dlpack::dtype dlpack_type(DType dtype);

}  // namespace afterglow::bindings
