// SPDX-License-Identifier: Apache-2.0
//
// convoy eval, as a user meets it.

#include "tests/apps/small_run.h"

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

TEST_F(EvalCommand, DrawsAPictureThatIsWellFormed) {
  eval(run);

  const fs::path picture = run / "confusion.svg";
  const CommandResult parsed = run_convoy({"-c",
                                           "import sys, xml.etree.ElementTree as tree\n"
                                           "print(tree.parse(sys.argv[1]).getroot().tag)",
                                           picture.string()},
                                          here(), {.program = "/usr/bin/python3"});
  EXPECT_EQ(parsed.code, 0) << parsed.err;
  EXPECT_THAT(parsed.out, HasSubstr("svg"));
}

TEST_F(EvalCommand, PrintsScoresAndWhereItWroteThem) {
  const CommandResult result = convoy({"eval", run.string()});

  const json written = read_json(run / "eval.json");
  for (const std::string& part :
       {std::string("precision"), std::string("f1-score"),
        (run / "confusion.svg").string(), "(" + written.at("correct").dump() + "/53)"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST_F(EvalCommand, WritesElsewhereIfAsked) {
  const fs::path out = here() / "new" / "folder";

  const CommandResult result = convoy({"eval", run.string(), "--out", out.string()});

  EXPECT_EQ(result.code, 0) << result.err;
  expect_as_summary(read_json(out / "eval.json"));
  EXPECT_TRUE(fs::exists(out / "confusion.svg"));
  EXPECT_FALSE(fs::exists(run / "eval.json"));
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

}  // namespace
}  // namespace convoy
