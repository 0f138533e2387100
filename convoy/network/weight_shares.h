// SPDX-License-Identifier: Apache-2.0
//
// Shares of a gradient: what each pack adds to that of a weight.

#pragma once

#include "convoy/network/stage.h"

namespace convoy {

struct WeightShares {
  const float* first;  // of the first pack
  std::size_t step;    // from one pack's to the next
  std::size_t packs;
};

/// Adds them in the order of packs, so that the sum depends on the batch alone.
inline void add_shares(const Pass& pass, const WeightShares& shares,
                       std::span<float> gradient) {
  if (gradient.data() == nullptr) return;
  constexpr std::size_t kChunk = 2048;
  pass.team.run((gradient.size() + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t end = std::min(gradient.size(), (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) {
      float sum = 0;
      for (std::size_t pack = 0; pack < shares.packs; ++pack) {
        sum += shares.first[pack * shares.step + i];
      }
      gradient[i] = sum;
    }
  });
}

}  // namespace convoy
