// SPDX-License-Identifier: Apache-2.0
//
// Parts of a file on a web server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "convoy/base/error.h"
#include "convoy/http/connection.h"

namespace convoy {

/// Makes the error of a download that failed.
InputError download_error(const std::string& url, const std::string& found);

/// What a server says about a file: it is another file if one of these is another.
struct RemoteMark {
  std::uint64_t bytes = 0;
  std::string version{};

  bool operator==(const RemoteMark&) const = default;
};

/// Returns nothing if the server has no such file. Throws InputError of kind `storage`,
/// also if the server does not send parts of files.
std::optional<RemoteMark> http_mark(HttpConnection& connection, const std::string& url);

/// Reads bytes from `offset` on, with a few retries. Throws InputError of kind `storage`,
/// also if the file is no longer what the mark says. Requires: that range is within the
/// file.
void read_http_part(HttpConnection& connection, const std::string& url,
                    const RemoteMark& mark, std::uint64_t offset,
                    std::span<std::byte> bytes);

}  // namespace convoy
