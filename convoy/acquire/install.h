// SPDX-License-Identifier: Apache-2.0
//
// Install: one process at a time makes a folder; what killed processes left behind is
// removed.

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

/// Removes what processes killed before AtomicFolder::commit() left beside `folder`.
/// Requires: the FolderLock of `folder` is held.
void remove_stale(const std::filesystem::path& folder);

}  // namespace convoy
