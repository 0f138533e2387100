// SPDX-License-Identifier: Apache-2.0
//
// S3Client against a server that verifies signatures and payload hashes.

#include "convoy/s3/client.h"

#include "convoy/system/file.h"
#include "tests/base/expect_error.h"
#include "tests/http/http_server.h"
#include "tests/remote_checkpoints/stored_checkpoint.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class S3ClientTest : public testing::Test {
 protected:
  static std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
  }
  static S3Location object(const std::string& key) { return {kBucket, key}; }

  void put(const std::string& key, const std::string& text) {
    client.put_bytes(object(key), bytes_of(text));
  }

  std::string get(const std::string& key) {
    const auto found = client.get_bytes(object(key), 1 << 20);
    if (!found) return "(nothing)";
    return {reinterpret_cast<const char*>(found->data()), found->size()};
  }

  SourceFile file(std::size_t bytes) const {
    write_atomically(folder.path() / "file", made_up_bytes(bytes, 7));
    return SourceFile(folder.path() / "file");
  }

  TemporaryFolder folder;
  S3Server server;
  S3Client client{access_at(server.port()), quick()};
};

TEST_F(S3ClientTest, PutsAndGetsBytes) {
  put("a/b", "hello");
  EXPECT_EQ(get("a/b"), "hello");
  put("a/b", "");
  EXPECT_EQ(get("a/b"), "");
}

TEST_F(S3ClientTest, SignsNamesOfAllKinds) {
  for (const std::string key : {"a b", "a+b=c@d,e", "größe/ü", "a'(b)*!~$&:;"}) {
    put(key, key);
    EXPECT_EQ(get(key), key);
  }
}

TEST_F(S3ClientTest, SignsASessionToken) {
  S3Access access = access_at(server.port());
  access.session_token = "a/b+c==";
  S3Client other(access, quick());
  other.put_bytes(object("t"), bytes_of("x"));
  EXPECT_EQ(get("t"), "x");
}

TEST_F(S3ClientTest, PutsAFileOfAnySize) {
  for (const std::size_t bytes : {0UL, 1UL, 8UL << 20, (8UL << 20) + 1, 20000000UL}) {
    client.put_file(object("f"), file(bytes));
    EXPECT_EQ(read_text(server.stored("f")), made_up_bytes(bytes, 7)) << bytes;
    EXPECT_TRUE(client.get_file(object("f"), folder.path() / "back", bytes));
    EXPECT_EQ(read_text(folder.path() / "back"), made_up_bytes(bytes, 7)) << bytes;
  }
  EXPECT_EQ(server.open_uploads(), 0);
}

TEST_F(S3ClientTest, SaysThatThereIsNoSuchObject) {
  EXPECT_EQ(get("none"), "(nothing)");
  EXPECT_FALSE(client.get_file(object("none"), folder.path() / "back", 3));
  EXPECT_THAT(contents_of(folder.path()), IsEmpty());
}

TEST_F(S3ClientTest, RefusesAnotherSizeAndLeavesNoFile) {
  put("a", "12345");
  for (const int bytes : {4, 6}) {
    expect_error(InputKind::data, {"s3://models/a", "bytes"},
                 [&] { client.get_file(object("a"), folder.path() / "back", bytes); });
  }
  expect_error(InputKind::data, {"more than 4 bytes"},
               [&] { client.get_bytes(object("a"), 4); });
  EXPECT_THAT(contents_of(folder.path()), IsEmpty());
}

TEST_F(S3ClientTest, NoticesADamagedObject) {
  put("a", "12345");
  write_atomically(server.stored("a"), "12045");
  expect_error(InputKind::data, {"s3://models/a", "MD5"}, [&] { get("a"); });
}

