// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/access.h"

#include <map>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::Not;

class S3AccessTest : public testing::Test {
 protected:
  S3AccessTest() { variables["HOME"] = home.path(); }

  void write(const std::string& name, const std::string& text) const {
    make_folders(home.path() / ".aws");
    write_atomically(home.path() / ".aws" / name, text);
  }

  S3Access find() const {
    return find_s3_access([this](const std::string& name) {
      const auto entry = variables.find(name);
      return entry == variables.end() ? "" : entry->second;
    });
  }

  /// The error's text.
  std::string refusal() const {
    try {
      find();
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind(), InputKind::settings);
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  void set_keys() {
    variables["AWS_ACCESS_KEY_ID"] = "AKID";
    variables["AWS_SECRET_ACCESS_KEY"] = "hush";
  }

  TemporaryFolder home;
  std::map<std::string, std::string> variables;
};

TEST_F(S3AccessTest, ComesFromTheEnvironment) {
  set_keys();
  variables["AWS_SESSION_TOKEN"] = "token";
  variables["AWS_DEFAULT_REGION"] = "eu-west-1";
  variables["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9000/";
  variables["AWS_CA_BUNDLE"] = "/ca.pem";
  const S3Access access = find();
  EXPECT_EQ(access.key_id, "AKID");
  EXPECT_EQ(access.secret, "hush");
  EXPECT_EQ(access.session_token, "token");
  EXPECT_EQ(access.region, "eu-west-1");
  EXPECT_EQ(access.endpoint, "http://127.0.0.1:9000");
  EXPECT_EQ(access.ca_bundle, "/ca.pem");
}

TEST_F(S3AccessTest, TakesTheNarrowerOfTwoVariables) {
  set_keys();
  variables["AWS_REGION"] = "eu-central-1";
  variables["AWS_DEFAULT_REGION"] = "eu-west-1";
  variables["AWS_ENDPOINT_URL"] = "http://all";
  variables["AWS_ENDPOINT_URL_S3"] = "http://s3";
  EXPECT_EQ(find().region, "eu-central-1");
  EXPECT_EQ(find().endpoint, "http://s3");
}

TEST_F(S3AccessTest, ComesFromTheDefaultProfile) {
  write("credentials",
        "# mine\n[other]\naws_access_key_id = NO\n[default]\r\n"
        "aws_access_key_id = AKID2\r\naws_secret_access_key=a/b+c=\r\n");
  write("config",
        "[default]\nregion = eu-north-1\ns3 =\n  endpoint_url = http://nested\n");
  const S3Access access = find();
  EXPECT_EQ(access.key_id, "AKID2");
  EXPECT_EQ(access.secret, "a/b+c=");
  EXPECT_EQ(access.region, "eu-north-1");
  EXPECT_EQ(access.endpoint, "");
}

TEST_F(S3AccessTest, ComesFromAProfileOfTheConfigFile) {
  variables["AWS_PROFILE"] = "lab";
  write("config",
        "[default]\nregion=eu-north-1\n[profile  lab]\naws_access_key_id=LAB\n"
        "aws_secret_access_key=x\naws_session_token=t\nendpoint_url=https://s3.lab\n");
  const S3Access access = find();
  EXPECT_EQ(access.key_id, "LAB");
  EXPECT_EQ(access.session_token, "t");
  EXPECT_EQ(access.endpoint, "https://s3.lab");
  EXPECT_EQ(access.region, "us-east-1") << "another profile's does not count";
}

TEST_F(S3AccessTest, TakesFilesFromElsewhere) {
  write_atomically(home.path() / "c",
                   "[default]\naws_access_key_id=A\naws_secret_access_key=B\n");
  variables["AWS_SHARED_CREDENTIALS_FILE"] = home.path() / "c";
  EXPECT_EQ(find().key_id, "A");
}

TEST_F(S3AccessTest, DoesNotMixTwoPlaces) {
  set_keys();
  write("credentials",
        "[default]\naws_access_key_id=A\naws_secret_access_key=B\naws_session_token=T\n");
  EXPECT_EQ(find().key_id, "AKID");
  EXPECT_EQ(find().session_token, "");
}

TEST_F(S3AccessTest, ThatIsMissingSaysWhereItWasSearched) {
  variables["AWS_PROFILE"] = "lab";
  const std::string text = refusal();
  for (const std::string& place :
       {std::string("AWS_ACCESS_KEY_ID"), std::string("profile 'lab'"),
        (home.path() / ".aws/credentials").string(),
        (home.path() / ".aws/config").string()}) {
    EXPECT_THAT(text, HasSubstr(place));
  }
}

TEST_F(S3AccessTest, RefusesHalfAKeyAndNeverShowsIt) {
  variables["AWS_SECRET_ACCESS_KEY"] = "hush";
  EXPECT_THAT(refusal(), HasSubstr("without its id"));
  EXPECT_THAT(refusal(), Not(HasSubstr("hush")));
  variables["AWS_ACCESS_KEY_ID"] = "AK ID\n";
  EXPECT_THAT(refusal(), HasSubstr("invisible"));
  EXPECT_THAT(refusal(), Not(HasSubstr("AK ID")));
}

TEST_F(S3AccessTest, RefusesAnEndpointThatIsNoAddressAndNeverShowsIt) {
  set_keys();
  for (const char* endpoint :
       {"127.0.0.1:9000", "ftp://host", "http://", "http://u:pass@host",
        "http://host?x=pass", "http://ho st"}) {
    variables["AWS_ENDPOINT_URL"] = endpoint;
    EXPECT_THAT(refusal(), HasSubstr("AWS_ENDPOINT_URL")) << endpoint;
    EXPECT_THAT(refusal(), Not(HasSubstr("pass"))) << endpoint;
  }
}

TEST_F(S3AccessTest, RefusesARegionThatIsNone) {
  set_keys();
  variables["AWS_REGION"] = "eu.evil.com/";
  EXPECT_THAT(refusal(), HasSubstr("AWS_REGION"));
}

TEST(S3Url, IsTheBucketsOwnHostAtAmazon) {
  const S3Access access{.key_id = "A", .secret = "B", .region = "eu-west-1"};
  EXPECT_EQ(s3_url(access, {"abc", "d e/f"}),
            "https://abc.s3.eu-west-1.amazonaws.com/d%20e/f");
  EXPECT_EQ(s3_url(access, {"abc"}), "https://abc.s3.eu-west-1.amazonaws.com/");
  EXPECT_EQ(s3_url(access, {"a.b.c", "d"}), "https://s3.eu-west-1.amazonaws.com/a.b.c/d");
}

TEST(S3Url, IsAPathAtAnEndpoint) {
  const S3Access access{.key_id = "A", .secret = "B", .endpoint = "http://h:1"};
  EXPECT_EQ(s3_url(access, {"abc", "d"}), "http://h:1/abc/d");
  EXPECT_EQ(s3_url(access, {"abc"}), "http://h:1/abc");
}

TEST(S3Secrets, AreStarsInAnyText) {
  const S3Access access{.key_id = "AKID", .secret = "hush", .session_token = "tok"};
  EXPECT_EQ(without_secrets("AKID:hush hush tok.", access), "***:*** *** ***.");
}

}  // namespace
}  // namespace convoy
