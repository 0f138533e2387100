// SPDX-License-Identifier: Apache-2.0
//
// The launcher with parameter servers and workers: who dies, who comes back, and who says
// how the job ends. Rank 0 is the server unless there are several.

#include <filesystem>

#include "tests/launch/launcher_fixture.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Workers : public Launcher {
 protected:
  /// A server and two workers.
  static Words job(const Words& more) {
    Words words = {"--servers", "1", "-n", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Kills a rank that sleeps, when so many have begun to in all.
  void kill_sleeper(ConvoyProcess& process, int rank, std::size_t sleepers) {
    ASSERT_TRUE(wait_for_sleepers(process, sleepers)) << process.err();
    const int pid = pid_of_rank(rank);
    ASSERT_GT(pid, 0);
    ::kill(pid, SIGKILL);
  }

  static bool wait_for_error(ConvoyProcess& process, const std::string& text) {
    return process.wait_until(
        [&] { return process.err().find(text) != std::string::npos; });
  }
};

TEST_F(Workers, AndServersHaveNamesOfTheirOwn) {
  const CommandResult result = run(job({"say:hello", "exit:0"}));

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("launch    1 server and 2 workers on "));
  EXPECT_THAT(result.out, HasSubstr("\n          server 0: 1 thread, not pinned\n"));
  EXPECT_THAT(result.out, HasSubstr("\n          worker 1: "));
  for (const char* line : {"\nhello\n", "\n[worker 0] hello\n", "\n[worker 1] hello\n"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
}

TEST_F(Workers, AreStartedAgainInTheirPlace) {
  const std::string folder = folder_.path() / "run";
  const auto process = start(job({"folder:" + folder, "step:120", "sleep"}));
  kill_sleeper(*process, 2, 3);
  ASSERT_TRUE(wait_for_sleepers(*process, 4)) << process->err();
  EXPECT_EQ(ranks().size(), 3U);

  process->send(SIGTERM);
  const CommandResult result = process->wait();

  EXPECT_EQ(result.code, 75);
  EXPECT_TRUE(std::regex_match(
      result.err, std::regex("convoy: worker 1 \\(rank 2, pid \\d+\\) was killed by "
                             "SIGKILL at step 120; started again \\(1 of 3\\)\n")))
      << result.err;
  EXPECT_EQ(read_text(folder + "/logs/rank-2.log"), "sleeping\nsleeping\n");
}

TEST_F(Workers, AreGivenUpAndTheOthersGoOn) {
  const auto process = start(job({"--restarts", "1", "sleep"}));
  kill_sleeper(*process, 1, 3);
  kill_sleeper(*process, 1, 4);

  ASSERT_TRUE(wait_for_error(*process,
                             "was killed by SIGKILL and is given up; the "
                             "other workers continue\n"))
      << process->err();
  EXPECT_EQ(ranks().size(), 2U);
  EXPECT_EQ(count(process->err(), "convoy: worker 0 (rank 1, pid "), 2U);
  process->send(SIGINT);
  EXPECT_EQ(process->wait().code, 75);
}

TEST_F(Workers, FailTheJobWhenAllAreGivenUp) {
  const CommandResult result =
      run(job({"--restarts", "1", "complain:last words", "workers:exit:1"}));

  EXPECT_EQ(result.code, 70);
  EXPECT_EQ(count(result.err, "; started again (1 of 1)"), 2U) << result.err;
  EXPECT_EQ(count(result.err, "is given up; the other workers continue"), 1U)
      << result.err;
  EXPECT_TRUE(std::regex_search(
      result.err,
      std::regex("convoy: worker \\d \\(rank \\d, pid \\d+\\) ended with exit code 1: a "
                 "bug in convoy and is given up, as are all workers\n  its last lines:\n"
                 "    \\| last words\n")))
      << result.err;
}

TEST_F(Workers, AreNotStartedAgainForBadInput) {
  const CommandResult result = run(job({"2:exit:65"}));

  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("convoy: worker 1 (rank 2, pid "));
  EXPECT_THAT(result.err, HasSubstr("ended with exit code 65: bad data or checkpoint"));
  EXPECT_THAT(result.err, Not(HasSubstr("started again")));
}

TEST_F(Workers, ThatLoseTheirServerDoNotEndTheJobWhileItLives) {
  const auto process = start(job({"--restarts", "0", "2:lost:0"}));

  ASSERT_TRUE(wait_for_error(*process,
                             "ended with exit code 69: a peer or the rendezvous "
                             "cannot be reached and is given up; the other "))
      << process->err();
  EXPECT_THAT(process->err(), Not(HasSubstr("does not answer")));
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().code, 75);
}

