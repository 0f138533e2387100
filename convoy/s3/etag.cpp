// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/etag.h"

namespace convoy {
namespace {

bool looks_like_md5(const std::string& etag) {
  return etag.size() == 32 &&
         etag.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

void check_etag(const S3Location& object, const S3Answer& answer,
                const std::string& content_md5) {
  if (!answer.etag_is_md5 || !looks_like_md5(answer.etag)) return;
  if (answer.etag == content_md5) return;
  throw damaged_object(object, "MD5 " + content_md5 + " here, " + answer.etag + " there",
                       "the same bytes on both sides");
}

InputError damaged_object(const S3Location& object, const std::string& found,
                          const std::string& expected) {
  return {InputKind::data,
          {.where = object.text(),
           .found = found,
           .expected = expected,
           .hint = "damaged at the server or in transit: use another checkpoint"}};
}

S3Error strange_answer(const S3Location& object, const std::string& found) {
  return {{.where = object.text(),
           .found = found,
           .expected = "what an S3 server answers",
           .hint = "check AWS_ENDPOINT_URL"},
          ""};
}

}  // namespace convoy
