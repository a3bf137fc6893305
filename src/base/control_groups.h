// SPDX-License-Identifier: Apache-2.0
// The control groups that bind this process: what a container is limited by.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace afterglow {

namespace control_groups {

/// A group is also bound by those above it. Inside a container the path may name groups that are
/// not visible; the mount's root then is the container's own group.
template <class Look>
void look_along(const std::string& mount, std::string path, const Look& look) {
  look(mount);
  for (; path.size() > 1; path.resize(path.rfind('/'))) {
    look(mount + path);
    if (path.find('/') == std::string::npos) break;
  }
}

inline bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');)
    if (each == word) return true;
  return false;
}

}  // namespace control_groups

/// Calls `look(directory)` for each directory that may hold limits of this kind ("cpu", "memory").
/// `root` stands before /proc and /sys, so that tests can show another machine.
template <class Look>
void each_control_group(const std::string& root, const std::string& kind, const Look& look) {
  using namespace control_groups;
  const std::string groups = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  std::string hierarchy, controllers, path;
  // Lines are "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
  while (std::getline(file, hierarchy, ':') && std::getline(file, controllers, ':') &&
         std::getline(file, path)) {
    if (path.empty() || path.front() != '/') continue;
    if (controllers.empty()) {
      look_along(groups, path, look);
      look_along(groups + "/unified", path, look);
    } else if (has_word(controllers, kind)) {
      look_along(groups + "/" + controllers, path, look);
      look_along(groups + "/" + kind, path, look);
    }
  }
}

}  // namespace afterglow
