// SPDX-License-Identifier: Apache-2.0
//
// convoy eval of several targets, as a user meets it.

#include <fmt/format.h>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class EvalSeveral : public ProgramTest {
 protected:
  /// The rows of the table at the end of the output, without its head.
  static std::vector<std::string> rows(const CommandResult& result) {
    const std::string head = "\ntarget (";
    std::istringstream text(result.out.substr(result.out.rfind(head) + 1));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    EXPECT_FALSE(lines.empty()) << result.out << result.err;
    if (!lines.empty()) lines.erase(lines.begin());
    return lines;
  }

  static std::string row_of(const json& eval) {
    return fmt::format("  {:8.4f}  {:8.4f}  {:>9}", eval.at("accuracy").get<double>(),
                       eval.at("loss").get<double>(), eval.at("step").get<int>());
  }
};

TEST_F(EvalSeveral, EndsWithARowForEachOfTheTargets) {
  const fs::path a = train("a"), b = train("b", {"train.seed=2"});
  for (const Arguments& ranks : {Arguments{}, Arguments{"-n", "2"}}) {
    const CommandResult result =
        convoy(Arguments{"eval", "runs/b", "runs/a/checkpoints/last",
                         "data.synthetic.test_count=70"} +
               ranks);

    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("written to"));
    const json first = read_json(b / "eval.json"), second = read_json(a / "eval.json");
    EXPECT_EQ(first.at("total"), 70);
    EXPECT_THAT(rows(result),
                testing::ElementsAre("runs/b                 " + row_of(first),
                                     "runs/a/checkpoints/last" + row_of(second)));
  }
}

TEST_F(EvalSeveral, TakesEveryRunOfAFolderOnAnySplit) {
  const fs::path two = train("2", {"data.val_fraction=0.25"});
  const fs::path ten = train("10", {"data.val_fraction=0.25"});
  fs::create_directories(here() / "runs" / "no_run");
  for (const auto& [split, samples] :
       {std::pair{"train", 60}, std::pair{"val", 20}, std::pair{"test", 53}}) {
    const CommandResult result = convoy({"eval", "runs", "--split", split});

    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(std::string("\ntarget (") + split + ")"));
    EXPECT_THAT(rows(result), testing::ElementsAre(testing::StartsWith("runs/2 "),
                                                   testing::StartsWith("runs/10 ")));
    for (const fs::path& run : {two, ten}) {
      EXPECT_EQ(read_json(run / "eval.json").at("total"), samples);
      EXPECT_EQ(read_json(run / "eval.json").at("split"), split);
    }
  }
}

TEST_F(EvalSeveral, NamesABrokenTargetAndEvaluatesTheRest) {
  train("a");
  train("c");
  train("unsaved", {"checkpoint.enabled=false"});
  for (const Arguments& ranks : {Arguments{}, Arguments{"-n", "2"}}) {
    fs::remove(here() / "runs/c/eval.json");
    const CommandResult result =
        convoy(Arguments{"eval", "runs/a", "runs/unsaved", "runs/c"} + ranks);

    EXPECT_EQ(result.code, 65) << result.out;
    EXPECT_THAT(result.err, HasSubstr("runs/unsaved is left out: runs/unsaved\n"));
    EXPECT_EQ(result.err.find("left out"), result.err.rfind("left out")) << result.err;
    EXPECT_THAT(rows(result), testing::ElementsAre(testing::StartsWith("runs/a "),
                                                   "runs/unsaved   failed (exit code 65)",
                                                   testing::StartsWith("runs/c ")));
    EXPECT_TRUE(fs::exists(here() / "runs/c/eval.json"));
  }
}

TEST_F(EvalSeveral, WritesEachResultToAFolderOfItsOwn) {
  train("a");
  const CommandResult twice = convoy({"eval", "runs/a", "runs/a/checkpoints/00000003"});
  ASSERT_EQ(twice.code, 0) << twice.err;
  const CommandResult out = convoy({"eval", "runs/a", "./runs/a", "--out", "results"});
  ASSERT_EQ(out.code, 0) << out.err;

  EXPECT_EQ(read_json(here() / "runs/a/eval.json").at("step"), 6);
  EXPECT_EQ(read_json(here() / "runs/a/eval-2/eval.json").at("step"), 3);
  EXPECT_TRUE(fs::exists(here() / "results/a/eval.json"));
  EXPECT_TRUE(fs::exists(here() / "results/a/eval-2/eval.json"));
}

TEST_F(EvalSeveral, RefusesOneFileForThePredictionsOfAll) {
  expect_refused(convoy({"eval", "runs/a", "runs/b", "--predictions", "said.csv"}), 78,
                 {"--predictions", "2 targets", "one by one"});
}

}  // namespace
}  // namespace convoy
