// SPDX-License-Identifier: Apache-2.0
//
// S3Connection: one signed request, one answer, by libcurl. It neither retries nor
// interprets the answer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "convoy/s3/access.h"
#include "convoy/s3/options.h"

namespace convoy {

struct S3Request {
  std::string method = "GET";
  S3Location object;
  std::string query{};  // encoded, sorted by name, each with its '=': "uploads="
  std::span<const std::byte> body{};
  std::string content_type = "application/octet-stream";

  /// Takes a good answer's content, piece by piece, and may throw; without it the answer
  /// holds the content. `begin` is called before each attempt.
  std::function<void(std::span<const std::byte>)> take{};
  std::function<void()> begin{};
};

/// Why there is no answer.
enum class S3Trouble {
  none,
  cancelled,
  passing,   // no connection, a stall, a break: trying again may help
  permanent  // a certificate that does not hold, for example
};

struct S3Answer {
  S3Trouble trouble = S3Trouble::none;
  bool distrust = false;        // the server's certificate did not hold
  std::string trouble_text{};   // libcurl's fixed words for it, nothing of the request
  std::exception_ptr thrown{};  // by `take`
  long status = 0;
  std::string body{};  // an error's, or content without a taker; cut at 1 MiB
  std::optional<std::uint64_t> length{};  // of the content, as the server says
  std::string etag{};                     // without its quotes
  bool etag_is_md5 = true;  // false if the server encrypts under a key of its own
  std::string bucket_region{};

  bool good() const {
    return trouble == S3Trouble::none && !thrown && status >= 200 && status < 300;
  }
};

/// Not for two threads at once. Keeps the connection open between exchanges.
class S3Connection {
 public:
  explicit S3Connection(S3Access access);
  ~S3Connection();

  /// Takes no longer than `seconds`, and less where the options say so.
  S3Answer exchange(const S3Request& request, const S3Options& options, double seconds);

 private:
  struct Curl;

  S3Access access_;
  std::unique_ptr<Curl> curl_;
};

}  // namespace convoy
