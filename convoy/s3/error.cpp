// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "convoy/s3/xml.h"

namespace convoy {
namespace {

constexpr std::size_t kLongestMessage = 300;

template <std::size_t count>
bool is_one_of(std::string_view code, const std::array<std::string_view, count>& codes) {
  return std::ranges::find(codes, code) != codes.end();
}

/// Includes damage in transit: the bytes are sent again.
bool is_passing_code(std::string_view code) {
  static constexpr std::array<std::string_view, 8> kCodes = {
      "SlowDown",         "RequestTimeout", "InternalError", "ServiceUnavailable",
      "RequestThrottled", "Throttling",     "BadDigest",     "XAmzContentSHA256Mismatch"};
  return is_one_of(code, kCodes);
}

bool is_wrong_key(std::string_view code) {
  static constexpr std::array<std::string_view, 4> kCodes = {
      "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken"};
  return is_one_of(code, kCodes);
}

bool is_other_region(std::string_view code) {
  static constexpr std::array<std::string_view, 4> kCodes = {
      "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
      "IllegalLocationConstraintException"};
  return is_one_of(code, kCodes);
}

/// Makes a server's text safe for a log line.
std::string cleaned(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > kLongestMessage) text = text.substr(0, kLongestMessage) + "...";
  return text;
}

std::string hint_for(const std::string& code, const S3Answer& answer) {
  if (is_wrong_key(code)) {
    return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile";
  }
  if (code == "AccessDenied" || answer.status == 403) {
    return "the key must be allowed to get, put and abort uploads in this bucket";
  }
  if (code == "NoSuchBucket") return "make the bucket, or correct its name";
  if (is_other_region(code)) {
    return "set AWS_REGION" + (answer.bucket_region.empty()
                                   ? " to the bucket's region"
                                   : "=" + cleaned(answer.bucket_region));
  }
  if (code == "RequestTimeTooSkewed") return "set this machine's clock";
  if (answer.trouble == S3Trouble::cancelled) return "";
  if (answer.distrust) return "set AWS_CA_BUNDLE to the certificates to trust";
  return "check the network, AWS_ENDPOINT_URL and AWS_REGION";
}

}  // namespace

S3Failure failure_of(const S3Answer& answer, const S3Access& access) {
  if (answer.trouble != S3Trouble::none) {
    return {.code = "",
            .text = answer.trouble == S3Trouble::cancelled ? "cancelled"
                                                           : answer.trouble_text,
            .passing = answer.trouble == S3Trouble::passing};
  }
  const std::string code = cleaned(xml_field(answer.body, "Error", "Code"));
  const std::string message = xml_field(answer.body, "Error", "Message");
  std::string text = fmt::format("HTTP {}", answer.status);
  if (!code.empty()) text += " " + code;
  if (!message.empty()) text += ": " + cleaned(message);
  const bool passing = answer.status == 429 ||
                       (answer.status >= 500 && answer.status != 501) ||
                       is_passing_code(code);
  return {.code = code, .text = without_secrets(text, access), .passing = passing};
}

bool holds_error(const S3Answer& answer) {
  return !xml_field(answer.body, "Error", "Code").empty();
}

S3Error error_of(const S3Request& request, const S3Failure& failure,
                 const S3Answer& answer) {
  return {{.where = request.object.text(),
           .found = failure.text,
           .expected = "an answer to " + request.method,
           .hint = hint_for(failure.code, answer)},
          failure.code};
}

}  // namespace convoy
