// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/async_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "convoy/base/random.h"
#include "convoy/optimizer/adam.h"
#include "convoy/optimizer/sgd.h"
#include "tests/params/one_segment.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// More than one of the chunks that a task takes, and no multiple of anything.
constexpr std::size_t kSize = 20'003;
constexpr StepRates kRates = {.rate = 0.1, .momentum = 0.9};

void fill(std::uint32_t label, FlatBuffer& buffer) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer.data()[i] = random.normal(i);
}

/// Values, their optimizer, and gradients that follow from the batch's label.
struct Training {
  explicit Training(bool adam = false, bool clips = false) {
    if (adam) {
      optimizer = std::make_unique<Adam>(layout, AdamOptions{}, team);
    } else {
      optimizer = std::make_unique<Sgd>(layout, SgdOptions{}, team);
    }
    if (clips) clip.emplace(layout, ClipOptions{.longest = 1}, team);
    fill(/*label=*/1000, values);
  }

  ServedRange served() { return served(everything); }
  ServedRange served(Range own) {
    return {layout, own, values, *optimizer, clip ? &*clip : nullptr};
  }
  std::string digest() const { return weights_sha256(layout, values); }

  const Layout layout = one_segment(kSize);
  const Range everything{0, kSize};
  ThreadTeam team{2};
  FlatBuffer values{layout}, gradients{layout};
  std::unique_ptr<Optimizer> optimizer;
  std::optional<ClipNorm> clip;
};

/// Pulls and pushes made-up gradients in the order asked for.
struct Cluster {
  Cluster(Training& training, const AsyncServerOptions& options)
      : training(training),
        server(options, training.served(), training.team),
        assigned(options.batches.size()) {}

  void pull(int worker) { assigned[std::size_t(worker)] = server.pull(worker); }

  Applied push(int worker) {
    const Assignment& batch = assigned[std::size_t(worker)];
    return push(worker, {.sequence = batch.sequence, .version = batch.version});
  }

  Applied push(int worker, const Push& push) {
    fill(static_cast<std::uint32_t>(push.sequence * assigned.size()) +
             static_cast<std::uint32_t>(worker),
         training.gradients);
    return server.push(worker, push, training.gradients.view(training.everything),
                       kRates);
  }

  /// All workers pull, then push in turns: from the second turn on, every push is as
  /// stale as there are others.
  void run_in_turns(int turns) {
    const int workers = static_cast<int>(assigned.size());
    for (int worker = 0; worker < workers; ++worker) pull(worker);
    for (int i = 0; i < turns * workers; ++i) {
      ASSERT_EQ(push(i % workers).result, PushResult::applied);
      pull(i % workers);
    }
  }

  Training& training;
  AsyncServer server;
  std::vector<Assignment> assigned;  // by worker
};

class OneWorker : public testing::TestWithParam<std::pair<bool, bool>> {};

INSTANTIATE_TEST_SUITE_P(AdamAndClip, OneWorker,
                         testing::Values(std::pair{false, false}, std::pair{false, true},
                                         std::pair{true, false}, std::pair{true, true}));

TEST_P(OneWorker, IsAPlainLoopBitForBit) {
  constexpr std::uint32_t kSteps = 5;
  const auto [adam, clips] = GetParam();
  Training plain(adam, clips), served(adam, clips);
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    fill(step, plain.gradients);
    plain.optimizer->start_step(step, kRates);
    OptimizerStep{*plain.optimizer, plain.clip ? &*plain.clip : nullptr}.update(
        plain.values, plain.gradients);
  }

  Cluster cluster(served, {.batches = {kSteps}});
  const std::string before = served.digest();
  cluster.run_in_turns(kSteps);
  EXPECT_TRUE(cluster.server.is_done());
  EXPECT_NE(served.digest(), before);
  EXPECT_EQ(served.digest(), plain.digest());
  EXPECT_EQ(cluster.server.staleness().all().max(), 0u);
}

