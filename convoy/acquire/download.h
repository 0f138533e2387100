// SPDX-License-Identifier: Apache-2.0
//
// Download: the content of a URL (http, https, file), by libcurl.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convoy {

struct DownloadOptions {
  std::size_t limit;                                // more bytes than this are refused
  std::function<void(std::size_t bytes)> progress;  // so far; may be empty, may throw
};

/// The content, or nothing if the server says that there is no such thing.
///
/// Throws InputError of kind `storage` if the server cannot be reached, stalls for half a
/// minute, answers with an error or breaks off.
std::optional<std::vector<std::byte>> download(const std::string& url,
                                               const DownloadOptions& options);

}  // namespace convoy
