// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>

#include "convoy/system/thread_team.h"

namespace convoy {

/// to[i] += from[i], elementwise, by all threads.
inline void add_to(ThreadTeam& team, const float* from, float* to, std::size_t size) {
  constexpr std::size_t kChunk = 16 << 10;
  team.run((size + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t end = std::min(size, (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) to[i] = from[i] + to[i];
  });
}

}  // namespace convoy
