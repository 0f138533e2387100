// SPDX-License-Identifier: Apache-2.0
//
// Launchers of several nodes, here all on this machine.

#include "tests/launch/launcher_fixture.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class Nodes : public Launcher {
 protected:
  static constexpr const char* kToken = "a token that nodes share";

  Nodes() { free_port_ = std::to_string(listen_on("127.0.0.1", 0).port); }

  std::unique_ptr<ConvoyProcess> start_node(int node, const Words& words,
                                            const char* token = kToken) {
    Words all = {"--nnodes",      "2",        "--node-rank", std::to_string(node),
                 "--master-port", free_port_, "-n",          "2"};
    all.insert(all.end(), words.begin(), words.end());
    return std::make_unique<ConvoyProcess>(all, folder_.path(),
                                           options({{"CONVOY_TOKEN", token}}));
  }

  std::string free_port_;
};

TEST_F(Nodes, EndTogether) {
  const auto first = start_node(0, {"say:hello", "exit:0"});
  const auto second = start_node(1, {"say:hello", "exit:0"});

  const CommandResult one = first->wait(), two = second->wait();

  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(one.out, HasSubstr("\n[rank 1] hello"));
  EXPECT_THAT(two.out, HasSubstr("\n[rank 3] hello"));
}

TEST_F(Nodes, SayTheSameOfADeadRank) {
  const auto first = start_node(0, {"complain:last words", "3:signal:9"});
  const auto second = start_node(1, {"complain:last words", "3:signal:9"});

  const CommandResult one = first->wait(), two = second->wait();

  const std::string message = one.err.substr(one.err.find("convoy: rank 3 on "));
  EXPECT_EQ(one.code, 70);
  EXPECT_EQ(two.code, 70);
  EXPECT_THAT(message, HasSubstr("killed by SIGKILL\n  its last lines:"));
  EXPECT_THAT(two.err, HasSubstr(message));
}

TEST_F(Nodes, NameANodeThatIsLost) {
  const auto first = start_node(0, {"sleep"});
  const auto second = start_node(1, {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 2) && wait_for_sleepers(*second, 2))
      << first->err() << second->err();

  const Stopwatch watch;
  second->send(SIGKILL);
  const CommandResult result = first->wait();

  EXPECT_LT(watch.seconds(), kMostSeconds);
  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("convoy: lost node 1 with ranks 2 to 3: "));
  second->wait();
}

TEST_F(Nodes, NameTheFirstNodeWhenItIsLost) {
  const auto first = start_node(0, {"sleep"});
  const auto second = start_node(1, {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 2) && wait_for_sleepers(*second, 2))
      << first->err() << second->err();

  first->send(SIGKILL);
  const CommandResult result = second->wait();

  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("convoy: lost node 0"));
  first->wait();
}

TEST_F(Nodes, HaveTheServersOnTheFirst) {
  const Words words = {"--servers", "2", "say:hello", "exit:0"};
  const auto first = start_node(0, words), second = start_node(1, words);

  const CommandResult one = first->wait(), two = second->wait();

  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  for (const char* line : {"\n[server 1] hello", "\n[worker 1] hello"}) {
    EXPECT_THAT(one.out, HasSubstr(line));
  }
  EXPECT_THAT(two.out, HasSubstr("launch    2 workers on "));
  EXPECT_THAT(two.out, HasSubstr("\n[worker 3] hello"));
}

TEST_F(Nodes, StartTheirOwnWorkersAgain) {
  const Words words = {"--servers", "1", "sleep"};
  const auto first = start_node(0, words), second = start_node(1, words);
  ASSERT_TRUE(wait_for_sleepers(*first, 3) && wait_for_sleepers(*second, 2))
      << first->err() << second->err();

  ::kill(pid_of_rank(4), SIGKILL);
  ASSERT_TRUE(wait_for_sleepers(*second, 3)) << second->err();
  EXPECT_THAT(second->err(), HasSubstr("convoy: worker 3 (rank 4, pid "));
  first->send(SIGTERM);

  EXPECT_EQ(first->wait().code, 75);
  EXPECT_EQ(second->wait().code, 75);
}

TEST_F(Nodes, FollowServersThatHaveEnded) {
  const Words words = {"--servers", "1", "servers:exit:0"};
  const auto first = start_node(0, words), second = start_node(1, words);

  EXPECT_EQ(first->wait().code, 0);
  const CommandResult two = second->wait();
  EXPECT_EQ(two.code, 0);
  EXPECT_THAT(two.err, HasSubstr("does not end though the run has; it is killed"));
}

TEST_F(Nodes, NameOneThatIsLostWithItsWorkers) {
  const Words words = {"--servers", "1", "sleep"};
  const auto first = start_node(0, words), second = start_node(1, words);
  ASSERT_TRUE(wait_for_sleepers(*first, 3) && wait_for_sleepers(*second, 2))
      << first->err() << second->err();

  second->send(SIGKILL);
  const CommandResult result = first->wait();

  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("convoy: lost node 1 with ranks 3 to 4: "));
  second->wait();
}

TEST_F(Nodes, PassASignalOnToEachOther) {
  const auto first = start_node(0, {"sleep"});
  const auto second = start_node(1, {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 2) && wait_for_sleepers(*second, 2))
      << first->err() << second->err();

  second->send(SIGTERM);

  EXPECT_EQ(first->wait().code, 75);
  EXPECT_EQ(second->wait().code, 75);
}

TEST_F(Nodes, RefuseOneWithOtherSettings) {
  const auto first = start_node(0, {"exit:0"});
  const auto odd = start_node(1, {"--settings", "model=other", "exit:0"});

  const CommandResult refused = odd->wait();
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("model=other"));
  EXPECT_THAT(refused.err, HasSubstr("model=probe, as on node 0"));

  const auto second = start_node(1, {"exit:0"});
  EXPECT_EQ(second->wait().code, 0);
  const CommandResult one = first->wait();
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.err, HasSubstr("node 1 has other settings"));
}

TEST_F(Nodes, RefuseOneWithAnotherToken) {
  const auto first = start_node(0, {"exit:0"});
  const auto odd = start_node(1, {"exit:0"}, "quite another token");

  EXPECT_EQ(odd->wait().code, 77);

  const auto second = start_node(1, {"exit:0"});
  EXPECT_EQ(second->wait().code, 0);
  EXPECT_THAT(first->wait().err, HasSubstr("a wrong token"));
}

TEST_F(Nodes, CanBeInterruptedWhileTheyWaitForTheFirst) {
  const auto second = start_node(1, {"exit:0"});
  ASSERT_TRUE(second->wait_until([&] {
    return second->err().find("joining the rendezvous at") != std::string::npos;
  }));

  second->send(SIGINT);

  EXPECT_EQ(second->wait(std::chrono::seconds(5)).signal, SIGINT);
}

TEST_F(Nodes, NeedAToken) {
  const CommandResult result = start_node(0, {"exit:0"}, "")->wait();

  EXPECT_EQ(result.code, 77);
  EXPECT_THAT(result.err, HasSubstr("export CONVOY_TOKEN="));
}

}  // namespace
}  // namespace convoy
