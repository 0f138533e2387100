// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/lock_holder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

/// A process that holds a folder's lock until a signal ends it.
class HoldingProcess {
 public:
  HoldingProcess(const std::filesystem::path& folder, LockMode mode) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const Descriptor lock = lock_folder(folder, mode);
      [[maybe_unused]] const ssize_t written = ::write(ends[1], "x", lock ? 1 : 0);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char byte = 0;
    locked_ = ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
  }
  ~HoldingProcess() { wait(SIGKILL); }

  bool locked() const { return locked_; }

  /// Returns the signal that ended it.
  int wait(int signal = 0) {
    if (child_ <= 0) return 0;
    if (signal != 0) ::kill(child_, signal);
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t child_ = -1;
  bool locked_ = false;
};

ino_t inode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

TEST(LockHolder, IsTheProcessThatHoldsTheLockAndIsAskedToEnd) {
  const TemporaryFolder folder;
  HoldingProcess process(folder.path(), LockMode::exclusive);
  ASSERT_TRUE(process.locked());

  const auto holder = LockHolder::find(folder.path());
  ASSERT_TRUE(holder);
  EXPECT_TRUE(locked_inodes().contains(inode_of(folder.path())));
  EXPECT_TRUE(holder->request_stop());
  EXPECT_EQ(process.wait(), SIGTERM);
  EXPECT_FALSE(holder->request_stop()) << "it has ended";
  EXPECT_FALSE(LockHolder::find(folder.path()));
}

TEST(LockHolder, IsNobodyWithoutTheLock) {
  const TemporaryFolder folder, other;
  EXPECT_FALSE(LockHolder::find(folder.path()));
  EXPECT_FALSE(LockHolder::find(folder.path() / "nothing"));
  HoldingProcess elsewhere(other.path(), LockMode::exclusive);
  EXPECT_FALSE(LockHolder::find(folder.path()));
  HoldingProcess reader(folder.path(), LockMode::shared);
  EXPECT_FALSE(LockHolder::find(folder.path())) << "one that looks whether it is in use";
}

TEST(LockHolder, IsNotFoundThroughALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "run");
  std::filesystem::create_directory_symlink(folder.path() / "run",
                                            folder.path() / "link");
  HoldingProcess process(folder.path() / "run", LockMode::exclusive);
  EXPECT_FALSE(LockHolder::find(folder.path() / "link"));
}

}  // namespace
}  // namespace convoy
