// SPDX-License-Identifier: Apache-2.0
//
// convoy eval, as a user meets it.

#include "test_places.h"
#include "tests/apps/small_run.h"
#include "tests/plot/png_pixels.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class EvalCommand : public ProgramTest {
 protected:
  /// Evaluates, expecting success, and returns eval.json of the run's folder.
  json eval(const fs::path& target) const {
    const CommandResult result = convoy({"eval", target.string()});
    EXPECT_EQ(result.code, 0) << result.err;
    return read_json(run / "eval.json");
  }

  /// That an evaluation ended where the run's own at its end did.
  void expect_as_summary(const json& result) const {
    const json summary = read_json(run / "summary.json");
    EXPECT_EQ(result.at("weights_sha256"), summary.at("weights_sha256"));
    for (const char* field : {"accuracy", "correct", "total", "loss"}) {
      EXPECT_EQ(result.at(field), summary.at("test").at(field)) << field;
    }
  }

  fs::path run = train("a", {"model=cnn1", "optimizer.lr=0.05"});
};

TEST_F(EvalCommand, FindsWhatTheRunFoundFromAnyOfItsFolders) {
  for (const fs::path& target :
       {run, run / "checkpoints" / "last", run / "checkpoints" / "00000006"}) {
    const json result = eval(target);

    expect_as_summary(result);
    EXPECT_EQ(result.at("step"), 6);
    fs::remove(run / "eval.json");
  }
}

TEST_F(EvalCommand, FindsTheSameInARunThatWasMoved) {
  const fs::path moved = here() / "elsewhere";
  fs::rename(run, moved);
  run = moved;

  expect_as_summary(eval(moved));
}

TEST_F(EvalCommand, FindsTheSameOnAnyNumberOfThreads) {
  for (const char* threads : {"1", "2"}) {
    const CommandResult result =
        convoy({"eval", run.string(), std::string("cluster.threads=") + threads});

    ASSERT_EQ(result.code, 0) << result.err;
    expect_as_summary(read_json(run / "eval.json"));
  }
}

TEST_F(EvalCommand, WritesCountsThatAddUp) {
  const json result = eval(run);

  std::uint64_t total = 0, correct = 0;
  const json& matrix = result.at("confusion_matrix");
  ASSERT_EQ(matrix.size(), 10u);
  for (std::size_t truth = 0; truth < 10; ++truth) {
    std::uint64_t row = 0;
    for (const json& count : matrix[truth]) row += count.get<std::uint64_t>();
    EXPECT_EQ(result.at("classes")[truth].at("support"), row);
    total += row;
    correct += matrix[truth][truth].get<std::uint64_t>();
  }
  EXPECT_EQ(total, 53u);
  EXPECT_EQ(result.at("total"), total);
  EXPECT_EQ(result.at("correct"), correct);
  for (const json& one : result.at("classes")) {
    for (const char* field : {"name", "precision", "recall", "f1"}) {
      EXPECT_TRUE(one.contains(field)) << one;
    }
  }
  EXPECT_EQ(result.at("model"), "cnn1");
  EXPECT_EQ(result.at("data"), "synthetic");
}

TEST_F(EvalCommand, DrawsAPicture) {
  eval(run);

  EXPECT_GT(PngPixels(read_text(run / "confusion.png")).width(), 400);
}

TEST_F(EvalCommand, PrintsTheReportOfScikitLearnOnTheSamePredictions) {
  const CommandResult result =
      convoy({"eval", run.string(), "--predictions", "said.csv"});
  ASSERT_EQ(result.code, 0) << result.err;

  const CommandResult theirs =
      run_convoy({CONVOY_SOURCE_DIR "/tests/report/sklearn_reports.py", "predictions",
                  "said.csv", (run / "eval.json").string()},
                 here(), {.program = "/usr/bin/python3"});

  ASSERT_EQ(theirs.code, 0) << theirs.err;
  EXPECT_THAT(theirs.out, HasSubstr("weighted avg"));
  EXPECT_THAT(result.out, HasSubstr("\n\n" + theirs.out + "\n"));
}

