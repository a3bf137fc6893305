// SPDX-License-Identifier: Apache-2.0
// How programs call an op. A declaration says it as they know it, by namespace:
//
//   "np.sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True)"
//   "nd.sum|sum_axis(data, axis=None, keepdims=False, exclude=False, out=None, name=None)"
//
// The arguments are found in the declaration by their names: parameters of the op, `out`, `name`
// (of a node, for symbols), `ctx`. Those that it does not know are its inputs, in their order, and
// then options that the front end has a form of its own for, as `**kwargs` are. A parameter that
// is named otherwise here says so: `dim1:axis1=0`. `*data` are all inputs of a variadic op; without
// the star it takes a sequence of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lazy/parameters.h"

namespace afterglow::lazy {

struct Op;

struct Spelling {
  enum class Role {
    input,
    inputs,  ///< all of a variadic op
    parameter,
    out,
    name,
    context,
    option,
    options,  ///< **kwargs
  };
  struct Slot {
    std::string name;
    Role role;
    std::size_t index = 0;  ///< of the input or parameter
    bool required = false;
    bool by_position = true;
    bool is_starred = false;  ///< *data, **kwargs
    Argument default_value = {};
  };

  std::string space;               ///< "np", "nd.contrib"
  std::vector<std::string> names;  ///< the first is its own, the others stand for it
  std::vector<Slot> slots;
  std::vector<Argument> defaults;  ///< one per parameter of the op

  bool is_legacy() const { return space.starts_with("nd"); }
  bool takes(Role role) const;
};

/// All spellings of an op: those that it states, and for other namespaces that MXNet's names of a
/// documented op belong to, its inputs, its parameters, `out` and `name` in this order.
std::vector<Spelling> spellings_of(const Op& op);

}  // namespace afterglow::lazy
