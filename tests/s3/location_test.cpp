// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/location.h"

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

TEST(S3Location, IsBucketAndKey) {
  const S3Location location = S3Location::parse("s3://my-bucket/experiments/a", "x");
  EXPECT_EQ(location.bucket, "my-bucket");
  EXPECT_EQ(location.key, "experiments/a");
  EXPECT_EQ((location / "b").text(), "s3://my-bucket/experiments/a/b");
}

TEST(S3Location, MayBeAWholeBucketOrEndWithASlash) {
  EXPECT_EQ(S3Location::parse("s3://abc", "x").text(), "s3://abc");
  EXPECT_EQ(S3Location::parse("s3://abc/", "x").text(), "s3://abc");
  EXPECT_EQ(S3Location::parse("s3://abc/d/", "x").key, "d");
  EXPECT_EQ((S3Location::parse("s3://abc", "x") / "d").key, "d");
}

TEST(S3Location, KnowsItsNameAndWhatIsAboveIt) {
  const S3Location location{.bucket = "abc", .key = "d/e"};
  EXPECT_EQ(location.name(), "e");
  EXPECT_EQ(location.parent().key, "d");
  EXPECT_EQ(location.parent().parent().key, "");
  EXPECT_EQ(location.parent().parent().parent().key, "");
}

TEST(S3Location, RefusesWhatAServerMightTakeOtherwise) {
  for (const char* text :
       {"", "bucket/a", "s3:/bucket/a", "S3://bucket", "s3://", "s3:///a", "s3://ab/c",
        "s3://Bucket/a", "s3://-bucket/a", "s3://buck..et/a", "s3://user@bucket/a",
        "s3://bucket//a", "s3://bucket/a//b", "s3://bucket/a//", "s3://bucket/../a",
        "s3://bucket/a?b", "s3://bucket/a#b", "s3://bucket/%41", "s3://bucket/a\nb"}) {
    SCOPED_TRACE(text);
    expect_error(InputKind::settings, {"checkpoint.upload", "s3://my-bucket/experiments"},
                 [&] { S3Location::parse(text, "checkpoint.upload"); });
  }
}

TEST(S3Location, IsToldFromAFolderByItsScheme) {
  EXPECT_TRUE(is_s3_location("s3://a"));
  EXPECT_TRUE(is_s3_location("s3:a"));
  EXPECT_FALSE(is_s3_location("runs/s3"));
}

}  // namespace
}  // namespace convoy
