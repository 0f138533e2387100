// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/evaluation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/expect_error.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Three of four right; of so many classes.
EvaluationResult result_of(int classes) {
  EvaluationResult result{.sum = {.loss = 2, .correct = 3, .samples = 4, .in_top = 4},
                          .matrix = ConfusionMatrix(std::vector<std::string>(
                              static_cast<std::size_t>(classes), "x"))};
  result.matrix.add(0, 0, 3);
  result.matrix.add(1, 0);
  return result;
}

TEST(EvaluationReport, HasTopFiveOfMoreThanFiveClasses) {
  EXPECT_THAT(evaluation_text(result_of(6)), HasSubstr("top-1 accuracy 0.750 (3/4)\n"
                                                       "top-5 accuracy 1.000 (4/4)\n"));
  EXPECT_THAT(evaluation_text(result_of(5)), Not(HasSubstr("top-5")));
  EXPECT_EQ(evaluation_json(result_of(6)).at("top5").at("correct"), 4);
  EXPECT_FALSE(evaluation_json(result_of(5)).contains("top5"));
}

TEST(EvaluationReport, SaysTheResultInALine) {
  EXPECT_EQ(result_line(result_of(2)), "test accuracy 75.00 % (3/4), loss 0.5000");
}

TEST(EvaluationReport, AddsUpWhatRanksEvaluated) {
  EvaluationResult result = result_of(2);
  EXPECT_EQ(shares_text(result), "");

  result.shares = {{.correct = 1, .samples = 2}, {.correct = 2, .samples = 2}};
  EXPECT_EQ(shares_text(result),
            "rank 0: 1 of 2 samples correct\n"
            "rank 1: 2 of 2 samples correct\n"
            "all 2 ranks agree: 3 of 4 samples, the same weights\n");
}

TEST(EvaluationReport, HasALineOfCsvForEachSample) {
  EvaluationResult result = result_of(2);
  result.predictions = {{.sample = 7, .truth = 1, .predicted = 0, .probability = 0.25f}};

  EXPECT_EQ(predictions_csv(result),
            "index,true,predicted,probability\n7,1,0,0.250000\n");
}

TEST(SameOnAllRanks, IsWhatRanksHaveToEvaluate) {
  const std::string usual(64, 'a'), other(64, 'b');

  run_ranks(3, [&](Comm& comm) { expect_same_on_all_ranks(comm, 10, usual); });
  run_ranks(3, [&](Comm& comm) {
    expect_error(
        InputKind::data, {"rank 1\n  found:    10 samples, weights bbbbbbbbbbbb"},
        [&] { expect_same_on_all_ranks(comm, 10, comm.rank() == 1 ? other : usual); });
    expect_error(InputKind::data, {"rank 2\n  found:    11 samples"}, [&] {
      expect_same_on_all_ranks(comm, comm.rank() == 2 ? 11 : 10, usual);
    });
  });
}

}  // namespace
}  // namespace convoy
