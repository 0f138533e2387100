// SPDX-License-Identifier: Apache-2.0
//
// ResourceRecords: resources.csv, a row a second and rank.
//
// Every rank samples itself. The rows reach the first rank, which alone writes the file,
// in a small gathering about once a second: the first rank says in the step's agreement
// that it has a row, so all know after which step to give theirs. That needs no file
// system or service that ranks share, costs a step nothing but in the one that gathers,
// and leaves the file whole up to the last second when the run is killed.

#pragma once

#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/comm.h"
#include "convoy/monitor/resource_sampler.h"

namespace convoy {

class ResourceRecords {
 public:
  /// Borrows both for as long as it lives. The first rank has the folder, the others
  /// nullptr. Begins to sample.
  ResourceRecords(Comm& comm, RunFolder* folder,
                  std::chrono::milliseconds every = std::chrono::seconds(1));

  /// Whether the first rank wants a gathering after the step at hand.
  bool is_due() const { return comm_.is_first() && sampler_.has_rows(); }

  /// A step is over. On all ranks at once: `gather` is what the first rank said.
  void after_step(const Traffic& traffic, bool gather);

  /// Ends sampling and gathers all that is left. On all ranks at once.
  void finish();

 private:
  bool gather_some();

  Comm& comm_;
  RunFolder* folder_;
  ResourceSampler sampler_;
};

}  // namespace convoy
