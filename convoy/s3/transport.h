// SPDX-License-Identifier: Apache-2.0
//
// S3Transport: exchanges with retries.
//
// After a failed connection, a stall, a break, 5xx, 429 and SlowDown, it pauses (twice as
// long each time, with jitter) and tries again; other errors are not retried.

#pragma once

#include <random>
#include <string>

#include "convoy/s3/error.h"
#include "convoy/s3/exchange.h"
#include "convoy/s3/options.h"

namespace convoy {

/// One thread at a time may use it.
class S3Transport {
 public:
  S3Transport(S3Access access, S3Options options);

  const S3Options& options() const { return options_; }

  /// Returns a successful answer. Throws S3Error, or what `take` of the request threw.
  S3Answer perform(const S3Request& request, const Deadline& deadline);

  /// Tries once, even if cancelled: for cleaning up. The answer may be an error.
  S3Answer try_once(const S3Request& request, double seconds);

 private:
  void pause_or_throw(const S3Request& request, const S3Answer& answer, int attempt,
                      const Deadline& deadline);
  double pause_after(int attempt);

  S3Access access_;
  S3Options options_;
  S3Connection connection_;
  std::mt19937 random_;
};

}  // namespace convoy
