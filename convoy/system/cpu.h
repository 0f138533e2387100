// SPDX-License-Identifier: Apache-2.0
//
// Cpu: this machine's processor and its features.

#pragma once

#include <string>

namespace convoy {

struct CpuInfo {
  std::string name;      // as the kernel says it
  std::string features;  // those that convoy uses: "avx2 fma"
  int cores;             // that this process may run on (affinity mask)
};

CpuInfo cpu_info();

/// Makes the calling thread treat denormal numbers as zero. Every compute thread does.
void flush_denormals();

}  // namespace convoy
