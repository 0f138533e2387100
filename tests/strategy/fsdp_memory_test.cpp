// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/fsdp_memory.h"

#include <gtest/gtest.h>

#include <utility>

namespace convoy {
namespace {

constexpr std::size_t kChunk = 16 << 10, kChunkBytes = kChunk * sizeof(float);

/// Units of four, eight and four chunks.
Layout sixteen_chunks() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  for (const std::size_t chunks : {4u, 8u, 4u}) {
    const UnitId unit = builder.begin_unit();
    builder.add("u" + std::to_string(static_cast<std::size_t>(unit)), {chunks * kChunk},
                Role::weight);
  }
  return std::move(builder).build();
}

TEST(FsdpMemory, DividesEverythingByTheRanks) {
  const FsdpMemory memory = fsdp_memory(sixteen_chunks(), 4, 4, {});

  EXPECT_EQ(memory.values, 4 * kChunkBytes);
  EXPECT_EQ(memory.slot, 4 * kChunkBytes);
  EXPECT_EQ(memory.average, 4 * kChunkBytes);
  EXPECT_EQ(memory.gradients, 4 * kChunkBytes);
  EXPECT_EQ(memory.gathered, (8 + 4 - 3) * kChunkBytes) << "two units at a time";
  EXPECT_EQ(memory.passing, (8 + 4 - 3) * kChunkBytes);
}

TEST(FsdpMemory, HasWholeValuesUnlessTheyAreReleased) {
  const Layout layout = sixteen_chunks();
  const FsdpMemory kept = fsdp_memory(layout, 4, 4, {.reshard_after_forward = false});
  EXPECT_EQ(kept.values + kept.gathered, 16 * kChunkBytes);
  EXPECT_EQ(fsdp_memory(layout, 4, 4, {.prefetch = false}).gathered, 6 * kChunkBytes);

  const FsdpMemory state = fsdp_memory(layout, 4, 4, {.shard = FsdpShard::optimizer});
  EXPECT_EQ(state.values, 16 * kChunkBytes);
  EXPECT_EQ(state.gradients, 16 * kChunkBytes);
  EXPECT_EQ(state.slot, 4 * kChunkBytes);

  const FsdpMemory two = fsdp_memory(layout, 4, 4, {.shard = FsdpShard::gradients});
  EXPECT_EQ(two.values, 16 * kChunkBytes);
  EXPECT_EQ(two.gathered, 0u);
  EXPECT_EQ(two.gradients, 4 * kChunkBytes);
}

TEST(FsdpMemory, KeepsOneSumPerLevelOfTheTreeOverRounds) {
  EXPECT_EQ(kept_levels(4, 4), 0u);
  EXPECT_EQ(kept_levels(8, 4), 4u);  // one of four micro-batches
  EXPECT_EQ(kept_levels(32, 4), 4u + 8u + 16u);
  EXPECT_EQ(kept_levels(6, 3), 2u + 1u);  // (0+1) and 2
  const FsdpMemory several = fsdp_memory(sixteen_chunks(), 4, 32, {});
  EXPECT_EQ(several.gradients, 4 * (1 + 3) * kChunkBytes);
}

TEST(FsdpMemory, LeavesFrozenParametersOutOfGradientsAndState) {
  Layout layout = sixteen_chunks();
  layout.freeze(std::vector{SegmentId{1}});
  const FsdpMemory memory = fsdp_memory(layout, 4, 4, {});
  EXPECT_EQ(memory.values, 4 * kChunkBytes);
  EXPECT_EQ(memory.gradients, 2 * kChunkBytes);
  EXPECT_EQ(memory.slot, 2 * kChunkBytes);
}

}  // namespace
}  // namespace convoy
