// SPDX-License-Identifier: Apache-2.0
//
// Ranks that somebody else started.

#include "tests/launch/launcher_fixture.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Foreign : public Launcher {
 protected:
  using Variables = std::map<std::string, std::string>;

  static Variables torchrun(int rank) {
    const std::string number = std::to_string(rank);
    return {{"RANK", number},         {"WORLD_SIZE", "2"},
            {"LOCAL_RANK", number},   {"LOCAL_WORLD_SIZE", "2"},
            {"MASTER_PORT", "29511"}, {"MASTER_ADDR", "127.0.0.1"}};
  }

  Variables slurm(int rank) const {
    const std::string number = std::to_string(rank);
    return {{"SLURM_PROCID", number},  {"SLURM_NTASKS", "2"}, {"SLURM_NODEID", "0"},
            {"SLURM_LOCALID", number}, {"SLURM_NNODES", "1"}, {"SLURM_JOB_ID", mark_}};
  }

  std::unique_ptr<ConvoyProcess> start_rank(Variables variables, const Words& words) {
    variables["XDG_RUNTIME_DIR"] = folder_.path();
    return std::make_unique<ConvoyProcess>(words, folder_.path(), options(variables));
  }
};

TEST_F(Foreign, FindEachOtherByTorchrunsVariables) {
  const auto second = start_rank(torchrun(1), {"say:hello", "exit:0"});
  const auto first = start_rank(torchrun(0), {"say:hello", "exit:0"});

  EXPECT_EQ(first->wait().code, 0) << first->err();
  EXPECT_EQ(second->wait().code, 0) << second->err();
}

TEST_F(Foreign, FindEachOtherBySlurmsVariables) {
  const auto first = start_rank(slurm(0), {"say:hello", "exit:0"});
  const auto second = start_rank(slurm(1), {"say:hello", "exit:0"});

  EXPECT_EQ(first->wait().code, 0) << first->err();
  EXPECT_EQ(second->wait().code, 0) << second->err();
}

TEST_F(Foreign, PassOverWhatAKilledJobHasLeft) {
  const auto killed = start_rank(torchrun(0), {"sleep"});
  ASSERT_TRUE(killed->wait_until([&] {
    return fs::exists(folder_.path() / "convoy") &&
           !fs::is_empty(folder_.path() / "convoy");
  }));
  killed->send(SIGKILL);
  killed->wait();

  const auto second = start_rank(torchrun(1), {"exit:0"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto first = start_rank(torchrun(0), {"exit:0"});

  EXPECT_EQ(first->wait().code, 0) << first->err();
  EXPECT_EQ(second->wait().code, 0) << second->err();
}

TEST_F(Foreign, EachNameTheOneThatDied) {
  const auto first = start_rank(torchrun(0), {"sleep"});
  const auto second = start_rank(torchrun(1), {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 1) && wait_for_sleepers(*second, 1));

  second->send(SIGKILL);
  const CommandResult result = first->wait();

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("rank 1 on "));
  EXPECT_THAT(result.err, HasSubstr("is gone: its connection closed"));
  second->wait();
}

TEST_F(Foreign, NoticeThatTheFirstDied) {
  const auto first = start_rank(torchrun(0), {"sleep"});
  const auto second = start_rank(torchrun(1), {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 1) && wait_for_sleepers(*second, 1));

  first->send(SIGKILL);
  const CommandResult result = second->wait();

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("lost rank 0"));
  first->wait();
}

TEST_F(Foreign, MayLoseAWorkerAndGetItBack) {
  const auto of_three = [](int rank) {
    Variables variables = torchrun(rank);
    variables["WORLD_SIZE"] = variables["LOCAL_WORLD_SIZE"] = "3";
    return variables;
  };
  const Words words = {"--servers", "1", "sleep"};
  const auto server = start_rank(of_three(0), words);
  const auto worker = start_rank(of_three(1), words);
  const auto lost = start_rank(of_three(2), words);
  ASSERT_TRUE(wait_for_sleepers(*server, 1) && wait_for_sleepers(*worker, 1) &&
              wait_for_sleepers(*lost, 1));

  lost->send(SIGKILL);
  lost->wait();
  ASSERT_TRUE(server->wait_until(
      [&] { return server->err().find("rank 2 on ") != std::string::npos; }));
  const auto back = start_rank(of_three(2), words);

  EXPECT_TRUE(wait_for_sleepers(*back, 1)) << back->err();
  for (const auto* process : {&back, &worker, &server}) {  // who hosts the others last
    (*process)->send(SIGTERM);
    EXPECT_EQ((*process)->wait().code, 75) << (*process)->err();
  }
}

