// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/round_sum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr std::size_t kRoundBlock = 1024;

}  // namespace

/// Some elements of the levels, of which those in use point to where they are: to a kept
/// sum, to a partial or to scratch.
struct RoundSum::Block {
  /// Adds one more micro-batch after `count` others.
  void push(std::size_t count, const float* partial);
  /// Adds all levels in use, `sum` last.
  void fold(std::size_t count, float* sum);

  std::size_t size;
  Dtype dtype;  // of every sum
  std::array<const float*, kMostLevels> level{};
  float scratch[kMostLevels][kRoundBlock];
};

void RoundSum::Block::push(std::size_t count, const float* partial) {
  const auto to = static_cast<std::size_t>(std::countr_one(count));
  const float* sum = partial;
  for (std::size_t l = 0; l < to; ++l) {
    add_pair(level[l], sum, size, scratch[to], dtype);
    sum = scratch[to];
  }
  level[to] = sum;
}

void RoundSum::Block::fold(std::size_t count, float* sum) {
  const auto lowest = static_cast<std::size_t>(std::countr_zero(count));
  const std::size_t rest = count & (count - 1);
  const float* right = level[lowest];
  for (std::size_t left = rest; left != 0; left &= left - 1) {
    const bool is_last = (left & (left - 1)) == 0;
    float* to = is_last ? sum : scratch[lowest];
    add_pair(level[static_cast<std::size_t>(std::countr_zero(left))], right, size, to,
             dtype);
    right = to;
  }
  if (right != sum) std::memcpy(sum, right, size * sizeof(float));
}

RoundSum::RoundSum(std::size_t microbatches, int ranks, const Kept& kept)
    : microbatches_(microbatches), ranks_(ranks), kept_(kept) {
  check(ranks >= 1 && microbatches >= static_cast<std::size_t>(ranks),
        "every rank has a micro-batch");
  check(std::bit_width(microbatches) < static_cast<int>(kMostLevels),
        "the levels suffice for the micro-batches");
}

Range RoundSum::partials_of(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return {std::min(r, partials()), std::min(r + 1, partials())};
}

std::size_t RoundSum::partials() const {
  return std::min(static_cast<std::size_t>(ranks_), microbatches_ - first_);
}

void RoundSum::add_chunk(std::span<const float* const> partials, Range chunk,
                         std::span<float> sum, Dtype dtype) const {
  flush_denormals();  // as where one rank adds the micro-batches
  for (std::size_t begin = 0; begin < chunk.size(); begin += kRoundBlock) {
    Block levels;
    levels.size = std::min(kRoundBlock, chunk.size() - begin);
    levels.dtype = dtype;
    add_block(partials, begin, chunk.begin + begin, levels, sum.data() + begin);
  }
}

/// `begin` is where the block begins in the partials, `at` where in the range that is
/// reduced.
void RoundSum::add_block(std::span<const float* const> partials, std::size_t begin,
                         std::size_t at, Block& levels, float* sum) const {
  for (std::size_t l = 0; l < kMostLevels; ++l) {
    if ((first_ >> l & 1) != 0) levels.level[l] = kept_[l] + at;
  }
  std::size_t count = first_;
  for (const float* partial : partials) levels.push(count++, partial + begin);
  if (is_last_round()) return levels.fold(count, sum);
  for (std::size_t l = 0; l < kMostLevels; ++l) {
    if ((count >> l & 1) == 0) continue;
    float* kept = kept_[l] + at;
    if (levels.level[l] != kept) {
      std::memcpy(kept, levels.level[l], levels.size * sizeof(float));
    }
  }
}

std::size_t kept_levels(std::size_t microbatches, int ranks) {
  std::size_t levels = 0;
  const auto round = static_cast<std::size_t>(ranks);
  for (std::size_t done = round; done < microbatches; done += round) levels |= done;
  return levels;
}

}  // namespace convoy
