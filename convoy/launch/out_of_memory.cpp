// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/out_of_memory.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace convoy {
namespace {

/// Returns the number after `name` in a file of names and numbers.
std::optional<std::uint64_t> number_in(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (file >> word >> number) {
    if (word == name) return number;
  }
  return std::nullopt;
}

/// The files in which this process's control group counts: version 2, then version 1.
std::vector<std::string> group_files() {
  std::vector<std::string> files;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t last = line.rfind(':');
    if (last == std::string::npos) continue;
    const std::string path = line.substr(last + 1);
    if (line.starts_with("0::")) {
      files.push_back("/sys/fs/cgroup" + path + "/memory.events");
    }
    if (line.find(":memory:") != std::string::npos) {
      files.push_back("/sys/fs/cgroup/memory" + path + "/memory.oom_control");
    }
  }
  return files;
}

std::uint64_t kills_so_far() {
  for (const std::string& file : group_files()) {
    if (const auto kills = number_in(file, "oom_kill")) return *kills;
  }
  return number_in("/proc/vmstat", "oom_kill").value_or(0);
}

}  // namespace

OutOfMemoryWatch::OutOfMemoryWatch() : before_(kills_so_far()) {}

bool OutOfMemoryWatch::has_struck() const { return kills_so_far() > before_; }

}  // namespace convoy
