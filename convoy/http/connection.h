// SPDX-License-Identifier: Apache-2.0
//
// HttpConnection: one GET and its answer, through libcurl. It does not retry. Redirects
// are followed, to http and https only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace convoy {

class CurlHandle;

struct HttpGet {
  std::string url;
  std::string range{};  // "0-511": only these bytes; empty: all
  /// Receives the content of a successful answer, piece by piece. If it throws, the
  /// transfer ends.
  std::function<void(std::span<const std::byte>)> take{};
};

struct HttpAnswer {
  /// Why there is no content, or not all of it; empty: it is complete.
  std::string trouble{};
  bool missing = false;                  // the server has no such file
  bool passing = false;                  // a retry may help
  bool is_part = false;                  // the server sent the range, not everything
  std::optional<std::uint64_t> first{};  // the first byte that was sent of a part
  std::optional<std::uint64_t> total{};  // bytes of the whole file, if a part was sent
  std::string version{};  // the file's ETag, else when it changed; may be empty
};

/// One thread at a time may use it. The connection stays open between requests.
class HttpConnection {
 public:
  HttpConnection();
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;

  /// Takes any time while at least 1 KiB/s arrive. Throws only what `take` throws.
  HttpAnswer get(const HttpGet& request);

 private:
  std::unique_ptr<CurlHandle> curl_;
};

}  // namespace convoy
