// SPDX-License-Identifier: Apache-2.0
// Arguments as most programs give them, which are read without asking Python.
#pragma once

#include <cstdint>
#include <optional>

#include "bindings/array_type.h"

namespace afterglow::bindings {

/// An array of nd (legacy) or np.
inline bool is_plain_array(PyObject* object, bool legacy) {
  return is_array(object) && as_array(object).legacy == legacy;
}

/// The number of a data type in one of its usual spellings.
std::optional<std::int64_t> plain_dtype(PyObject* object);

/// Whether new arrays are made on cpu(0) whatever the thread.
bool contexts_are_plain();

void bind_plain(nb::module_& module);

}  // namespace afterglow::bindings
