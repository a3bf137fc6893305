// SPDX-License-Identifier: Apache-2.0
// MXNet's files of arrays (.params): afterglow/_formats/params.py says how they are laid out.
// Damaged ones are refused; no more memory is taken than the file has bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "autograd/handle.h"

namespace afterglow::c_api {

struct NamedArrays {
  std::vector<autograd::Handle> arrays;
  std::vector<std::string> names;  ///< one for each, or none at all
};

/// All of a file.
std::string read_file(const std::string& path);
/// `source` is what errors call it.
NamedArrays arrays_in(std::string_view bytes, const std::string& source);

}  // namespace afterglow::c_api
