// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/download.h"

#include "convoy/base/text.h"
#include "convoy/http/connection.h"
#include "convoy/http/http_file.h"

namespace convoy {

std::optional<std::vector<std::byte>> download(const std::string& url,
                                               const DownloadOptions& options) {
  std::vector<std::byte> bytes;
  HttpGet request{.url = url};
  request.take = [&](std::span<const std::byte> piece) {
    if (piece.size() > options.limit - bytes.size()) {
      throw download_error(url, "more than " + human_bytes(options.limit));
    }
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    if (options.progress) options.progress(bytes.size());
  };
  const HttpAnswer answer = HttpConnection().get(request);
  if (answer.missing) return std::nullopt;
  if (!answer.trouble.empty()) throw download_error(url, answer.trouble);
  return bytes;
}

}  // namespace convoy
