// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/position_resize.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace convoy {
namespace {

/// The side of a square of so many; 0 if it is none.
std::size_t square_side(std::size_t count) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(count)));
  return side * side == count ? side : 0;
}

bool is_position_table(const std::vector<std::size_t>& shape) {
  return shape.size() == 3 && shape[0] == 1 && shape[1] > 1 &&
         square_side(shape[1] - 1) > 0;
}

/// Four neighbours of a position between numbers, and their weights.
struct Taps {
  std::array<std::size_t, 4> index;
  std::array<double, 4> weight;
};

double cubic(double distance) {
  constexpr double kA = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

Taps taps_at(std::size_t position, std::size_t from, std::size_t to) {
  const double at = (static_cast<double>(position) + 0.5) * static_cast<double>(from) /
                        static_cast<double>(to) -
                    0.5;
  const auto first = static_cast<std::ptrdiff_t>(std::floor(at)) - 1;
  Taps taps{};
  for (std::ptrdiff_t i = 0; i < 4; ++i) {
    const auto last = static_cast<std::ptrdiff_t>(from) - 1;
    taps.index[i] =
        static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(first + i, 0, last));
    taps.weight[i] = cubic(at - static_cast<double>(first + i));
  }
  return taps;
}

}  // namespace

bool can_resize_positions(const std::vector<std::size_t>& from,
                          const std::vector<std::size_t>& to) {
  return is_position_table(from) && is_position_table(to) && from[2] == to[2];
}

void resize_positions(std::span<const float> from, std::span<float> to,
                      std::size_t channels) {
  const std::size_t from_side = square_side(from.size() / channels - 1);
  const std::size_t to_side = square_side(to.size() / channels - 1);
  std::copy_n(from.begin(), channels, to.begin());
  const std::span<const float> grid = from.subspan(channels);
  for (std::size_t i = 0; i < to_side * to_side; ++i) {
    const Taps high = taps_at(i / to_side, from_side, to_side);
    const Taps wide = taps_at(i % to_side, from_side, to_side);
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::size_t tap = 0; tap < 16; ++tap) {
        const std::size_t y = high.index[tap / 4], x = wide.index[tap % 4];
        sum += high.weight[tap / 4] * wide.weight[tap % 4] *
               static_cast<double>(grid[(y * from_side + x) * channels + c]);
      }
      to[(i + 1) * channels + c] = static_cast<float>(sum);
    }
  }
}

}  // namespace convoy
