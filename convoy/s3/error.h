// SPDX-License-Identifier: Apache-2.0
//
// S3Error: an exchange that failed permanently, with a message for people, without
// credentials.

#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/s3/exchange.h"

namespace convoy {

/// An InputError of kind `storage`.
class S3Error : public InputError {
 public:
  S3Error(const Fault& fault, std::string code)
      : InputError(InputKind::storage, fault), code_(std::move(code)) {}

  /// The server's error code, such as "NoSuchBucket"; "" if there is none.
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

/// The error in an answer.
struct S3Failure {
  std::string code;  // the server's error code; "" if none
  std::string text;  // one line: "HTTP 503 SlowDown: Please reduce your request rate."
  bool passing = false;  // a retry may help
};

/// Requires: the answer is not successful, or contains an error.
S3Failure failure_of(const S3Answer& answer, const S3Access& access);

/// Whether the content of a successful answer is an error. S3 sends such answers if it
/// had to keep the connection alive while it worked.
bool holds_error(const S3Answer& answer);

S3Error error_of(const S3Request& request, const S3Failure& failure,
                 const S3Answer& answer);

}  // namespace convoy
