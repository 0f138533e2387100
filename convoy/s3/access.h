// SPDX-License-Identifier: Apache-2.0
//
// S3Access: credentials and address of an S3 server, found where AWS's own tools search:
//
//   credentials  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the
//                profile AWS_PROFILE ("default") of ~/.aws/credentials, else
//                ~/.aws/config
//   region       AWS_REGION, AWS_DEFAULT_REGION, the profile's region, us-east-1
//   endpoint     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url;
//                none: Amazon's own
//   trust        AWS_CA_BUNDLE, the profile's ca_bundle; none: the system's certificates
//
// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name the files. Metadata services and
// single sign-on are not supported. Credentials are never printed, logged or stored:
// every text from a server passes through without_secrets() before it is shown.

#pragma once

#include <functional>
#include <string>

#include "convoy/s3/location.h"

namespace convoy {

struct S3Access {
  std::string key_id;
  std::string secret;
  std::string session_token{};  // empty: none
  std::string region = "us-east-1";
  std::string endpoint{};   // "http://host:port" without '/' at the end; empty: Amazon
  std::string ca_bundle{};  // file of certificates to trust; empty: the system's
};

/// Returns the value of an environment variable, "" if it is not set.
using VariableLookup = std::function<std::string(const std::string& name)>;

/// Throws InputError of kind `settings` that says where it searched, or which place is
/// incomplete.
S3Access find_s3_access();
S3Access find_s3_access(const VariableLookup& variable);

/// Returns the URL of an object or, with an empty key, of its bucket, without a query.
std::string s3_url(const S3Access& access, const S3Location& object);

/// Encodes everything but letters, digits and "-_.~/" as %XX, as signatures require.
std::string s3_encoded(std::string_view text, bool keep_slashes = true);

/// Returns the text with each of the credentials replaced by stars.
std::string without_secrets(std::string text, const S3Access& access);

}  // namespace convoy
