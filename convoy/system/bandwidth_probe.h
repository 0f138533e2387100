// SPDX-License-Identifier: Apache-2.0
//
// The bandwidth probe: how fast this machine reads and writes memory at this moment.
//
// It goes with the FMA probe: processors that share a cache or a memory bus with others
// may multiply at full speed and yet wait for memory.

#pragma once

#include <cstddef>

#include "convoy/system/thread_team.h"

namespace convoy {

/// GB/s, bytes read and bytes written added up.
struct Bandwidth {
  double one_thread = 0;
  double all_threads = 0;  // of the team together
};

/// Bytes that the probe goes through: several times a last-level cache of that size,
/// within limits that keep the probe short.
std::size_t bandwidth_probe_bytes(std::size_t cache_bytes);

/// STREAM's triad, a = b + factor * c, with ordinary stores, over about `milliseconds` by
/// the calling thread and as long again by the team. As in STREAM, what a store reads
/// before it writes is not counted. Throws std::bad_alloc.
Bandwidth probe_bandwidth(ThreadTeam& team, double milliseconds = 50);

}  // namespace convoy
