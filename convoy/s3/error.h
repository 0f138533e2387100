// SPDX-License-Identifier: Apache-2.0
//
// S3Error: an exchange that failed for good, in words for a person, without credentials.

#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/s3/exchange.h"

namespace convoy {

/// Of kind `storage`.
class S3Error : public InputError {
 public:
  S3Error(const Fault& fault, std::string code)
      : InputError(InputKind::storage, fault), code_(std::move(code)) {}

  /// The server's word for it, such as "NoSuchBucket"; "" if it said nothing.
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

/// What an answer says went wrong.
struct S3Failure {
  std::string code;  // the server's word; "" if none
  std::string text;  // one line: "HTTP 503 SlowDown: Please reduce your request rate."
  bool passing = false;  // trying again may help
};

/// Requires: the answer is not good, or holds an error all the same.
S3Failure failure_of(const S3Answer& answer, const S3Access& access);

/// Whether a good answer's content is an error. S3 answers so when it has kept a
/// connection alive while it worked.
bool holds_error(const S3Answer& answer);

S3Error error_of(const S3Request& request, const S3Failure& failure,
                 const S3Answer& answer);

}  // namespace convoy
