// SPDX-License-Identifier: Apache-2.0
//
// S3Client: puts objects into S3 and gets them, with checks, retries and cancellation.
//
// Every request is signed with the hash of its content, and sent with its MD5: a server
// refuses what was damaged on the way. Every operation ends within
// S3Options::operation_seconds, and soon after S3Options::cancel. What fails throws
// S3Error (kind `storage`), or InputError of kind `data` for a damaged object; neither
// ever holds credentials.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/s3/access.h"
#include "convoy/s3/location.h"
#include "convoy/s3/options.h"
#include "convoy/s3/source_file.h"
#include "convoy/s3/transport.h"

namespace convoy {

/// Not for two threads at once.
class S3Client {
 public:
  explicit S3Client(const S3Access& access, const S3Options& options = {});

  void put_bytes(const S3Location& object, std::span<const std::byte> bytes);

  /// In parts if the file is larger than S3Options::part_bytes.
  void put_file(const S3Location& object, const SourceFile& file);

  /// The content, or nothing if there is no such object. Refuses more than `limit` bytes.
  std::optional<std::vector<std::byte>> get_bytes(const S3Location& object,
                                                  std::size_t limit);

  /// Writes the content to `path`, whole or not at all; false if there is no such object.
  /// Refuses a content of another size.
  bool get_file(const S3Location& object, const std::filesystem::path& path,
                std::uint64_t bytes);

  void remove(const S3Location& object);

  /// The names between `place` and the next '/': at most a thousand.
  std::vector<std::string> folders(const S3Location& place);

 private:
  S3Transport transport_;
};

}  // namespace convoy
