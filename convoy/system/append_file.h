// SPDX-License-Identifier: Apache-2.0
//
// AppendFile: a file that grows by complete pieces, written about once per second.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "convoy/base/clock.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// Methods that write throw a storage error, naming the file.
class AppendFile {
 public:
  /// Opens, and creates, the file at the first write.
  explicit AppendFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Creates the file now. Throws a storage error if it exists.
  static AppendFile create(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  /// Buffers the piece until the next flush().
  void append(std::string_view piece) { waiting_ += piece; }

  /// Whether a second has passed since the last flush(), or much is buffered.
  bool is_due() const;

  /// Passes the buffer to the operating system: it survives the process, but not a power
  /// cut. If it cannot be written, it is kept for the next flush, and the file contains
  /// no part of it.
  void flush();

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::string waiting_;
  Stopwatch last_write_;
};

/// Appends a piece to a file to which several processes append: complete or not at all,
/// under a lock of the file. A new file begins with `head`. Throws a storage error, also
/// if another process holds the lock for longer than `seconds`.
void append_locked(const std::filesystem::path& path, std::string_view head,
                   std::string_view piece, double seconds = 10);

}  // namespace convoy
