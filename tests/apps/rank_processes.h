// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job that a test has started, as processes: to be killed.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace convoy {

inline std::vector<std::string> environment_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  std::vector<std::string> entries;
  for (std::string entry; std::getline(file, entry, '\0');) entries.push_back(entry);
  return entries;
}

/// Processes that run in `folder` and are ranks; with a number: that rank.
inline std::vector<int> rank_processes(const std::filesystem::path& folder,
                                       const std::string& number = "") {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    std::error_code error;
    if (pid <= 0) continue;
    if (std::filesystem::read_symlink(entry.path() / "cwd", error) != folder) continue;
    for (const std::string& variable : environment_of(pid)) {
      const bool is_rank = number.empty() ? variable.starts_with("CONVOY_RANK=")
                                          : variable == "CONVOY_RANK=" + number;
      if (is_rank) found.push_back(pid);
    }
  }
  return found;
}

}  // namespace convoy
