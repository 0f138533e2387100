// SPDX-License-Identifier: Apache-2.0
//
// Parameter servers and workers come together. join_probe.cpp says what they do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class JoinJob : public testing::Test {
 protected:
  CommandResult run(const std::vector<std::string>& words) const {
    ProcessOptions options;
    options.program = JOB_SESSION_PROBE;
    return run_convoy(words, folder_.path(), options);
  }

  TemporaryFolder folder_;
};

TEST_F(JoinJob, WorkersFindTheServer) {
  const CommandResult result = run({"1", "3"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nserver 0 of 1 heard of 3 workers\n"));
  for (const char* worker : {"0", "1", "2"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("[worker ") + worker +
                                      "] knows 1 servers, token of 64\n"));
  }
}

TEST_F(JoinJob, ServersAreConnectedAmongThemselves) {
  const CommandResult result = run({"2", "2"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nserver 0 of 2 heard of 2 workers\n"));
  EXPECT_THAT(result.out, HasSubstr("[server 1] server 1 of 2 heard of 2 workers\n"));
}

TEST_F(JoinJob, AWorkerThatComesBackFindsThemAgain) {
  const CommandResult result = run({"2", "2", "die"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL; started again (1 of 3)"));
  EXPECT_THAT(result.out, HasSubstr("[worker 1] knows 2 servers"));
}

}  // namespace
}  // namespace convoy
