// SPDX-License-Identifier: Apache-2.0
//
// S3Connection: one signed request and its answer, through libcurl. It neither retries
// nor interprets the answer.

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

class CurlHandle;

struct S3Request {
  std::string method = "GET";
  S3Location object;
  std::string range{};  // "0-511": only these bytes; empty: all
  std::string query{};  // encoded, sorted by name, each with its '=': "uploads="
  std::span<const std::byte> body{};
  std::string content_type = "application/octet-stream";

  /// Receives a successful answer's content, piece by piece, and may throw; if empty, the
  /// answer contains the content. `begin` is called before each attempt.
  std::function<void(std::span<const std::byte>)> take{};
  std::function<void()> begin{};
};

/// Why there is no answer.
enum class S3Trouble {
  none,
  cancelled,
  passing,   // no connection, a stall, a break: a retry may help
  permanent  // an invalid certificate, for example
};

struct S3Answer {
  S3Trouble trouble = S3Trouble::none;
  bool distrust = false;  // the server's certificate is not trusted
  /// Libcurl's text for the error code, without details of the request.
  std::string trouble_text{};
  std::exception_ptr thrown{};  // by `take`
  long status = 0;
  std::string body{};  // of an error, or content if there is no `take`; cut at 1 MiB
  std::optional<std::uint64_t> length{};  // of the content, as the server says
  std::optional<std::uint64_t> first{};   // the first byte that was sent of a range
  std::optional<std::uint64_t> total{};   // of the whole object, if a range was sent
  std::string etag{};                     // without quotes
  bool etag_is_md5 = true;                // false if the server encrypts with its own key
  std::string bucket_region{};

  bool good() const {
    return trouble == S3Trouble::none && !thrown && status >= 200 && status < 300;
  }
};

/// One thread at a time may use it. The connection stays open between exchanges.
class S3Connection {
 public:
  explicit S3Connection(S3Access access);
  ~S3Connection();

  /// Takes at most `seconds`, and less if the options say so.
  S3Answer exchange(const S3Request& request, const S3Options& options, double seconds);

 private:
  S3Access access_;
  std::unique_ptr<CurlHandle> curl_;
};

}  // namespace convoy
