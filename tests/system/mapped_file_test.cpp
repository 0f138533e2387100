// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/mapped_file.h"

#include <gtest/gtest.h>

#include <string>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, HasTheFilesContent) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "a", "some text");

  EXPECT_EQ(text_of(MappedFile(folder.path() / "a")), "some text");
}

TEST(MappedFile, KeepsWhatItHadWhenTheFileIsReplaced) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "a", "some text");
  const MappedFile file(folder.path() / "a");
  write_atomically(folder.path() / "a", "no");

  EXPECT_EQ(text_of(file), "some text");
}

TEST(MappedFile, MayBeEmpty) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "a", "");

  EXPECT_TRUE(MappedFile(folder.path() / "a").bytes().empty());
}

TEST(MappedFile, RefusesWhatIsMissingOrNoFile) {
  const TemporaryFolder folder;
  try {
    const MappedFile file(folder.path() / "missing");
    ADD_FAILURE() << "a missing file was mapped";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::storage);
    EXPECT_EQ(error.what(), (folder.path() / "missing").string() +
                                "\n  found:    No such file or directory"
                                "\n  expected: to read this file");
  }
  EXPECT_THROW(MappedFile(folder.path()), InputError);
}

}  // namespace
}  // namespace convoy
