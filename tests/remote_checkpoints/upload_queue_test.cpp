// SPDX-License-Identifier: Apache-2.0
//
// UploadQueue: nobody waits for it, and nothing that fails in it harms anybody.

#include "convoy/remote_checkpoints/upload_queue.h"

#include <gmock/gmock.h>

#include <thread>

#include "convoy/base/clock.h"
#include "convoy/remote_checkpoints/checkpoint_download.h"
#include "convoy/system/file.h"
#include "tests/remote_checkpoints/stored_checkpoint.h"
#include "tests/s3/failing_proxy.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = ProxyFault::Kind;

class UploadQueueTest : public testing::Test {
 protected:
  UploadQueueOptions options_at(int port) {
    UploadQueueOptions options{.access = access_at(port), .run = {kBucket, "p/run"}};
    options.transfer = quick();
    options.on_message = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      messages.push_back(line);
    };
    return options;
  }
  UploadQueueOptions options() { return options_at(proxy.port()); }

  bool has(const std::string& name) const {
    return server.has("p/run/checkpoints/" + name);
  }

  /// The server may answer a moment before a file has its name.
  bool will_have(const std::string& name) const {
    for (int i = 0; i < 1000 && !has(name); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return has(name);
  }

  void expect_pointer(const std::string& name, const std::string& step_name) const {
    ASSERT_TRUE(will_have(name));
    EXPECT_THAT(read_text(server.stored("p/run/checkpoints/" + name)),
                HasSubstr(step_name));
    EXPECT_TRUE(has(step_name + "/manifest.json"));
  }

  void wait_for_request(const std::string& text) const {
    for (int i = 0; i < 2000; ++i) {
      for (const std::string& request : proxy.requests()) {
        if (request.find(text) != std::string::npos) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "no request with " << text;
  }

  TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  S3Server server;
  FailingProxy proxy{server.port()};
  std::mutex mutex;
  std::vector<std::string> messages;
};

TEST_F(UploadQueueTest, TellsHowFarItIs) {
  UploadQueueOptions often = options();
  often.progress_seconds = 0;
  UploadQueue queue(often);
  queue.submit(make_checkpoint(run, 120, 20000000), CheckpointRole::last);
  EXPECT_TRUE(queue.finish(60));

  EXPECT_THAT(messages, Contains(HasSubstr("uploading 00000120: 8.4 of 20.")));
  EXPECT_THAT(messages.back(), HasSubstr("uploaded 00000120"));
}

TEST_F(UploadQueueTest, UploadsBothRoles) {
  UploadQueue queue(options());
  const fs::path checkpoint = make_checkpoint(run, 120, 9000000);
  queue.submit(checkpoint, CheckpointRole::last);
  queue.submit(checkpoint, CheckpointRole::best);
  EXPECT_TRUE(queue.finish(60));
  EXPECT_EQ(queue.last_error(), "");
  expect_pointer("last.json", "00000120");
  expect_pointer("best.json", "00000120");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[0], AllOf(HasSubstr("uploaded 00000120 (9.0 MB in "),
                                 HasSubstr("to s3://models/p/run/checkpoints/00000120")));
  EXPECT_THAT(messages[1], HasSubstr("already there"));
}

TEST_F(UploadQueueTest, UploadsWhatHasBeenPrunedMeanwhile) {
  UploadQueue queue(options());
  const fs::path checkpoint = make_checkpoint(run, 120, 9000000);
  const auto before = contents_of(checkpoint);
  queue.submit(checkpoint, CheckpointRole::last);
  fs::remove_all(checkpoint);
  EXPECT_TRUE(queue.finish(60));
  S3Client client(access_at(server.port()), quick());
  EXPECT_TRUE(contents_of(download_checkpoint(client, {kBucket, "p/run"},
                                              folder.path() / "down")) == before);
}

TEST_F(UploadQueueTest, SkipsOlderOnesThatStillWait) {
  UploadQueue queue(options());
  proxy.set({.kind = Kind::slow, .at = "model.safetensors", .after = 20000, .times = 1});
  queue.submit(make_checkpoint(run, 1, 1000000), CheckpointRole::last);
  wait_for_request("00000001/model.safetensors");
  for (const int step : {2, 3, 4}) {
    queue.submit(make_checkpoint(run, step), CheckpointRole::last);
  }
  EXPECT_TRUE(queue.finish(60));
  expect_pointer("last.json", "00000004");
  EXPECT_TRUE(has("00000001/manifest.json"));
  EXPECT_FALSE(has("00000002/manifest.json"));
  EXPECT_FALSE(has("00000003/manifest.json"));
}

TEST_F(UploadQueueTest, SubmitDoesNotWaitForAServerThatDoesNotAnswer) {
  proxy.set({.kind = Kind::silence});
  UploadQueue queue(options());
  const fs::path checkpoint = make_checkpoint(run, 120);
  queue.submit(checkpoint, CheckpointRole::last);
  wait_for_request("GET ");
  const Stopwatch watch;
  for (int i = 0; i < 10; ++i) queue.submit(checkpoint, CheckpointRole::last);
  EXPECT_LT(watch.seconds(), 1);
}

TEST_F(UploadQueueTest, FailureIsAMessageAndNoHarm) {
  proxy.set({.kind = Kind::answer_500, .at = "PUT "});
  UploadQueue queue(options());
  const fs::path checkpoint = make_checkpoint(run, 120);
  const auto before = contents_of(checkpoint);
  queue.submit(checkpoint, CheckpointRole::last);
  EXPECT_FALSE(queue.finish(60));
  EXPECT_THAT(queue.last_error(), HasSubstr("HTTP 500 InternalError"));
  EXPECT_THAT(messages,
              Contains(AllOf(HasSubstr("upload of 00000120 failed: s3://models"),
                             Not(HasSubstr("\n")))));
  EXPECT_FALSE(has("last.json"));
  EXPECT_TRUE(contents_of(checkpoint) == before);
}

TEST_F(UploadQueueTest, LaterSuccessMakesAFailureGood) {
  UploadQueue queue(options());
  proxy.set({.kind = Kind::answer_500, .times = 4});  // as many as there are attempts
  queue.submit(make_checkpoint(run, 1), CheckpointRole::last);
  while (queue.last_error().empty()) std::this_thread::yield();
  queue.submit(make_checkpoint(run, 2), CheckpointRole::last);
  EXPECT_TRUE(queue.finish(60));
  expect_pointer("last.json", "00000002");
}

TEST_F(UploadQueueTest, CheckpointThatCannotBeOpenedIsAMessage) {
  UploadQueue queue(options());
  queue.submit(run / "checkpoints" / "00000001", CheckpointRole::best);
  EXPECT_THAT(queue.last_error(), HasSubstr("00000001"));
  EXPECT_FALSE(queue.finish(5));
  EXPECT_THAT(messages, Contains(HasSubstr("not uploaded")));
}

TEST_F(UploadQueueTest, WrongKeyRefusedConnectionAndWrongBucketAreMessages) {
  UploadQueueOptions wrong_key = options();
  wrong_key.access.secret = "hush-hush";
  UploadQueueOptions wrong_bucket = options();
  wrong_bucket.run.bucket = "another";
  const fs::path checkpoint = make_checkpoint(run, 120);
  for (const auto& [queue_options, text] :
       {std::pair(wrong_key, "SignatureDoesNotMatch"),
        std::pair(wrong_bucket, "NoSuchBucket"),
        std::pair(options_at(closed_port()), "connect")}) {
    UploadQueue queue(queue_options);
    queue.submit(checkpoint, CheckpointRole::last);
    EXPECT_FALSE(queue.finish(60));
    EXPECT_THAT(queue.last_error(), HasSubstr(text));
    EXPECT_THAT(queue.last_error(), Not(HasSubstr("hush-hush")));
  }
  EXPECT_FALSE(has("last.json"));
}

TEST_F(UploadQueueTest, FinishKeepsItsDeadline) {
  UploadQueueOptions patient = options();
  patient.transfer.stall_seconds = 300;
  for (const char* at : {"GET ", "partNumber=2", "last.json"}) {
    proxy.set({.kind = Kind::silence, .at = at});
    UploadQueue queue(patient);
    const fs::path checkpoint = make_checkpoint(run, 120, 9000000);
    queue.submit(checkpoint, CheckpointRole::last);
    wait_for_request(at);
    queue.submit(checkpoint, CheckpointRole::best);
    const Stopwatch watch;
    EXPECT_FALSE(queue.finish(5)) << at;
    EXPECT_LT(watch.seconds(), 5.5) << at;
    EXPECT_THAT(queue.last_error(), HasSubstr("cancelled")) << at;
    EXPECT_FALSE(has("last.json")) << at;
  }
  EXPECT_THAT(messages, Contains(HasSubstr("there was no time left")));
  EXPECT_EQ(server.open_uploads(), 0);
}

TEST_F(UploadQueueTest, FinishReturnsInTimeWhateverIsLeftToTidyUp) {
  UploadQueueOptions patient = options();
  patient.transfer.stall_seconds = 300;
  proxy.set({.kind = Kind::silence, .at = "partNumber=1"});
  UploadQueue queue(patient);
  queue.submit(make_checkpoint(run, 120, 9000000), CheckpointRole::last);
  wait_for_request("partNumber=1");
  const Stopwatch watch;
  EXPECT_FALSE(queue.finish(0.1));
  EXPECT_LT(watch.seconds(), 0.9);
}

TEST_F(UploadQueueTest, FinishHasNothingToWaitForInAnEmptyQueue) {
  UploadQueue queue(options());
  const Stopwatch watch;
  EXPECT_TRUE(queue.finish(60));
  EXPECT_LT(watch.seconds(), 2);
}

TEST_F(UploadQueueTest, DestructorCancels) {
  proxy.set({.kind = Kind::silence, .at = "partNumber=1"});
  UploadQueueOptions patient = options();
  patient.transfer.stall_seconds = 300;
  Stopwatch watch;
  {
    UploadQueue queue(patient);
    queue.submit(make_checkpoint(run, 120, 9000000), CheckpointRole::last);
    wait_for_request("partNumber=1");
    watch.restart();
  }
  EXPECT_LT(watch.seconds(), 4);
  EXPECT_FALSE(has("last.json"));
}

}  // namespace
}  // namespace convoy
