// SPDX-License-Identifier: Apache-2.0
//
// Evaluations of many classes, and of files that cannot all be decoded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/data/synthetic.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/evaluate/shared_evaluation.h"
#include "convoy/models/models.h"
#include "tests/base/expect_error.h"
#include "tests/comm/thread_ranks.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

TEST(LargeEvaluation, OfAThousandClassesIsExactOnAnyRanks) {
  constexpr int kClasses = 1000;
  const Dataset data =
      make_synthetic({.classes = kClasses, .train_count = 1300, .test_count = 1}).train;
  const Model model = make_model("lenet5", data.shape, kClasses);
  const Layout layout = build_layout(model);
  FlatBuffer values(layout);
  const FlatBuffer statistics(build_statistics_layout(model));
  // The network says the same to everything: 700, 701, 702, 703, 704 in this order.
  const auto bias = values.view(layout.segments().back().range);
  for (std::size_t i = 0; i < 5; ++i) bias[700 + i] = static_cast<float>(5 - i);
  const auto labels_in = [&](int begin, int end) {
    return static_cast<std::size_t>(std::ranges::count_if(
        data.labels, [&](int label) { return label >= begin && label < end; }));
  };

  run_ranks(3, [&](Comm& comm) {
    ThreadTeam team(1);
    Evaluator evaluator(model, layout, {}, team);
    const EvaluationResult result =
        evaluate(all_of(data, measure(data)), {values, statistics}, evaluator, comm);
    EXPECT_EQ(result.sum.samples, 1300u);
    EXPECT_EQ(result.sum.correct, labels_in(700, 701));
    EXPECT_EQ(result.sum.in_top, labels_in(700, 705));
    EXPECT_EQ(result.matrix.count(699, 700), labels_in(699, 700));
    EXPECT_EQ(evaluation_json(result)["confusion_matrix"].size(), 1000u);
    EXPECT_THAT(evaluation_text(result),
                testing::HasSubstr("1000 classes, too many for a table of text"));
  });
}

TEST(EvaluationOfFiles, LeavesOutThoseThatCannotBeDecoded) {
  ImageFolder folder;
  folder.add_two_classes();
  folder.write("train/cat/b.png", "text");
  folder.write("train/dog/b.JPG", "");
  ImageFolderOptions options = folder.options();
  options.skip_damaged = true;
  const Dataset data = open_image_folder(options).train;
  const Model model = make_model("cnn2", data.shape, 2);
  const Layout layout = build_layout(model);
  FlatBuffer values(layout);
  initialize(layout, /*seed=*/1, values);
  const FlatBuffer statistics(build_statistics_layout(model));
  EvaluationSet good = all_of(data, {.moments = {{0.5, 0.25}}}), all = good;
  good.samples = {0, 2, 3};

  for (const bool flip : {false, true}) {
    run_ranks(2, [&](Comm& comm) {
      ThreadTeam team(1);
      Evaluator evaluator(model, layout, {.flip = flip, .predictions = true}, team);
      const EvaluationResult of_good = evaluator.run(good, {values, statistics});
      const EvaluationResult of_all =
          evaluate(all, {values, statistics}, evaluator, comm);
      EXPECT_EQ(of_all.sum, of_good.sum);
      EXPECT_EQ(of_all.left_out, 2u);
      EXPECT_EQ(predictions_csv(of_all), predictions_csv(of_good));
      EXPECT_THAT(
          evaluation_text(of_all),
          testing::HasSubstr("2 samples left out, whose files cannot be decoded"));
      EXPECT_EQ(evaluation_json(of_all)["left_out"], 2);
    });
  }
  EXPECT_EQ(data.files->damaged->count(), 2u);

  all.samples = {1, 4};
  ThreadTeam team(1);
  Evaluator evaluator(model, layout, {}, team);
  expect_error(InputKind::data, {"images of imagefolder\n", "none that can be decoded"},
               [&] {
                 evaluator.run(all, {values, statistics});
               });
}

}  // namespace
}  // namespace convoy
