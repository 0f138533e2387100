// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {
namespace {

struct Reservation {
  SlotId slot;
  std::size_t bytes;
  Lifetime lifetime;
};

bool meet(Lifetime a, Lifetime b) { return a.first <= b.last && b.first <= a.last; }

class ArenaPlanOf : public testing::TestWithParam<unsigned> {
 protected:
  ArenaPlanOf() {
    std::mt19937 random(GetParam());
    const auto draw = [&](unsigned most) { return random() % (most + 1); };
    for (unsigned i = 0, count = 1 + draw(40); i < count; ++i) {
      const int first = static_cast<int>(draw(20));
      Lifetime lifetime = {first, first + static_cast<int>(draw(6))};
      const std::size_t bytes = draw(5) == 0 ? 0 : draw(2000);
      const SlotId slot = plan_.reserve(bytes, lifetime);
      if (draw(3) == 0) {
        const int moment = static_cast<int>(draw(25));
        plan_.extend(slot, moment);
        lifetime.last = std::max(lifetime.last, moment);
      }
      reservations_.push_back({slot, bytes, lifetime});
    }
    plan_.solve();
  }

  ArenaPlan plan_;
  std::vector<Reservation> reservations_;
};

TEST_P(ArenaPlanOf, KeepsApartWhatLivesAtTheSameTime) {
  for (const Reservation& a : reservations_) {
    for (const Reservation& b : reservations_) {
      if (a.slot == b.slot || !meet(a.lifetime, b.lifetime)) continue;
      if (a.bytes == 0 || b.bytes == 0) continue;
      EXPECT_TRUE(plan_.offset(a.slot) + a.bytes <= plan_.offset(b.slot) ||
                  plan_.offset(b.slot) + b.bytes <= plan_.offset(a.slot));
    }
  }
}

TEST_P(ArenaPlanOf, IsAsLargeAsNeededAndNoLargerThanAllTogether) {
  std::size_t sum = 0, most_at_once = 0;
  for (int moment = 0; moment <= 30; ++moment) {
    std::size_t at_once = 0;
    for (const Reservation& of : reservations_) {
      if (meet(of.lifetime, {moment, moment})) at_once += of.bytes;
    }
    most_at_once = std::max(most_at_once, at_once);
  }
  for (const Reservation& of : reservations_) {
    sum += round_up(of.bytes, kCacheLine);
    EXPECT_LE(plan_.offset(of.slot) + of.bytes, plan_.bytes());
    EXPECT_EQ(plan_.offset(of.slot) % kCacheLine, 0u);
  }

  EXPECT_GE(plan_.bytes(), most_at_once);
  EXPECT_LE(plan_.bytes(), sum);
}

INSTANTIATE_TEST_SUITE_P(Draws, ArenaPlanOf, testing::Range(0u, 30u));

TEST(ArenaPlan, NeedsTwoBuffersForAChain) {
  ArenaPlan plan;
  for (int i = 0; i < 10; ++i) plan.reserve(1024, {i, i + 1});

  plan.solve();

  EXPECT_EQ(plan.bytes(), 2048u);
}

TEST(ArenaPlan, LetsOthersUseASlotBetweenItsLifetimes) {
  ArenaPlan plan;
  const SlotId twice = plan.reserve(1024, {0, 1});
  plan.revive(twice, {4, 5});
  const SlotId between = plan.reserve(1024, {2, 3}), later = plan.reserve(1024, {5, 6});

  plan.solve();

  EXPECT_EQ(plan.offset(between), plan.offset(twice));
  EXPECT_NE(plan.offset(later), plan.offset(twice));
  EXPECT_EQ(plan.bytes(), 2048u);
}

TEST(ArenaPlan, KeepsNothingFromARunToItsRepetition) {
  ArenaPlan plan;
  const SlotId kept = plan.reserve(1024, {1, 9}), scratch = plan.reserve(1024, {1, 1}),
               later = plan.reserve(1024, {9, 9});
  plan.repeat({0, plan.size()}, /*moment=*/1, /*again=*/7);
  const SlotId between = plan.reserve(3072, {2, 6}), then = plan.reserve(1024, {8, 8});

  plan.solve();

  EXPECT_EQ(plan.bytes(), 3072u);
  EXPECT_EQ(plan.offset(between), 0u);
  EXPECT_NE(plan.offset(kept), plan.offset(scratch));
  EXPECT_NE(plan.offset(kept), plan.offset(later));
  EXPECT_NE(plan.offset(kept), plan.offset(then));
}

TEST(ArenaPlan, SharesOneBufferAmongThoseThatDoNotMeet) {
  ArenaPlan plan;
  const SlotId early = plan.reserve(1024, {0, 1}), late = plan.reserve(512, {2, 3});

  plan.solve();

  EXPECT_EQ(plan.offset(early), plan.offset(late));
  EXPECT_EQ(plan.bytes(), 1024u);
}

TEST(ArenaPlan, CountsTheLastMomentAsLife) {
  ArenaPlan plan;
  plan.reserve(1024, {0, 2});
  plan.reserve(1024, {2, 3});

  plan.solve();

  EXPECT_EQ(plan.bytes(), 2048u);
}

TEST(ArenaPlan, ExtendsALifeButNeverShortensIt) {
  ArenaPlan plan;
  const SlotId slot = plan.reserve(1024, {0, 1});
  plan.extend(slot, 3);
  plan.extend(slot, 0);
  plan.reserve(1024, {3, 4});

  plan.solve();

  EXPECT_EQ(plan.bytes(), 2048u);
}

TEST(ArenaPlan, FillsAGap) {
  ArenaPlan plan;
  plan.reserve(1024, {0, 9});
  const SlotId small = plan.reserve(256, {0, 4});
  const SlotId other = plan.reserve(512, {5, 9});

  plan.solve();

  EXPECT_EQ(plan.offset(small), 1024u);
  EXPECT_EQ(plan.offset(other), 1024u);
  EXPECT_EQ(plan.bytes(), 1536u);
}

TEST(Arena, GivesMemoryOnCacheLinesThatKeepsItsContent) {
  ArenaPlan plan;
  const SlotId a = plan.reserve(5 * sizeof(float), {0, 1});
  const SlotId b = plan.reserve(3, {1, 1});
  plan.solve();

  Arena arena(std::move(plan));
  std::fill_n(arena.get(a), 5, 1.0f);
  std::fill_n(arena.get<std::uint8_t>(b), 3, std::uint8_t{255});

  EXPECT_EQ(std::vector<float>(arena.get(a), arena.get(a) + 5), std::vector<float>(5, 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.get(b)) % kCacheLine, 0u);
  EXPECT_EQ(arena.bytes(), 2 * kCacheLine);
}

}  // namespace
}  // namespace convoy
