// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace convoy {
namespace {

using testing::ElementsAre;

// The known answers are those of Random123, file kat_vectors, for philox4x32 with ten
// rounds.

TEST(Philox, OfZerosIsAsPublished) {
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u));
}

TEST(Philox, OfOnesIsAsPublished) {
  constexpr std::uint32_t kOnes = 0xFFFFFFFF;

  EXPECT_THAT(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408F276Du, 0x41C83B0Eu, 0xA20BC7C6u, 0x6D5451FDu));
}

TEST(Philox, OfTheDigitsOfPiIsAsPublished) {
  EXPECT_THAT(
      philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
      ElementsAre(0xD16CFE09u, 0x94FDCCEBu, 0x5001E420u, 0x24126EA1u));
}

TEST(RandomStream, NeverMeetsAnother) {
  constexpr RngStream kPurposes[] = {
      RngStream::weights,   RngStream::order,   RngStream::split, RngStream::dropout,
      RngStream::synthetic, RngStream::augment, RngStream::delay, RngStream::partition};
  constexpr std::uint64_t kIndices[] = {0, 1, 2, 1ull << 32, (1ull << 56) - 1};

  std::set<std::array<std::uint32_t, 4>> blocks;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const RngStream purpose : kPurposes) {
      for (const std::uint32_t first : {0u, 1u, 1u << 24}) {
        for (const std::uint32_t second : {0u, 1u, 1u << 24}) {
          for (const std::uint64_t index : kIndices) {
            blocks.insert(RandomStream(seed, purpose, first, second).block(index));
            ++drawn;
          }
        }
      }
    }
  }

  EXPECT_EQ(blocks.size(), drawn);
}

TEST(RandomStream, GivesItsBlocksWordByWord) {
  const RandomStream stream(5, RngStream::order, 2, 3);

  for (std::uint64_t index : {0u, 1u, 2u, 3u, 4u, 7u, 1001u}) {
    EXPECT_EQ(stream.word(index), stream.block(index / 4)[index % 4]) << index;
  }
}

TEST(RandomStream, RepeatsWhoeverAskedBefore) {
  const RandomStream one(7, RngStream::dropout, 1), other(7, RngStream::dropout, 1);

  one.word(99);

  EXPECT_EQ(one.word(3), other.word(3));
}

TEST(RandomStream, IsUniformFromZeroToBelowOne) {
  constexpr int kCount = 20'000;
  const RandomStream stream(1, RngStream::weights);

  double sum = 0, squares = 0;
  float least = 1, most = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const float value = stream.uniform(i);
    sum += value;
    squares += static_cast<double>(value) * value;
    least = std::min(least, value);
    most = std::max(most, value);
  }

  EXPECT_GE(least, 0.0f);
  EXPECT_LT(least, 0.001f);
  EXPECT_LT(most, 1.0f);
  EXPECT_GT(most, 0.999f);
  const double five_deviations = 5 * std::sqrt(1.0 / 12 / kCount);
  EXPECT_NEAR(sum / kCount, 0.5, five_deviations);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, five_deviations);
}

class PermutationOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PermutationOf, HasEveryNumberOnce) {
  std::vector<std::uint32_t> order =
      permutation(GetParam(), RandomStream(1, RngStream::order));

  std::ranges::sort(order);

  ASSERT_EQ(order.size(), GetParam());
  for (std::uint32_t i = 0; i < GetParam(); ++i) EXPECT_EQ(order[i], i);
}

INSTANTIATE_TEST_SUITE_P(Counts, PermutationOf, testing::Values(0, 1, 2, 3, 64, 1000));

TEST(Permutation, DependsOnTheStream) {
  const auto order = permutation(100, RandomStream(1, RngStream::order, 0));

  EXPECT_EQ(order, permutation(100, RandomStream(1, RngStream::order, 0)));
  EXPECT_NE(order, permutation(100, RandomStream(1, RngStream::order, 1)));
  EXPECT_NE(order, permutation(100, RandomStream(2, RngStream::order, 0)));
}

TEST(Permutation, GivesEachOfSixOrdersOfThreeItsShare) {
  constexpr int kDraws = 6000;

  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    ++counts[permutation(3, RandomStream(1, RngStream::order, i))];
  }

  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, kDraws / 6, 150);
}

}  // namespace
}  // namespace convoy
