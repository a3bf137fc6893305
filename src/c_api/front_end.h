// SPDX-License-Identifier: Apache-2.0
// What issuing asks of a program in C: which place it named, and how it waits.
#pragma once

#include <string>
#include <string_view>

#include "lazy/failure.h"

namespace afterglow::c_api {

/// What this thread issues from now on was written there. Needs the right.
void set_site(std::string_view file, int line, std::string_view function);
/// Throws what a call failed with, and where it was issued.
[[noreturn]] void raise_failure(Failure& failure);
/// Makes it that of the process.
void use_front_end();

}  // namespace afterglow::c_api
