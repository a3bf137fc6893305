// SPDX-License-Identifier: Apache-2.0
// Keys of `x[key]`: what loops use most is read here, all else by afterglow/_arrays/keys.py.
#pragma once

#include <optional>

#include "array/layout.h"
#include "bindings/python.h"
#include "ops/views.h"

namespace afterglow::bindings {

/// What a key of integers, slices, `...` and None names. Nothing where it holds anything else or
/// does not fit the array, which the caller has to tell.
std::optional<ops::Part> place_of_key(const Layout& layout, PyObject* key);

/// Waits for an array; the numbers of its elements that are not 0, counted in the order of memory.
nb::object true_positions(nb::handle mask);

void bind_keys(nb::module_& module);

}  // namespace afterglow::bindings
