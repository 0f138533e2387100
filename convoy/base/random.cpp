// SPDX-License-Identifier: Apache-2.0
//
// Philox as published by Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011). The constants are theirs.

#include "convoy/base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace convoy {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const auto [key_0, key_1] = philox_key(key, round);
    const std::uint64_t a = std::uint64_t{kPhiloxFactors[0]} * counter[0];
    const std::uint64_t b = std::uint64_t{kPhiloxFactors[1]} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key_0,
               static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key_1,
               static_cast<std::uint32_t>(a)};
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, RngStream purpose, std::uint32_t first,
                           std::uint32_t second)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      purpose_(static_cast<std::uint32_t>(purpose) << 24),
      first_(first),
      second_(second) {}

std::array<std::uint32_t, 4> RandomStream::block(std::uint64_t index) const {
  return philox(counter(index), key_);
}

std::uint32_t RandomStream::word(std::uint64_t index) const {
  return block(index / 4)[index % 4];
}

float RandomStream::uniform(std::uint64_t index) const {
  return static_cast<float>(word(index) >> 8) * 0x1p-24f;
}

double RandomStream::fraction(std::uint64_t index) const {
  const auto words = block(index);
  const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

float RandomStream::normal(std::uint64_t index) const {
  // Box-Muller transform; one minus a number below one has a logarithm.
  const double radius = std::sqrt(-2 * std::log(1.0 - uniform(2 * index)));
  const double angle = 2 * std::numbers::pi * uniform(2 * index + 1);
  return static_cast<float>(radius * std::cos(angle));
}

std::vector<std::uint32_t> permutation(std::uint32_t count, const RandomStream& stream) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  // Fisher-Yates shuffle. 64 random bits per draw keep the bias of the range reduction
  // below 2^-32.
  for (std::uint32_t left = count; left > 1; --left) {
    const auto words = stream.block(left);
    const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
    const auto pick =
        static_cast<std::uint32_t>(static_cast<unsigned __int128>(bits) * left >> 64);
    std::swap(order[left - 1], order[pick]);
  }
  return order;
}

}  // namespace convoy
