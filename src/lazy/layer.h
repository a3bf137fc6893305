// SPDX-License-Identifier: Apache-2.0
// The layer of a network that a thread computes: a number that means something to the language
// above, given to the calls that are issued meanwhile.
#pragma once

#include <cstdint>

namespace afterglow::lazy {

/// Of this thread; 0 for none.
inline thread_local std::int32_t current_layer = 0;

}  // namespace afterglow::lazy
