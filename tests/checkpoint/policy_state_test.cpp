// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/policy_state.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"

namespace convoy {
namespace {

PolicyState written_and_read(const PolicyState& state) {
  const auto content = parse_json(to_json(state).dump(), {.where = "a"});
  return policy_state_from_json(JsonObject(content, {.where = "a"}));
}

TEST(PolicyState, IsTheSameAfterWritingAndReading) {
  EXPECT_EQ(written_and_read({}), PolicyState{});
  const PolicyState state = {
      .plateau = {.factor = 0.1 * 0.1 * 0.1,
                  .best = 1.0 / 3,
                  .without_better = 2,
                  .cooling = 5},
      .early_stop = {.best = 5e-324, .best_epoch = 7, .without_better = 3},
      .averaged = 1'000'000'000'000,
      .least_loss = LeastLoss{.epoch = 3, .loss = 1.0 / 7},
      .target = TargetReached{.epoch = 4, .seconds = 0.1, .accuracy = 0.9},
      .seconds = 1e9 / 3};
  EXPECT_EQ(written_and_read(state), state);
}

TEST(PolicyState, OfAnEarlierVersionLacksSomeFields) {
  PolicyState written{};
  written.averaged = 5;
  nlohmann::ordered_json content = to_json(written);
  for (const char* name : {"least_loss", "target", "seconds"}) content.erase(name);

  const PolicyState state = policy_state_from_json(JsonObject(content, {.where = "a"}));

  EXPECT_EQ(state, written);
}

TEST(PolicyState, OfSomethingElseIsRefused) {
  const nlohmann::ordered_json content = {{"plateau", 1}};

  EXPECT_THROW(policy_state_from_json(JsonObject(content, {.where = "a"})), InputError);
}

}  // namespace
}  // namespace convoy
