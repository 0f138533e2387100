// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "convoy/base/random.h"
#include "convoy/landscape/plane.h"

namespace convoy {
namespace {

// Initial weights have 0 here, so directions share no random number with them.
constexpr std::uint32_t kOfDirections = 1;

double length(std::span<const float> numbers) {
  return std::sqrt(
      std::accumulate(numbers.begin(), numbers.end(), 0.0, [](double sum, float number) {
        return sum + static_cast<double>(number) * number;
      }));
}

/// Scales a random filter to the length of the network's.
void normalise(std::span<float> filter, std::span<const float> like) {
  const double own = length(filter);
  const double factor = own > 0 ? length(like) / own : 0;
  for (float& number : filter) number = static_cast<float>(number * factor);
}

/// A row of a weight is a filter: what makes one output.
void set_segment(const Segment& segment, const RandomStream& random,
                 const OwnedWeights& centre, std::span<float> dst) {
  for (std::size_t i = 0; i < dst.size(); ++i) {
    dst[i] = random.normal(segment.range.begin + i);
  }
  const std::span<const float> like = centre.values.view(segment.range);
  const std::size_t size = dst.size() / segment.shape.front();
  for (std::size_t begin = 0; begin < dst.size(); begin += size) {
    normalise(dst.subspan(begin, size), like.subspan(begin, size));
  }
}

OwnedWeights random_direction(const LaidOutModel& model, const OwnedWeights& centre,
                              const RandomStream& random) {
  OwnedWeights direction(model);
  for (const Segment& segment : model.layout.segments()) {
    if (!segment.trained || segment.shape.size() < 2) continue;
    set_segment(segment, random, centre, direction.values.view(segment.range));
  }
  return direction;
}

}  // namespace

Plane random_plane(const LaidOutModel& model, const OwnedWeights& centre,
                   std::uint64_t seed) {
  OwnedWeights origin(model);
  std::ranges::copy(centre.values.numbers(), origin.values.data());
  std::ranges::copy(centre.statistics.numbers(), origin.statistics.data());
  const auto direction = [&](std::uint32_t number) {
    return random_direction(model, centre,
                            {seed, RngStream::weights, number, kOfDirections});
  };
  return {model, std::move(origin), direction(1), direction(2)};
}

}  // namespace convoy
