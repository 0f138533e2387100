// SPDX-License-Identifier: Apache-2.0
//
// ProcessUsage: the resources that this process has used so far.

#pragma once

#include <cstdint>
#include <filesystem>

namespace convoy {

struct ProcessUsage {
  double user_seconds = 0, system_seconds = 0;  // all threads together
  std::uint64_t resident_bytes = 0, peak_resident_bytes = 0;
  /// Context switches of all threads.
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
};

ProcessUsage process_usage();

/// How long the control group's threads were throttled because the group exceeded its CPU
/// quota, in milliseconds, from a cpu.stat of version 2 (`throttled_usec`) or 1
/// (`throttled_time`); negative if the file does not say.
double throttled_milliseconds(const std::filesystem::path& cpu_stat);

/// The cpu.stat of this process's control group; empty if none reports throttling.
std::filesystem::path own_cpu_stat();

}  // namespace convoy
