// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/update_bn.h"

#include <algorithm>

namespace convoy {
namespace {

/// Adds the batch statistics of all ranks' micro-batches.
void exchange(const BatchStatsSource& source) {
  const PartialSums found = source.microbatches.batch_stats();
  for (const Range& range : source.microbatches.statistics_layout().trained()) {
    source.peers.idle_comm().all_reduce(source.peers.order, found.starts(range),
                                        found.whole().view(range));
  }
}

}  // namespace

void update_bn(const BatchStatsSource& source, int epoch, const FlatBuffer& values,
               FlatBuffer& statistics) {
  const Layout& layout = source.microbatches.statistics_layout();
  if (layout.trained().empty()) return;
  for (const Range& range : layout.trained()) {
    std::ranges::fill(statistics.view(range), 0.0f);
  }
  RngKey key = source.key;
  source.loader.start_epoch(epoch);
  for (int seen = 1; const Batch* batch = source.loader.next(); ++seen, ++key.step) {
    source.microbatches.compute_batch_stats(
        {{batch->images, batch->labels}, batch->global_count}, values, key,
        source.listener);
    exchange(source);
    source.microbatches.update_running_stats(batch->global_count, statistics,
                                             1.0f / static_cast<float>(seen));
  }
}

}  // namespace convoy
