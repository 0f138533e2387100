// SPDX-License-Identifier: Apache-2.0
//
// Every registered strategy for several ranks ends where one rank alone ends that has all
// microbatches: values and the statistics' sum, bit for bit. With clipped gradients, too.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "convoy/base/random.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/params/reduction_tree.h"
#include "convoy/strategy/registry.h"
#include "tests/comm/thread_ranks.h"
#include "tests/strategy/three_units.h"

namespace convoy {
namespace {

constexpr std::uint32_t kSteps = 3;

/// What one micro-batch finds in one step, padding zero.
FlatBuffer found_by(std::uint32_t step, std::size_t microbatch, const Layout& layout) {
  FlatBuffer found(layout);
  const RandomStream random(step, RngStream::synthetic,
                            static_cast<std::uint32_t>(microbatch));
  for (const Segment& segment : layout.segments()) {
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
      found.data()[i] = random.normal(i);
    }
  }
  return found;
}

/// The sum over a sub-tree of micro-batches.
FlatBuffer sum_over(std::uint32_t step, Range microbatches, const Layout& layout) {
  if (microbatches.size() == 1) return found_by(step, microbatches.begin, layout);
  const std::size_t middle = tree_split(microbatches);
  const FlatBuffer left = sum_over(step, {microbatches.begin, middle}, layout);
  FlatBuffer sum = sum_over(step, {middle, microbatches.end}, layout);
  std::ranges::transform(left.numbers(), sum.numbers(), sum.data(), std::plus<>());
  return sum;
}

/// The partial sums of someone who has some of the micro-batches.
struct Partials {
  Partials(const Layout& layout, std::size_t microbatches, Range own)
      : layout(layout), subtrees(whole_subtrees(microbatches, own)) {
    for (std::size_t i = 0; i < subtrees.size(); ++i) buffers.emplace_back(layout);
  }

  void fill(std::uint32_t step) {
    for (std::size_t i = 0; i < subtrees.size(); ++i) {
      std::ranges::copy(sum_over(step, subtrees[i], layout).numbers(), buffers[i].data());
    }
  }

  PartialSums sums() {
    std::vector<FlatBuffer*> all;
    for (FlatBuffer& buffer : buffers) all.push_back(&buffer);
    return PartialSums(all);
  }

  const Layout& layout;
  std::vector<Range> subtrees;
  std::vector<FlatBuffer> buffers;
};

struct Ending {
  std::vector<float> values, statistics;
  std::uint64_t bytes_sent = 0;
};

/// Trains on made-up gradients of the rank's micro-batches, of at most a given length.
Ending train(const std::string& name, Comm& comm, std::size_t microbatches,
             double longest, const std::vector<SegmentId>& frozen = {}) {
  Layout layout = three_units();
  const Layout statistics_layout = some_statistics();
  layout.freeze(frozen);
  const ReductionOrder order(microbatches, comm.ranks());
  FlatBuffer values(layout), statistics(statistics_layout);
  Partials gradients(layout, microbatches, order.microbatches_of(comm.rank()));
  Partials found(statistics_layout, microbatches, order.microbatches_of(comm.rank()));
  ThreadTeam team(1);
  Sgd sgd(layout, {.rate = 0.1f, .momentum = 0.9f}, team);
  ClipNorm clip(layout, {.longest = longest}, team);
  AsyncComm async(comm);
  const auto strategy = make_strategy(name,
                                      {layout, statistics_layout, values, statistics,
                                       gradients.sums(), found.sums(), sgd, &clip},
                                      {comm, async, order}, {.bucket_bytes = 100});
  strategy->begin();
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    gradients.fill(step);
    found.fill(step);
    for (std::size_t i = layout.segments().size(); i-- > 0;) {
      if (layout.segments()[i].trained) strategy->gradient_ready(SegmentId{i});
    }
    strategy->step();
  }
  const std::span<const float> last = found.buffers.back().numbers();
  return {{values.numbers().begin(), values.numbers().end()},
          {last.begin(), last.end()},
          comm.total_traffic().bytes_sent};
}

struct Case {
  std::string strategy;
  int ranks;
  std::size_t microbatches;
  double longest;  // gradient
};

// Gradients of these sizes have a norm of some fifty; most are clipped or none.
constexpr double kShort = 1, kAny = 1e9;

class EveryStrategy : public testing::TestWithParam<Case> {};

TEST_P(EveryStrategy, EndsWhereOneRankAloneEnds) {
  const auto& [strategy, ranks, microbatches, longest] = GetParam();
  Ending alone;
  run_ranks(1, [&](Comm& comm) {
    alone = train("single", comm, GetParam().microbatches, GetParam().longest);
  });
  const Layout statistics_layout = some_statistics();
  const FlatBuffer sum = sum_over(kSteps - 1, {0, microbatches}, statistics_layout);

  run_ranks(ranks, [&](Comm& comm) {
    const Ending found =
        train(GetParam().strategy, comm, GetParam().microbatches, GetParam().longest);
    EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
    EXPECT_TRUE(std::ranges::equal(found.statistics, sum.numbers()));
  });
}

/// "b.weight" is most of the layout: without it little is left to send.
TEST_P(EveryStrategy, DoesNotSendWhatIsFrozenAndEndsWhereOneRankAloneEnds) {
  const std::vector<SegmentId> frozen = {SegmentId{1}, SegmentId{2}};
  Ending alone;
  run_ranks(1, [&](Comm& comm) {
    alone = train("single", comm, GetParam().microbatches, GetParam().longest, frozen);
  });

  run_ranks(GetParam().ranks, [&](Comm& comm) {
    const Ending found = train(GetParam().strategy, comm, GetParam().microbatches,
                               GetParam().longest, frozen);
    const Ending all =
        train(GetParam().strategy, comm, GetParam().microbatches, GetParam().longest);
    EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
    if (comm.ranks() > 1) {
      EXPECT_LT(found.bytes_sent, (all.bytes_sent - found.bytes_sent) / 2);
    }
  });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& strategy : strategy_names()) {
    if (is_for_one_rank(strategy)) continue;
    for (const int ranks : {1, 2, 3, 4}) {
      for (const std::size_t microbatches : {4u, 5u, 11u}) {
        cases.push_back({strategy, ranks, microbatches, kAny});
        cases.push_back({strategy, ranks, microbatches, kShort});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryStrategy, testing::ValuesIn(all_cases()),
                         [](const auto& info) {
                           return fmt::format(
                               "{}_Ranks{}_Microbatches{}{}", info.param.strategy,
                               info.param.ranks, info.param.microbatches,
                               info.param.longest == kShort ? "_Clipped" : "");
                         });

TEST(StrategyWithClip, ClipsWhatIsLongerThanAllowed) {
  Ending any, clipped;
  run_ranks(1, [&](Comm& comm) {
    any = train("single", comm, 4, kAny);
    clipped = train("single", comm, 4, kShort);
  });
  EXPECT_NE(any.values, clipped.values);
}

TEST(Registry, KnowsWhichAreForOneRankAlone) {
  EXPECT_TRUE(is_for_one_rank("single"));
  EXPECT_FALSE(is_for_one_rank("ddp"));
}

}  // namespace
}  // namespace convoy