TEST_F(EvalCommand, WritesWhatItSaidOfEachSample) {
  ASSERT_EQ(convoy({"eval", run.string(), "--predictions", "said.csv"}).code, 0);

  std::istringstream table(read_text(here() / "said.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "index,true,predicted,probability");
  int lines = 0, right = 0;
  for (char comma; std::getline(table, line); ++lines) {
    int index = -1, truth = -1, predicted = -1;
    double probability = -1;
    std::istringstream(line) >> index >> comma >> truth >> comma >> predicted >> comma >>
        probability;
    EXPECT_EQ(index, lines);
    EXPECT_GE(probability, 0.1) << "the likeliest of ten";
    EXPECT_LE(probability, 1);
    right += truth == predicted;
  }
  EXPECT_EQ(lines, 53);
  EXPECT_EQ(right, read_json(run / "summary.json").at("test").at("correct"));
}

TEST_F(EvalCommand, FindsTheSameOnAnyNumberOfRanks) {
  const Arguments large{"data.synthetic.test_count=1300"};  // six batches
  ASSERT_EQ(
      convoy(Arguments{"eval", run.string(), "--predictions", "one.csv"} + large).code,
      0);
  const json alone = read_json(run / "eval.json");
  for (const char* ranks : {"2", "4"}) {
    const CommandResult result =
        convoy(Arguments{"eval", "-n", ranks, run.string(), "--predictions", "many.csv"} +
               large);

    ASSERT_EQ(result.code, 0) << result.err;
    json several = read_json(run / "eval.json");
    ASSERT_EQ(several.at("ranks").size(), static_cast<std::size_t>(std::atoi(ranks)));
    int samples = 0;
    for (const json& rank : several.at("ranks")) samples += rank.at("samples").get<int>();
    EXPECT_EQ(samples, 1300);
    several["ranks"] = alone.at("ranks");
    EXPECT_EQ(several, alone);
    EXPECT_EQ(read_text(here() / "many.csv"), read_text(here() / "one.csv"));
    EXPECT_THAT(result.out, HasSubstr(std::string("all ") + ranks +
                                      " ranks agree: " + alone.at("correct").dump() +
                                      " of 1300 samples, the same weights"));
  }
}

TEST_F(EvalCommand, DoesNotTakeRanksFromTheRun) {
  run = train("b", {"-n", "2"});
  const CommandResult result = convoy({"eval", run.string()});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, testing::Not(HasSubstr("launch")));
  expect_as_summary(read_json(run / "eval.json"));
}

TEST_F(EvalCommand, SaysOnceOnSeveralRanksWhatIsWrong) {
  const CommandResult result = convoy({"eval", "-n", "3", run.string(), "model=lenet5"});

  EXPECT_EQ(result.code, 65) << result.out;
  EXPECT_NE(result.err.find("bad input"), std::string::npos);
  EXPECT_EQ(result.err.find("bad input"), result.err.rfind("bad input")) << result.err;
}

TEST_F(EvalCommand, CountsTheTopOneAndFive) {
  const CommandResult result = convoy({"eval", run.string()});

  const json written = read_json(run / "eval.json");
  EXPECT_EQ(written.at("top1").at("correct"), written.at("correct"));
  EXPECT_GE(written.at("top5").at("correct"), written.at("correct"));
  EXPECT_THAT(result.out, HasSubstr("top-5 accuracy 0."));
}

TEST_F(EvalCommand, LeavesTopFiveOutWhereItMeansNothing) {
  run = train("few", {"data.synthetic.classes=5"});
  const CommandResult result = convoy({"eval", run.string()});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(read_json(run / "eval.json").contains("top5"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("top-5")));
}

TEST_F(EvalCommand, PrintsScoresAndWhereItWroteThem) {
  const CommandResult result = convoy({"eval", run.string()});

  const json written = read_json(run / "eval.json");
  for (const std::string& part :
       {std::string("precision"), std::string("f1-score"),
        (run / "confusion.png").string(), "(" + written.at("correct").dump() + "/53)"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST_F(EvalCommand, WritesElsewhereIfAsked) {
  const fs::path out = here() / "new" / "folder";
  const std::string before = read_text(run / "eval.json");

  const CommandResult result = convoy({"eval", run.string(), "--out", out.string()});

  EXPECT_EQ(result.code, 0) << result.err;
  expect_as_summary(read_json(out / "eval.json"));
  EXPECT_TRUE(fs::exists(out / "confusion.png"));
  EXPECT_FALSE(fs::exists(run / "confusion.png"));
  EXPECT_EQ(read_text(run / "eval.json"), before) << "as training wrote it";
}

TEST_F(EvalCommand, WritesIntoACheckpointThatStandsAlone) {
  const fs::path alone = here() / "some" / "where" / "else";
  fs::create_directories(alone.parent_path());
  fs::copy(run / "checkpoints" / "00000006", alone);

  const CommandResult result =
      convoy({"eval", alone.string(), "--config", (run / "config.yaml").string()});

  EXPECT_EQ(result.code, 0) << result.err;
  expect_as_summary(read_json(alone / "eval.json"));
  EXPECT_THAT(all_below(here() / "some"), testing::SizeIs(2 + 7)) << "two folders up";
}

TEST_F(EvalCommand, TakesModelAndDataFromACheckpointThatStandsAlone) {
  const fs::path alone = here() / "alone";
  fs::copy(run / "checkpoints" / "00000006", alone);

  const CommandResult result =
      convoy({"eval", alone.string(), "data.synthetic.train_count=80",
              "data.synthetic.test_count=53", "train.batch_size=32"});

  EXPECT_EQ(result.code, 0) << result.err;
  expect_as_summary(read_json(alone / "eval.json"));
}

TEST_F(EvalCommand, EvaluatesTheSplitItIsAskedFor) {
  const fs::path split = train("split", {"data.split=80,20,33"});
  const json summary = read_json(split / "summary.json");
  for (const auto& [name, samples] :
       {std::pair{"train", 80}, std::pair{"val", 20}, std::pair{"test", 33}}) {
    const CommandResult result = convoy({"eval", split.string(), "--split", name});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(std::string("\n") + name + " accuracy "));
    const json found = read_json(split / "eval.json");
    EXPECT_EQ(found.at("split"), name);
    EXPECT_EQ(found.at("total"), samples);
    if (std::string(name) == "test") {
      EXPECT_EQ(found.at("loss"), summary.at("test").at("loss"));
    }
  }
}

TEST_F(EvalCommand, RefusesAValidationSetThatTheRunHasNot) {
  expect_refused(convoy({"eval", run.string(), "--split", "val"}), 78,
                 {"--split val", "no samples", "data.split"});
}

TEST_F(EvalCommand, OfManyClassesWritesNoMatrix) {
  const fs::path many = train("many", {"data.synthetic.classes=1500", "model=mlp6"});
  const CommandResult result = convoy({"eval", many.string()});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1,500 classes, too many for a confusion matrix"));
  EXPECT_TRUE(read_json(many / "eval.json").at("confusion_matrix").is_null());
  EXPECT_FALSE(fs::exists(many / "confusion.png"));
}

}  // namespace
}  // namespace convoy
