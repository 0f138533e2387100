// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/http_file.h"

#include <cstdlib>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/http/http_server.h"

namespace convoy {
namespace {

class HttpFile : public testing::Test {
 protected:
  HttpFile() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    write_atomically(folder.path() / "file", "0123456789");
  }

  std::string part(const std::string& url, const RemoteMark& mark, std::uint64_t offset,
                   std::size_t count) {
    std::vector<std::byte> bytes(count);
    read_http_part(connection, url, mark, offset, bytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  TemporaryFolder folder;
  HttpServer server{folder.path(), HttpParts::ranges};
  HttpConnection connection;
};

TEST_F(HttpFile, IsReadInParts) {
  const std::string url = server.url() + "/file";
  const auto mark = http_mark(connection, url);

  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->bytes, 10u);
  EXPECT_EQ(part(url, *mark, 0, 10), "0123456789");
  EXPECT_EQ(part(url, *mark, 3, 4), "3456");
}

TEST_F(HttpFile, IsReadAfterRedirectsAndErrorsThatPass) {
  for (const std::string place : {"/moved/file", "/busy/file"}) {
    const auto mark = http_mark(connection, server.url() + place);
    ASSERT_TRUE(mark) << place;
    EXPECT_EQ(part(server.url() + place, *mark, 9, 1), "9");
  }
}

TEST_F(HttpFile, IsMissedByName) {
  EXPECT_FALSE(http_mark(connection, server.url() + "/nothing"));
}

TEST_F(HttpFile, MustNotChangeWhileItIsRead) {
  const std::string url = server.url() + "/file";
  const auto mark = http_mark(connection, url);
  write_atomically(folder.path() / "file", "9876543210");

  expect_error(InputKind::storage,
               {url, "found:    a file that has changed since it was opened"},
               [&] { part(url, *mark, 0, 2); });
}

TEST_F(HttpFile, IsRefusedFromAServerThatSendsAnotherPart) {
  make_folders(folder.path() / "first");
  write_atomically(folder.path() / "first/file", "0123456789");
  const std::string url = server.url() + "/first/file";
  const auto mark = http_mark(connection, url);

  EXPECT_EQ(part(url, *mark, 0, 4), "0123");
  expect_error(InputKind::storage, {url, "found:    bytes from 0, not from 3"},
               [&] { part(url, *mark, 3, 4); });
}

TEST_F(HttpFile, IsRefusedFromAServerThatSendsWholeFilesOnly) {
  const HttpServer simple(folder.path());
  expect_error(InputKind::storage,
               {simple.url(), "found:    a server that does not send parts of files"},
               [&] { http_mark(connection, simple.url() + "/file"); });
}

TEST_F(HttpFile, NamesTheAddressWithoutItsPassword) {
  expect_error(InputKind::storage, {"http://me:***@127.0.0.1:9/file", "to download this"},
               [&] { throw download_error("http://me:secret@127.0.0.1:9/file", "x"); });
}

}  // namespace
}  // namespace convoy
