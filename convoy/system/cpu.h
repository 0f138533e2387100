// SPDX-License-Identifier: Apache-2.0
//
// Cpu: this machine's processor and its features.

#pragma once

#include <cstddef>
#include <string>

namespace convoy {

struct CpuInfo {
  std::string name;      // as the kernel says it
  std::string features;  // those that convoy uses: "avx2 fma"
  int cores;             // that this process may run on (affinity mask)
};

CpuInfo cpu_info();

/// The largest cache of the first processor, which others may share; 0 if the system does
/// not say.
std::size_t last_level_cache_bytes();

/// Makes the calling thread treat denormal numbers as zero. Every compute thread does.
void flush_denormals();

}  // namespace convoy
