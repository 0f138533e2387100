// SPDX-License-Identifier: Apache-2.0
//
// Where a process belongs, by all who may say so.

#include "convoy/job/job_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/job/placement_sources.h"

namespace convoy {
namespace {

using testing::HasSubstr;

const Environment kTorchrun = {{"RANK", "5"},          {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},    {"LOCAL_WORLD_SIZE", "4"},
                               {"GROUP_RANK", "1"},    {"MASTER_ADDR", "n0"},
                               {"MASTER_PORT", "2950"}};
const Environment kSlurm = {{"SLURM_PROCID", "3"},
                            {"SLURM_NTASKS", "4"},
                            {"SLURM_LOCALID", "1"},
                            {"SLURM_NODEID", "1"},
                            {"SLURM_NNODES", "2"},
                            {"SLURM_TASKS_PER_NODE", "2(x2)"},
                            {"SLURM_JOB_NODELIST", "n[03-04]"},
                            {"SLURM_JOB_ID", "1234"}};
const Environment kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                              {"OMPI_COMM_WORLD_SIZE", "3"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                              {"PMIX_NAMESPACE", "77"}};

const Environment kLightning = {{"WORLD_SIZE", "2"},
                                {"NODE_RANK", "1"},
                                {"MASTER_ADDR", "n0"},
                                {"MASTER_PORT", "29501"}};

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

struct Case {
  const char* name;
  PlacementRequest request;
  Environment environment;
  const char* expected;
};

class PlaceTable : public testing::TestWithParam<Case> {};

TEST_P(PlaceTable, IsFound) {
  EXPECT_EQ(describe(find_placement(GetParam().request, GetParam().environment)),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlaceTable,
    testing::Values(
        Case{"NothingIsSaid", {}, {}, "alone"},
        Case{"OneRank", {.nproc_per_node = 1}, {}, "alone"},
        Case{"FlagN",
             {.nproc_per_node = 4},
             {},
             "4 ranks from 0 of 4, node 0 of 1, by flags, rendezvous at 127.0.0.1:0"},
        Case{"TwoNodes",
             {.nproc_per_node = 2, .nnodes = 2, .node_rank = 1, .master_addr = "n0"},
             {},
             "2 ranks from 2 of 4, node 1 of 2, by flags, rendezvous at n0:29500"},
        Case{"NodesOfOneRank",
             {.nnodes = 3, .node_rank = 2, .master_addr = "n0", .master_port = 7},
             {},
             "1 ranks from 2 of 3, node 2 of 3, by flags, rendezvous at n0:7"},
        Case{"MasterByVariables",
             {.nproc_per_node = 2, .nnodes = 2},
             {{"MASTER_ADDR", "n7"}, {"MASTER_PORT", "99"}, {"NODE_RANK", "1"}},
             "2 ranks from 2 of 4, node 1 of 2, by flags, rendezvous at n7:99"},
        Case{
            "Torchrun",
            {},
            kTorchrun,
            "rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous at n0:2950"},
        Case{
            "TorchrunsAgentHasThePort",
            {},
            with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}),
            "rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous at n0:2951"},
        Case{
            "FlagsOverTorchrun",
            {.master_addr = "other", .master_port = 5},
            kTorchrun,
            "rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous at other:5"},
        Case{
            "FlagsThatAgreeWithTorchrun",
            {.nproc_per_node = 4, .nnodes = 2},
            kTorchrun,
            "rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous at n0:2950"},
        Case{"RankByHand",
             {},
             {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}},
             "rank 1 of 2 (1 of 2 here), node 0 of 1, by torchrun, rendezvous at "
             "127.0.0.1:0"},
        Case{"OneRankByHand", {}, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}, "alone"},
        Case{
            "TorchrunOverSlurm",
            {},
            with(kSlurm, kTorchrun),
            "rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous at n0:2950"},
        Case{"Slurm",
             {},
             kSlurm,
             "rank 3 of 4 (1 of 2 here), node 1 of 2, by Slurm, rendezvous at n03:11234"},
        Case{"SlurmsTaskANode",
             {.nproc_per_node = 4},
             {{"SLURM_PROCID", "1"},
              {"SLURM_NTASKS", "2"},
              {"SLURM_LOCALID", "0"},
              {"SLURM_NODEID", "1"},
              {"SLURM_NNODES", "2"},
              {"SLURM_JOB_NODELIST", "a,b"},
              {"SLURM_JOB_ID", "5"}},
             "4 ranks from 4 of 8, node 1 of 2, by Slurm, rendezvous at a:10005"},
        Case{"AServerIsNeverAlone",
             {.servers = 1},
             {},
             "1 server and 1 worker from 0 of 2, node 0 of 1, by flags, rendezvous at "
             "127.0.0.1:0"},
        Case{"ServersBesideWorkers",
             {.nproc_per_node = 4, .servers = 2},
             {},
             "2 servers and 4 workers from 0 of 6, node 0 of 1, by flags, rendezvous at "
             "127.0.0.1:0"},
        Case{"ServersOnTheFirstNode",
             {.nproc_per_node = 2,
              .nnodes = 3,
              .node_rank = 0,
              .master_addr = "n0",
              .servers = 1},
             {},
             "1 server and 2 workers from 0 of 7, node 0 of 3, by flags, rendezvous at "
             "n0:29500"},
        Case{"WorkersOnTheOthers",
             {.nproc_per_node = 2,
              .nnodes = 3,
              .node_rank = 2,
              .master_addr = "n0",
              .servers = 1},
             {},
             "2 workers from 5 of 7, node 2 of 3, by flags, rendezvous at n0:29500"},
        Case{"TorchrunsFirstRankServes",
             {.servers = 1},
             with(kTorchrun, {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"GROUP_RANK", "0"}}),
             "server 0, rank 0 of 8 (0 of 4 here), node 0 of 2, by torchrun, rendezvous "
             "at n0:2950"},
        Case{"TorchrunsOtherRanksWork",
             {.servers = 2},
             kTorchrun,
             "worker 3, rank 5 of 8 (1 of 4 here), node 1 of 2, by torchrun, rendezvous "
             "at n0:2950"},
        Case{"SlurmsRankWorks",
             {.servers = 1},
             kSlurm,
             "worker 2, rank 3 of 4 (1 of 2 here), node 1 of 2, by Slurm, rendezvous at "
             "n03:11234"},
        Case{"OpenMpiWithWorkersCounted",
             {.nproc_per_node = 2, .servers = 1},
             kOpenMpi,
             "worker 1, rank 2 of 3 (2 of 3 here), node 0 of 1, by Open MPI, rendezvous "
             "at 127.0.0.1:0"},
        Case{"SlurmsTaskANodeWithAServer",
             {.nproc_per_node = 1, .servers = 1},
             {{"SLURM_PROCID", "1"},
              {"SLURM_NTASKS", "2"},
              {"SLURM_LOCALID", "0"},
              {"SLURM_NODEID", "1"},
              {"SLURM_NNODES", "2"},
              {"SLURM_JOB_NODELIST", "a,b"},
              {"SLURM_JOB_ID", "5"}},
             "1 worker from 2 of 3, node 1 of 2, by Slurm, rendezvous at a:10005"},
        Case{"OurOwnWorker",
             {.nproc_per_node = 2, .servers = 1},
             {{"CONVOY_RANK", "2"},
              {"CONVOY_RANKS", "3"},
              {"CONVOY_LOCAL_RANK", "2"},
              {"CONVOY_LOCAL_RANKS", "3"},
              {"CONVOY_NODE_RANK", "0"},
              {"CONVOY_NODES", "1"},
              {"CONVOY_MASTER_PORT", "7"}},
             "worker 1, rank 2 of 3 (2 of 3 here), node 0 of 1, by convoy, rendezvous at "
             "127.0.0.1:7"},
        Case{"AShellOfSlurm", {}, with(kSlurm, {{"SLURM_JOB_NAME", "bash"}}), "alone"},
        Case{"OpenMpi",
             {},
             kOpenMpi,
             "rank 2 of 3 (2 of 3 here), node 0 of 1, by Open MPI, rendezvous at "
             "127.0.0.1:0"},
        Case{"SlurmOverOpenMpi",
             {},
             with(kOpenMpi, kSlurm),
             "rank 3 of 4 (1 of 2 here), node 1 of 2, by Slurm, rendezvous at n03:11234"},
        Case{"Lightning",
             {.nproc_per_node = 4},
             kLightning,
             "4 ranks from 4 of 8, node 1 of 2, by WORLD_SIZE and NODE_RANK, rendezvous "
             "at n0:29501"},
        Case{"LightningWithOneRankPerNode",
             {},
             kLightning,
             "1 ranks from 1 of 2, node 1 of 2, by WORLD_SIZE and NODE_RANK, rendezvous "
             "at n0:29501"},
        Case{"FlagsOverLightning",
             {.nnodes = 3, .node_rank = 2, .master_addr = "n9"},
             kLightning,
             "1 ranks from 2 of 3, node 2 of 3, by WORLD_SIZE and NODE_RANK, rendezvous "
             "at n9:29501"},
        Case{
            "LightningOnOneNode", {}, {{"WORLD_SIZE", "1"}, {"NODE_RANK", "0"}}, "alone"},
        Case{
            "SlurmOverLightning",
            {},
            with(kSlurm, {{"WORLD_SIZE", "2"}, {"NODE_RANK", "1"}}),
            "rank 3 of 4 (1 of 2 here), node 1 of 2, by Slurm, rendezvous at n03:11234"}),
    [](const auto& info) { return info.param.name; });

