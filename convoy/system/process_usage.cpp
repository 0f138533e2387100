// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace convoy {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The second number of statm counts resident pages.
std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns the folder of the control group that a line of /proc/self/cgroup
/// ("2:cpu,cpuacct:/some/group", "0::/some/group") names, below the mount point of its
/// controller.
std::filesystem::path group_folder(const std::string& line) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (second == std::string::npos) return {};
  const std::string kind = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  const bool is_cpu = ("," + kind + ",").find(",cpu,") != std::string::npos;
  if (!kind.empty() && !is_cpu) return {};
  return "/sys/fs/cgroup/" + kind + group;
}

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {.user_seconds = seconds(usage.ru_utime),
          .system_seconds = seconds(usage.ru_stime),
          .resident_bytes = resident_bytes(),
          .peak_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
          .voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw),
          .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

double throttled_milliseconds(const std::filesystem::path& cpu_stat) {
  std::ifstream file(cpu_stat);
  std::string name;
  for (double number = 0; file >> name >> number;) {
    if (name == "throttled_usec") return number * 1e-3;
    if (name == "throttled_time") return number * 1e-6;
  }
  return -1;
}

std::filesystem::path own_cpu_stat() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::filesystem::path folder = group_folder(line);
    if (folder.empty()) continue;
    if (throttled_milliseconds(folder / "cpu.stat") >= 0) return folder / "cpu.stat";
  }
  return {};
}

}  // namespace convoy