std::string after_turns(const AsyncServerOptions& options) {
  Training training;
  Cluster cluster(training, options);
  cluster.run_in_turns(3);
  return training.digest();
}

TEST(AsyncServer, ChangesBitsWithCompensationAndItsStrength) {
  const std::vector<std::uint64_t> batches = {3, 3, 3};
  const std::string none = after_turns({.batches = batches});
  for (const Compensation kind :
       {Compensation::dc_asgd, Compensation::dc_asgd_adaptive}) {
    const std::string one =
        after_turns({.batches = batches, .compensation = {.kind = kind, .lambda = 0.01}});
    EXPECT_NE(one, none);
    EXPECT_NE(one, after_turns({.batches = batches,
                                .compensation = {.kind = kind, .lambda = 0.02}}));
    EXPECT_EQ(none, after_turns({.batches = batches,
                                 .compensation = {.kind = kind, .lambda = 0}}));
  }
}

TEST(AsyncServer, CompensatesForTheWayFromTheWorkersOwnPull) {
  Training training;
  const AsyncServerOptions options = {
      .batches = {2, 2}, .compensation = {.kind = Compensation::dc_asgd, .lambda = 0.5}};
  Cluster cluster(training, options);
  cluster.pull(1);
  const std::vector<float> pulled(training.values.numbers().begin(),
                                  training.values.numbers().end());
  cluster.pull(0);
  cluster.push(0);
  const double now = training.values.data()[7];
  cluster.push(1);
  fill(/*label=*/1, training.gradients);  // what worker 1 pushed
  FlatBuffer first(training.layout);
  fill(/*label=*/0, first);

  const double g = training.gradients.data()[7];
  const double compensated = g + 0.5 * g * g * (now - double(pulled[7]));
  const double velocity = 0.9 * double(first.data()[7]) + compensated;
  EXPECT_NEAR(training.values.data()[7], now - 0.1 * velocity, 1e-6);
}

TEST(AsyncServer, UpdatesItsOwnRangeAlone) {
  Training whole, parts;
  Cluster cluster(whole, {.batches = {1}});
  cluster.pull(0);
  cluster.push(0);
  std::vector<Range> ranges = {{0, 17'001}, {17'001, kSize}};
  for (const Range own : ranges) {
    AsyncServer server({.batches = {1}}, parts.served(own), parts.team);
    const Assignment batch = server.pull(0);
    fill(0, parts.gradients);
    server.push(0, {.version = batch.version}, parts.gradients.view(own), kRates);
    if (own.begin == 0) {
      EXPECT_NE(parts.digest(), whole.digest());
    }
  }
  EXPECT_EQ(parts.digest(), whole.digest());
}

TEST(AsyncServer, CompensatesInItsOwnRangeAsInTheWhole) {
  const AsyncServerOptions options = {
      .batches = {1, 1}, .compensation = {.kind = Compensation::dc_asgd, .lambda = 0.01}};
  Training whole, parts;
  Cluster cluster(whole, options);
  cluster.pull(0), cluster.pull(1);
  cluster.push(0), cluster.push(1);
  for (const Range own : {Range{0, 17'001}, Range{17'001, kSize}}) {
    AsyncServer server(options, parts.served(own), parts.team);
    server.pull(0), server.pull(1);
    for (const int worker : {0, 1}) {
      fill(static_cast<std::uint32_t>(worker), parts.gradients);
      server.push(worker, {}, parts.gradients.view(own), kRates);
    }
  }
  EXPECT_EQ(parts.digest(), whole.digest());
}

TEST(AsyncServer, CountsUpdatesSinceThePullAsStaleness) {
  Training training;
  Cluster cluster(training, {.batches = {3, 3}});
  cluster.pull(0);
  cluster.pull(1);
  EXPECT_EQ(cluster.push(0).staleness, 0u);
  cluster.pull(0);
  EXPECT_EQ(cluster.push(0).staleness, 0u);
  EXPECT_EQ(cluster.push(1).staleness, 2u);
  EXPECT_EQ(cluster.server.version(), 3u);
  EXPECT_EQ(cluster.server.staleness().of(1).max(), 2u);
  EXPECT_EQ(cluster.server.staleness().of(0).count(), 2u);
}

