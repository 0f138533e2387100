// SPDX-License-Identifier: Apache-2.0
//
// S3Client with a connection that fails: it gets through, or ends in a clear state.

#include <future>

#include "convoy/base/clock.h"
#include "convoy/s3/client.h"
#include "convoy/system/file.h"
#include "tests/base/expect_error.h"
#include "tests/remote_checkpoints/stored_checkpoint.h"
#include "tests/s3/failing_proxy.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Kind = ProxyFault::Kind;

constexpr std::size_t kLarge = 18000000;  // three parts

class S3FailureTest : public testing::Test {
 protected:
  S3FailureTest() {
    write_atomically(folder.path() / "file", made_up_bytes(kLarge, 7));
    options = quick();
    options.on_retry = [this](const std::string& line) { retries.push_back(line); };
  }

  S3Client client() const { return S3Client(access_at(proxy.port()), options); }

  void put_large() { client().put_file(object, SourceFile(folder.path() / "file")); }

  void expect_stored() const {
    ASSERT_TRUE(server.has("f"));
    EXPECT_TRUE(read_text(server.stored("f")) == made_up_bytes(kLarge, 7));
  }

  TemporaryFolder folder;
  S3Server server;
  FailingProxy proxy{server.port()};
  S3Options options;
  std::vector<std::string> retries;
  const S3Location object{kBucket, "f"};
};

TEST_F(S3FailureTest, RefusedConnectionIsTriedAgainThenNamed) {
  S3Client nobody(access_at(closed_port()), options);
  expect_error(InputKind::storage, {"s3://models/f", "connect", "AWS_ENDPOINT_URL"},
               [&] { nobody.put_bytes(object, {}); });
  EXPECT_EQ(retries.size(), 3u);
}

TEST_F(S3FailureTest, UnknownHostIsNamed) {
  S3Access access = access_at(1);
  access.endpoint = "http://no-such-host.invalid";
  options.attempts = 1;
  expect_error(InputKind::storage, {"resolve host"},
               [&] { S3Client(access, options).put_bytes(object, {}); });
}

TEST_F(S3FailureTest, ErrorsOfTheServerAreTriedAgain) {
  proxy.set({.kind = Kind::answer_500, .times = 3});
  put_large();
  expect_stored();
  EXPECT_EQ(retries.size(), 3u);
  EXPECT_THAT(retries, Contains(HasSubstr("HTTP 500 InternalError")));
}

TEST_F(S3FailureTest, ErrorsOfTheServerForEverEndInItsWords) {
  proxy.set({.kind = Kind::answer_500});
  expect_error(InputKind::storage, {"HTTP 500 InternalError: Please try again."},
               [&] { put_large(); });
  EXPECT_FALSE(server.has("f"));
}

TEST_F(S3FailureTest, PartsAreGivenUpWhenOneFails) {
  proxy.set({.kind = Kind::answer_500, .at = "partNumber=2"});
  expect_error(InputKind::storage, {"HTTP 500"}, [&] { put_large(); });
  EXPECT_EQ(server.open_uploads(), 0);
  EXPECT_FALSE(server.has("f"));
  EXPECT_THAT(proxy.requests().back(), StartsWith("DELETE /models/f?uploadId="));
}

TEST_F(S3FailureTest, UploadThatBreaksOffIsSentAgain) {
  proxy.set(
      {.kind = Kind::cut_request, .at = "partNumber=2", .after = 1000000, .times = 2});
  put_large();
  expect_stored();
  EXPECT_EQ(retries.size(), 2u);
  EXPECT_EQ(server.open_uploads(), 0);
}

TEST_F(S3FailureTest, UploadThatAlwaysBreaksOffLeavesNothing) {
  proxy.set({.kind = Kind::cut_request, .at = "PUT ", .after = 1000000});
  expect_error(InputKind::storage, {"s3://models/f"}, [&] { put_large(); });
  EXPECT_FALSE(server.has("f"));
  EXPECT_EQ(server.open_uploads(), 0);
}

TEST_F(S3FailureTest, CompletionWhoseAnswerIsLostIsNotTakenForAFailure) {
  proxy.set({.kind = Kind::cut_answer, .at = "POST /models/f?uploadId", .times = 1});
  put_large();
  expect_stored();
}

TEST_F(S3FailureTest, DownloadThatBreaksOffBeginsAgain) {
  put_large();
  proxy.set({.kind = Kind::cut_answer, .at = "GET ", .after = 1000000, .times = 2});
  EXPECT_TRUE(client().get_file(object, folder.path() / "back", kLarge));
  EXPECT_TRUE(read_text(folder.path() / "back") == made_up_bytes(kLarge, 7));
  EXPECT_EQ(retries.size(), 2u);
}

TEST_F(S3FailureTest, DownloadThatAlwaysBreaksOffLeavesNoFile) {
  put_large();
  std::filesystem::remove(folder.path() / "file");
  proxy.set({.kind = Kind::cut_answer, .at = "GET ", .after = 1000000});
  expect_error(InputKind::storage, {"s3://models/f"},
               [&] { client().get_file(object, folder.path() / "back", kLarge); });
  EXPECT_THAT(contents_of(folder.path()), IsEmpty());
}

TEST_F(S3FailureTest, SlowConnectionIsNoFailure) {
  proxy.set({.kind = Kind::slow, .at = "PUT ", .after = 4000});
  const std::string text = made_up_bytes(1000000, 3);
  client().put_bytes(object, std::as_bytes(std::span(text)));
  EXPECT_EQ(read_text(server.stored("f")), text);
  EXPECT_THAT(retries, IsEmpty());
}

TEST_F(S3FailureTest, StallIsNoticedAndTriedAgain) {
  options.stall_seconds = 1;
  proxy.set({.kind = Kind::silence, .at = "PUT ", .times = 1});
  const Stopwatch watch;
  client().put_bytes(object, {});
  EXPECT_TRUE(server.has("f"));
  EXPECT_EQ(retries.size(), 1u);
  EXPECT_LT(watch.seconds(), 10);
}

TEST_F(S3FailureTest, DeadlineEndsTheWholeOperation) {
  options.operation_seconds = 1;
  options.attempts = 1000;
  proxy.set({.kind = Kind::answer_500});
  const Stopwatch watch;
  expect_error(InputKind::storage, {"HTTP 500", "the 1 s for this are over"},
               [&] { client().put_bytes(object, {}); });
  EXPECT_LT(watch.seconds(), 4);
  proxy.set({.kind = Kind::silence});
  expect_error(InputKind::storage, {"the 1 s for this are over"},
               [&] { client().put_bytes(object, {}); });
  EXPECT_LT(watch.seconds(), 8);
}

TEST_F(S3FailureTest, CancelEndsATransferAndAPause) {
  for (const Kind kind : {Kind::silence, Kind::answer_500}) {
    std::stop_source cancel;
    options.cancel = cancel.get_token();
    options.attempts = 1000;
    options.first_pause = options.longest_pause = 60;
    options.stall_seconds = 60;
    options.operation_seconds = 600;
    proxy.set({.kind = kind, .at = "partNumber=1"});
    auto end = std::async(std::launch::async, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      cancel.request_stop();
    });
    const Stopwatch watch;
    expect_error(InputKind::storage, {"cancelled"}, [&] { put_large(); });
    EXPECT_LT(watch.seconds(), 6);
    EXPECT_FALSE(server.has("f"));
  }
  EXPECT_EQ(server.open_uploads(), 0);
}

}  // namespace
}  // namespace convoy
