// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/update_bn.h"

#include <gtest/gtest.h>

#include "convoy/comm/alone_comm.h"
#include "convoy/setup/workload.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

constexpr std::size_t kMicrobatches = 3, kBatch = 20;

/// A network with batch norms, on three batches, the last of which is smaller.
Settings some_settings() {
  Settings settings = small_settings(/*train_count=*/50, /*test_count=*/2,
                                     static_cast<int>(kBatch), /*threads=*/1);
  settings.model.name = "fastnet_small";
  settings.data.synthetic.channels = 3;
  settings.data.synthetic.height = settings.data.synthetic.width = 32;
  return settings;
}

/// All that one rank has.
struct Rank {
  Rank(const Settings& settings, Comm& comm)
      : work(load_training_workload(settings)),
        team(1),
        order(kMicrobatches, comm.ranks()),
        part(order.microbatches_of(comm.rank())),
        network(
            work.model, work.layout,
            network_options(settings, Microbatches::most_samples(kBatch, kMicrobatches)),
            team),
        microbatches(network, work.layout, part, team),
        loader(work.data.train, work.samples.train, loader_options(settings, work, part)),
        async(comm),
        source{
            loader, microbatches, {comm, async, order}, {settings.train.seed, 0}, nobody},
        values(work.layout),
        statistics(work.statistics_layout) {
    initialize(work.layout, settings.train.seed, values);
    std::fill_n(statistics.data(), statistics.size(), 100.0f);  // what was before
  }

  Workload work;
  ThreadTeam team;
  ReductionOrder order;
  MicrobatchPart part;
  Network network;
  Microbatches microbatches;
  Loader loader;
  AsyncComm async;
  PassListener nobody;
  BatchStatsSource source;
  FlatBuffer values, statistics;
};

/// The mean over batches of the mean over micro-batches of what batch norms find.
std::vector<double> expected_statistics(Rank& rank, int epoch) {
  std::vector<double> sums(rank.statistics.size());
  std::size_t batches = 0;
  PassListener nobody;
  rank.loader.start_epoch(epoch);
  while (const Batch* batch = rank.loader.next()) {
    ++batches;
    for (std::uint32_t microbatch = 0; microbatch < kMicrobatches; ++microbatch) {
      const Samples all = {batch->images, batch->labels};
      rank.network.forward(
          all.part(rank.part.samples_of(microbatch, batch->global_count)), rank.values,
          {.microbatch = microbatch}, nobody);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += rank.network.batch_statistics().data()[i];
      }
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(batches * kMicrobatches);
  return sums;
}

TEST(MeasuredStatistics, AreTheMeanOverTheBatchesOfAnEpoch) {
  AloneComm comm;
  Rank rank(some_settings(), comm);
  update_bn(rank.source, /*epoch=*/2, rank.values, rank.statistics);

  const std::vector<double> expected = expected_statistics(rank, /*epoch=*/2);
  ASSERT_GT(expected.size(), 0u);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(rank.statistics.data()[i], expected[i], 1e-5 * (1 + expected[i]))
        << "statistic " << i;
  }
}

TEST(MeasuredStatistics, HaveTheSameBitsOnAnyNumberOfRanks) {
  AloneComm comm;
  Rank alone(some_settings(), comm);
  update_bn(alone.source, 1, alone.values, alone.statistics);
  const std::string expected =
      weights_sha256(alone.work.statistics_layout, alone.statistics);

  for (const int ranks : {2, 3}) {
    run_ranks(ranks, [&](Comm& comm) {
      Rank rank(some_settings(), comm);
      update_bn(rank.source, 1, rank.values, rank.statistics);
      EXPECT_EQ(weights_sha256(rank.work.statistics_layout, rank.statistics), expected);
    });
  }
}

TEST(MeasuredStatistics, LeaveGradientsAlone) {
  AloneComm comm;
  Rank rank(some_settings(), comm);
  FlatBuffer& gradients = rank.microbatches.gradients().whole();
  std::fill_n(gradients.data(), gradients.size(), 3.0f);
  update_bn(rank.source, 1, rank.values, rank.statistics);
  EXPECT_EQ(std::ranges::count(gradients.numbers(), 3.0f),
            static_cast<std::ptrdiff_t>(gradients.size()));
}

}  // namespace
}  // namespace convoy
