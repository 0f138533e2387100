// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/control_group.h"

#include <gtest/gtest.h>

#include <string>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

/// The files of a machine, as a process in some group sees them.
class ControlGroup : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    write_atomically(file, text);
  }
  GroupMemory found() const { return group_memory(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(ControlGroup, LimitsNothingWhereThereIsNone) {
  EXPECT_EQ(found().limit, kNoLimit);

  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");

  EXPECT_EQ(found().limit, kNoLimit);
  EXPECT_EQ(found().available, kNoLimit);
}

TEST_F(ControlGroup, OfVersion2LeavesItsLimitWithoutWhatIsUsedBesidesTheFileCache) {
  write("proc/self/cgroup", "0::/job/task\n");
  write("sys/fs/cgroup/job/task/memory.max", "4000\n");
  write("sys/fs/cgroup/job/task/memory.current", "1500\n");
  write("sys/fs/cgroup/job/task/memory.stat",
        "anon 1000\ninactive_file 300\nactive_file 200\n");

  EXPECT_EQ(found().limit, 4000u);
  EXPECT_EQ(found().available, 3000u);
}

TEST_F(ControlGroup, IsLimitedByTheGroupsAboveIt) {
  write("proc/self/cgroup", "0::/job/task\n");
  write("sys/fs/cgroup/job/task/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.max", "5000\n");
  write("sys/fs/cgroup/job/memory.current", "4900\n");
  write("sys/fs/cgroup/memory.max", "4000\n");

  EXPECT_EQ(found().limit, 4000u);
  EXPECT_EQ(found().available, 100u);
}

TEST_F(ControlGroup, OfVersion1HasOtherFiles) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/a\n0::/\n");
  write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/docker/a/memory.stat",
        "total_inactive_file 100\ntotal_active_file 150\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");

  EXPECT_EQ(found().limit, 4000u);
  EXPECT_EQ(found().available, 3250u);
}

// The path is the machine's, and the container sees its own group as the root.
TEST_F(ControlGroup, IsFoundInAContainerThatSeesOnlyItself) {
  write("proc/self/cgroup", "4:memory:/docker/a\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000\n");

  EXPECT_EQ(found().limit, 4000u);
}

}  // namespace
}  // namespace convoy
