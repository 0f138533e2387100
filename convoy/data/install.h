// SPDX-License-Identifier: Apache-2.0
//
// Install: a folder that appears under its name complete, or not at all.

#pragma once

#include <filesystem>

namespace convoy {

/// Held while a folder is being made, by one process at a time. A process that dies gives
/// it up. The lock is an empty file, `.<folder name>.lock`, which stays.
class FolderLock {
 public:
  /// Makes the folders above `folder`. Does not wait; see held().
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  bool held() const { return held_; }

  /// Waits until no other process holds it.
  void wait();

 private:
  bool try_lock(int operation);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool held_ = false;
};

/// A folder being filled beside the one it shall become. Destroyed before commit(), it is
/// removed with its content.
class PendingFolder {
 public:
  /// Requires: the FolderLock of `folder` is held.
  explicit PendingFolder(std::filesystem::path folder);
  ~PendingFolder();
  PendingFolder(const PendingFolder&) = delete;
  PendingFolder& operator=(const PendingFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }

  /// Flushes the folder and gives it its name. The files in it must be flushed.
  /// Throws InputError of kind `storage` if something other than an empty folder has it.
  void commit();

 private:
  std::filesystem::path folder_;
  std::filesystem::path temporary_;  // empty once committed
};

/// Removes what processes killed before commit() left beside `folder`.
/// Requires: the FolderLock of `folder` is held.
void remove_stale(const std::filesystem::path& folder);

}  // namespace convoy
