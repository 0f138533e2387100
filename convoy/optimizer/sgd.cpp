// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/sgd.h"

#include <algorithm>

namespace convoy {
namespace {

// Elements a task updates: three streams of this length fit the second-level cache.
constexpr std::size_t kChunk = 16 << 10;

template <bool kNesterov>
void update_chunk(const SgdOptions& options, std::size_t count,
                  const float* __restrict gradients, float* __restrict velocities,
                  float* __restrict values) {
  const auto [rate, momentum, weight_decay, nesterov] = options;
  for (std::size_t i = 0; i < count; ++i) {
    const float d = gradients[i] + weight_decay * values[i];
    const float velocity = momentum * velocities[i] + d;
    velocities[i] = velocity;
    values[i] -= rate * (kNesterov ? d + momentum * velocity : velocity);
  }
}

}  // namespace

Sgd::Sgd(const Layout& layout, const SgdOptions& options, ThreadTeam& team)
    : options_(options), velocity_(layout), team_(team) {}

void Sgd::update(Range range, FlatBuffer& values, const FlatBuffer& gradients) {
  const std::size_t chunks = (range.size() + kChunk - 1) / kChunk;
  team_.run(chunks, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kChunk;
    const std::size_t count = std::min(kChunk, range.end - begin);
    const auto update = options_.nesterov ? update_chunk<true> : update_chunk<false>;
    update(options_, count, gradients.data() + begin, velocity_.data() + begin,
           values.data() + begin);
  });
}

}  // namespace convoy
