// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/control_group.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// How a version of the interface names its files.
struct Files {
  const char* limit;
  const char* usage;
  const char* inactive_cache;  // fields of memory.stat
  const char* active_cache;
};
constexpr Files kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file", "total_active_file"};
constexpr Files kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};

/// A larger limit is version 1's way to say that there is none.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 60;

/// "max" is no number, and no limit.
std::uint64_t read_number(const fs::path& path, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(path) >> number ? number : otherwise;
}

std::uint64_t read_field(const fs::path& path, const std::string& field) {
  std::ifstream file(path);
  std::string name;
  for (std::uint64_t number = 0; file >> name >> number;) {
    if (name == field) return number;
  }
  return 0;
}

/// Pages of the file cache are reclaimed when memory is needed.
std::uint64_t used_in(const fs::path& group, const Files& files) {
  const std::uint64_t used = read_number(group / files.usage, 0);
  const std::uint64_t cache = read_field(group / "memory.stat", files.inactive_cache) +
                              read_field(group / "memory.stat", files.active_cache);
  return used - std::min(used, cache);
}

void count_group(const fs::path& group, const Files& files, GroupMemory& memory) {
  const std::uint64_t limit = read_number(group / files.limit, kNoLimit);
  if (limit > kMostFileBytes) return;
  memory.limit = std::min(memory.limit, limit);
  memory.available =
      std::min(memory.available, limit - std::min(limit, used_in(group, files)));
}

/// Counts a group and all above it. In a container, the path may be that of the machine:
/// then the mounted folder is the group.
void count_groups(const fs::path& mounted, fs::path group, const Files& files,
                  GroupMemory& memory) {
  while (group.has_relative_path()) {
    count_group(mounted / group.relative_path(), files, memory);
    group = group.parent_path();
  }
  count_group(mounted, files, memory);
}

/// Whether one of the controllers, which commas separate, is that of memory.
bool has_memory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

GroupMemory group_memory(const fs::path& root) {
  GroupMemory memory;
  const fs::path mounted = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) count_groups(mounted, group, kVersion2, memory);
    if (has_memory(controllers))
      count_groups(mounted / "memory", group, kVersion1, memory);
  }
  return memory;
}

}  // namespace convoy
