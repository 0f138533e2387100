// SPDX-License-Identifier: Apache-2.0
//
// A run whose checkpoints go to object storage, as its user meets it.

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "tests/apps/small_run.h"
#include "tests/s3/failing_proxy.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = ProxyFault::Kind;

class S3Run : public ProgramTest {
 protected:
  ProcessOptions with_key(const std::string& secret = "S3RVER") const {
    return {.environment = {
                {"AWS_ACCESS_KEY_ID", "S3RVER"},
                {"AWS_SECRET_ACCESS_KEY", secret},
                {"AWS_REGION", "us-east-1"},
                {"no_proxy", "127.0.0.1"},
                {"AWS_ENDPOINT_URL", fmt::format("http://127.0.0.1:{}", proxy.port())}}};
  }

  CommandResult upload(const std::string& name, const Arguments& more = {},
                       const std::string& secret = "S3RVER") {
    return convoy(
        small_training(name, {"checkpoint.upload=s3://models/runs",
                              "checkpoint.upload_deadline=10", "train.microbatches=2"}) +
            more,
        with_key(secret));
  }

  bool has(const std::string& key) const { return server.has("runs/" + key); }

  S3Server server;
  FailingProxy proxy{server.port()};
};

TEST_F(S3Run, IsThereWhenItIsDone) {
  const CommandResult result = upload("a");

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("s3://models/runs/a"));
  EXPECT_TRUE(has("a/checkpoints/last.json"));
  EXPECT_TRUE(has("a/checkpoints/best.json"));
  EXPECT_TRUE(has("a/checkpoints/00000006/optimizer.safetensors"));
  for (const char* file :
       {"config.yaml", "metrics.jsonl", "summary.json", "resources.csv", "log.txt",
        "model.json", "eval.json", "report.html"}) {
    EXPECT_TRUE(has(std::string("a/") + file)) << file;
    EXPECT_THAT(result.out,
                HasSubstr(fmt::format("uploaded s3://models/runs/a/{}\n", file)));
  }
  EXPECT_THAT(result.out, HasSubstr("uploaded s3://models/runs/a/events.out.tfevents."));
  EXPECT_EQ(read_text(server.stored("runs/a/metrics.jsonl")),
            read_text(here() / "runs" / "a" / "metrics.jsonl"));
  EXPECT_THAT(read_text(here() / "runs" / "logbook.md"),
              HasSubstr("| uploaded to | `s3://models/runs/a/checkpoints/0000000"));
  for (const std::string& file : all_below(here())) {
    if (!fs::is_regular_file(here() / file)) continue;
    EXPECT_THAT(read_text(here() / file), Not(HasSubstr("S3RVER"))) << file;
  }
}

TEST_F(S3Run, GoesOnFromThereToTheSameBits) {
  EXPECT_EQ(upload("whole").code, 0);
  EXPECT_EQ(upload("cut", {"train.max_steps=4"}).code, 0);
  fs::rename(here() / "runs" / "cut", here() / "lost");

  const CommandResult result =
      convoy({"train", "train.resume=s3://models/runs/cut", "train.max_steps=0",
              "run.name=again", "checkpoint.upload=", "-n", "2"},
             with_key());

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(weights_of(here() / "runs" / "again"), weights_of(here() / "runs" / "whole"));
}

TEST_F(S3Run, IsEvaluatedFromThere) {
  EXPECT_EQ(upload("a").code, 0);
  const CommandResult result = convoy({"eval", "s3://models/runs/a/best"}, with_key());

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(here() / "eval.json"));
  EXPECT_EQ(read_json(here() / "eval.json").at("model"), "lenet5");
}

TEST_F(S3Run, WithAWrongKeyIsRefusedBeforeItsFirstStep) {
  const CommandResult result = upload("a", {}, "another");

  EXPECT_EQ(result.code, 74) << result.out;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("s3://models/runs/a"), Not(HasSubstr("another"))));
  EXPECT_THAT(result.out, Not(HasSubstr("Epoch: 1")));
}

TEST_F(S3Run, WithoutCredentialsIsRefused) {
  const CommandResult result =
      convoy(small_training("a", {"checkpoint.upload=s3://models/runs"}));

  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("AWS_ACCESS_KEY_ID"));
}

TEST_F(S3Run, IsTrainedAndSavedAlthoughUploadsFail) {
  proxy.set({.kind = Kind::answer_500, .at = "PUT "});
  const Stopwatch watch;
  const CommandResult result = upload("a");

  EXPECT_EQ(result.code, 0) << "trained and saved: " << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("not all checkpoints are at s3://models/runs/a"),
                    HasSubstr("are complete"),
                    HasSubstr("not all records are at s3://models/runs/a")));
  EXPECT_THAT(read_text(here() / "runs" / "logbook.md"), HasSubstr("| not uploaded |"));
  EXPECT_LT(watch.seconds(), 30) << "a deadline of 10 s";
  EXPECT_FALSE(has("a/checkpoints/last.json"));
  EXPECT_EQ(convoy({"eval", (here() / "runs" / "a").string()}).code, 0);
}

TEST_F(S3Run, DoesNotWaitForAServerThatFallsSilent) {
  proxy.set({.kind = Kind::silence, .at = "PUT "});
  const Stopwatch watch;
  const CommandResult result = upload("a");

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(watch.seconds(), 30) << "a deadline of 10 s";
  EXPECT_FALSE(has("a/checkpoints/last.json"));
}

}  // namespace
}  // namespace convoy
