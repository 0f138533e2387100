// SPDX-License-Identifier: Apache-2.0
//
// LockHolder: the process of this machine that holds the lock of a run's folder.
//
// It is found by the lock itself: the kernel lists locks with their processes in
// /proc/locks, and what a process has open in /proc/<pid>/fd. A number in a file could
// belong to any process.

#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "convoy/system/descriptor.h"

namespace convoy {

/// A process, held by a descriptor (pidfd): a signal cannot reach another process that
/// has got its number meanwhile.
class LockHolder {
 public:
  /// Finds the process that holds the exclusive lock of a folder; nothing if there is
  /// none, or none whose files this user may see.
  static std::optional<LockHolder> find(const std::filesystem::path& folder);

  /// Asks the process to end as Ctrl-C does: at the end of a step, with a checkpoint.
  /// Returns whether it still exists and this user may do so.
  bool request_stop() const;

 private:
  explicit LockHolder(Descriptor process) : process_(std::move(process)) {}

  Descriptor process_;
};

/// The inodes of all folders and files that processes of this machine hold exclusive
/// locks of (flock).
std::set<ino_t> locked_inodes();

}  // namespace convoy
