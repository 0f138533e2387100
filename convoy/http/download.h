// SPDX-License-Identifier: Apache-2.0
//
// Download: fetches the content of a URL (http, https, file) through libcurl.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convoy {

struct DownloadOptions {
  std::size_t limit;  // more bytes than this are refused
  /// Bytes so far; may be empty, may throw.
  std::function<void(std::size_t bytes)> progress;
};

/// Returns the content, or nothing if the server has no such file.
///
/// Throws InputError of kind `storage` if the server cannot be reached, sends nothing for
/// 30 seconds, answers with an error, or closes the connection early.
std::optional<std::vector<std::byte>> download(const std::string& url,
                                               const DownloadOptions& options);

}  // namespace convoy
