// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "convoy/system/control_group.h"

namespace convoy {
namespace {

/// Returns the number after a name at the beginning of a line; 0 if there is none.
std::uint64_t read_field(const char* path, const std::string& field) {
  std::ifstream file(path);
  std::string name, rest;
  for (std::uint64_t number = 0; file >> name >> number; std::getline(file, rest)) {
    if (name == field) return number;
  }
  return 0;
}

/// Returns a field of the kernel's, in bytes; the maximum if it is not there.
std::uint64_t read_kibibytes(const std::string& field) {
  const std::uint64_t kibibytes = read_field("/proc/meminfo", field);
  return kibibytes == 0 ? kNoLimit : kibibytes * 1024;
}

}  // namespace

std::uint64_t available_memory_bytes() {
  return std::min(read_kibibytes("MemAvailable:"), group_memory().available);
}

std::uint64_t machine_memory_bytes() {
  return std::min(read_kibibytes("MemTotal:"), group_memory().limit);
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
