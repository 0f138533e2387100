// SPDX-License-Identifier: Apache-2.0
//
// The classification report beside scikit-learn's of the same counts, byte for byte.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "convoy/report/classification.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {
namespace {

using nlohmann::json;

constexpr int kCases = 150;

/// Numbers of classes and samples with which means often lie between two printed numbers.
/// Some classes are never seen, or never said; not both, which some versions of
/// scikit-learn take for a choice of classes and call the accuracy otherwise.
ConfusionMatrix made_up(std::mt19937& random) {
  static const std::string odd[] = {"Käse", "猫", "a very long name of a class",
                                    "t-shirt"};
  const auto below = [&](unsigned most) { return static_cast<int>(random() % most); };
  static constexpr int kClasses[] = {2, 3, 10, 10, 16, 16, 20, 32, 50, 300};
  static constexpr int kSupport[] = {8, 10, 20, 25, 40, 50};
  const int classes = kClasses[below(std::size(kClasses))];
  std::vector<std::string> names;
  for (int i = 0; i < classes; ++i) {
    names.push_back(i < 4 ? odd[i] : "class " + std::to_string(i));
  }
  ConfusionMatrix matrix(names);
  const int support = kSupport[below(std::size(kSupport))];
  for (int truth = 0; truth < classes; ++truth) {
    if (below(24) == 0) {
      matrix.add((truth + 1) % classes, truth);
      continue;
    }
    for (int i = 0; i < support; ++i) {
      const bool right = below(4) != 0;
      matrix.add(truth, right ? truth : below(static_cast<unsigned>(classes)));
    }
  }
  return matrix;
}

TEST(ClassificationReportBesideScikitLearn, IsTheSameText) {
  std::mt19937 random(7);
  json cases = json::array();
  std::vector<std::string> ours;
  for (int i = 0; i < kCases; ++i) {
    const ConfusionMatrix matrix = made_up(random);
    cases.push_back({{"names", matrix.classes()},
                     {"matrix", classification_json(matrix).at("confusion_matrix")}});
    ours.push_back(classification_report(matrix));
  }
  const TemporaryFolder here;
  write_atomically(here.path() / "cases.json", cases.dump());

  const CommandResult result = run_convoy(
      {CONVOY_SOURCE_DIR "/tests/report/sklearn_reports.py", "matrices", "cases.json"},
      here.path(), {.program = "/usr/bin/python3"});

  ASSERT_EQ(result.code, 0) << result.err;
  const json theirs = json::parse(result.out);
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]) << i;
}

}  // namespace
}  // namespace convoy
