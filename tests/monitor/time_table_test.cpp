// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/time_table.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(TimeTable, AddsUpToTheTotal) {
  const RunTimes times{.total = 20,
                       .training = 14,
                       .waiting_for_data = 1,
                       .communicating = 3,
                       .checkpointing = 2,
                       .evaluating = 3.5};

  EXPECT_EQ(time_table(times),
            "time                   seconds         %\n"
            "computing                10.00      50.0\n"
            "waiting for data          1.00       5.0\n"
            "communicating             3.00      15.0\n"
            "checkpointing             2.00      10.0\n"
            "evaluating                3.50      17.5\n"
            "other                     0.50       2.5\n"
            "total                    20.00     100.0\n");
}

TEST(TimeTable, HasNothingBelowZero) {
  const RunTimes times{.total = 1, .training = 1.1, .waiting_for_data = 1.2};

  EXPECT_EQ(times.computing(), 0);
  EXPECT_EQ(times.other(), 0);
  EXPECT_EQ(time_table({}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace convoy
