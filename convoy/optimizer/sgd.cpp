// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/sgd.h"

#include <algorithm>

namespace convoy {
namespace {

// Elements a task updates: three streams of this length fit the second-level cache.
constexpr std::size_t kChunk = 16 << 10;

template <bool kNesterov>
void update_elements(const SgdOptions& options, float weight_decay, std::size_t count,
                     const float* __restrict gradients, float* __restrict velocities,
                     float* __restrict values) {
  const float rate = options.rate, momentum = options.momentum;
  for (std::size_t i = 0; i < count; ++i) {
    const float d = gradients[i] + weight_decay * values[i];
    const float velocity = momentum * velocities[i] + d;
    velocities[i] = velocity;
    values[i] -= rate * (kNesterov ? d + momentum * velocity : velocity);
  }
}

}  // namespace

Sgd::Sgd(const Layout& layout, const SgdOptions& options, ThreadTeam& team)
    : options_(options), velocity_(layout), team_(team) {
  plan_stretches(layout);
}

void Sgd::plan_stretches(const Layout& layout) {
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Segment& segment = layout.segments()[i];
    const Manner manner = manner_of(segment, SegmentId{i});
    if (stretches_.empty() || stretches_.back().manner != manner) {
      stretches_.push_back({0, manner});
    }
    stretches_.back().end = segment.range.end;
  }
  stretches_.back().end = layout.size();
}

Sgd::Manner Sgd::manner_of(const Segment& segment, SegmentId id) const {
  const bool decays = segment.role == Role::weight || !options_.decay_only_weights;
  return {.weight_decay = decays ? options_.weight_decay : 0,
          .frozen = options_.frozen == id};
}

void Sgd::start_step(std::size_t, const StepRates& rates) {
  options_.rate = static_cast<float>(rates.rate);
  options_.momentum = static_cast<float>(rates.momentum);
}

void Sgd::update(Range range, FlatBuffer& values, const FlatBuffer& gradients) {
  const std::size_t chunks = (range.size() + kChunk - 1) / kChunk;
  team_.run(chunks, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kChunk;
    update_chunk({begin, std::min(range.end, begin + kChunk)}, values, gradients);
  });
}

void Sgd::update_chunk(Range range, FlatBuffer& values, const FlatBuffer& gradients) {
  const auto update = options_.nesterov ? update_elements<true> : update_elements<false>;
  auto stretch = std::ranges::upper_bound(stretches_, range.begin, {}, &Stretch::end);
  for (std::size_t begin = range.begin; begin < range.end; ++stretch) {
    const std::size_t end = std::min(range.end, stretch->end);
    if (!stretch->manner.frozen) {
      update(options_, stretch->manner.weight_decay, end - begin,
             gradients.data() + begin, velocity_.data() + begin, values.data() + begin);
    }
    begin = end;
  }
}

}  // namespace convoy