TEST_F(Workers, AreNotStartedAgainOnceASignalCame) {
  const auto process = start(job({"workers:unready"}));
  ASSERT_TRUE(wait_for_sleepers(*process, 3)) << process->err();

  process->send(SIGINT);
  const CommandResult result = process->wait();

  EXPECT_EQ(result.code, 75);
  EXPECT_EQ(result.err, "");
}

TEST_F(Workers, ThatStayAreKilledWhenTheServersHaveEnded) {
  for (const char* code : {"0", "75"}) {
    const CommandResult result = run(job({std::string("servers:exit:") + code}));

    EXPECT_EQ(result.code, std::stoi(code)) << result.err;
    EXPECT_EQ(count(result.err, "does not end though the run has; it is killed"), 2U)
        << result.err;
  }
}

TEST_F(Workers, DoNotChangeHowTheServersEnd) {
  const auto process = start(job({"--restarts", "0", "sleep"}));
  kill_sleeper(*process, 2, 3);
  ASSERT_TRUE(wait_for_error(*process, "is given up")) << process->err();

  ::kill(pid_of_rank(0), SIGTERM);  // as if it had come to its end
  ::kill(pid_of_rank(1), SIGUSR1);

  EXPECT_EQ(process->wait().code, 75);
}

TEST_F(Workers, EndWithTheirServerWhichIsNamed) {
  const fs::path folder = folder_.path() / "run";
  fs::create_directories(folder / "checkpoints" / "last");
  const auto process = start(
      {"--servers", "2", "-n", "2", "folder:" + folder.string(), "step:57", "stubborn"});
  ASSERT_TRUE(wait_for_sleepers(*process, 4)) << process->err();
  // From then on the launcher knows the folder, which the server told it through the
  // store.
  ASSERT_TRUE(
      process->wait_until([&] { return fs::exists(folder / "logs/rank-3.log"); }));
  note_port(process->out());

  const Stopwatch watch;
  ::kill(pid_of_rank(0), SIGKILL);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_LT(watch.seconds(), kMostSeconds);
  EXPECT_EQ(result.code, 70);
  EXPECT_EQ(count(result.err, "convoy: "), 1U) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.err, std::regex("^convoy: parameter server 0 \\(rank 0, pid \\d+\\) was "
                             "killed by SIGKILL at step 57; the newest checkpoint is ")))
      << result.err;
  EXPECT_THAT(result.err, HasSubstr((folder / "checkpoints/last").string() +
                                    "; resume with train.resume=" + folder.string()));
}

TEST_F(Workers, OfADeadServerPromiseNoCheckpointThatIsNotThere) {
  const std::string folder = folder_.path() / "run";
  const CommandResult result = run(job({"folder:" + folder, "0:signal:11"}));

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGSEGV"));
  EXPECT_THAT(result.err, Not(HasSubstr("checkpoint")));
}

TEST_F(Workers, ThatAreSilentAreKilledAndStartedAgain) {
  const auto process = start(job({"--silence", "2", "sleep"}));
  ASSERT_TRUE(wait_for_sleepers(*process, 3)) << process->err();

  ::kill(pid_of_rank(2), SIGSTOP);
  ASSERT_TRUE(wait_for_sleepers(*process, 4)) << process->err();
  process->send(SIGTERM);
  const CommandResult result = process->wait();

  EXPECT_EQ(result.code, 75);
  EXPECT_THAT(result.err, HasSubstr("is silent; its process is stopped (SIGSTOP); it is "
                                    "killed\n"));
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL; started again (1 of 3)"));
}

}  // namespace
}  // namespace convoy
