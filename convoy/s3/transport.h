// SPDX-License-Identifier: Apache-2.0
//
// S3Transport: exchanges that are repeated while that may help.
//
// After no connection, a stall, a break, 5xx, 429 and SlowDown it pauses (twice as long
// each time, with jitter, so that many clients do not come back together) and tries
// again; after any other refusal it does not.

#pragma once

#include <random>
#include <string>

#include "convoy/s3/error.h"
#include "convoy/s3/exchange.h"
#include "convoy/s3/options.h"

namespace convoy {

/// Not for two threads at once.
class S3Transport {
 public:
  S3Transport(S3Access access, S3Options options);

  const S3Options& options() const { return options_; }

  /// A good answer. Throws S3Error, or what `take` of the request threw.
  S3Answer perform(const S3Request& request, const Deadline& deadline);

  /// Tries once, even if cancelled: for tidying up. The answer may be anything.
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
