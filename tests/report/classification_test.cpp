// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/classification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace convoy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// cat: 8 right, 2 taken for dogs. dog: 3 taken for cats, 7 right. fox: never seen or
/// said.
ConfusionMatrix cats_and_dogs() {
  ConfusionMatrix matrix({"cat", "dog", "fox"});
  matrix.add(0, 0, 8);
  matrix.add(0, 1, 2);
  matrix.add(1, 0, 3);
  matrix.add(1, 1, 7);
  return matrix;
}

std::vector<std::string> numbered_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("class-" + std::to_string(i));
  return names;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

TEST(ConfusionMatrix, CountsSamplesByTruthAndPrediction) {
  const ConfusionMatrix matrix = cats_and_dogs();

  EXPECT_EQ(matrix.count(/*truth=*/0, /*predicted=*/1), 2u);
  EXPECT_EQ(matrix.count(/*truth=*/1, /*predicted=*/0), 3u);
  EXPECT_EQ(matrix.true_count(1), 10u);
  EXPECT_EQ(matrix.predicted_count(1), 9u);
  EXPECT_EQ(matrix.total(), 20u);
  EXPECT_EQ(matrix.correct(), 15u);
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 0.75);
}

TEST(ConfusionMatrix, GivesTheScoresComputedByHand) {
  const std::vector<ClassScores> scores = cats_and_dogs().scores();

  EXPECT_DOUBLE_EQ(scores[0].precision, 8.0 / 11);
  EXPECT_DOUBLE_EQ(scores[0].recall, 0.8);
  EXPECT_DOUBLE_EQ(scores[0].f1, 16.0 / 21);  // 2 tp / (2 tp + fp + fn)
  EXPECT_EQ(scores[0].support, 10u);
  EXPECT_DOUBLE_EQ(scores[1].precision, 7.0 / 9);
  EXPECT_DOUBLE_EQ(scores[1].recall, 0.7);
  EXPECT_DOUBLE_EQ(scores[1].f1, 14.0 / 19);
}

TEST(ConfusionMatrix, GivesZeroWhereThereIsNothingToDivideBy) {
  const ClassScores fox = cats_and_dogs().scores()[2];

  EXPECT_EQ(fox.precision, 0);
  EXPECT_EQ(fox.recall, 0);
  EXPECT_EQ(fox.f1, 0);
  EXPECT_EQ(fox.support, 0u);
  EXPECT_EQ(ConfusionMatrix({"a", "b"}).accuracy(), 0);
  EXPECT_EQ(ConfusionMatrix({}).macro_average().f1, 0);
}

TEST(ConfusionMatrix, AveragesOverClassesAndOverSamples) {
  ConfusionMatrix matrix({"rare", "usual"});
  matrix.add(0, 1, 1);
  matrix.add(1, 1, 9);

  EXPECT_DOUBLE_EQ(matrix.macro_average().recall, 0.5);
  EXPECT_DOUBLE_EQ(matrix.weighted_average().recall, 0.9);
  EXPECT_DOUBLE_EQ(matrix.macro_average().precision, 0.45);
  EXPECT_DOUBLE_EQ(matrix.weighted_average().precision, 0.81);
  EXPECT_EQ(matrix.weighted_average().support, 10u);
}

TEST(ConfusionMatrix, OrdersConfusedPairsByCount) {
  const std::vector<ConfusedPair> pairs = cats_and_dogs().most_confused(10);

  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].truth, 1);
  EXPECT_EQ(pairs[0].predicted, 0);
  EXPECT_EQ(pairs[0].count, 3u);
  EXPECT_DOUBLE_EQ(pairs[0].share, 0.3);
  EXPECT_EQ(cats_and_dogs().most_confused(1).size(), 1u);
}

TEST(ConfusionMatrix, MakesNamesFitToBeShown) {
  const ConfusionMatrix matrix({"Käse", "a\x1b[2Jb", "\xC3(", "\xED\xA0\x80", "猫"});

  EXPECT_THAT(matrix.classes(),
              ::testing::ElementsAre("Käse", "a?[2Jb", "?(", "???", "猫"));
}

TEST(ConfusionMatrixDeathTest, AbortsOnAClassThatIsNone) {
  ConfusionMatrix matrix({"a", "b"});

  EXPECT_DEATH(matrix.add(2, 0), "a true class is one of the classes");
  EXPECT_DEATH(matrix.add(0, -1), "a predicted class is one of the classes");
}

// Laid out by the row formats of scikit-learn, for the same counts with digits=3.
TEST(ClassificationReport, LooksAsUsersOfScikitLearnKnowIt) {
  ConfusionMatrix matrix({"cat", "dog"});
  matrix.add(0, 0, 8);
  matrix.add(0, 1, 2);
  matrix.add(1, 0, 3);
  matrix.add(1, 1, 7);

  EXPECT_EQ(classification_report(matrix),
            "              precision    recall  f1-score   support\n"
            "\n"
            "         cat      0.727     0.800     0.762        10\n"
            "         dog      0.778     0.700     0.737        10\n"
            "\n"
            "    accuracy                          0.750        20\n"
            "   macro avg      0.753     0.750     0.749        20\n"
            "weighted avg      0.753     0.750     0.749        20\n");
}

TEST(ClassificationReport, RoundsToTheDigitsAskedFor) {
  EXPECT_THAT(classification_report(cats_and_dogs(), /*digits=*/5), HasSubstr("0.72727"));
}

