// SPDX-License-Identifier: Apache-2.0
//
// Files: read completely; written completely or not at all.
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

/// Opens a file for reading. Only regular files are accepted: opening a FIFO would wait.
Descriptor open_to_read(const std::filesystem::path& path);

/// The same check, for a file that a library opens.
void expect_regular_file(const std::filesystem::path& path);

std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// Refuses a file of more than `most` bytes before reading it.
std::string read_text(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// Writes all bytes, with as many calls as needed. Returns 0, or the errno of the
/// failure.
int write_all(int descriptor, std::span<const std::byte> bytes);

/// Writes a file that is complete under its name or absent: to a temporary name beside
/// it, flushed to disk, then renamed.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// A file that is written in pieces under a temporary name; commit() renames it. Without
/// a commit, the destructor removes it.
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

/// As AtomicFile, for a folder that is filled under a temporary name.
class AtomicFolder {
 public:
  explicit AtomicFolder(std::filesystem::path path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// The temporary folder, to be filled with files that are flushed.
  const std::filesystem::path& path() const { return temporary_; }

  /// Flushes the folder and renames it. Throws a storage error if the name is taken by
  /// something other than an empty folder.
  void commit();

  /// As commit(), but replaces the folder of that name, if any, which is then removed.
  void replace();

 private:
  /// Returns 0, or the errno of the failure.
  int try_rename();
  void replace_in_two_steps();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // removed at the end; empty: nothing to remove
};

/// The hidden name that AtomicFile and AtomicFolder use beside `path`, and whether a name
/// is such a one: a leftover of a killed process.
std::string temporary_name(const std::filesystem::path& path, unsigned number);
bool is_temporary_name(const std::filesystem::path& path, std::string_view name);

/// Returns the folder of a path.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Creates a folder and its parents. An existing folder is not an error.
void make_folders(const std::filesystem::path& path);

/// A lock of a folder: one process may hold the exclusive one, several the shared one.
enum class LockMode { exclusive, shared };

/// Opens and locks a folder until the descriptor is closed; returns nothing (-1) if
/// another process holds the lock. On a file system without locks, no process is
/// excluded.
Descriptor lock_folder(const std::filesystem::path& path, LockMode mode);

/// Flushes a folder's entries to disk, so that a rename in it survives a power cut.
void sync_folder(const std::filesystem::path& path);

}  // namespace convoy
