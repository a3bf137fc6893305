// SPDX-License-Identifier: Apache-2.0
// The Python line that issues a call: the innermost frame outside our package.
#pragma once

#include <string>

#include "bindings/python.h"
#include "lazy/site.h"

namespace afterglow::bindings {

/// Code and instruction of the line being run now. Needs the GIL.
lazy::Site capture_site();
/// "file.py:12 in function", in a notebook "Cell In[3], line 2 in function", or nothing where no
/// Python line is known. Needs the GIL.
std::string describe_site(const lazy::Site& site);
/// Folder whose files are our own and never named as an issue site.
void set_package_folder(const char* folder);
/// Folder of the notebook's own code, which prints values for cells, and the names under which it
/// compiles cells, with their numbers, to which it goes on adding.
void set_notebook(const char* folder, nb::dict cell_numbers);
/// Gives back references that other threads left behind. Needs the GIL.
void release_sites_left_behind();

}  // namespace afterglow::bindings
