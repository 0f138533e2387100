// SPDX-License-Identifier: Apache-2.0
//
// RandomStream: counter-based random numbers (Philox 4x32 with ten rounds).
//
// A number is a function of its key (seed, purpose, two labels) and its index, never of
// earlier calls. So any thread or rank can compute any number, and a run repeats exactly
// on other threads and ranks.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

/// The purpose of random numbers. Streams with different purposes never overlap.
enum class RngStream : std::uint8_t {
  weights,
  order,
  split,
  dropout,
  synthetic,
  augment,
  delay,
  partition,
  compute_time
};

inline constexpr int kPhiloxRounds = 10;
inline constexpr std::array<std::uint32_t, 2> kPhiloxFactors = {0xD2511F53, 0xCD9E8D57};

/// The key that philox() uses in `round`, counted from 0.
constexpr std::array<std::uint32_t, 2> philox_key(std::array<std::uint32_t, 2> key,
                                                  int round) {
  const auto times = static_cast<std::uint32_t>(round);
  return {key[0] + times * 0x9E3779B9u, key[1] + times * 0xBB67AE85u};
}

/// Returns four random 32-bit words, a bijection of `counter` for each `key`.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  /// `first` and `second` distinguish streams of one purpose (an epoch, a layer ...).
  RandomStream(std::uint64_t seed, RngStream purpose, std::uint32_t first = 0,
               std::uint32_t second = 0);

  /// Returns block `index`, four words. Requires: index < 2^56.
  std::array<std::uint32_t, 4> block(std::uint64_t index) const;

  /// Returns what block() passes to philox(), for callers that compute many blocks at
  /// once. Requires: index < 2^56.
  std::array<std::uint32_t, 4> counter(std::uint64_t index) const {
    return {static_cast<std::uint32_t>(index),
            static_cast<std::uint32_t>(index >> 32) | purpose_, first_, second_};
  }
  std::array<std::uint32_t, 2> key(int round) const { return philox_key(key_, round); }

  /// Returns word `index` of the stream, block after block.
  std::uint32_t word(std::uint64_t index) const;

  /// Uniform in [0, 1), from 24 bits of word `index`.
  float uniform(std::uint64_t index) const;

  /// Uniform in [0, 1), from 53 bits of block `index`.
  double fraction(std::uint64_t index) const;

  /// Normal with mean 0 and standard deviation 1, from words 2 * index and 2 * index + 1.
  float normal(std::uint64_t index) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t purpose_, first_, second_;
};

/// Returns 0 .. count-1 in random order.
std::vector<std::uint32_t> permutation(std::uint32_t count, const RandomStream& stream);

}  // namespace convoy
