// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/loss_scaler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace convoy {
namespace {

class TheLossScale : public testing::Test {
 protected:
  void make_good_steps(int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(scaler.take_in(/*is_finite=*/true));
  }

  ThreadTeam team{2};
  LossScaler scaler{{}, team};
};

/// The course of a published run of 10,010 steps, whose only overflow came after the last
/// growth.
TEST_F(TheLossScale, FollowsAPublishedCourse) {
  EXPECT_EQ(scaler.scale(), 65536);
  for (int doubled = 1; doubled <= 5; ++doubled) {
    make_good_steps(1999);
    EXPECT_EQ(scaler.scale(), std::ldexp(65536, doubled - 1));
    make_good_steps(1);
    EXPECT_EQ(scaler.scale(), std::ldexp(65536, doubled));
  }
  EXPECT_EQ(scaler.scale(), 2097152);
  make_good_steps(7);

  EXPECT_FALSE(scaler.take_in(/*is_finite=*/false));

  EXPECT_EQ(scaler.overflow_message(),
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
            "1048576.0");
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 1048576, .skipped = 1}));
}

TEST_F(TheLossScale, GrowsNoFurtherThanItsLimit) {
  make_good_steps(20 * 2000);
  EXPECT_EQ(scaler.scale(), 16777216);
}

TEST_F(TheLossScale, CountsGoodStepsAnewAfterAnOverflow) {
  make_good_steps(1999);
  scaler.take_in(false);
  make_good_steps(1999);
  EXPECT_EQ(scaler.scale(), 32768);
  make_good_steps(1);
  EXPECT_EQ(scaler.scale(), 65536);
}

TEST_F(TheLossScale, IsExhaustedBelowOne) {
  for (int i = 0; i < 16; ++i) scaler.take_in(false);
  EXPECT_FALSE(scaler.is_exhausted());
  scaler.take_in(false);
  EXPECT_TRUE(scaler.is_exhausted());
}

TEST_F(TheLossScale, IsLoweredOnceBySeveralPushesOfOneScale) {
  for (int push = 0; push < 3; ++push) scaler.take_in(false, 65536);
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 32768, .skipped = 3}));
}

TEST_F(TheLossScale, GoesOnFromItsState) {
  make_good_steps(1500);
  LossScaler other({}, team);
  other.restore(scaler.state());
  for (int i = 0; i < 500; ++i) other.take_in(true);
  EXPECT_EQ(other.scale(), 131072);
}

TEST_F(TheLossScale, FindsTheOneGradientThatIsNotFinite) {
  std::vector<float> gradients(100'000, 65504);
  EXPECT_TRUE(scaler.all_finite(gradients));
  for (const float odd : {INFINITY, -INFINITY, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {0u, 16'383u, 99'999u}) {
      gradients[at] = odd;
      EXPECT_FALSE(scaler.all_finite(gradients)) << at;
      gradients[at] = -1;
    }
  }
}

}  // namespace
}  // namespace convoy
