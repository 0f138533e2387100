// SPDX-License-Identifier: Apache-2.0
//
// Install: one process at a time makes a folder, and removes the leftovers of killed
// processes.

#pragma once

#include <filesystem>

namespace convoy {

/// A lock that one process at a time holds while it makes a folder. It is released when
/// the process dies. The lock is an empty file, `.<folder name>.lock`, which is not
/// removed.
class FolderLock {
 public:
  /// Creates the parent folders of `folder`. Does not wait; see held().
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  bool held() const { return held_; }

  /// Waits until no other process holds the lock.
  void wait();

 private:
  bool try_lock(int operation);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool held_ = false;
};

/// Removes what processes that were killed before AtomicFolder::commit() left beside
/// `folder`.
/// Requires: the FolderLock of `folder` is held.
void remove_stale(const std::filesystem::path& folder);

}  // namespace convoy
