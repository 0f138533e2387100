// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/shared_evaluation.h"

#include <gtest/gtest.h>

#include "convoy/data/synthetic.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/models/models.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

class SharedEvaluation : public testing::TestWithParam<std::tuple<int, bool, int>> {};

/// Five batches, the last of them odd and smaller.
TEST_P(SharedEvaluation, HasTheBitsOfOneRankAlone) {
  const auto [ranks, flip, shift] = GetParam();
  const Dataset data = make_synthetic({.train_count = 1051, .test_count = 1}).train;
  const Model model = make_model("lenet5", data.shape, 10);
  const Layout layout = build_layout(model);
  FlatBuffer values(layout);
  initialize(layout, /*seed=*/1, values);
  const FlatBuffer statistics(build_statistics_layout(model));
  EvaluationSet set = all_of(data, measure(data));
  for (std::uint32_t& sample : set.samples) sample = sample * 7 % 1051;
  const EvaluationOptions options{.flip = flip, .shift = shift, .predictions = true};
  ThreadTeam team(2);
  const EvaluationResult alone =
      Evaluator(model, layout, options, team).run(set, {values, statistics});

  run_ranks(ranks, [&](Comm& comm) {
    ThreadTeam own_team(1);
    Evaluator evaluator(model, layout, options, own_team);
    const EvaluationResult shared = evaluate(set, {values, statistics}, evaluator, comm);

    EXPECT_EQ(shared.sum.loss, alone.sum.loss);
    EXPECT_EQ(shared.sum.correct, alone.sum.correct);
    EXPECT_EQ(shared.sum.samples, 1051u);
    EXPECT_TRUE(std::ranges::equal(shared.matrix.counts(), alone.matrix.counts()));
    EXPECT_EQ(shared.batches, alone.batches);
    EXPECT_EQ(predictions_csv(shared), predictions_csv(alone));
    ASSERT_EQ(shared.shares.size(), static_cast<std::size_t>(comm.ranks()));
    std::size_t samples = 0, correct = 0;
    for (const LossSum& share : shared.shares) {
      samples += share.samples;
      correct += share.correct;
    }
    EXPECT_EQ(samples, 1051u);
    EXPECT_EQ(correct, alone.sum.correct);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedEvaluation,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7), testing::Bool(),
                                          testing::Values(0, 2)));

}  // namespace
}  // namespace convoy