class BadPlace : public testing::TestWithParam<Case> {};

TEST_P(BadPlace, IsRefusedWithAHint) {
  try {
    const JobPlacement placement =
        find_placement(GetParam().request, GetParam().environment);
    FAIL() << "was taken for " << describe(placement);
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().expected));
    EXPECT_THAT(error.what(), HasSubstr("\n  hint:"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadPlace,
    testing::Values(
        Case{"RankAlone", {}, {{"RANK", "1"}}, "WORLD_SIZE"},
        Case{"WorldSizeAlone", {}, {{"WORLD_SIZE", "4"}}, "RANK"},
        Case{"LocalRankAlone", {}, {{"LOCAL_RANK", "0"}}, "RANK"},
        Case{"RankBeyond", {}, with(kTorchrun, {{"RANK", "8"}}), "rank 8 of 8"},
        Case{"LocalRankBeyond",
             {},
             with(kTorchrun, {{"LOCAL_RANK", "4"}}),
             "local rank 4 of 4"},
        Case{"MoreHereThanInAll",
             {},
             with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}}),
             "9 ranks here, 8 in all"},
        Case{"ManyMachinesWithoutAMaster",
             {},
             {{"RANK", "1"},
              {"WORLD_SIZE", "4"},
              {"LOCAL_RANK", "1"},
              {"LOCAL_WORLD_SIZE", "2"}},
             "MASTER_"},
        Case{"FlagsAgainstTorchrun", {.nproc_per_node = 3}, kTorchrun, "torchrun"},
        Case{"NodesWithoutNumber",
             {.nnodes = 2, .master_addr = "n0"},
             {},
             "cluster.node_rank"},
        Case{"NodesWithoutMaster",
             {.nnodes = 2, .node_rank = 0},
             {},
             "cluster.master_addr"},
        Case{"NodeBeyond",
             {.nnodes = 2, .node_rank = 2, .master_addr = "n0"},
             {},
             "node 2 of 2"},
        Case{"NodeWithoutNodes", {.node_rank = 1}, {}, "cluster.nnodes is 1"},
        Case{"OnlyServersOfTorchrun",
             {.servers = 8},
             kTorchrun,
             "8, and the first 8 serve parameters (ps.servers)\n"
             "  expected: at least 9: a server is a rank too"},
        Case{"OneRankToServe",
             {.servers = 1},
             {{"RANK", "0"}, {"WORLD_SIZE", "1"}},
             "at least 2"},
        Case{"WorkersAgainstOpenMpi",
             {.nproc_per_node = 3, .servers = 1},
             kOpenMpi,
             "Open MPI"},
        Case{"LightningWithoutMaster",
             {},
             {{"WORLD_SIZE", "2"}, {"NODE_RANK", "0"}},
             "cluster.master_addr"},
        Case{
            "LightningBeyond", {}, with(kLightning, {{"NODE_RANK", "2"}}), "node 2 of 2"},
        Case{"LightningWithoutNodes",
             {},
             with(kLightning, {{"WORLD_SIZE", "0"}}),
             "environment: WORLD_SIZE"},
        Case{"SlurmHalf", {}, {{"SLURM_PROCID", "0"}}, "SLURM_NTASKS"},
        Case{"OpenMpiHalf", {}, {{"OMPI_COMM_WORLD_RANK", "0"}}, "OMPI_COMM_WORLD_SIZE"},
        Case{"OpenMpiOnManyMachines",
             {},
             with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "6"}}),
             "MASTER_ADDR"}),
    [](const auto& info) { return info.param.name; });

TEST(BadPlaceVariable, IsNamed) {
  try {
    find_placement({}, with(kTorchrun, {{"RANK", "first"}}));
    FAIL() << "was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("environment: RANK\n  found:    first"));
  }
}

TEST(SlurmLists, GiveTheFirstHost) {
  EXPECT_EQ(first_host("node7"), "node7");
  EXPECT_EQ(first_host("a,b,c"), "a");
  EXPECT_EQ(first_host("n[003-005,9],m1"), "n003");
  EXPECT_EQ(first_host("n[7],m1"), "n7");
  EXPECT_EQ(first_host("m1,n[003-005]"), "m1");
}

TEST(SlurmLists, GiveTheTasksOfANode) {
  EXPECT_EQ(tasks_on_node("4(x2),3", 0), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), 0);
  EXPECT_EQ(tasks_on_node("", 0), 0);
}

}  // namespace
}  // namespace convoy
