// SPDX-License-Identifier: Apache-2.0
//
// Cores: which of this machine's cores a rank runs on.
//
// The cores this process may use are ordered by socket and physical core, so that
// neighbours share caches, and cut into equal parts, one a rank. When there are fewer
// cores than ranks nobody is pinned.

#pragma once

#include <string>
#include <vector>

namespace convoy {

using Cores = std::vector<int>;

/// Those this process may use, in the order in which they are dealt out.
Cores usable_cores();

/// A rank's part of the cores; empty if there are fewer cores than ranks.
Cores cores_of(int local_rank, int local_ranks, const Cores& cores);

/// A rank's fair number of threads: its part of the cores, and at least one.
int threads_of(int local_rank, int local_ranks, const Cores& cores);

/// Keeps this process on those cores; with none it may go anywhere. Calls only what is
/// safe between fork and exec.
void pin_to(const Cores& cores);

/// "0-3,8".
std::string to_text(const Cores& cores);

}  // namespace convoy
