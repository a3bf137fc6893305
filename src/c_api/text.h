// SPDX-License-Identifier: Apache-2.0
// Parameters as text, as Python writes them and files of graphs keep them.
#pragma once

#include <string>
#include <string_view>

#include "lazy/parameters.h"

namespace afterglow::c_api {

/// The argument for a parameter; `owner` is what errors begin with.
lazy::Argument argument_from(std::string_view text, const lazy::Parameter& parameter,
                             const std::string& owner);
/// A number: without a point and an exponent an integer.
lazy::Argument number_from(std::string_view text, std::string_view name, const std::string& owner);
/// "cpu", "cpu(0)".
Context context_from(std::string_view text, const std::string& owner);
/// The other way round, for documentation.
std::string text_of(const lazy::Argument& argument, std::string_view kind);

}  // namespace afterglow::c_api
