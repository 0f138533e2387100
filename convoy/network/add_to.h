// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>

#include "convoy/network/storage/stored.h"
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

/// The same; each sum is rounded as it is stored.
inline void add_to(ThreadTeam& team, const Stored& from, const Stored& to,
                   std::size_t size) {
  if (to.is_fp32()) {
    add_to(team, static_cast<const float*>(from), static_cast<float*>(to), size);
    return;
  }
  team.run((size + kPieceFloats - 1) / kPieceFloats, [&](std::size_t piece, int) {
    const std::size_t first = piece * kPieceFloats;
    const std::size_t count = std::min(kPieceFloats, size - first);
    Piece a, b;
    const float* more = from.read(first, count, a.numbers);
    float* sum = to.edit(first, count, b.numbers);
    for (std::size_t i = 0; i < count; ++i) sum[i] = more[i] + sum[i];
    to.store(first, count, sum);
  });
}

}  // namespace convoy
