// SPDX-License-Identifier: Apache-2.0
//
// RecordFile: a file of records that a reader can check one by one.
//
//   | length, 8 bytes | its checksum, 4 | the record | its checksum, 4 |
//
// Numbers are little-endian; checksums are masked_crc32c(). It is TensorFlow's TFRecord.

#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "convoy/system/append_file.h"

namespace convoy {

/// Every method throws a storage error, naming the file, when it cannot be written.
class RecordFile {
 public:
  /// Makes the file. Requires: there is none of this name.
  explicit RecordFile(std::filesystem::path path)
      : file_(AppendFile::create(std::move(path))) {}

  /// Writes what waits; a failure at this point is not reported.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  const std::filesystem::path& path() const { return file_.path(); }

  /// Appends a record: now, if a second has passed since the file was last written, else
  /// with a later append() or flush().
  void append(std::string_view record);

  /// Hands all records to the operating system: they survive the process, not a power
  /// cut.
  void flush() { file_.flush(); }

 private:
  AppendFile file_;
};

}  // namespace convoy