TEST_F(S3ClientTest, RefusesAnotherPartThanItAskedFor) {
  const HttpServer other(folder.path(), HttpParts::ranges);
  S3Client of_other({.key_id = "S3RVER", .secret = "S3RVER", .endpoint = other.url()},
                    quick());
  make_folders(folder.path() / kBucket / "first");
  write_atomically(folder.path() / kBucket / "first/x", "0123456789");
  const auto mark = of_other.mark(object("first/x"));
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->bytes, 10u);
  std::vector<std::byte> part(4);

  of_other.get_part(object("first/x"), *mark, 0, part);
  EXPECT_EQ(part[3], std::byte{'3'});
  expect_error(InputKind::storage,
               {"s3://models/first/x", "found:    bytes from 0, not from 3"},
               [&] { of_other.get_part(object("first/x"), *mark, 3, part); });
}

TEST_F(S3ClientTest, ListsFolders) {
  // s3rver overlooks folders that hold nothing but folders. S3 does not.
  put("p/one/x", "1");
  put("p/two/y", "2");
  put("p/two/y/z", "2");
  put("p/file", "3");
  put("q/file", "4");
  EXPECT_THAT(client.folders(object("p")), UnorderedElementsAre("one", "two"));
  EXPECT_THAT(client.folders({kBucket}), UnorderedElementsAre("p", "q"));
  EXPECT_THAT(client.folders(object("r")), IsEmpty());
}

TEST_F(S3ClientTest, RemovesAnObject) {
  put("a", "1");
  client.remove(object("a"));
  EXPECT_EQ(get("a"), "(nothing)");
}

TEST_F(S3ClientTest, SaysThatThereIsNoSuchBucket) {
  const S3Location elsewhere{"another", "a"};
  const auto parts = {std::string("s3://another/a"), std::string("NoSuchBucket"),
                      std::string("make the bucket")};
  expect_error(InputKind::storage, parts, [&] { client.get_bytes(elsewhere, 9); });
  expect_error(InputKind::storage, parts, [&] { client.put_bytes(elsewhere, {}); });
}

TEST_F(S3ClientTest, SaysThatAKeyIsWrongAndTriesNoMore) {
  int retries = 0;
  S3Options options = quick();
  options.on_retry = [&](const std::string&) { ++retries; };
  S3Access access = access_at(server.port());
  access.secret = "hush-hush";
  expect_error(InputKind::storage, {"403 SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"},
               [&] { S3Client(access, options).put_bytes(object("a"), {}); });
  access.key_id = "NOBODY";
  expect_error(InputKind::storage, {"403 InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"},
               [&] { S3Client(access, options).put_bytes(object("a"), {}); });
  EXPECT_EQ(retries, 0);
  EXPECT_FALSE(server.has("a"));
}

TEST_F(S3ClientTest, NeverShowsCredentials) {
  S3Access access = access_at(server.port());
  access.secret = "hush-hush";
  try {
    S3Client(access, quick()).put_bytes(object("a"), {});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const S3Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Refused for ***")) << "what the server echoed";
    EXPECT_THAT(error.what(), Not(HasSubstr(access.key_id)));
    EXPECT_THAT(error.what(), Not(HasSubstr(access.secret)));
  }
}

TEST(S3Trust, GoesToCertificatesThatHold) {
  const TemporaryFolder folder;
  const std::string key = folder.path() / "key",
                    certificate = folder.path() / "certificate";
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test "
      "-addext subjectAltName=IP:127.0.0.1 -keyout " +
      key + " -out " + certificate + " 2>/dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  const S3Server server(key, certificate);
  S3Access access = access_at(server.port());
  access.endpoint.replace(0, 4, "https");
  const S3Location object{kBucket, "a"};
  expect_error(InputKind::storage, {"certificate", "AWS_CA_BUNDLE"},
               [&] { S3Client(access, quick()).put_bytes(object, {}); });
  EXPECT_FALSE(server.has("a"));
  access.ca_bundle = certificate;
  S3Client(access, quick()).put_bytes(object, {});
  EXPECT_TRUE(server.has("a"));
}

}  // namespace
}  // namespace convoy
