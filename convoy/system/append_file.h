// SPDX-License-Identifier: Apache-2.0
//
// AppendFile: a file that grows by whole pieces, handed to the system about once per
// second.

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
  /// Opened, and made, when first written.
  explicit AppendFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Made now. Throws a storage error if there is one of this name.
  static AppendFile create(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  /// The piece waits for the next flush().
  void append(std::string_view piece) { waiting_ += piece; }

  /// Whether a second has passed since the last flush(), or much is waiting.
  bool is_due() const;

  /// Hands what waits to the operating system: it survives the process, not a power cut.
  /// What could not be written is kept for the next flush, and the file has no part of
  /// it.
  void flush();

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::string waiting_;
  Stopwatch last_write_;
};

}  // namespace convoy
