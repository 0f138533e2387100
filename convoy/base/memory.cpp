// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace convoy {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// Returns the number after a name at the beginning of a line; 0 if there is none.
std::uint64_t read_field(const char* path, const std::string& field) {
  std::ifstream file(path);
  std::string name, rest;
  for (std::uint64_t number = 0; file >> name >> number; std::getline(file, rest)) {
    if (name == field) return number;
  }
  return 0;
}

std::uint64_t available_on_machine() {
  const std::uint64_t kibibytes = read_field("/proc/meminfo", "MemAvailable:");
  return kibibytes == 0 ? kUnknown : kibibytes * 1024;
}

/// Returns the number in a file; `otherwise` if there is none ("max" means no limit).
std::uint64_t read_number(const char* path, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(path) >> number ? number : otherwise;
}

std::uint64_t available_in_group() {
  const std::uint64_t most = read_number("/sys/fs/cgroup/memory.max", kUnknown);
  if (most == kUnknown) return kUnknown;
  const std::uint64_t used = read_number("/sys/fs/cgroup/memory.current", 0);
  const std::uint64_t cache = read_field("/sys/fs/cgroup/memory.stat", "inactive_file") +
                              read_field("/sys/fs/cgroup/memory.stat", "active_file");
  // Pages of the file cache are reclaimed when memory is needed.
  return most - std::min(most, used - std::min(used, cache));
}

}  // namespace

std::uint64_t available_memory_bytes() {
  return std::min(available_on_machine(), available_in_group());
}

void prefer_large_pages([[maybe_unused]] void* memory,
                        [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

std::uint64_t resident_memory_bytes() {
  std::uint64_t size = 0, resident = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_memory_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace convoy
