// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/child_process.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

TEST(Process, GivesExitCodeAndBothStreams) {
  const ProcessResult result =
      run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});

  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
}

TEST(Process, PassesArgumentsWithoutAShell) {
  EXPECT_EQ(run_process({"echo", "$HOME; ls"}).output, "$HOME; ls\n");
}

TEST(Process, TellsASignalFromAnExitCode) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).exit_code, 128 + 9);
}

TEST(Process, EndsWhenItsTimeIsOver) {
  const ProcessResult result =
      run_process({"sh", "-c", "echo begun; exec sleep 60"}, 0.2);

  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + 9);
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_FALSE(run_process({"true"}, 60).timed_out);
}

TEST(Process, NamesAProgramThatIsNotThere) {
  expect_error(InputKind::storage, {"no-such-program"},
               [] { run_process({"no-such-program"}); });
}

}  // namespace
}  // namespace convoy
