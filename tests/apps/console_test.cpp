// SPDX-License-Identifier: Apache-2.0
//
// What convoy train prints: for people on a terminal, for scripts, and next to nothing.

#include <algorithm>

#include "test_places.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

/// With this many ranks; "1": without a launcher.
class TrainConsole : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  CommandResult run(const Arguments& more, const ProcessOptions& options = {}) const {
    return convoy(
        small_training("a", Arguments{"-n", GetParam(), "train.microbatches=3"} + more),
        options);
  }

  std::filesystem::path folder() const { return here() / "runs" / "a"; }
};

TEST_P(TrainConsole, IsOneLineIfQuiet) {
  const CommandResult result = run({"--quiet"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, MatchesRegex("test accuracy [0-9.]+ % \\([0-9]+/53\\), loss "
                                       "[0-9.]+, run folder runs/a\n"));
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(read_text(folder() / "log.txt"), HasSubstr("Epoch: 2, Train Loss: "));
}

TEST_P(TrainConsole, StillTellsAFailureIfQuiet) {
  const CommandResult result = run({"--quiet", "optimizer.lr=1e30"});

  EXPECT_EQ(result.code, 79);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("not finite at step 2"));
}

TEST_P(TrainConsole, IsTheRecordsAndTheSummaryIfJson) {
  const CommandResult result = run({"--json"});

  ASSERT_EQ(result.code, 0) << result.err;
  const std::string records = read_text(folder() / "metrics.jsonl");
  ASSERT_TRUE(result.out.starts_with(records)) << result.out;
  json last = json::parse(result.out.substr(records.size()));
  EXPECT_EQ(last.at("kind"), "summary");
  last.erase("kind");
  EXPECT_EQ(last, read_json(folder() / "summary.json"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_P(TrainConsole, TellsAnEpochOnceAndWithItsRank) {
  const CommandResult result = run({});

  const std::string rank = std::string(GetParam()) == "1" ? "" : "Rank: 0, ";
  EXPECT_THAT(result.out,
              testing::ContainsRegex(
                  "\n" + rank +
                  "Epoch: 1, Train Loss: [0-9]+\\.[0-9]{3}, Train Accuracy: "
                  "[01]\\.[0-9]{3}, Avg Batch Duration: [0-9]+\\.[0-9]{3} seconds, Epoch "
                  "Duration: [0-9]+\\.[0-9]{3} seconds\n"));
  EXPECT_EQ(result.out.find("Epoch: 1,"), result.out.rfind("Epoch: 1,"));
}

TEST_P(TrainConsole, SaysWhereTheTimeWent) {
  const CommandResult result = run({});

  for (const char* part : {"\ncomputing ", "\nwaiting for data ", "\ncommunicating ",
                           "\ncheckpointing ", "\nevaluating ", "\nother ", "\ntotal "}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

/// On a terminal, which `script` provides; what it shows is the result's output.
TEST_P(TrainConsole, DrawsABarWithColoursOnATerminalUnlessRefused) {
  const auto shown = [&](const std::string& name, const std::string& no_color) {
    const std::string command = std::string(CONVOY_BINARY) + " train -n " + GetParam() +
                                " data=synthetic data.synthetic.train_count=80 "
                                "data.synthetic.test_count=53 train.batch_size=32 "
                                "train.microbatches=3 train.epochs=2 run.name=" +
                                name;
    ProcessOptions options;
    options.program = "/usr/bin/script";
    options.environment = {
        {"TERM", "xterm"}, {"NO_COLOR", no_color}, {"SHELL", "/bin/sh"}};
    return run_convoy({"-qec", command, "/dev/null"}, here(), options).out;
  };

  const std::string coloured = shown("a", ""), plain = shown("b", "1");

  EXPECT_THAT(coloured, HasSubstr("\r\x1b[Kepoch 1/2 \x1b[32m["));
  EXPECT_THAT(plain, HasSubstr("\r\x1b[Kepoch 1/2 ["));
  EXPECT_THAT(plain, Not(HasSubstr("\x1b[3")));
}

INSTANTIATE_TEST_SUITE_P(Ranks, TrainConsole, testing::Values("1", "3"));

TEST_F(ProgramTest, RefusesToBeQuietAndTalkativeAtOnce) {
  EXPECT_EQ(convoy(small_training("a", {"--quiet", "--json"})).code, 2);
}

}  // namespace
}  // namespace convoy
