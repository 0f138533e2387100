// SPDX-License-Identifier: Apache-2.0
//
// The launcher with ranks that end in every way there is. launch_probe.cpp lists what
// they can do.

#include "tests/launch/launcher_fixture.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Launcher, EndsWellWhenAllRanksDo) {
  const CommandResult result = run({"-n", "3", "say:hello", "complain:oh", "exit:0"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count(result.out, "launch    3 ranks on "), 1U) << result.out;
  for (const char* line : {"\nhello\n", "\n[rank 1] hello\n", "\n[rank 2] hello\n"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
  EXPECT_EQ(count(result.err, "oh\n"), 3U) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("hello")));
}

TEST_F(Launcher, NamesTheRankThatASignalKilled) {
  const CommandResult result =
      run({"-n", "4", "step:57", "complain:my last words", "2:signal:9"});

  EXPECT_EQ(result.code, 70) << result.err;
  EXPECT_EQ(count(result.err, "convoy: "), 1U) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.err, std::regex("convoy: rank 2 on \\S+ \\(pid \\d+\\) failed at step 57: "
                             "killed by SIGKILL\n  its last lines:\n    \\| my last "
                             "words\n")))
      << result.err;
}

TEST_F(Launcher, StopsAllWithinSecondsOfAKill) {
  const auto process = start({"-n", "4", "stubborn"});
  ASSERT_TRUE(wait_for_sleepers(*process, 4)) << process->err();
  note_port(process->out());

  const Stopwatch watch;
  ::kill(pid_of_rank(1), SIGKILL);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_LT(watch.seconds(), kMostSeconds);
  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("convoy: rank 1 on "));
  EXPECT_THAT(result.err, HasSubstr("killed by SIGKILL"));
}

TEST_F(Launcher, NamesARankThatIsKilledWhileOthersAreStillMissing) {
  const auto process = start({"-n", "3", "nobody"});
  ASSERT_TRUE(process->wait_until([&] { return ranks().size() == 3; }));

  ::kill(pid_of_rank(2), SIGKILL);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("convoy: rank 2 on "));
}

TEST_F(Launcher, NamesARankThatIsStopped) {
  const auto process = start({"--silence", "2", "-n", "3", "sleep"});
  ASSERT_TRUE(wait_for_sleepers(*process, 3)) << process->err();

  ::kill(pid_of_rank(2), SIGSTOP);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_EQ(result.code, 70);
  EXPECT_TRUE(std::regex_search(
      result.err,
      std::regex("convoy: rank 2 on .* has been silent for \\d s; its process "
                 "is stopped \\(SIGSTOP\\)")))
      << result.err;
}

TEST_F(Launcher, TakesARanksOwnCode) {
  for (const int code : {2, 65, 74, 77, 78, 79}) {
    EXPECT_EQ(run({"-n", "2", "exit:" + std::to_string(code)}).code, code);
  }
}

TEST_F(Launcher, TakesTheCodeOfOneRankAndNamesIt) {
  const CommandResult result = run({"-n", "2", "1:exit:74"});

  EXPECT_EQ(result.code, 74);
  EXPECT_THAT(result.err, HasSubstr("convoy: rank 1 on "));
  EXPECT_THAT(result.err, HasSubstr("exit code 74"));
}

TEST_F(Launcher, TakesABugForAFailure) {
  const CommandResult result = run({"-n", "2", "1:exit:1"});

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("exit code 1: a bug in convoy"));
}

TEST_F(Launcher, LooksBehindAPeerThatIsLost) {
  const CommandResult result = run({"-n", "3", "0:lost:2"});

  EXPECT_EQ(result.code, 70) << result.err;
  EXPECT_THAT(result.err, HasSubstr("convoy: rank 2 does not answer rank 0: "));
}

TEST_F(Launcher, TakesTheDeadRankForTheCauseAndNotTheComplaint) {
  const auto process = start({"-n", "3", "0:lost:1"});
  ASSERT_TRUE(wait_for_sleepers(*process, 2)) << process->err();

  ::kill(pid_of_rank(2), SIGKILL);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_THAT(result.err, HasSubstr("convoy: rank 2 on "));
  EXPECT_THAT(result.err, Not(HasSubstr("rank 1")));
}

TEST_F(Launcher, PassesSignalsOnOnce) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    const auto process = start({"-n", "3", "sleep"});
    ASSERT_TRUE(wait_for_sleepers(*process, 3)) << process->err();

    process->send(signal);
    const CommandResult result = process->wait(std::chrono::seconds(20));

    EXPECT_EQ(result.code, 75) << signal;
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Launcher, EndsAtOnceTheSecondTime) {
  const auto process = start({"-n", "2", "stubborn"});
  ASSERT_TRUE(wait_for_sleepers(*process, 2)) << process->err();

  process->send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  process->send(SIGINT);
  const CommandResult result = process->wait(std::chrono::seconds(2));

  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted twice"));
}

TEST_F(Launcher, HasAnExitCodeHoweverManySignalsArrive) {
  for (int i = 0; i < 5; ++i) {
    const auto process = start({"-n", "2", "sleep"});
    ASSERT_TRUE(wait_for_sleepers(*process, 2)) << process->err();

    for (int k = 0; k < 30; ++k) {
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) process->send(signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(k));
    }
    const CommandResult result = process->wait(std::chrono::seconds(20));

    EXPECT_EQ(result.signal, 0);
    EXPECT_TRUE(result.code == 75 || result.code == 130) << result.code;
  }
}

TEST_F(Launcher, StopsRanksThatAreNotReadyForASignal) {
  const auto process = start({"-n", "2", "unready"});
  ASSERT_TRUE(wait_for_sleepers(*process, 2)) << process->err();

  process->send(SIGTERM);
  const CommandResult result = process->wait(std::chrono::seconds(20));

  EXPECT_EQ(result.code, 75);
  EXPECT_THAT(result.err, HasSubstr("stopped by SIGTERM before training began"));
}

TEST_F(Launcher, TakesItsRanksWithItWhenItIsKilled) {
  const auto process = start({"-n", "3", "stubborn"});
  ASSERT_TRUE(wait_for_sleepers(*process, 3)) << process->err();

  process->send(SIGKILL);
  process->wait();
}  // and TearDown() finds no rank

TEST_F(Launcher, NamesRanksThatDoNotJoin) {
  const CommandResult result = run({"--timeout", "1", "-n", "2", "nobody"});

  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(
      result.err,
      HasSubstr("timed out waiting for ranks: 0 of 2 ranks, missing: rank 0 (on "));
}

TEST_F(Launcher, WritesALogOfEachRank) {
  const std::string run_folder = folder_.path() / "runs" / "a";
  const CommandResult result =
      run({"-n", "2", "say:before", "folder:" + run_folder, "complain:after", "exit:0"});

  EXPECT_EQ(result.code, 0);
  for (const char* rank : {"0", "1"}) {
    EXPECT_EQ(read_text(run_folder + "/logs/rank-" + rank + ".log"), "before\nafter\n");
  }
}

}  // namespace
}  // namespace convoy
