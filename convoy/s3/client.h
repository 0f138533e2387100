// SPDX-License-Identifier: Apache-2.0
//
// S3Client: uploads and downloads objects, with checks, retries and cancellation.
//
// Every request is signed with the hash of its content, and sent with its MD5: a server
// refuses content that was damaged in transit. Every operation ends within
// S3Options::operation_seconds, and soon after S3Options::cancel is set. Failures throw
// S3Error (kind `storage`), or InputError of kind `data` for a damaged object; neither
// ever contains credentials.

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

/// What a server says about an object: it is another one if one of these is another.
struct S3Mark {
  std::uint64_t bytes = 0;
  std::string etag{};
};

/// One thread at a time may use it.
class S3Client {
 public:
  explicit S3Client(const S3Access& access, const S3Options& options = {});

  void put_bytes(const S3Location& object, std::span<const std::byte> bytes);

  /// Uploads in parts if the file is larger than S3Options::part_bytes.
  void put_file(const S3Location& object, const SourceFile& file);

  /// Returns the content, or nothing if there is no such object. Refuses more than
  /// `limit` bytes.
  std::optional<std::vector<std::byte>> get_bytes(const S3Location& object,
                                                  std::size_t limit);

  /// Writes the content to `path`, which is complete or absent; returns false if there is
  /// no such object. Refuses content of another size.
  bool get_file(const S3Location& object, const std::filesystem::path& path,
                std::uint64_t bytes);

  /// Returns nothing if there is no such object.
  std::optional<S3Mark> mark(const S3Location& object);

  /// Fills `bytes` from `offset` on. Throws S3Error also if the object is no longer what
  /// the mark says. Requires: that range is within the object.
  void get_part(const S3Location& object, const S3Mark& mark, std::uint64_t offset,
                std::span<std::byte> bytes);

  void remove(const S3Location& object);

  /// Lists the names between `place` and the next '/': at most a thousand.
  std::vector<std::string> folders(const S3Location& place);

 private:
  S3Transport transport_;
};

}  // namespace convoy
