// SPDX-License-Identifier: Apache-2.0
//
// The launcher's small parts: cores, tokens, lines, ends of ranks, exit codes.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include "convoy/base/error.h"
#include "convoy/job/cores.h"
#include "convoy/job/own_cores.h"
#include "convoy/job/rank_variables.h"
#include "convoy/job/token.h"
#include "convoy/launch/rank_end.h"
#include "convoy/launch/rank_output.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Cores, AreDealtOutWithoutOverlap) {
  const Cores cores = {4, 5, 6, 7, 8, 9, 10};

  EXPECT_THAT(cores_of(0, 3, cores), ElementsAre(4, 5));
  EXPECT_THAT(cores_of(1, 3, cores), ElementsAre(6, 7));
  EXPECT_THAT(cores_of(2, 3, cores), ElementsAre(8, 9, 10));
}

TEST(Cores, AreLeftOpenWhenThereAreTooFew) {
  EXPECT_THAT(cores_of(0, 4, {0, 1}), IsEmpty());
  EXPECT_EQ(threads_of(0, 4, {0, 1}), 1);
  EXPECT_EQ(threads_of(0, 2, {0, 1, 2, 3}), 2);
}

TEST(Cores, AreForWorkersAndNotForServers) {
  const JobPlacement node{.role = ProcessRole::launch,
                          .ranks = 6,
                          .local_ranks = 4,
                          .nodes = 2,
                          .servers = 2};
  const Cores cores = {0, 1, 2, 3};

  EXPECT_THAT(cores_for(node, 1, cores), IsEmpty());
  EXPECT_EQ(threads_for(node, 1, cores), 1);
  EXPECT_THAT(cores_for(node, 2, cores), ElementsAre(0, 1));
  EXPECT_THAT(cores_for(node, 3, cores), ElementsAre(2, 3));
  EXPECT_EQ(threads_for(node, 3, cores), 2);
}

TEST(Cores, OfAnotherNodeAreForWorkersAlone) {
  const JobPlacement node{.role = ProcessRole::launch,
                          .rank = 4,
                          .ranks = 6,
                          .local_ranks = 2,
                          .node = 1,
                          .nodes = 2,
                          .servers = 2};

  EXPECT_THAT(cores_for(node, 0, {0, 1}), ElementsAre(0));
  EXPECT_THAT(cores_for(node, 1, {0, 1}), ElementsAre(1));
}

