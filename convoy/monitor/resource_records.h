// SPDX-License-Identifier: Apache-2.0
//
// ResourceRecords: writes resources.csv, one row per rank and second.
//
// Every rank samples itself. The first rank, which alone writes the file, gathers the
// rows about once per second: it announces in the small all-gather of the step that it
// has a row, so all ranks know after which step to send theirs. This needs no shared file
// system or service, costs nothing in the other steps, and keeps the file complete up to
// the last second if the run is killed.

#pragma once

#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/comm.h"
#include "convoy/monitor/resource_sampler.h"

namespace convoy {

class ResourceRecords {
 public:
  /// Borrows both for as long as it lives. The first rank has the folder, the others
  /// nullptr. Starts to sample.
  ResourceRecords(Comm& comm, RunFolder* folder,
                  std::chrono::milliseconds every = std::chrono::seconds(1));

  /// Whether the first rank wants to gather rows after the current step.
  bool is_due() const { return comm_.is_first() && sampler_.has_rows(); }

  /// Called after each step, on all ranks at once: `gather` is what the first rank
  /// announced.
  void after_step(const Traffic& traffic, bool gather);

  /// Ends sampling and gathers the remaining rows. Called on all ranks at once.
  void finish();

 private:
  bool gather_some();

  Comm& comm_;
  RunFolder* folder_;
  ResourceSampler sampler_;
};

}  // namespace convoy
