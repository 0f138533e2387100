// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/measured_profile.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "convoy/base/error.h"
#include "convoy/benchmarks/forked_ranks.h"
#include "convoy/cost_model/step_cost.h"

namespace convoy {
namespace {

constexpr std::uint64_t kLeNetParameters = 61'706;

TEST(MeasuredProfile, HasTheModelsBytesAndATimeForEverything) {
  Settings settings;
  settings.model.name = "lenet5";
  settings.data.name = "synthetic";
  const CostProfile profile = measure_profile(
      settings,
      {.ranks = 2, .threads = 1, .cores = 2, .samples = {16, 32}, .seconds = 0.02});

  std::uint64_t tensors = 0;
  for (const UnitBytes& unit : profile.units) {
    for (const std::uint64_t bytes : unit.tensors) tensors += bytes;
  }
  EXPECT_EQ(tensors, kLeNetParameters * sizeof(float));
  EXPECT_GE(gradient_bytes(profile), tensors);
  ASSERT_EQ(profile.passes.size(), 2U);
  for (const PassSeconds& pass : profile.passes) {
    ASSERT_EQ(pass.units.size(), profile.units.size());
    for (const UnitSeconds& unit : pass.units) {
      EXPECT_GT(unit.forward, 0);
      EXPECT_GT(unit.backward, 0);
    }
  }
  EXPECT_GT(profile.update, 0);
  EXPECT_GT(profile.load, 0);
  EXPECT_GT(profile.all_reduce.at(1e6), profile.all_reduce.least());
  EXPECT_GT(profile.gather_scatter.least(), 0);
  EXPECT_GT(profile.agreement, 0);
  EXPECT_GT(profile.tcp.round, 0);
  EXPECT_GT(profile.tcp.byte, 0);
}

TEST(ForkedRanks, NameTheOneThatFails) {
  try {
    run_forked_ranks(3, [](int rank) {
      if (rank == 1) throw std::runtime_error("as wanted");
    });
    FAIL() << "a rank failed, and nobody said so";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.rank(), 1);
  }
}

}  // namespace
}  // namespace convoy