TEST(Cores, ReadAsRanges) {
  EXPECT_EQ(to_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(to_text({9, 8, 0}), "0,8-9");
}

TEST(Cores, OfThisProcessAreSome) { EXPECT_THAT(usable_cores(), Not(IsEmpty())); }

class Token : public testing::Test {
 protected:
  std::string file_of(const std::string& text, mode_t mode) const {
    const std::string path = folder_.path() / "token";
    write_atomically(path, text);
    ::chmod(path.c_str(), mode);
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(Token, ComesFromAVariableOrAFile) {
  EXPECT_EQ(token_of_environment({}), std::nullopt);
  EXPECT_EQ(token_of_environment({{"CONVOY_TOKEN", "0123456789abcdef"}}),
            "0123456789abcdef");
  const std::string path = file_of("from a file, secret\n", 0600);
  EXPECT_EQ(token_of_environment({{"CONVOY_TOKEN_FILE", path}}), "from a file, secret");
}

TEST_F(Token, ThatOthersCanReadIsRefused) {
  const std::string path = file_of("from a file, secret\n", 0644);
  try {
    token_of_environment({{"CONVOY_TOKEN_FILE", path}});
    FAIL() << "was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::admission);
    EXPECT_THAT(error.what(), HasSubstr("chmod 600 " + path));
  }
}

TEST_F(Token, ThatIsShortIsRefused) {
  EXPECT_THROW(token_of_environment({{"CONVOY_TOKEN", "short"}}), InputError);
}

TEST_F(Token, IsNewEveryTime) {
  EXPECT_EQ(random_token().size(), 64U);
  EXPECT_NE(random_token(), random_token());
}

/// A rank's output with a console that writes to files.
class Output : public testing::Test {
 protected:
  void feed(RankOutput& output, Stream stream, const std::string& text) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    EXPECT_FALSE(output.read(stream, ends[0]));
    ::close(ends[0]);
  }

  std::string out() const { return read_text(folder_.path() / "out"); }
  std::string err() const { return read_text(folder_.path() / "err"); }

  int open(const char* name) const {
    return ::creat((folder_.path() / name).c_str(), 0600);
  }

  TemporaryFolder folder_;
  Descriptor out_{open("out")}, err_{open("err")};
};

TEST_F(Output, OfOtherRanksHasAPrefixOnWholeLines) {
  Console console(out_.get(), err_.get(), false);
  RankOutput output(3, console);

  feed(output, Stream::out, "one\ntw");
  feed(output, Stream::err, "oh\n");
  feed(output, Stream::out, "o\nthree");
  output.finish();

  EXPECT_EQ(out(), "[rank 3] one\n[rank 3] two\n[rank 3] three\n");
  EXPECT_EQ(err(), "[rank 3] oh\n");
}

TEST_F(Output, OfRankZeroOnATerminalKeepsItsBar) {
  Console console(out_.get(), err_.get(), true);
  RankOutput first(0, console), second(1, console);

  feed(first, Stream::out, "plan\n\r\x1b[Kbar 1");
  feed(second, Stream::out, "hello\n");
  feed(first, Stream::out, "\r\x1b[Kbar 2");

  EXPECT_EQ(out(), "plan\n\r\x1b[Kbar 1\r\x1b[K[rank 1] hello\n\r\x1b[Kbar 2");
  EXPECT_THAT(first.last_lines(9), ElementsAre("plan"));
}

TEST_F(Output, HasNoControlCharactersOfARankOnTheConsole) {
  Console console(out_.get(), err_.get(), true);
  RankOutput output(3, console);

  feed(output, Stream::out, "clears \x1b[2J the screen\n");
  console.say("host \x1b]0;title\a\n");

  EXPECT_EQ(out(), "[rank 3] clears ?[2J the screen\n");
  EXPECT_EQ(err(), "host ?]0;title?\n");
}

TEST_F(Output, KeepsTheLastLines) {
  Console console(out_.get(), err_.get(), false);
  RankOutput output(0, console);
  for (int i = 0; i < 200; ++i) feed(output, Stream::out, std::to_string(i) + "\n");

  EXPECT_THAT(output.last_lines(2), ElementsAre("198", "199"));
  EXPECT_EQ(output.last_lines(1000).size(), 50U);
}

TEST_F(Output, MayBeForTheLogAlone) {
  Console console(out_.get(), err_.get(), false);
  RankOutput output(2, console);
  output.log_to(folder_.path() / "logs");
  feed(output, Stream::out, std::string(1, kLogOnlyPrefix) + "epoch\nshown\n");

  EXPECT_EQ(out(), "[rank 2] shown\n");
  EXPECT_EQ(read_text(folder_.path() / "logs" / "rank-2.log"), "epoch\nshown\n");
}

TEST_F(Output, IsLoggedFromItsFirstLine) {
  Console console(out_.get(), err_.get(), false);
  RankOutput output(2, console);
  feed(output, Stream::out, "before\n");
  output.log_to(folder_.path() / "logs");
  feed(output, Stream::err, "after\n");

  EXPECT_EQ(read_text(folder_.path() / "logs" / "rank-2.log"), "before\nafter\n");
}

/// The status that wait() reports of a process that exits so.
int exited(int code) { return code << 8; }

TEST(RankEnd, TellsTheCauseFromItsConsequences) {
  EXPECT_EQ(kind_of(exited(0)), EndKind::done);
  EXPECT_EQ(kind_of(exited(75)), EndKind::stopped);
  EXPECT_EQ(kind_of(exited(69)), EndKind::collateral);
  for (const int code : {2, 65, 74, 77, 78, 79}) {
    EXPECT_EQ(kind_of(exited(code)), EndKind::deliberate) << code;
    EXPECT_EQ(static_cast<int>(code_of(exited(code))), code);
  }
  for (const int status : {exited(1), exited(127), exited(70), SIGKILL, SIGSEGV}) {
    EXPECT_EQ(kind_of(status), EndKind::failed) << status;
    EXPECT_EQ(code_of(status), ExitCode::rank_failed) << status;
  }
}

TEST(RankEnd, OfAWorkerDoesNotEndTheOthers) {
  EXPECT_EQ(kind_of_worker(exited(0)), EndKind::done);
  for (const int code : {75, 79, 130}) {
    EXPECT_EQ(kind_of_worker(exited(code)), EndKind::stopped) << code;
  }
  for (const int code : {2, 65, 74, 78}) {
    EXPECT_EQ(kind_of_worker(exited(code)), EndKind::deliberate) << code;
  }
  for (const int code : {69, 70}) {
    EXPECT_EQ(kind_of_worker(exited(code)), EndKind::collateral) << code;
  }
  for (const int status : {exited(1), exited(77), exited(127), SIGKILL, SIGSEGV}) {
    EXPECT_EQ(kind_of_worker(status), EndKind::failed) << status;
  }
}

TEST(RankEnd, OfOneWithARoleNamesIt) {
  DeathReport dead{.rank = 2,
                   .pid = 4711,
                   .host = "n1",
                   .role = "worker 1",
                   .how = describe_end(SIGKILL),
                   .why = "out of memory",
                   .step = 57,
                   .last_lines = {},
                   .log = ""};
  EXPECT_EQ(
      headline(dead),
      "worker 1 (rank 2, pid 4711) was killed by SIGKILL at step 57, out of memory");
  dead.how = describe_end(exited(1));
  dead.why = "";
  dead.step = 0;
  EXPECT_EQ(headline(dead),
            "worker 1 (rank 2, pid 4711) ended with exit code 1: a bug in convoy");
}

TEST(RankEnd, IsAReport) {
  const DeathReport dead{.rank = 2,
                         .pid = 4711,
                         .host = "n1",
                         .how = describe_end(SIGSEGV),
                         .step = 57,
                         .last_lines = {"a", "b"},
                         .log = "runs/x/logs/rank-2.log"};
  EXPECT_EQ(headline(dead) + output_tail(dead),
            "rank 2 on n1 (pid 4711) failed at step 57: killed by SIGSEGV\n"
            "  its last lines:\n    | a\n    | b\n"
            "  its log: runs/x/logs/rank-2.log");
  EXPECT_EQ(describe_end(exited(65)), "exit code 65: bad data or checkpoint");
  EXPECT_EQ(describe_end(exited(42)), "exit code 42");
}

/// The rows below "| code | means |".
std::vector<std::string> documented_exit_codes() {
  const std::string text =
      read_text(std::filesystem::path(CONVOY_SOURCE_DIR) / "docs" / "design.md");
  std::istringstream lines(text.substr(text.find("| code | means |")));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line) && line.starts_with('|');) {
    rows.push_back(line);
  }
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

TEST(ExitCodes, AreDocumentedAsTheTableOfTheSourceSays) {
  std::vector<std::string> rows;
  for (const ExitCodeMeaning& row : kExitCodes) {
    rows.push_back("| " + std::to_string(static_cast<int>(row.code)) + " | " +
                   std::string(row.meaning) + std::string(row.details) + " |");
  }

  EXPECT_EQ(documented_exit_codes(), rows);
}

TEST(ExitCodes, OfAnotherProcessAreABugIfTheyAreNone) {
  EXPECT_EQ(exit_code_of(75), ExitCode::stopped);
  EXPECT_EQ(exit_code_of(3), ExitCode::bug);
  EXPECT_EQ(exit_code_of(-1), ExitCode::bug);
}

}  // namespace
}  // namespace convoy
