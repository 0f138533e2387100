// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "convoy/base/error.h"
#include "convoy/system/mapped_file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

/// Expects that `act` throws InputError of kind storage that names `path`.
template <class Act>
void expect_storage_error(const std::filesystem::path& path, const Act& act) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::storage);
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
  }
}

TEST(File, ThatIsNoRegularOneIsRefusedAndNotWaitedFor) {
  const TemporaryFolder here;
  const std::filesystem::path fifo = here.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);

  for (const std::filesystem::path& path :
       {fifo, std::filesystem::path("/dev/zero"), here.path()}) {
    expect_storage_error(path, [&] { read_text(path); });
    expect_storage_error(path, [&] { read_bytes(path); });
    expect_storage_error(path, [&] { expect_regular_file(path); });
    expect_storage_error(path, [&] { MappedFile(path).bytes(); });
  }
}

TEST(File, OfMoreBytesThanAskedForIsRefused) {
  const TemporaryFolder here;
  write_atomically(here.path() / "a", "12345");

  EXPECT_EQ(read_text(here.path() / "a", 5), "12345");
  expect_storage_error(here.path() / "a", [&] { read_text(here.path() / "a", 4); });
}

/// No file grows beyond `bytes` while it lives: to a writer, the disk is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(File, ReadsWhatWasWrittenWhateverTheBytes) {
  const TemporaryFolder folder;
  std::string text(200'001, '\0');  // more than one block
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 % 256);

  write_atomically(folder.path() / "x", text);

  EXPECT_EQ(read_text(folder.path() / "x"), text);
  const std::vector<std::byte> bytes = read_bytes(folder.path() / "x");
  ASSERT_EQ(bytes.size(), text.size());
  EXPECT_EQ(bytes[255], static_cast<std::byte>(text[255]));
}

TEST(File, MayBeEmpty) {
  const TemporaryFolder folder;

  write_atomically(folder.path() / "x", "");

  EXPECT_EQ(read_text(folder.path() / "x"), "");
}

TEST(File, ThatIsAbsentIsAStorageError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "absent";

  expect_storage_error(path, [&] { read_text(path); });
  expect_storage_error(path, [&] { read_bytes(path); });
}

TEST(File, ThatIsAFolderIsAStorageError) {
  const TemporaryFolder folder;

  expect_storage_error(folder.path(), [&] { read_text(folder.path()); });
}

TEST(AtomicFile, TakesPiecesAndReplacesWhatWasThere) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "x", "old and longer");

  AtomicFile file(folder.path() / "x");
  file.write("ne");
  file.write("w");
  file.commit();

  EXPECT_EQ(read_text(folder.path() / "x"), "new");
  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("x"));
}

TEST(AtomicFile, IsNotThereBeforeItIsCommitted) {
  const TemporaryFolder folder;

  AtomicFile file(folder.path() / "x");
  file.write("half");

  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x"));
}

TEST(AtomicFile, LeavesNothingBehindWhenNotCommitted) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "old", "old");

  {
    AtomicFile fresh(folder.path() / "new");
    fresh.write("half");
    AtomicFile again(folder.path() / "old");
    again.write("half");
  }

  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("old"));
  EXPECT_EQ(read_text(folder.path() / "old"), "old");
}

TEST(AtomicFile, MayBeReadByOthers) {
  const TemporaryFolder folder;

  write_atomically(folder.path() / "x", "x");

  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0644u);
}

TEST(AtomicFile, OnAFullDiskIsAStorageErrorAndNothingIsHalfWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights";
  write_atomically(path, "old");
  const std::string large(100'000, 'x');

  {
    const FullDisk full(/*bytes=*/10'000);
    expect_storage_error(path, [&] { write_atomically(path, large); });
  }

  EXPECT_EQ(read_text(path), "old");
  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("weights"));
}

TEST(AtomicFile, WhoseNameIsTakenByAFolderIsAStorageErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  make_folders(folder.path() / "taken" / "inner");

  expect_storage_error(folder.path() / "taken",
                       [&] { write_atomically(folder.path() / "taken", "x"); });

  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("taken"));
}

TEST(AtomicFile, InAnAbsentFolderIsAStorageErrorAtOnce) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "absent" / "x";

  expect_storage_error(path, [&] { const AtomicFile file(path); });
}

TEST(Folders, AreMadeWithThoseAboveAndMayBeThere) {
  const TemporaryFolder folder;

  make_folders(folder.path() / "a" / "b" / "c");
  make_folders(folder.path() / "a" / "b" / "c");

  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "a" / "b" / "c"));
}

TEST(Folders, BelowAFileAreAStorageError) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "file", "x");

  expect_storage_error(folder.path() / "file",
                       [&] { make_folders(folder.path() / "file" / "a"); });
}

TEST(Folders, ThatAreAbsentCannotBeFlushed) {
  const TemporaryFolder folder;

  sync_folder(folder.path());

  expect_storage_error(folder.path() / "absent",
                       [&] { sync_folder(folder.path() / "absent"); });
}

}  // namespace
}  // namespace convoy
