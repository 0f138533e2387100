// SPDX-License-Identifier: Apache-2.0
//
// Files: read whole, written whole or not at all.
//
// Every function throws InputError of kind `storage`, naming the path and the cause, when
// the operating system refuses.

#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/system/descriptor.h"

namespace convoy {

/// Opens a file to be read. What is no regular file is refused: a FIFO would be waited
/// for.
Descriptor open_to_read(const std::filesystem::path& path);

/// The same check, for a file that a library opens.
void expect_regular_file(const std::filesystem::path& path);

std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// A file of more than `most` bytes is refused before it is read.
std::string read_text(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// Writes all bytes, however often it takes. Returns 0, or errno of why not.
int write_all(int descriptor, std::span<const std::byte> bytes);

/// Writes a file that is complete under its name or absent: a temporary name beside it,
/// flushed to disk, then renamed.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// A file being written, in pieces, under a temporary name; commit() gives it its own.
/// Destroyed before that, it leaves nothing behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Flushes to disk and renames.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// As AtomicFile, for a folder, which is filled under a temporary name.
class AtomicFolder {
 public:
  explicit AtomicFolder(std::filesystem::path path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// The temporary folder, to be filled with files that are flushed.
  const std::filesystem::path& path() const { return temporary_; }

  /// Flushes the folder and renames it. Throws a storage error if something other than an
  /// empty folder has its name.
  void commit();

  /// As commit(), in place of the folder of that name, if any, which is then removed.
  void replace();

 private:
  /// 0, or errno of why not.
  int try_rename();
  void replace_in_two_steps();

  std::filesystem::path path_;
  std::filesystem::path
      temporary_;  // removed at the end; empty: nothing is left to remove
};

/// The hidden name that AtomicFile and AtomicFolder use beside `path`, and whether a name
/// is one: what a killed process left.
std::string temporary_name(const std::filesystem::path& path, unsigned number);
bool is_temporary_name(const std::filesystem::path& path, std::string_view name);

/// The folder a path is in.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Makes a folder and those above it. No error if it is there.
void make_folders(const std::filesystem::path& path);

/// Flushes a folder's entries to disk, so that a rename in it survives a power cut.
void sync_folder(const std::filesystem::path& path);

}  // namespace convoy
