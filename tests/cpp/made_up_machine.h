// SPDX-License-Identifier: Apache-2.0
// A machine's files, as far as a test writes them, in a temporary directory.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

struct MadeUpMachine {
  std::filesystem::path root;
  MadeUpMachine() {
    std::string pattern = std::filesystem::temp_directory_path() / "made-up-machine-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  ~MadeUpMachine() { std::filesystem::remove_all(root); }
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};
