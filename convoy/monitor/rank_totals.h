// SPDX-License-Identifier: Apache-2.0
//
// RankTotals: what each rank reports at the end of a run.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "convoy/comm/comm.h"
#include "convoy/network/kernels/kernel_sets.h"

namespace convoy {

struct RankTotals {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t skipped_files = 0;  // that could not be decoded
  double exposed_seconds = 0;       // waiting for other ranks
  double slept_seconds = 0;         // injected delays
  KernelSet kernels = KernelSet::reference;
  std::array<char, 64> weights_sha256{};

  std::string_view weights() const {
    return {weights_sha256.data(), weights_sha256.size()};
  }
};

/// Gathers the totals, by rank, on all ranks.
std::vector<RankTotals> gather_totals(Comm& comm, const RankTotals& own);

/// Returns the first rank whose weights differ from rank 0's, if there is one.
std::optional<std::size_t> rank_with_other_weights(std::span<const RankTotals> ranks);

}  // namespace convoy
