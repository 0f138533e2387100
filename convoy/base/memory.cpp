// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace convoy {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// MemAvailable of /proc/meminfo.
std::uint64_t available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return kUnknown;
}

/// The number in a file; `otherwise` if there is none ("max" stands for no limit).
std::uint64_t read_number(const char* path, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(path) >> number ? number : otherwise;
}

std::uint64_t available_in_group() {
  const std::uint64_t most = read_number("/sys/fs/cgroup/memory.max", kUnknown);
  if (most == kUnknown) return kUnknown;
  return most - std::min(most, read_number("/sys/fs/cgroup/memory.current", 0));
}

}  // namespace

std::uint64_t available_memory_bytes() {
  return std::min(available_on_machine(), available_in_group());
}

std::uint64_t peak_memory_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace convoy
