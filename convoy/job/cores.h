// SPDX-License-Identifier: Apache-2.0
//
// Cores: which of this machine's cores a rank runs on.
//
// The cores that this process may use are ordered by socket and physical core, so that
// neighbours share caches, and divided into equal parts, one per rank. If there are fewer
// cores than ranks, no rank is pinned.

#pragma once

#include <string>
#include <vector>

namespace convoy {

using Cores = std::vector<int>;

/// Returns the cores that this process may use, in the order of distribution.
Cores usable_cores();

/// Returns a rank's part of the cores; empty if there are fewer cores than ranks.
Cores cores_of(int local_rank, int local_ranks, const Cores& cores);

/// Returns a rank's default number of threads: its part of the cores, and at least one.
int threads_of(int local_rank, int local_ranks, const Cores& cores);

/// Pins this process to those cores; without any, to none. Calls only functions that are
/// safe between fork and exec.
void pin_to(const Cores& cores);

/// Formats as "0-3,8".
std::string to_text(const Cores& cores);

}  // namespace convoy