TEST(AsyncServer, DividesTheRateByTheStalenessIfAsked) {
  Training training;
  Cluster cluster(training, {.batches = {9, 9}, .scale_rate = true});
  cluster.pull(1);
  for (int i = 0; i < 4; ++i) {
    cluster.pull(0);
    EXPECT_EQ(cluster.push(0).rate, 0.1);
  }
  const double before = training.values.data()[3];
  const double velocity = [&] {
    FlatBuffer& numbers = training.optimizer->slots()[0].numbers;
    return double(numbers.data()[3]);
  }();
  EXPECT_EQ(cluster.push(1).rate, 0.1 / 4);
  const double pushed = training.gradients.data()[3];
  EXPECT_NEAR(training.values.data()[3], before - 0.025 * (0.9 * velocity + pushed),
              1e-6);
}

TEST(AsyncServer, AssignsEachWorkersBatchesInOrderAndThenNoMore) {
  Training training;
  Cluster cluster(training, {.batches = {2, 0}});
  cluster.pull(0);
  EXPECT_EQ(cluster.assigned[0], (Assignment{.sequence = 0, .version = 0}));
  cluster.push(0);
  cluster.pull(0);
  EXPECT_EQ(cluster.assigned[0], (Assignment{.sequence = 1, .version = 1}));
  EXPECT_FALSE(cluster.server.is_done());
  cluster.push(0);
  cluster.pull(0);
  EXPECT_TRUE(cluster.assigned[0].over);
  EXPECT_TRUE(cluster.server.pull(1).over);
  EXPECT_TRUE(cluster.server.is_done());
  EXPECT_EQ(cluster.server.version(), 2u);
}

class OddPush : public testing::Test {
 protected:
  OddPush() : cluster(training, {.batches = {9, 9}}) {
    cluster.pull(0);
    cluster.push(0);
    cluster.pull(0);  // batch 1 of version 1
    cluster.pull(1);  // batch 0 of version 1
    cluster.push(1);
    before = state();
  }

  std::string state() {
    FlatBuffer& velocity = training.optimizer->slots()[0].numbers;
    return training.digest() + weights_sha256(training.layout, velocity);
  }
  void expect_refused(int worker, const Push& push, const std::string& why) {
    const Applied applied = cluster.push(worker, push);
    EXPECT_EQ(applied.result, PushResult::refused);
    EXPECT_THAT(applied.why, HasSubstr(why));
  }
  void expect_nothing_changed() {
    EXPECT_EQ(state(), before);
    EXPECT_EQ(cluster.server.version(), 2u);
    EXPECT_THAT(cluster.server.sequences(), ElementsAre(1, 1));
    EXPECT_EQ(cluster.server.staleness().all().count(), 2u);
    EXPECT_EQ(cluster.push(0).result, PushResult::applied)
        << "what is assigned still counts";
  }

  Training training;
  Cluster cluster;
  std::string before;
};

TEST_F(OddPush, IsIgnoredIfItIsRepeated) {
  EXPECT_EQ(cluster.push(0, {.sequence = 0, .version = 0}).result, PushResult::repeated);
  EXPECT_EQ(cluster.push(1, {.sequence = 0, .version = 1}).result, PushResult::repeated);
  expect_nothing_changed();
}

TEST_F(OddPush, IsRefusedIfItsBatchIsNotDueYet) {
  expect_refused(0, {.sequence = 2, .version = 1}, "batch 2, but 1 is assigned");
  expect_nothing_changed();
}

TEST_F(OddPush, IsRefusedIfItsValuesAreYetToCome) {
  expect_refused(0, {.sequence = 1, .version = 3},
                 "version 3 of the values, but the current version is 2");
  expect_nothing_changed();
}

