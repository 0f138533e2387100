// SPDX-License-Identifier: Apache-2.0
//
// Disks that take no more, and places where no run can be written.

#include <sched.h>
#include <sys/mount.h>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class BadDisk : public ProgramTest {
 protected:
  /// That the run failed for want of space at its checkpoint, and left only whole files.
  void expect_out_of_space(const CommandResult& result, const fs::path& run,
                           const std::string& cause) const {
    EXPECT_EQ(result.code, 74) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr("convoy: bad input: " + run.string()));
    EXPECT_THAT(result.err, HasSubstr("found:    " + cause));
    const std::vector<std::string> left = all_below(run);
    EXPECT_THAT(left, Contains("config.yaml"));
    EXPECT_THAT(left, Not(Contains(HasSubstr(".tmp"))));
    EXPECT_THAT(left, Not(Contains(HasSubstr("checkpoints/0"))));
    EXPECT_THAT(left, Not(Contains("checkpoints/last")));
  }
};

TEST_F(BadDisk, WithAFileInPlaceOfTheFolderIsRefused) {
  const fs::path file = here() / "file";
  write_atomically(file, "mine");

  for (const fs::path& dir : {file, file / "runs"}) {
    expect_refused(convoy(small_training("a", {"run.dir=" + dir.string()})), 74,
                   {dir.string()});
  }
  EXPECT_EQ(read_text(file), "mine");
  EXPECT_THAT(all_below(here()), testing::ElementsAre("file"));
}

TEST_F(BadDisk, ThatIsFullLeavesNoHalfCheckpoint) {
  const fs::path disk = here() / "disk";
  fs::create_directory(disk);
  // In a name space of this process, so that the disk goes when it ends.
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", disk.c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "this process may not mount a small disk";
  }

  const CommandResult result = convoy(small_training("a", {"run.dir=" + disk.string()}));

  expect_out_of_space(result, disk / "a", "No space left on device");
  EXPECT_THAT(result.err, HasSubstr("hint:     free some space"));
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(BadDisk, WithALimitOnFilesLeavesNoHalfCheckpoint) {
  const fs::path runs = here() / "runs";

  const CommandResult result = convoy(small_training("a", {"run.dir=" + runs.string()}),
                                      {.most_file_bytes = 100'000});

  expect_out_of_space(result, runs / "a", "File too large");
}

TEST_F(BadDisk, ThatTakesNoEvaluationLeavesNoPartOfIt) {
  const fs::path run = train("a");
  const std::vector<std::string> files = all_below(run);
  const std::string of_training = read_text(run / "eval.json");

  const CommandResult result = convoy({"eval", run.string()}, {.most_file_bytes = 500});

  expect_refused(result, 74, {(run / "eval.json").string(), "File too large"});
  EXPECT_THAT(all_below(run), testing::UnorderedElementsAreArray(files));
  EXPECT_EQ(read_text(run / "eval.json"), of_training);
}

}  // namespace
}  // namespace convoy
