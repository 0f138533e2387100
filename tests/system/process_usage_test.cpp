// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/process_usage.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

TEST(ProcessUsage, GrowsWithComputing) {
  const ProcessUsage before = process_usage();
  volatile double sum = 0;
  while (process_usage().user_seconds < before.user_seconds + 0.05) sum = sum + 1;

  EXPECT_GE(process_usage().system_seconds, before.system_seconds);
}

TEST(ProcessUsage, GrowsWithMemory) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const ProcessUsage before = process_usage();
  const std::vector<char> touched(kBytes, 1);
  const ProcessUsage after = process_usage();

  EXPECT_GE(after.resident_bytes, before.resident_bytes + kBytes / 2);
  EXPECT_GE(after.peak_resident_bytes, before.resident_bytes + kBytes / 2);
}

TEST(ProcessUsage, CountsSwitches) {
  const ProcessUsage before = process_usage();
  for (int i = 0; i < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  EXPECT_GE(process_usage().voluntary_switches, before.voluntary_switches + 10);
}

TEST(Throttling, IsReadFromBothVersionsOfControlGroups) {
  const TemporaryFolder here;
  write_atomically(here.path() / "v2",
                   "usage_usec 99\nnr_periods 4\nthrottled_usec 2500\n");
  write_atomically(here.path() / "v1", "nr_periods 4\nthrottled_time 7500000\n");
  write_atomically(here.path() / "root", "usage_usec 99\nuser_usec 5\n");

  EXPECT_DOUBLE_EQ(throttled_milliseconds(here.path() / "v2"), 2.5);
  EXPECT_DOUBLE_EQ(throttled_milliseconds(here.path() / "v1"), 7.5);
  EXPECT_LT(throttled_milliseconds(here.path() / "root"), 0);
  EXPECT_LT(throttled_milliseconds(here.path() / "none"), 0);
}

TEST(Throttling, IsOfAGroupThatSaysSo) {
  const std::filesystem::path own = own_cpu_stat();

  EXPECT_TRUE(own.empty() || throttled_milliseconds(own) >= 0);
}

}  // namespace
}  // namespace convoy