TEST_F(OddPush, IsRefusedIfItsWorkerPulledOtherValues) {
  expect_refused(0, {.sequence = 1, .version = 2}, "version 2 of the values, but 1");
  expect_refused(0, {.sequence = 1, .version = 0}, "version 0 of the values, but 1");
  expect_nothing_changed();
}

TEST_F(OddPush, IsRefusedIfNothingIsAssigned) {
  expect_refused(1, {.sequence = 1, .version = 1}, "batch 1, but none is assigned");
  expect_nothing_changed();
}

class Bound : public testing::Test {
 protected:
  /// Workers go on in a random order, whoever may.
  void run(Cluster& cluster, std::uint64_t bound) {
    const int workers = static_cast<int>(cluster.assigned.size());
    for (int worker = 0; worker < workers; ++worker) {
      cluster.server.set_connected(worker, true);
    }
    const RandomStream random(/*seed=*/1, RngStream::synthetic);
    for (std::uint64_t i = 0; !cluster.server.is_done(); ++i) {
      ASSERT_LT(i, 10'000u) << "nobody may go on";
      const int worker = std::min(workers - 1, int(random.uniform(i) * float(workers)));
      if (!cluster.server.may_pull(worker) || cluster.server.is_done(worker)) continue;
      cluster.pull(worker);
      cluster.push(worker);
      expect_within(cluster, bound);
    }
  }

  static void expect_within(const Cluster& cluster, std::uint64_t bound) {
    std::vector<std::uint64_t> unfinished;
    const std::vector<std::uint64_t> sequences = cluster.server.sequences();
    for (int worker = 0; worker < int(sequences.size()); ++worker) {
      if (cluster.server.is_done(worker)) continue;
      unfinished.push_back(sequences[std::size_t(worker)]);
    }
    if (unfinished.empty()) return;
    const auto [least, most] = std::ranges::minmax(unfinished);
    EXPECT_LE(most - least, bound + 1);
  }

  Training training;
};

TEST_F(Bound, HoldsWhoeverIsTooFarAhead) {
  for (const std::uint64_t bound : {0, 1, 3}) {
    Cluster cluster(training, {.batches = {12, 7, 12}, .max_staleness = bound});
    run(cluster, bound);
    EXPECT_THAT(cluster.server.sequences(), ElementsAre(12, 7, 12));
  }
}

TEST_F(Bound, OfZeroLetsNobodyBeTwoBatchesAhead) {
  Cluster cluster(training, {.batches = {9, 9}, .max_staleness = 0});
  cluster.server.set_connected(0, true);
  cluster.server.set_connected(1, true);
  EXPECT_TRUE(cluster.server.may_pull(0));
  cluster.pull(0), cluster.push(0);
  EXPECT_FALSE(cluster.server.may_pull(0));
  EXPECT_TRUE(cluster.server.may_pull(1));
  cluster.pull(1), cluster.push(1);
  EXPECT_TRUE(cluster.server.may_pull(0));
}

TEST_F(Bound, IsNotHeldByWhoIsGone) {
  Cluster cluster(training, {.batches = {9, 9}, .max_staleness = 0});
  cluster.server.set_connected(0, true);
  cluster.server.set_connected(1, true);
  cluster.pull(0), cluster.push(0);
  EXPECT_FALSE(cluster.server.may_pull(0));
  cluster.server.set_connected(1, false);
  EXPECT_TRUE(cluster.server.may_pull(0));
  cluster.server.set_connected(1, true);
  EXPECT_FALSE(cluster.server.may_pull(0));
}

TEST_F(Bound, IsNotHeldByWhoHasDoneAllItsBatches) {
  Cluster cluster(training, {.batches = {9, 1}, .max_staleness = 0});
  cluster.server.set_connected(0, true);
  cluster.server.set_connected(1, true);
  cluster.pull(1), cluster.push(1);
  for (int i = 0; i < 9; ++i) {
    EXPECT_TRUE(cluster.server.may_pull(0)) << "batch " << i;
    cluster.pull(0), cluster.push(0);
  }
  EXPECT_TRUE(cluster.server.may_pull(1)) << "to hear that it is over";
}

TEST_F(Bound, IsNoneUnlessAskedFor) {
  Cluster cluster(training, {.batches = {9, 9}});
  cluster.server.set_connected(0, true);
  cluster.server.set_connected(1, true);
  for (int i = 0; i < 5; ++i) cluster.pull(0), cluster.push(0);
  EXPECT_TRUE(cluster.server.may_pull(0));
}

TEST(AsyncServer, DropsAPushThatIsNotFiniteAndLowersTheScale) {
  Training training;
  LossScaler scaler({}, training.team);
  ServedRange served = training.served();
  served.scaler = &scaler;
  AsyncServer server({.batches = {5, 5}}, served, training.team);
  const std::string before = training.digest();
  fill(/*label=*/1, training.gradients);
  for (const int worker : {0, 1}) server.pull(worker);

  for (const int worker : {0, 1}) {
    const Applied dropped =
        server.push(worker, {.loss_scale = 65536, .is_finite = false},
                    training.gradients.view(training.everything), kRates);
    EXPECT_EQ(dropped.result, PushResult::applied);
  }

  EXPECT_EQ(training.digest(), before);
  EXPECT_EQ(server.version(), 2u) << "a dropped push is a step";
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 32768, .skipped = 2}));
}

