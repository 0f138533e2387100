// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/moving_average.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {
namespace {

// Elements a task averages: both streams of this length fit the second-level cache.
constexpr std::size_t kChunk = 16 << 10;

void average_chunk(float gain, std::size_t count, const float* __restrict numbers,
                   float* __restrict average) {
  for (std::size_t i = 0; i < count; ++i) {
    average[i] += gain * (numbers[i] - average[i]);
  }
}

}  // namespace

MovingAverage::MovingAverage(const Layout& layout, double decay, ThreadTeam& team)
    : average_(layout), gain_(static_cast<float>(1 - decay)), team_(team) {
  check(decay >= 0 && decay < 1, "an average forgets");
}

void MovingAverage::update(std::size_t step, Range range, const FlatBuffer& numbers) {
  check(numbers.size() == average_.size(), "an average is of one layout");
  if (step == 0) {
    std::ranges::copy(numbers.view(range), average_.view(range).begin());
    return;
  }
  const std::size_t chunks = (range.size() + kChunk - 1) / kChunk;
  team_.run(chunks, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kChunk;
    const std::size_t count = std::min(kChunk, range.end - begin);
    average_chunk(gain_, count, numbers.data() + begin, average_.data() + begin);
  });
}

}  // namespace convoy
