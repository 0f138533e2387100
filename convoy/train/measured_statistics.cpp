// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/measured_statistics.h"

#include <algorithm>

namespace convoy {
namespace {

/// Adds up what all ranks' lanes found in a batch.
void exchange(const StatisticsSource& source) {
  const PartialSums found = source.lanes.found_statistics();
  const Range all = {0, found.whole().size()};
  source.peers.idle_comm().all_reduce(source.peers.order, found.starts(all),
                                      found.whole().view(all));
}

}  // namespace

void measure_statistics(const StatisticsSource& source, int epoch,
                        const FlatBuffer& values, FlatBuffer& statistics) {
  if (statistics.size() == 0) return;
  std::fill_n(statistics.data(), statistics.size(), 0.0f);
  PassListener nobody;
  PassKey key = source.key;
  source.loader.start_epoch(epoch);
  for (int seen = 1; const Batch* batch = source.loader.next(); ++seen, ++key.step) {
    source.lanes.find_statistics({{batch->images, batch->labels}, batch->whole}, values,
                                 key, nobody);
    exchange(source);
    source.lanes.follow_statistics(batch->whole, statistics,
                                   1.0f / static_cast<float>(seen));
  }
}

}  // namespace convoy
