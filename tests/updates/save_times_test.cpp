// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/save_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The updates of an epoch after which weights are saved.
std::vector<std::size_t> saves(std::size_t updates, int per_epoch) {
  std::vector<std::size_t> found;
  for (std::size_t update = 1; update <= updates; ++update) {
    if (saves_weights_after(update, updates, per_epoch)) found.push_back(update);
  }
  return found;
}

TEST(SaveTimes, AreEvenlySpacedFromTheFirstUpdateToTheLast) {
  EXPECT_THAT(saves(9, 3), ElementsAre(1, 5, 9));
  EXPECT_THAT(saves(1875, 3), ElementsAre(1, 938, 1875));
  // int(numpy.linspace(0, 937, 4)) + 1
  EXPECT_THAT(saves(938, 4), ElementsAre(1, 313, 625, 938));
}

TEST(SaveTimes, AreAsManyAsWantedOrOnePerUpdate) {
  for (std::size_t updates = 1; updates < 40; ++updates) {
    for (std::size_t wanted = 1; wanted < 45; ++wanted) {
      EXPECT_EQ(saves(updates, static_cast<int>(wanted)).size(),
                std::min(updates, wanted))
          << wanted << " of " << updates;
    }
  }
}

TEST(SaveTimes, AreAtTheEndIfThereIsOne) { EXPECT_THAT(saves(7, 1), ElementsAre(7)); }

TEST(SaveTimes, AreNoneUnlessWanted) { EXPECT_THAT(saves(7, 0), IsEmpty()); }

}  // namespace
}  // namespace convoy
