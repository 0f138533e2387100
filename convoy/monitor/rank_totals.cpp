// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/rank_totals.h"

#include <algorithm>

namespace convoy {

std::vector<RankTotals> gather_totals(Comm& comm, const RankTotals& own) {
  std::vector<RankTotals> all(static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)),
                  std::as_writable_bytes(std::span(all)));
  return all;
}

std::optional<std::size_t> rank_with_other_weights(std::span<const RankTotals> ranks) {
  const auto other = std::ranges::find_if(ranks, [&](const RankTotals& rank) {
    return rank.weights() != ranks.front().weights();
  });
  if (other == ranks.end()) return std::nullopt;
  return static_cast<std::size_t>(other - ranks.begin());
}

}  // namespace convoy