/// A power of two changes no bit.
TEST(AsyncServer, UnscalesByTheScaleThatAPushWasMadeWith) {
  for (const Compensation kind : {Compensation::none, Compensation::dc_asgd}) {
    std::vector<std::string> digests;
    for (const float scale : {1.0f, 1024.0f}) {
      Training training(/*adam=*/true, /*clips=*/true);
      LossScaler scaler({}, training.team);
      ServedRange served = training.served();
      served.scaler = &scaler;
      AsyncServer server({.batches = {1}, .compensation = {.kind = kind}}, served,
                         training.team);
      fill(/*label=*/1, training.gradients);
      for (float& gradient : training.gradients.view(training.everything)) {
        gradient *= scale;
      }
      server.pull(0);
      server.push(0, {.loss_scale = scale}, training.gradients.view(training.everything),
                  kRates);
      digests.push_back(training.digest());
    }
    EXPECT_EQ(digests[0], digests[1]);
  }
}

TEST_F(OddPush, IsRefusedIfItsLossScaleIsNone) {
  for (const double scale : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
    expect_refused(0, {.sequence = 1, .version = 1, .loss_scale = scale}, "loss scale");
  }
  expect_nothing_changed();
}

TEST(AsyncServer, GoesOnFromWhereACheckpointWas) {
  Training whole, first_half;
  Cluster all(whole, {.batches = {4, 4}});
  all.run_in_turns(2);
  all.pull(0), all.pull(1);
  all.run_in_turns(2);

  Cluster before(first_half, {.batches = {4, 4}});
  before.run_in_turns(2);
  Cluster after(first_half, {.batches = {4, 4}});
  after.server.restore(before.server.version(), before.server.sequences());
  EXPECT_EQ(after.server.version(), 4u);
  EXPECT_EQ(after.server.sequences(), (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(after.push(0, {.sequence = 2, .version = 4}).result, PushResult::refused);
  after.run_in_turns(2);
  EXPECT_TRUE(after.server.is_done());
  EXPECT_EQ(first_half.digest(), whole.digest());
}

TEST(AsyncServer, SaysTheBytesOfCopiesAndSquares) {
  const Range half = {0, kSize / 2};
  AsyncServerOptions options = {.batches = {1, 1, 1}};
  EXPECT_EQ(async_server_bytes(options, half), 0u);
  options.compensation.kind = Compensation::dc_asgd;
  EXPECT_EQ(async_server_bytes(options, half), 3 * half.size() * 4);
  options.compensation.kind = Compensation::dc_asgd_adaptive;
  EXPECT_EQ(async_server_bytes(options, half), 4 * half.size() * 4);
}

}  // namespace
}  // namespace convoy
