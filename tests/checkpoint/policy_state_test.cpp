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
      .averaged = 1'000'000'000'000};
  EXPECT_EQ(written_and_read(state), state);
}

TEST(PolicyState, OfSomethingElseIsRefused) {
  const nlohmann::ordered_json content = {{"plateau", 1}};

  EXPECT_THROW(policy_state_from_json(JsonObject(content, {.where = "a"})), InputError);
}

}  // namespace
}  // namespace convoy
