// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/samples.h"

#include <algorithm>

#include "convoy/network/stage.h"

namespace convoy {

void pack_inputs(ThreadTeam& team, const Samples& samples, Shape shape, float* packed) {
  const std::size_t features = shape.features();
  const std::size_t packs = packs_of(samples.count(), shape);
  const std::size_t rows = samples.count() * static_cast<std::size_t>(shape.rows);
  // Small tasks: a pack has much to copy, and a batch has few packs.
  constexpr std::size_t kFeaturesPerTask = 128;
  const std::size_t parts = (features + kFeaturesPerTask - 1) / kFeaturesPerTask;
  team.run(packs * parts, [&](std::size_t task, int) {
    const std::size_t pack = task / parts, first = task % parts * kFeaturesPerTask;
    const std::size_t last = std::min(features, first + kFeaturesPerTask);
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const std::size_t row = pack * kPack + lane;
      float* to = packed + pack * features * kPack + lane;
      const bool real = row < rows;
      const float* from = samples.inputs.data() + (real ? row * features : 0);
      for (std::size_t f = first; f < last; ++f) to[f * kPack] = real ? from[f] : 0.0f;
    }
  });
}

}  // namespace convoy
