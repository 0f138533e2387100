// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "convoy/base/text.h"

namespace convoy {
namespace {

/// Returns a number from the system's topology of a core, or 0.
int topology(int core, const char* name) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", core, name));
  int number = 0;
  return file >> number ? number : 0;
}

auto neighbourhood(int core) {
  return std::tuple(topology(core, "physical_package_id"), topology(core, "core_id"),
                    core);
}

}  // namespace

Cores usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  Cores cores;
  if (::sched_getaffinity(0, sizeof(mask), &mask) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  }
  std::ranges::sort(cores, {}, neighbourhood);
  return cores;
}

Cores cores_of(int local_rank, int local_ranks, const Cores& cores) {
  if (static_cast<int>(cores.size()) < local_ranks) return {};
  const auto begin = [&](int rank) {
    return cores.begin() + static_cast<std::ptrdiff_t>(cores.size()) * rank / local_ranks;
  };
  return {begin(local_rank), begin(local_rank + 1)};
}

int threads_of(int local_rank, int local_ranks, const Cores& cores) {
  return std::max(1, static_cast<int>(cores_of(local_rank, local_ranks, cores).size()));
}

void pin_to(const Cores& cores) {
  if (cores.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  ::sched_setaffinity(0, sizeof(mask), &mask);
}

std::string to_text(const Cores& cores) {
  Cores sorted = cores;
  std::ranges::sort(sorted);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    parts.push_back(end == i + 1 ? std::to_string(sorted[i])
                                 : fmt::format("{}-{}", sorted[i], sorted[end - 1]));
    i = end;
  }
  return join(parts, ",");
}

}  // namespace convoy
