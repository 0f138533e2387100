// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/rank_totals.h"

#include <gtest/gtest.h>

#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

TEST(RankTotals, AreGatheredByRankOnAll) {
  run_ranks(3, [](Comm& comm) {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const std::vector<RankTotals> all =
        gather_totals(comm, {.bytes_sent = 10 + rank, .peak_rss_bytes = 20 + rank});

    ASSERT_EQ(all.size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(all[i].bytes_sent, 10 + i);
      EXPECT_EQ(all[i].peak_rss_bytes, 20 + i);
    }
  });
}

TEST(RankTotals, NameTheRankThatEndedElsewhere) {
  std::vector<RankTotals> ranks(3);
  EXPECT_FALSE(rank_with_other_weights(ranks));

  ranks[2].weights_sha256[63] = 'f';

  EXPECT_EQ(rank_with_other_weights(ranks), 2u);
}

}  // namespace
}  // namespace convoy
