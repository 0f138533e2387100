// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/lazy_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/system/memory.h"

namespace convoy {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::size_t kLength = 32 * kMega;  // numbers: 128 MiB

/// Megabytes that this process has in memory.
double resident_megabytes() {
  return static_cast<double>(resident_memory_bytes()) / static_cast<double>(kMega);
}

TEST(LazyBuffer, TakesMemoryWhereItIsWritten) {
  const double before = resident_megabytes();
  LazyBuffer buffer(kLength);
  EXPECT_LT(resident_megabytes() - before, 16) << "nothing is written yet";

  std::fill_n(buffer.data() + 8 * kMega, 8 * kMega, 1.0f);
  EXPECT_GT(resident_megabytes() - before, 28);
  EXPECT_LT(resident_megabytes() - before, 48);
}

TEST(LazyBuffer, GivesMemoryBack) {
  const double before = resident_megabytes();
  LazyBuffer buffer(kLength);
  std::fill_n(buffer.data(), kLength, 1.0f);
  EXPECT_GT(resident_megabytes() - before, 120);

  buffer.keep_only({8 * kMega, 16 * kMega});
  EXPECT_LT(resident_megabytes() - before, 48);
}

/// The range begins and ends in the middle of pages.
TEST(LazyBuffer, KeepsTheRangeToTheNumberAndIsZeroElsewhere) {
  for (const Range range : {Range{0, 0}, Range{0, 5000}, Range{1, 2}, Range{1500, 1600},
                            Range{1025, 7000}, Range{4096, 9001}, Range{9001, 9001}}) {
    LazyBuffer buffer(9001);
    std::ranges::fill(buffer.span(), 3.0f);
    buffer.keep_only(range);
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      const bool kept = range.begin <= i && i < range.end;
      ASSERT_EQ(buffer.data()[i], kept ? 3.0f : 0.0f) << i;
    }
    std::ranges::fill(buffer.span(), 4.0f);
    EXPECT_EQ(std::ranges::count(buffer.span(), 4.0f), 9001);
  }
}

TEST(LazyBuffer, BeginsAtACacheLineAndMayBeEmpty) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 2 * kMega}) {
    LazyBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.span().size(), size);
    const LazyBuffer moved = std::move(buffer);
    EXPECT_EQ(moved.size(), size);
    buffer = LazyBuffer(3);
    EXPECT_EQ(buffer.size(), 3u);
  }
}

}  // namespace
}  // namespace convoy
