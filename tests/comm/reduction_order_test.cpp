// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/reduction_order.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "convoy/params/reduction_tree.h"
#include "tests/comm/microbatch_sums.h"

namespace convoy {
namespace {

std::vector<const float*> pointers(const std::vector<std::vector<float>>& numbers) {
  std::vector<const float*> result;
  for (const auto& each : numbers) result.push_back(each.data());
  return result;
}

std::vector<std::vector<float>> partials_of_all(const ReductionOrder& order,
                                                std::size_t count) {
  std::vector<std::vector<float>> partials;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    for (auto& partial : partials_of_rank(order, rank, count)) {
      partials.push_back(std::move(partial));
    }
  }
  return partials;
}

TEST(ReductionOrder, EqualsTheSingleTreeForAllMicrobatchesAndRanks) {
  const std::size_t count = 37;
  for (std::size_t microbatches = 1; microbatches <= 17; ++microbatches) {
    const std::vector<float> expected = tree_sum({0, microbatches}, count);
    for (int ranks = 1; ranks <= static_cast<int>(microbatches); ++ranks) {
      const ReductionOrder order(microbatches, ranks);
      const auto partials = partials_of_all(order, count);
      std::vector<float> sum(count);

      order.add(pointers(partials), sum);

      EXPECT_TRUE(same_bits(sum, expected))
          << microbatches << " micro-batches, " << ranks << " ranks";
    }
  }
}

TEST(ReductionOrder, DiffersFromAddingMicrobatchByMicrobatch) {
  const std::size_t count = 1000, microbatches = 7;
  std::vector<float> plain(count);
  for (std::size_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    const std::vector<float> numbers = microbatch_numbers(microbatch, count);
    for (std::size_t i = 0; i < count; ++i) plain[i] += numbers[i];
  }

  EXPECT_FALSE(same_bits(plain, tree_sum({0, microbatches}, count)));
}

TEST(ReductionOrder, AddsMoreThanABlockOntoEachPartial) {
  const std::size_t count = 5000;
  for (const int ranks : {2, 3, 5}) {
    const ReductionOrder order(5, ranks);
    const std::vector<float> expected = tree_sum({0, 5}, count);
    for (std::size_t target = 0; target < order.partials(); ++target) {
      auto partials = partials_of_all(order, count);

      order.add(pointers(partials), partials[target]);

      EXPECT_TRUE(same_bits(partials[target], expected)) << ranks << " " << target;
    }
  }
}

TEST(ReductionOrder, GivesEachRankItsMicrobatchesInOrder) {
  for (std::size_t microbatches = 1; microbatches <= 17; ++microbatches) {
    for (int ranks = 1; ranks <= static_cast<int>(microbatches); ++ranks) {
      const ReductionOrder order(microbatches, ranks);
      std::size_t microbatch = 0, partial = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(order.microbatches_of(rank).own.begin, microbatch);
        EXPECT_EQ(order.partials_of(rank).begin, partial);
        EXPECT_GT(order.partials_of(rank).size(), 0u);
        microbatch = order.microbatches_of(rank).own.end;
        partial = order.partials_of(rank).end;
      }
      EXPECT_EQ(microbatch, microbatches);
      EXPECT_EQ(partial, order.partials());
    }
  }
}

TEST(ReductionOrder, HasOnePartialARankWithAsManyMicrobatches) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const ReductionOrder order(static_cast<std::size_t>(ranks), ranks);
    EXPECT_EQ(order.partials(), static_cast<std::size_t>(ranks));
  }
}

TEST(ReductionOrder, FlushesDenormalsAsComputeThreadsDo) {
  const std::vector<std::vector<float>> partials{{1e-39f}, {1e-39f}, {1e-39f}};
  std::vector<float> sum{1};
  const auto add = [&] { ReductionOrder(3, 3).add(pointers(partials), sum); };

  std::thread(add).join();

  EXPECT_EQ(std::memcmp(sum.data(), "\0\0\0", sizeof(float)), 0);
}

TEST(ReductionOrder, SumsNothing) {
  const ReductionOrder order(3, 3);
  const std::vector<const float*> nothing(3, nullptr);

  order.add(nothing, {});
}

}  // namespace
}  // namespace convoy
