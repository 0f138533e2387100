// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/base64.h"
#include "convoy/remote_checkpoints/checkpoint_places.h"
#include "convoy/remote_checkpoints/manifest.h"
#include "convoy/s3/error.h"
#include "convoy/s3/etag.h"
#include "convoy/s3/md5.h"
#include "convoy/s3/xml.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::span<const std::byte> file_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Md5Forms, AreThoseOfTheStandards) {
  EXPECT_EQ(hex(md5(file_bytes("abc"))), "900150983cd24fb0d6963f7d28e17f72");  // RFC 1321
  EXPECT_EQ(base64(md5(file_bytes(""))), "1B2M2Y8AsgTpgAmY7PhCfg==");
  EXPECT_EQ(base64(file_bytes("foob")), "Zm9vYg==");  // RFC 4648
}

TEST(XmlFields, AreFoundInTheirRootAlone) {
  const char* xml = "<?xml version=\"1.0\"?><Error><Code>A&amp;B</Code></Error>";
  EXPECT_EQ(xml_field(xml, "Error", "Code"), "A&B");
  EXPECT_EQ(xml_field(xml, "Other", "Code"), "");
  EXPECT_EQ(xml_field("<Error><Code>x", "Error", "Code"), "");
  EXPECT_EQ(xml_field("no xml", "Error", "Code"), "");
  EXPECT_THAT(
      xml_fields("<L><P>no</P><C><P>a/</P></C><C><P>b/</P></C></L>", "L", "C", "P"),
      ElementsAre("a/", "b/"));
  EXPECT_EQ(xml_escaped("a<b>&c"), "a&lt;b&gt;&amp;c");
}

S3Answer answer(long status, const std::string& code, const std::string& message = "") {
  S3Answer result;
  result.status = status;
  result.body =
      "<Error><Code>" + code + "</Code><Message>" + message + "</Message></Error>";
  return result;
}

const S3Access kAccess{.key_id = "AKID", .secret = "hush"};

TEST(S3Failures, ThatPassAreToldFromThoseThatStay) {
  EXPECT_TRUE(failure_of(answer(503, "SlowDown"), kAccess).passing);
  EXPECT_TRUE(failure_of(answer(429, ""), kAccess).passing);
  EXPECT_TRUE(failure_of(answer(500, ""), kAccess).passing);
  EXPECT_TRUE(failure_of(answer(400, "RequestTimeout"), kAccess).passing);
  EXPECT_FALSE(failure_of(answer(403, "AccessDenied"), kAccess).passing);
  EXPECT_FALSE(failure_of(answer(404, "NoSuchBucket"), kAccess).passing);
  EXPECT_FALSE(failure_of(answer(501, "NotImplemented"), kAccess).passing);
}

TEST(S3Failures, NeverRepeatCredentialsThatAServerEchoes) {
  const S3Failure failure = failure_of(
      answer(403, "InvalidAccessKeyId", "AKID with\nhush is unknown"), kAccess);
  EXPECT_EQ(failure.text, "HTTP 403 InvalidAccessKeyId: *** with *** is unknown");
}

TEST(S3Failures, SayWhatToDo) {
  const S3Request request{.object = {"abc", "d"}};
  const auto text = [&](const S3Answer& what) -> std::string {
    return error_of(request, failure_of(what, kAccess), what).what();
  };
  EXPECT_THAT(text(answer(403, "SignatureDoesNotMatch")),
              HasSubstr("AWS_SECRET_ACCESS_KEY"));
  EXPECT_THAT(text(answer(404, "NoSuchBucket")), HasSubstr("make the bucket"));
  S3Answer moved = answer(301, "PermanentRedirect");
  moved.bucket_region = "eu-west-3";
  EXPECT_THAT(text(moved), HasSubstr("AWS_REGION=eu-west-3"));
}

TEST(Etags, AreComparedWhereTheyAreMd5) {
  S3Answer found;
  found.etag = "900150983cd24fb0d6963f7d28e17f72";
  EXPECT_NO_THROW(check_etag({"abc", "d"}, found, found.etag));
  expect_error(InputKind::data, {"s3://abc/d", "MD5"}, [&] {
    check_etag({"abc", "d"}, found, "0");
  });
  found.etag_is_md5 = false;
  EXPECT_NO_THROW(check_etag({"abc", "d"}, found, "0")) << "encrypted under another key";
  found = {};
  found.etag = "900150983cd24fb0d6963f7d28e17f72-2";
  EXPECT_NO_THROW(check_etag({"abc", "d"}, found, "0")) << "of an object in parts";
}

std::string manifest(const std::string& name, const std::string& digest) {
  return R"({"files": {")" + name + R"(": {"bytes": 3, "sha256": ")" + digest + R"("}}})";
}

TEST(Manifests, NameFilesOfTheirFolder) {
  const std::string digest(64, 'a');
  const auto files = parse_manifest(manifest("model.safetensors", digest), "m");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "model.safetensors");
  EXPECT_EQ(files[0].mark, (FileMark{{{3, digest}}}));
}

TEST(Manifests, ThatLeadElsewhereAreRefused) {
  const std::string digest(64, 'a');
  for (const std::string& text :
       {manifest("../../.bashrc", digest), manifest("/etc/passwd", digest),
        manifest(".hidden", digest), manifest("", digest),
        manifest("manifest.json", digest), manifest("a", "xyz"), std::string("{"),
        std::string("[]"), std::string("{}"), std::string(R"({"files": {}})"),
        R"({"files": )" + std::string(200'000, '[')}) {
    SCOPED_TRACE(text.substr(0, 200));
    expect_error(InputKind::data, {"place"}, [&] { parse_manifest(text, "place"); });
  }
  expect_error(InputKind::data, {"place: files.a.bytes", "-1"},
               [] { parse_manifest(R"({"files": {"a": {"bytes": -1}}})", "place"); });
}

TEST(Pointers, NameAStepAndNothingElse) {
  const S3Location run{"abc", "runs/a"};
  EXPECT_EQ(pointer_text("00000120"), "{\"checkpoint\":\"00000120\",\"step\":120}\n");
  EXPECT_EQ(pointed_at(pointer_text("00000120"), run), "00000120");
  EXPECT_EQ(pointer_place(run, CheckpointRole::best).key, "runs/a/checkpoints/best.json");
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1]"),
        std::string(R"({"checkpoint": 120})"),
        std::string(R"({"checkpoint": "../../x"})"), std::string(R"({"checkpoint": ""})"),
        std::string(200'000, '[')}) {
    SCOPED_TRACE(text.substr(0, 200));
    expect_error(InputKind::data, {"s3://abc/runs/a"}, [&] { pointed_at(text, run); });
  }
}

}  // namespace
}  // namespace convoy