/// Two nodes by Slurm's variables, with one rank each, both on this machine.
class SlurmNodes : public Foreign {
 protected:
  std::unique_ptr<ConvoyProcess> start_node(int node, const std::string& address,
                                            const Words& behaviours) {
    const std::string number = std::to_string(node);
    Words words = {"--shared", shared_.string(), "--timeout", "20"};
    words.insert(words.end(), behaviours.begin(), behaviours.end());
    return start_rank({{"SLURM_PROCID", number},
                       {"SLURM_NTASKS", "2"},
                       {"SLURM_NODEID", number},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NNODES", "2"},
                       {"SLURM_TASKS_PER_NODE", "1(x2)"},
                       {"SLURM_JOB_ID", "4711"},
                       {"MASTER_ADDR", address},
                       {"MASTER_PORT", std::to_string(free_port_)}},
                      words);
  }

  fs::path token_file() const { return shared_ / ".convoy-4711.0.token"; }

  fs::path shared_ = folder_.path() / "runs";
  int free_port_ = listen_on("127.0.0.1", 0).port;
};

TEST_F(SlurmNodes, ShareATokenByTheFolderOfTheRuns) {
  const auto second = start_node(1, "127.0.0.1", {"sleep"});
  const auto first = start_node(0, "127.0.0.1", {"sleep"});
  ASSERT_TRUE(wait_for_sleepers(*first, 1) && wait_for_sleepers(*second, 1))
      << first->err() << second->err();
  const fs::perms all_others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(token_file()).permissions() & all_others, fs::perms::none);

  // Stopped first, so that none of them sees the other's end.
  for (const int signal : {SIGSTOP, SIGKILL}) {
    for (const auto& node : {&first, &second}) (*node)->send(signal);
  }
  for (const auto& node : {&first, &second}) EXPECT_EQ((*node)->wait().signal, SIGKILL);
}

TEST_F(SlurmNodes, RemoveTheTokenAtTheEnd) {
  const auto second = start_node(1, "127.0.0.1", {"exit:0"});
  const auto first = start_node(0, "127.0.0.1", {"exit:0"});

  EXPECT_EQ(first->wait().code, 0) << first->err();
  EXPECT_EQ(second->wait().code, 0) << second->err();
  EXPECT_FALSE(fs::exists(token_file()));
}

TEST_F(SlurmNodes, LearnAtOnceThatTheFirstCannotListen) {
  const Stopwatch watch;
  const auto second = start_node(1, "192.0.2.1", {"exit:0"});
  const auto first = start_node(0, "192.0.2.1", {"exit:0"});

  EXPECT_EQ(first->wait().code, 78) << first->err();
  const CommandResult result = second->wait();
  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("cannot host the rendezvous"));
  EXPECT_THAT(result.err, HasSubstr("192.0.2.1"));
  EXPECT_LT(watch.seconds(), 10);
}

TEST_F(SlurmNodes, RefuseATokenFileThatExists) {
  fs::create_directories(shared_);
  write_atomically(token_file(), "token of somebody else\nend");

  const CommandResult result = start_node(0, "127.0.0.1", {"exit:0"})->wait();

  EXPECT_EQ(result.code, 77);
  EXPECT_THAT(result.err, HasSubstr("a file that exists already"));
}

TEST_F(Foreign, NeedATokenOnSeveralMachines) {
  Variables variables = torchrun(0);
  variables["WORLD_SIZE"] = "4";
  variables["MASTER_ADDR"] = "10.0.0.1";

  EXPECT_EQ(start_rank(variables, {"exit:0"})->wait().code, 77);
}

}  // namespace
}  // namespace convoy
