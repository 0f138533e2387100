// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/ddp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "convoy/optimizer/sgd.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using testing::ElementsAre;

/// Units of 16, 32, 16 and 64 elements.
Layout four_units() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  for (const std::size_t size : {10u, 30u, 16u, 60u}) {
    builder.begin_unit();
    builder.add("u" + std::to_string(size), {size}, Role::weight);
  }
  return std::move(builder).build();
}

TEST(DdpBuckets, AreOfAdjacentUnitsFromTheLastToTheFirst) {
  const Layout layout = four_units();

  EXPECT_THAT(bucket_ranges(layout, 48 * sizeof(float)),
              ElementsAre(Range{64, 128}, Range{16, 64}, Range{0, 16}));
}

TEST(DdpBuckets, AreOnePerUnitIfSmallAndOneForAllIfLarge) {
  const Layout layout = four_units();

  EXPECT_THAT(bucket_ranges(layout, 1),
              ElementsAre(Range{64, 128}, Range{48, 64}, Range{16, 48}, Range{0, 16}));
  EXPECT_THAT(bucket_ranges(layout, 1 << 20), ElementsAre(Range{0, 128}));
}

TEST(DdpBuckets, LeaveOutUnitsThatAreFrozen) {
  Layout layout = four_units();
  layout.freeze(std::vector{SegmentId{0}, SegmentId{2}});

  EXPECT_THAT(bucket_ranges(layout, 1), ElementsAre(Range{64, 128}, Range{16, 48}));
}

/// A rank with one micro-batch, and a bucket for each unit.
struct DdpRank {
  explicit DdpRank(Comm& comm)
      : order(static_cast<std::size_t>(comm.ranks()), comm.ranks()),
        async(comm),
        ddp({layout, layout, values, statistics, PartialSums({&gradients}),
             PartialSums({&found}), sgd},
            {comm, async, order}, /*bucket_bytes=*/1) {}

  Layout layout = four_units();
  ReductionOrder order;
  FlatBuffer values{layout}, statistics{layout}, gradients{layout}, found{layout};
  ThreadTeam team{1};
  Sgd sgd{layout, {}, team};
  AsyncComm async;
  Ddp ddp;
};

TEST(Ddp, StartsFromTheFirstRanksNumbers) {
  run_ranks(3, [](Comm& comm) {
    DdpRank rank(comm);
    for (float& value : rank.values.view({0, rank.layout.size()})) {
      value = 10.0f + static_cast<float>(comm.rank());
    }
    rank.statistics.data()[5] = 20.0f + static_cast<float>(comm.rank());

    rank.ddp.begin();

    EXPECT_THAT(rank.values.numbers(), testing::Each(10.0f));
    EXPECT_EQ(rank.statistics.data()[5], 20.0f);
  });
}

/// A single rank's kernels flush denormal sums to zero; a sum in the background must not
/// differ from them.
TEST(Ddp, AddsDenormalNumbersAsKernelsDo) {
  run_ranks(2, [](Comm& comm) {
    DdpRank rank(comm);
    rank.gradients.data()[3] = 1e-40f;

    for (std::size_t i = 4; i-- > 0;) rank.ddp.gradient_ready(SegmentId{i});
    rank.ddp.step();

    EXPECT_EQ(std::bit_cast<std::uint32_t>(rank.gradients.data()[3]), 0u);
  });
}

}  // namespace
}  // namespace convoy
