// SPDX-License-Identifier: Apache-2.0
//
// FitReport: the largest batch of every strategy and choice of recompute, from the plan
// alone.

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/fit/largest_batch.h"

namespace convoy {

struct FitRow {
  PrecisionChoice precision;
  int ranks;
  std::string strategy;
  bool recompute;
  int batch = 0;                  // over all ranks; 0: none fits
  std::size_t rank_bytes = 0;     // with that batch: of the process that has most,
  std::size_t machine_bytes = 0;  // and of all that share a machine
};

struct FitReport {
  std::string model, data, optimizer;
  MemoryLimit limit;
  int most = 0;  // samples of an epoch: no batch is larger
  std::vector<FitRow> rows;
};

/// For every precision, and for jobs with so many ranks each, over as many machines as
/// cluster.nnodes says, each of which has that much memory. Throws InputError.
FitReport fit_batches(const Settings& settings, const Workload& work,
                      const std::vector<int>& ranks, const MemoryLimit& limit);

std::string fit_text(const FitReport& report);
nlohmann::ordered_json fit_json(const FitReport& report);

}  // namespace convoy