TEST(ConfusionTable, HeadsColumnsByNameWhereThereIsRoom) {
  EXPECT_EQ(confusion_table(cats_and_dogs()),
            "      predicted\n"
            "true  cat  dog  fox\n"
            "cat     8    2    0\n"
            "dog     3    7    0\n"
            "fox     0    0    0\n");
}

TEST(ConfusionTable, HeadsColumnsByNumberIfNamesAreTooLong) {
  ConfusionMatrix matrix({"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                          "horse", "ship", "truck"});
  matrix.add(3, 5, 1000);

  const std::string table = confusion_table(matrix);

  EXPECT_THAT(table, HasSubstr("3 cat            0     0     0     0     0  1000"));
  EXPECT_LE(widest_line(table), 100u);
}

TEST(ConfusionTable, SaysSoIfThereAreTooManyClasses) {
  EXPECT_EQ(confusion_table(ConfusionMatrix(numbered_names(100))),
            "100 classes, too many for a table of text\n");
  EXPECT_EQ(confusion_table(ConfusionMatrix({})), "no classes\n");
}

TEST(ConfusedPairs, AreShownWithTheirShare) {
  EXPECT_EQ(confused_pairs_table(cats_and_dogs()),
            "most confused: true -> predicted      count    of true\n"
            "dog -> cat                                3     30.0 %\n"
            "cat -> dog                                2     20.0 %\n");
}

TEST(ConfusedPairs, AreAtMostAsManyAsAskedForAndFit) {
  ConfusionMatrix matrix({std::string(200, 'x'), std::string(200, 'y'), "猫"});
  matrix.add(0, 1, 5);
  matrix.add(1, 0, 4);
  matrix.add(2, 1, 3);

  const std::string table = confused_pairs_table(matrix, /*limit=*/2);

  EXPECT_EQ(std::ranges::count(table, '\n'), 3);
  EXPECT_LE(widest_line(table), 100u);
}

TEST(ConfusedPairs, MayBeNone) {
  EXPECT_THAT(confused_pairs_table(ConfusionMatrix(numbered_names(50))),
              HasSubstr("every prediction was right"));
}

TEST(ClassificationJson, HoldsScoresAndCounts) {
  const nlohmann::json json = classification_json(cats_and_dogs());

  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_EQ(json["correct"], 15);
  EXPECT_EQ(json["classes"][1]["name"], "dog");
  EXPECT_EQ(json["classes"][1]["recall"], 0.7);
  EXPECT_EQ(json["macro_average"]["support"], 20);
  EXPECT_EQ(json["most_confused"][0],
            (nlohmann::json{
                {"true", "dog"}, {"predicted", "cat"}, {"count", 3}, {"share", 0.3}}));
  EXPECT_EQ(json["confusion_matrix"], nlohmann::json({{8, 2, 0}, {3, 7, 0}, {0, 0, 0}}));
  EXPECT_THAT(json.dump(), Not(HasSubstr("null")));
}

/// Every class is predicted right once; class 0 is once taken for class 1.
ConfusionMatrix of_many_classes() {
  ConfusionMatrix matrix(numbered_names(kMostClassesInMatrix + 1));
  for (int label = 0; label < matrix.size(); ++label) matrix.add(label, label);
  matrix.add(0, 1);
  return matrix;
}

TEST(ConfusionMatrix, OfManyClassesCountsClassesAndNotPairs) {
  const ConfusionMatrix matrix = of_many_classes();

  EXPECT_FALSE(matrix.has_pairs());
  EXPECT_EQ(matrix.numbers().size(), 3 * 1001u);
  EXPECT_EQ(matrix.total(), 1002u);
  EXPECT_EQ(matrix.correct(), 1001u);
  EXPECT_EQ(matrix.true_count(0), 2u);
  EXPECT_EQ(matrix.predicted_count(1), 2u);
  EXPECT_EQ(matrix.scores()[0].recall, 0.5);
  EXPECT_EQ(matrix.scores()[1].precision, 0.5);
  EXPECT_THAT(matrix.most_confused(10), testing::IsEmpty());
}

TEST(ConfusionMatrix, OfManyClassesSaysWhatItLeavesOut) {
  const ConfusionMatrix matrix = of_many_classes();

  EXPECT_THAT(classification_report(matrix),
              testing::AllOf(HasSubstr("1,001 classes, too many for a row each\n"),
                             HasSubstr("accuracy"), HasSubstr("macro avg")));
  EXPECT_EQ(confusion_table(matrix),
            "1,001 classes, too many for a confusion matrix (at most 1,000)\n");
  EXPECT_EQ(confused_pairs_table(matrix), "most confused: not counted\n");
  EXPECT_TRUE(classification_json(matrix).at("confusion_matrix").is_null());
  EXPECT_EQ(classification_json(matrix).at("classes").size(), 1001u);
}

TEST(ConfusionMatrix, AddsWhatAnotherCounted) {
  for (ConfusionMatrix matrix : {cats_and_dogs(), of_many_classes()}) {
    const std::uint64_t total = matrix.total(), taken = matrix.predicted_count(1);
    matrix.add_numbers(std::vector(matrix.numbers().begin(), matrix.numbers().end()));
    EXPECT_EQ(matrix.total(), 2 * total);
    EXPECT_EQ(matrix.predicted_count(1), 2 * taken);
  }
}

}  // namespace
}  // namespace convoy
