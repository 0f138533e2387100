// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/cpu.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace convoy {
namespace {

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string feature_names() {
#if defined(__x86_64__)
  std::string names;
  const auto add = [&](bool present, const char* name) {
    if (present && !names.empty()) names += ' ';
    if (present) names += name;
  };
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512cd"), "avx512cd");
  add(__builtin_cpu_supports("avx512dq"), "avx512dq");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
  return names;
#else
  return "";
#endif
}

/// "32768K" as the kernel writes it.
std::size_t bytes_of(const std::string& size) {
  std::istringstream stream(size);
  std::size_t count = 0;
  char unit = ' ';
  stream >> count >> unit;
  return unit == 'M' ? count << 20 : unit == 'K' ? count << 10 : count;
}

int usable_cores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

CpuInfo cpu_info() { return {model_name(), feature_names(), usable_cores()}; }

std::size_t last_level_cache_bytes() {
  std::size_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" +
                       std::to_string(index) + "/size");
    std::string size;
    if (!std::getline(file, size)) return largest;
    largest = std::max(largest, bytes_of(size));
  }
}

void flush_denormals() {
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

}  // namespace convoy
