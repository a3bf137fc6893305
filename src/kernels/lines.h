// SPDX-License-Identifier: Apache-2.0
// A contiguous array seen along one axis: [outer][length][inner].
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

struct Lines {
  const void* data = nullptr;
  DType dtype = DType::float32;
  std::int64_t outer = 1, length = 1, inner = 1;
};

}  // namespace afterglow::kernels
