// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/cpu.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "convoy/base/aligned.h"
#include "convoy/system/thread_team.h"
#include "tests/system/whole_team.h"

namespace convoy {
namespace {

/// Half the smallest normal number, computed at run time.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5f;
}

TEST(CpuInfo, NamesTheProcessorAndAtLeastOneCore) {
  const CpuInfo info = cpu_info();

  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.cores, 1);
}

#if defined(__x86_64__)

TEST(Denormals, AreZeroOnAThreadThatFlushesThem) {
  bool zero_before = true, zero_after = false;

  std::thread([&] {
    // A thread begins as the one that made it is now, which may have made a team.
    constexpr unsigned kInitial = 0x1F80;
    _mm_setcsr(kInitial);
    zero_before = half_of_smallest() == 0;  // compared here: that depends, too
    flush_denormals();
    zero_after = half_of_smallest() == 0;
  }).join();

  EXPECT_FALSE(zero_before);
  EXPECT_TRUE(zero_after);
}

TEST(Denormals, AreZeroOnEveryThreadOfATeam) {
  ThreadTeam team(3);
  std::vector<int> zeros(3, 0);

  const bool all = all_threads_take_part(
      team, [&](std::size_t task) { zeros[task] = half_of_smallest() == 0; });

  EXPECT_TRUE(all);
  EXPECT_EQ(zeros, std::vector<int>(3, 1));
}

#endif

TEST(AlignedBuffer, BeginsOnACacheLineWithZeros) {
  for (const std::size_t size : {0u, 1u, 15u, 1000u}) {
    const AlignedBuffer<float> buffer(size);

    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kCacheLine, 0u);
    EXPECT_EQ(buffer.size(), size);
    for (const float value : buffer.span()) EXPECT_EQ(value, 0.0f);
  }
}

}  // namespace
}  // namespace convoy
