// SPDX-License-Identifier: Apache-2.0
//
// RecordFile: a file of records, each with checksums.
//
//   | length, 8 bytes | its checksum, 4 | the record | its checksum, 4 |
//
// Numbers are little-endian; checksums are masked_crc32c(). This is TensorFlow's TFRecord
// format.

#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "convoy/system/append_file.h"

namespace convoy {

/// Every method throws a storage error, naming the file, when it cannot be written.
class RecordFile {
 public:
  /// Creates the file. Requires: no file of this name exists.
  explicit RecordFile(std::filesystem::path path)
      : file_(AppendFile::create(std::move(path))) {}

  /// Writes buffered records; errors are not reported.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  const std::filesystem::path& path() const { return file_.path(); }

  /// Appends a record: immediately if a second has passed since the last write, otherwise
  /// with a later append() or flush().
  void append(std::string_view record);

  /// Passes all records to the operating system: they survive the process, but not a
  /// power cut.
  void flush() { file_.flush(); }

 private:
  AppendFile file_;
};

}  // namespace convoy
