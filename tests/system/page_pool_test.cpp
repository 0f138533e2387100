// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/base/lazy_buffer.h"

namespace convoy {
namespace {

constexpr std::size_t kPageFloats = 1024;

bool all_are(std::span<const float> numbers, float value) {
  return std::ranges::all_of(numbers, [&](float number) { return number == value; });
}

TEST(PagePool, PassesMemoryFromRangeToRange) {
  constexpr std::size_t kSize = 1000 * kPageFloats;
  LazyBuffer buffer(10 * kSize);
  PagePool pool;
  std::vector<PagePool::RangeId> ranges;
  for (std::size_t i = 0; i < 10; ++i) {
    ranges.push_back(pool.add(buffer.span().subspan(i * kSize, kSize)));
  }
  for (std::size_t i = 0; i < 30; ++i) {
    const std::span<float> numbers = buffer.span().subspan(i % 10 * kSize, kSize);
    pool.provide(ranges[i % 10]);
    std::ranges::fill(numbers, static_cast<float>(i + 1));
    EXPECT_TRUE(all_are(numbers, static_cast<float>(i + 1)));
    pool.collect(ranges[i % 10]);
    EXPECT_TRUE(all_are(numbers, 0));
  }
  EXPECT_LE(pool.bytes(), kSize * sizeof(float) + (std::size_t{1} << 18))
      << "what one range has at most";
}

TEST(PagePool, LeavesTheNeighboursOfARange) {
  LazyBuffer buffer(8 * kPageFloats);
  std::ranges::fill(buffer.span(), 1.0f);
  {
    PagePool pool;
    const auto range = pool.add(buffer.span().subspan(100, 5 * kPageFloats));
    pool.provide(range);
    std::ranges::fill(buffer.span().subspan(100, 5 * kPageFloats), 2.0f);
    EXPECT_TRUE(all_are(buffer.span().first(100), 1));
    EXPECT_TRUE(all_are(buffer.span().subspan(100 + 5 * kPageFloats), 1));
  }
  EXPECT_TRUE(all_are(buffer.span().first(100), 1));
  EXPECT_TRUE(all_are(buffer.span().subspan(kPageFloats, 4 * kPageFloats), 0))
      << "the pool has collected it";
}

TEST(PagePool, GivesBackWhatNoRangeHas) {
  LazyBuffer buffer(2 * kPageFloats);
  PagePool pool;
  const auto kept = pool.add(buffer.span().first(kPageFloats));
  const auto passing = pool.add(buffer.span().last(kPageFloats));
  for (const auto range : {kept, passing}) pool.provide(range);
  std::ranges::fill(buffer.span(), 1.0f);
  pool.collect(passing);
  pool.trim();
  EXPECT_TRUE(all_are(buffer.span().first(kPageFloats), 1));
  pool.provide(passing);
  EXPECT_TRUE(all_are(buffer.span().last(kPageFloats), 0)) << "new pages";
}

TEST(PagePool, CollectsMemoryThatIsNotItsOwn) {
  LazyBuffer buffer(4 * kPageFloats);
  std::ranges::fill(buffer.span(), 1.0f);
  PagePool pool;
  pool.collect(pool.add(buffer.span()));
  EXPECT_TRUE(all_are(buffer.span(), 0));
  EXPECT_EQ(pool.bytes(), 0u);
}

TEST(PagePool, HasNothingToGiveToLessThanAPage) {
  LazyBuffer buffer(4 * kPageFloats);
  PagePool pool;
  const auto range = pool.add(buffer.span().subspan(10, kPageFloats));
  buffer.data()[10] = 3;
  pool.provide(range);
  EXPECT_EQ(buffer.data()[10], 3);
  pool.collect(range);
  EXPECT_EQ(buffer.data()[10], 3);
}

}  // namespace
}  // namespace convoy
