// SPDX-License-Identifier: Apache-2.0
//
// An output that takes nothing: a result that is lost is told by the exit code. A reader
// that goes away ends no run.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LostOutput : public ProgramTest {
 protected:
  /// Runs the program with what a shell makes of its output.
  CommandResult shell(const std::string& after, const Arguments& arguments,
                      const std::string& before = "") const {
    std::string command = before + std::string(CONVOY_BINARY);
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    ProcessOptions options;
    options.program = "/bin/bash";
    return run_convoy({"-c", command + after}, here(), options);
  }

  void expect_told(const Arguments& arguments) const {
    const CommandResult result = shell(" > /dev/full", arguments);
    EXPECT_EQ(result.code, 74) << testing::PrintToString(arguments) << result.err;
    EXPECT_THAT(result.err, HasSubstr("convoy: cannot write: "));
  }
};

TEST_F(LostOutput, OfAnyCommandIsTold) {
  expect_told({"--version"});
  expect_told({"--help"});
  expect_told({"models"});
  expect_told({"data", "list"});
}

TEST_F(LostOutput, OfATrainingIsToldOnceItIsOver) {
  expect_told(small_training("a"));
  expect_told(small_training("b", {"--quiet"}));
  expect_told(small_training("c", {"--json"}));
  expect_told(small_training("d", {"-n", "2"}));
  Arguments simulation = small_training("e", {"-n", "2"});
  simulation.front() = "simulate";
  expect_told(simulation);
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(read_json(here() / "runs" / name / "summary.json").at("exit").at("code"),
              0);
  }
}

TEST_F(LostOutput, OfAnEvaluationIsTold) {
  const std::string run = train("a").string();

  expect_told({"eval", run});
  expect_told({"eval", "-n", "2", run});
}

TEST_F(LostOutput, ToAReaderThatWentAwayEndsNoRun) {
  for (const char* ranks : {"1", "2"}) {
    const std::string name = std::string("a") + ranks;
    const CommandResult result =
        shell(" | true; exit ${PIPESTATUS[0]}", small_training(name, {"-n", ranks}));

    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(read_json(here() / "runs" / name / "summary.json").at("steps"), 6);
  }
}

TEST_F(LostOutput, ToAFileThatMayNotGrowIsAnErrorWithAMessage) {
  const CommandResult result =
      shell("", small_training("a"), "ulimit -f 1; exec ");  // 1024 bytes

  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.code, 74) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("File too large"));
}

/// One that cannot be started is no file that cannot be written.
TEST_F(LostOutput, IsNotWhatAThreadIsThatCannotBeStarted) {
  for (const char* number : {"1", "2"}) {
    ProcessOptions options;
    options.environment = {{"LD_PRELOAD", FAILING_WRITES}, {"FAIL_THREAD", number}};
    const CommandResult result =
        convoy(small_training(std::string("a") + number, {"cluster.threads=1"}), options);

    EXPECT_EQ(result.code, 74) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr("convoy: cannot start a thread: "));
    EXPECT_THAT(result.err, HasSubstr("hint:"));
  }
}

TEST_F(LostOutput, HasNoEscapeCodesOfFilesAndArguments) {
  for (const Arguments& arguments :
       {Arguments{"eval", "\x1b]0;title\x07"}, Arguments{"\x1b[31mtrain"},
        Arguments{"train", "\x1b[2J=1"},
        Arguments{"train", "--config",
                  "\xc2\x9b"
                  "2J"},
        Arguments{"data", "get", "mnist", "--from", "ftp://\x1b[31m"}}) {
    const CommandResult result = convoy(arguments);

    EXPECT_NE(result.code, 0);
    EXPECT_THAT(result.err, Not(IsEmpty()));
    for (const char* code : {"\x1b", "\x07", "\x9b"}) {
      EXPECT_THAT(result.err, Not(HasSubstr(code)));
    }
  }
}

}  // namespace
}  // namespace convoy
