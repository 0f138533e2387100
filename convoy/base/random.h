// SPDX-License-Identifier: Apache-2.0
//
// RandomStream: counter-based random numbers (Philox 4x32 with ten rounds).
//
// A number is a function of what it is for (seed, purpose, two labels) and of its index,
// never of the calls before. So any thread or rank can compute any number, and a run
// repeats exactly on other threads and ranks.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

/// What random numbers are for. Streams of different purposes never meet.
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

/// The key as philox() has it in `round`, counted from 0.
constexpr std::array<std::uint32_t, 2> philox_key(std::array<std::uint32_t, 2> key,
                                                  int round) {
  const auto times = static_cast<std::uint32_t>(round);
  return {key[0] + times * 0x9E3779B9u, key[1] + times * 0xBB67AE85u};
}

/// Four random 32-bit words, a bijection of `counter` for each `key`.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  /// `first` and `second` tell streams of one purpose apart (an epoch, a layer ...).
  RandomStream(std::uint64_t seed, RngStream purpose, std::uint32_t first = 0,
               std::uint32_t second = 0);

  /// Block number `index` of four words. Requires: index < 2^56.
  std::array<std::uint32_t, 4> block(std::uint64_t index) const;

  /// What block() passes to philox(), for callers that compute many blocks at once.
  /// Requires: index < 2^56.
  std::array<std::uint32_t, 4> counter(std::uint64_t index) const {
    return {static_cast<std::uint32_t>(index),
            static_cast<std::uint32_t>(index >> 32) | purpose_, first_, second_};
  }
  std::array<std::uint32_t, 2> key(int round) const { return philox_key(key_, round); }

  /// Word number `index` of the stream, block after block.
  std::uint32_t word(std::uint64_t index) const;

  /// Uniform in [0, 1), from 24 bits of word `index`.
  float uniform(std::uint64_t index) const;

  /// Uniform in [0, 1), from 53 bits of block `index`.
  double fraction(std::uint64_t index) const;

  /// Normal with mean 0 and standard deviation 1, from words 2 * index and the one after
  /// it.
  float normal(std::uint64_t index) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t purpose_, first_, second_;
};

/// 0 .. count-1 in random order.
std::vector<std::uint32_t> permutation(std::uint32_t count, const RandomStream& stream);

}  // namespace convoy
